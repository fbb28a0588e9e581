//! A repeatedly compacted session keeps the prefix that a prompt cache holds.

use super::super::prefix::Prefix;
use super::super::{CompactOptions, CompactionOutcome, LevelAlgorithm, Mask, Steps, plan};
use crate::filter::{Plan, Stamp};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;
use crate::tokens::{Counter, Tokenizer};

const BUDGET: u64 = 4000;

/// Appends exchanges until the view has `tokens` tokens; with `tools` > 0 they have tool results of that length.
fn grow(session: &mut Session, tools: usize, tokens: u64) {
    let counter = Counter::new(Tokenizer::DEFAULT, None);
    let mut nth = session.len();
    let mut now: u64 = {
        let view = View::replay(session);
        view.messages(session)
            .map(|message| counter.message(&message))
            .sum()
    };
    while now < tokens {
        let places = ["garden", "shed", "roof", "cellar", "attic"];
        let (place, other) = (places[nth % 5], places[nth / 5 % 5]);
        let ask = format!(
            "What did we plant in the {place} on day {nth}, beside {} seeds of kale?",
            nth * 7
        );
        let answer = format!(
            "On day {nth} we planted {} beans in the {place}. Anna moved {} pots to the {other}. It rained until noon.",
            nth * 3,
            nth * 11
        );
        let mut lines = vec![format!(r#"{{"role":"user","id":"u{nth}","content":"{ask}"}}"#)];
        if tools > 0 {
            let result = format!("{place} has {nth} rows and {other} has none ").repeat(tools);
            lines.push(format!(
                r#"{{"role":"assistant","id":"c{nth}","content":"","tool_calls":[{{"id":"k{nth}","type":"function","function":{{"name":"bash","arguments":"{{\"command\":\"plant {place} {nth}\"}}"}}}}]}}"#
            ));
            lines.push(format!(
                r#"{{"role":"tool","id":"t{nth}","tool_call_id":"k{nth}","content":"{result}"}}"#
            ));
        }
        lines.push(format!(
            r#"{{"role":"assistant","id":"a{nth}","content":"{answer}"}}"#
        ));
        for line in lines {
            session.push_new(line.as_bytes());
            now += session
                .record(session.len() - 1)
                .message()
                .map_or(0, |message| counter.message(message));
        }
        nth += 1;
    }
}

fn compacted(session: &Session, options: &CompactOptions, nth: usize) -> CompactionOutcome {
    let stamp = |_: &str| {
        Ok(Stamp {
            id: format!("evt_{nth}"),
            at: "2026-01-02T00:00:00Z".into(),
        })
    };
    plan(session, Counter::new(Tokenizer::DEFAULT, None), options, stamp).unwrap()
}

fn summary(session: &Session) -> String {
    let view = View::replay(session);
    let mut texts = view.items.iter().filter_map(|item| item.summary(session));
    let text = texts.next().unwrap().into_owned();
    assert!(texts.next().is_none());
    text
}

/// The summary and the outcome of each of `times` compactions.
fn rounds(
    choice: LevelAlgorithm,
    tools: usize,
    keep_prefix: bool,
    times: usize,
) -> Vec<(String, CompactionOutcome)> {
    let options = CompactOptions {
        budget: Some(BUDGET),
        choice,
        keep_prefix,
        retry: true,
        ..CompactOptions::default()
    };
    let mut session = Session::default();
    let mut rounds = Vec::new();
    for nth in 0..times {
        grow(&mut session, tools, 2 * BUDGET);
        let outcome = compacted(&session, &options, nth);
        let Plan::Lines(lines, _) = &outcome.plan else {
            panic!("{:?}", outcome.plan);
        };
        lines.iter().for_each(|line| session.push_new(line));
        assert!(outcome.report.now.tokens <= BUDGET);
        // Only the tokens of about one message are unused.
        assert!(
            outcome.report.now.tokens > BUDGET * 9 / 10,
            "{:?}",
            outcome.report.now
        );
        rounds.push((summary(&session), outcome));
    }
    rounds
}

#[test]
fn earlier_records_keep_their_bytes_until_consolidated() {
    let count = |text: &str| Tokenizer::DEFAULT.count(text);
    // The first takes all available tokens; the second is a consolidated record that leaves tokens for more.
    for (choice, tools, most) in [
        (LevelAlgorithm::Tiered, 0, [0, 0, 1]),
        (LevelAlgorithm::Optimize, 0, [1, 1, 2]),
        (LevelAlgorithm::Optimize, 8, [0, 0, 1]),
    ] {
        for (times, most) in [2, 4, 8].into_iter().zip(most) {
            let rounds = rounds(choice, tools, true, times);
            let mut consolidated = 0;
            for pair in rounds.windows(2) {
                let [(before, _), (now, outcome)] = pair else {
                    unreachable!()
                };
                let report = &outcome.report;
                if report.prefix.consolidated {
                    consolidated += 1;
                    assert!(count(before) + 200 > BUDGET * 3 / 4, "{} tokens", count(before));
                    assert!(count(now) <= BUDGET * 2 / 5, "{} tokens", count(now));
                    continue;
                }
                let further = now.strip_prefix(before.as_str()).unwrap();
                assert!(further.starts_with("\n[summary of "), "{further}");
                assert!(count(now) <= BUDGET * 3 / 4 + 10);
                // The prefix includes all of the earlier text.
                assert!(report.prefix.bytes > before.len() as u64);
                assert!(report.prefix.tokens >= count(before));
                let first = report.prefix.first_changed.as_deref();
                assert!(first.is_some_and(|id| id.starts_with("evt_")), "{first:?}");
            }
            assert!(consolidated <= most, "{choice:?} {tools} {times}: {consolidated}");
            assert!(
                times < 8 || consolidated > 0,
                "{choice:?} {tools}: never too much"
            );
        }
    }
}

#[test]
fn a_first_handoff_of_a_large_session_is_larger_and_kept() {
    let count = |text: &str| Tokenizer::DEFAULT.count(text);
    let options = CompactOptions {
        budget: Some(BUDGET),
        retry: true,
        ..CompactOptions::default()
    };
    // A small session, a large one, and a second compaction.
    let handoffs = [&[2][..], &[8, 2]].map(|sizes| {
        let mut session = Session::default();
        let mut handoffs = Vec::new();
        for (nth, size) in sizes.iter().enumerate() {
            grow(&mut session, 8, size * BUDGET);
            let Plan::Lines(lines, _) = compacted(&session, &options, nth).plan else {
                panic!("nothing changed");
            };
            lines.iter().for_each(|line| session.push_new(line));
            handoffs.push(summary(&session));
        }
        handoffs
    });
    let [little, much] = &handoffs;
    assert!(count(&little[0]) <= BUDGET * 6 / 10);
    assert!((BUDGET * 75 / 100..=BUDGET * 8 / 10).contains(&count(&much[0])));
    assert!(much[1].starts_with(&much[0]) && much[1] != much[0]);
    assert!(count(&much[1]) <= BUDGET * 9 / 10);
}

#[test]
fn a_further_record_covers_only_newer_messages() {
    let rounds = rounds(LevelAlgorithm::Optimize, 8, true, 4);
    let (before, now) = (&rounds[2].0, &rounds[3].0);
    let further = now.strip_prefix(before.as_str()).unwrap();
    let commands = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
        lines.map(ToString::to_string).collect()
    };
    assert!(!commands(further).is_empty(), "{further}");
    for command in commands(further) {
        assert!(!commands(before).contains(&command), "{command} is said twice");
    }
}

#[test]
fn a_further_record_quotes_what_revokes_a_rule_of_an_earlier_one() {
    let options = CompactOptions {
        budget: Some(BUDGET),
        choice: LevelAlgorithm::Optimize,
        keep_prefix: true,
        retry: true,
        ..CompactOptions::default()
    };
    let mut session = Session::default();
    let mut summaries = Vec::new();
    for (nth, text) in ["Always answer in German.", "English is fine again."]
        .iter()
        .enumerate()
    {
        session.push_new(format!(r#"{{"role":"user","id":"r{nth}","content":"{text}"}}"#).as_bytes());
        grow(&mut session, 8, 2 * BUDGET);
        let Plan::Lines(lines, _) = compacted(&session, &options, nth).plan else {
            panic!("nothing changed");
        };
        lines.iter().for_each(|line| session.push_new(line));
        summaries.push(summary(&session));
    }
    assert!(
        summaries[0].contains("Always answer in German."),
        "{}",
        summaries[0]
    );
    let further = summaries[1].strip_prefix(&summaries[0]).unwrap();
    assert!(further.contains("English is fine again."), "{further}");
}

#[test]
fn without_incremental_records_the_summary_is_regenerated() {
    let rounds = rounds(LevelAlgorithm::Tiered, 0, false, 3);
    assert!(
        rounds[1..]
            .iter()
            .all(|(_, outcome)| outcome.report.prefix.consolidated)
    );
}

#[test]
fn cache_losses_outweigh_a_small_gain() {
    let mut session = Session::default();
    grow(&mut session, 8, 2 * BUDGET);
    let options = CompactOptions {
        budget: Some(BUDGET),
        ..CompactOptions::default()
    };
    let Plan::Lines(lines, _) = compacted(&session, &options, 0).plan else {
        panic!("nothing changed");
    };
    lines.iter().for_each(|line| session.push_new(line));
    grow(&mut session, 20, BUDGET + 2000);
    // Placeholders save a few percent, and change the view from its beginning.
    let masks = |keep_prefix, min_gain| CompactOptions {
        steps: Steps {
            mask: true,
            ..Steps::NONE
        },
        mask: Mask {
            keep: 3,
            exclude: Vec::new(),
            inputs: false,
            protect: 0,
            min_gain: Some(0),
        },
        keep_prefix,
        min_gain,
        retry: true,
        ..CompactOptions::default()
    };
    let changed = compacted(&session, &masks(true, 0), 1);
    let Prefix { tokens, .. } = *changed.report.prefix.clone();
    let (was, now) = (changed.report.was.tokens, changed.report.now.tokens);
    let (gained, broken) = (was - now, now - tokens);
    let share = |tokens: u64| tokens * 1000 / was;
    assert!(broken > 0 && share(gained - broken / 10) < share(gained));
    let changes = |outcome: CompactionOutcome| matches!(outcome.plan, Plan::Lines(..));
    assert!(changes(compacted(&session, &masks(false, share(gained)), 1)));
    assert!(!changes(compacted(&session, &masks(true, share(gained)), 1)));
    assert!(changes(compacted(
        &session,
        &masks(true, share(gained - broken / 10)),
        1
    )));
    let line = String::from_utf8(changed.report.json("chat", "o200k_base")).unwrap();
    let member = |name: &str| json::member(line.as_bytes(), name).map(<[u8]>::to_vec);
    assert_eq!(
        member("prefix_kept_tokens"),
        Some(tokens.to_string().into_bytes())
    );
    assert!(member("first_changed").is_some(), "{line}");
}
