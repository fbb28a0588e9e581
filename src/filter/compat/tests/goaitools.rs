use super::super::goaitools::{CompactorLimit, Design, design, limit};
use super::super::{CompatHistory, Precedence};
use super::{Tally, indexes, json, kept, letters, lines, list, measure, result, session};
use crate::filter::compact::digest;
use crate::model::view::View;
use crate::sample_data;
use serde_json::{Value, from_str};

/// Runs the limits; returns the kept messages as letters, whether the limit is met, and what goaitools itself would
/// keep.
fn run(all: &str, limits: &[CompactorLimit], forced: bool) -> (String, bool, String) {
    let session = session(&letters(all));
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let ours = limit(&history, limits, history.len(), forced, Precedence::Convo);
    let theirs = limit(&history, limits, history.len(), forced, Precedence::Theirs);
    let text = |choice| result(all, &history, choice);
    (text(&ours), ours.fits, text(&theirs))
}

fn tokens(row: &Value) -> CompactorLimit {
    CompactorLimit::Tokens {
        max: row["max_tokens"].as_i64().unwrap_or(1000),
        target: row["target_tokens"].as_i64().unwrap_or(0),
        prompt: row["prompt_tokens"].as_i64(),
    }
}

/// Compares a table with its recorded rows; returns the number of rows that differ.
fn table(name: &'static str, limits: impl Fn(&Value) -> (Vec<CompactorLimit>, bool)) -> usize {
    let file = json(&sample_data::path(&format!("goaitools/tables/{name}.json")));
    let (mut agreed, mut differ) = (0, 0);
    for row in list(&file["rows"]) {
        let all = row["messages"].as_str().unwrap();
        let (limits, forced) = limits(row);
        let (ours, fits, theirs) = run(all, &limits, forced);
        match row["mark"].as_str().unwrap() {
            "match" => {
                assert_eq!(
                    (ours.as_str(), fits),
                    (row["kept"].as_str().unwrap(), true),
                    "{row}"
                );
                assert_eq!(theirs, ours, "{row}");
                agreed += 1;
            }
            _ => {
                assert_eq!(ours, row["convo_kept"].as_str().unwrap(), "{row}");
                // Reasons: nothing to do, or the messages that must be kept exceed the limit.
                let unchanged = row["convo"].as_str().unwrap();
                assert_eq!(fits, !unchanged.ends_with("status 1"), "{row}");
                if !fits {
                    assert_eq!(theirs, row["kept"].as_str().unwrap(), "{row}");
                }
                differ += 1;
            }
        }
    }
    eprintln!(
        "goaitools {name}: {} cases: {agreed} agree, {differ} differ deliberately, 0 failed",
        agreed + differ
    );
    assert!(agreed > 0);
    differ
}

// The tables have no case names; each differing row gives the expected result and its reason: the newest exchange is
// kept whole (G1), there is no user message to begin at (G1), a limit of 0 is off, or goaitools panics on a limit
// above the length or without a figure (G3).

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn message_limits_agree_with_goaitools() {
    let differ = table("message_limit", |row| {
        (
            vec![CompactorLimit::Messages(row["max_messages"].as_i64().unwrap())],
            false,
        )
    });
    assert_eq!(differ, 22);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn token_limits_agree_with_goaitools() {
    let differ = table("token_limit", |row| (vec![tokens(row)], false));
    assert_eq!(differ, 11);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_first_compactor_that_acts_decides() {
    let differ = table("composite", |row| {
        let order = row["order"].as_str().unwrap().chars();
        let limits = order.map(|kind| {
            if kind == 'M' {
                CompactorLimit::Messages(4)
            } else {
                tokens(row)
            }
        });
        (limits.collect(), false)
    });
    assert_eq!(differ, 0);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn triggers_and_strategies_combine_as_in_goaitools() {
    let differ = table("split", |row| {
        let due = match row["trigger"].as_str().unwrap() {
            "always" => true,
            "never" => false,
            "message_limit_3" => row["messages"].as_str().unwrap().len() > 3,
            other => panic!("{other}"),
        };
        let limit = match row["strategy"].as_str().unwrap() {
            "message_limit" => CompactorLimit::Messages(row["max_messages"].as_i64().unwrap()),
            _ => tokens(row),
        };
        (if due { vec![limit] } else { Vec::new() }, true)
    });
    assert_eq!(differ, 24);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_front_advances_to_a_user() {
    let path = sample_data::path("goaitools/tables/advance_to_first_user.json");
    let mut tally = Tally::of("goaitools advance_to_first_user");
    for row in list(&json(&path)["rows"]) {
        // A message limit advances last; the one used here drops only a message inserted at the front.
        let all = row["messages"].as_str().unwrap();
        if all.is_empty() {
            continue; // a limit of 0 is off
        }
        let (ours, fits, theirs) = run(
            &format!("A{all}"),
            &[CompactorLimit::Messages(all.len() as i64)],
            false,
        );
        if row["mark"] == "match" {
            assert_eq!(ours, row["kept"].as_str().unwrap(), "{row}");
            tally.agree();
        } else {
            // Without a user message nothing is dropped, not even the message at the front.
            assert_eq!(
                (ours, fits),
                (format!("A{}", row["convo_kept"].as_str().unwrap()), false),
                "{row}"
            );
            assert_eq!(theirs, row["kept"].as_str().unwrap(), "{row}");
            tally.differ(all);
        }
    }
    tally.close(&[("A CTA", "no user message to begin with: nothing goes")]);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn designed_strategies_match_the_design_table() {
    let path = sample_data::path("goaitools/tables/design_strategies.json");
    let mut tally = Tally::of("goaitools design");
    for row in list(&json(&path)["rows"]) {
        let all = row["messages"].as_str().unwrap();
        let session = session(&letters(all));
        let view = View::replay(&session);
        let history = CompatHistory::of(&session, &view);
        let number = |name: &str| row[name].as_u64();
        let processed = number("processed_length").unwrap() as usize;
        let strategy = match row["strategy"].as_str().unwrap() {
            "no_compaction" => None,
            "keep_last_n" => Some(Design::KeepLast(number("n").unwrap() as usize)),
            "token_budget" => Some(Design::Budget(number("max_tokens").unwrap())),
            "llm_summarization" => Some(Design::Summary(number("keep").unwrap_or(2) as usize)),
            other => panic!("{other}"),
        };
        // A message's text ends with its position.
        let place = |text: &str| text[1..].parse::<usize>().ok();
        let counts = row["tokens"].as_array().cloned().unwrap_or_default();
        let calls: Vec<usize> = all.match_indices('C').map(|(at, _)| at).collect();
        let seen = std::cell::Cell::new(0);
        let count = |message: &crate::model::message::Message<'_>| {
            let at = match message.calls_tools() {
                true => calls[seen.replace(seen.get() + 1)],
                false => place(&message.text()).unwrap(),
            };
            counts.get(at).and_then(Value::as_u64).unwrap_or(0)
        };
        let choice = match strategy {
            Some(strategy) => design(&history, strategy, row["digest_tools"] == true, processed, &count),
            None => super::super::ViewChanges::unchanged(&history),
        };
        let kept = kept(&history, &choice);
        let dropped: Vec<usize> = (0..history.len()).filter(|at| !kept.contains(at)).collect();
        assert_eq!(dropped, indexes(&row["dropped"]), "{row}");
        assert_eq!(
            result(all, &history, &choice),
            row["result"].as_str().unwrap(),
            "{row}"
        );
        assert_eq!(choice.changes(), row["changed"] == true, "{row}");
        assert_eq!(choice.fits, row["fits"] != false, "{row}");
        if let Some(tokens) = number("tokens_after") {
            let left: u64 = kept.iter().map(|at| counts[*at].as_u64().unwrap()).sum();
            assert_eq!(left, tokens, "{row}");
        }
        tally.agree();
    }
    tally.close(&[]);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_digest_is_one_line_for_an_exchange() {
    let path = sample_data::path("goaitools/tables/tool_digest.json");
    let mut tally = Tally::of("goaitools tool_digest");
    for row in list(&json(&path)["rows"]) {
        let session = session(list(&row["messages"]));
        let view = View::replay(&session);
        let messages: Vec<_> = view.messages(&session).collect();
        assert_eq!(digest::exchange(&messages, &[]), row["digest"].as_str().unwrap());
        tally.agree();
    }
    tally.close(&[]);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn scenarios_agree_with_goaitools() {
    let mut tally = Tally::of("goaitools scenarios");
    for name in [
        "compact_message_limit_4", "compact_token_limit", "compact_tool_turn_wiped",
    ] {
        let path = sample_data::path(&format!("goaitools/scenarios/{name}.json"));
        let file = json(&path);
        for step in list(&file["steps"]) {
            let state =
                |name: &str| from_str::<Value>(step[name].as_str().unwrap_or(r#"{"messages":[]}"#)).unwrap();
            // The last request without the texts given with the call, plus the last reply.
            let sent = list(&step["sent_to_model"]).last().unwrap();
            let sent = list(sent).iter().skip_while(|message| super::is_rule(message));
            let reply: Value =
                from_str(list(&step["server_replies"]).last().unwrap().as_str().unwrap()).unwrap();
            let mut messages: Vec<Value> = sent.cloned().collect();
            messages.push(reply["choices"][0]["message"].clone());
            let compactor = &file["compactor"];
            let limits = match compactor["kind"].as_str().unwrap() {
                "message_limit" => CompactorLimit::Messages(compactor["max_messages"].as_i64().unwrap()),
                _ => CompactorLimit::Tokens {
                    max: compactor["max_tokens"].as_i64().unwrap(),
                    target: compactor["target_tokens"].as_i64().unwrap(),
                    prompt: reply["usage"]["prompt_tokens"].as_i64(),
                },
            };
            let session = session(&messages);
            let view = View::replay(&session);
            let history = CompatHistory::of(&session, &view);
            let choice = limit(&history, &[limits], history.len(), false, Precedence::Convo);
            let left = lines(&session, &view, &choice);
            if left == *list(&state("state_out")["messages"]) {
                tally.agree();
                continue;
            }
            assert!(!choice.fits && left == messages, "{name} {step}");
            tally.differ(&format!("{name}-{}", step["step"]));
        }
    }
    tally.close(&[("compact_tool_turn_wiped-1", "G1: the only exchange stays whole")]);
}

#[test]
fn unseen_messages_are_kept() {
    let all = "UAUAUA";
    let session = session(&letters(all));
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let choice = limit(
        &history,
        &[CompactorLimit::Messages(2)],
        2,
        false,
        Precedence::Convo,
    );
    assert_eq!(
        (result(all, &history, &choice).as_str(), choice.fits),
        ("UAUA", false)
    );
    let seen = limit(
        &history,
        &[CompactorLimit::Messages(2)],
        6,
        false,
        Precedence::Convo,
    );
    assert_eq!((result(all, &history, &seen).as_str(), seen.fits), ("UA", true));
}

/// Returns the kept messages and whether the earlier summary is kept.
fn with_summary(all: &str, most: i64, rules: Precedence) -> (String, bool, bool) {
    let mut session = session(&letters(all));
    session.push_new(br#"{"type":"summary","id":"evt_s","covers":null,"content":"old","before":null}"#);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let (at, _) = history.summaries().next().unwrap();
    let choice = limit(
        &history,
        &[CompactorLimit::Messages(most)],
        history.len(),
        false,
        rules,
    );
    (
        result(all, &history, &choice),
        !choice.is_dropped(at),
        choice.fits,
    )
}

#[test]
fn a_summary_counts_against_the_message_limit() {
    let run = |all, most| with_summary(all, most, Precedence::Convo);
    assert_eq!(run("UAUAUA", 4), ("UA".into(), true, true));
    assert_eq!(run("UAU", 4), ("UAU".into(), true, true));
    assert_eq!(run("UAUUCTA", 6), ("UUCTA".into(), true, true));
    // Only dropping the summary meets the limit.
    assert_eq!(run("UAUCTA", 4), ("UCTA".into(), false, true));
    assert_eq!(run("UA", 2), ("UA".into(), false, true));
    // Dropping the summary would not help, so it is kept.
    assert_eq!(run("UCTA", 3), ("UCTA".into(), true, false));
    let theirs = |all, most| with_summary(all, most, Precedence::Theirs);
    assert_eq!(theirs("UAUAUA", 4), ("UAUA".into(), false, true));
    assert_eq!(theirs("UAU", 4), ("UAU".into(), true, true));
    assert_eq!(theirs("UAUA", 4), ("UAUA".into(), false, true));
}

#[test]
fn leading_rules_are_kept_when_nothing_can_be_dropped() {
    assert_eq!(
        run("SAA", &[CompactorLimit::Messages(2)], false),
        ("SAA".into(), false, String::new())
    );
    assert_eq!(
        run("SUCTA", &[CompactorLimit::Messages(2)], false),
        ("SUCTA".into(), false, String::new())
    );
}

#[test]
fn a_digest_counts_against_the_budget() {
    let all = "UCTAUCTAUA";
    let session = session(&letters(all));
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let run = |budget| {
        let choice = design(&history, Design::Budget(budget), true, 10, &measure("messages"));
        (result(all, &history, &choice), choice.fits)
    };
    assert_eq!(run(7), ("DUCTAUA".into(), true));
    assert_eq!(run(6), ("DDUA".into(), true));
    assert_eq!(run(3), ("DDUA".into(), false));
}

#[test]
fn a_late_result_is_not_separated_from_its_call() {
    let mut messages = letters("UCTUAUA");
    let result = messages.remove(2);
    messages.insert(3, result); // after the next question
    let session = session(&messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let run = |rules| {
        kept(
            &history,
            &limit(&history, &[CompactorLimit::Messages(5)], 7, false, rules),
        )
    };
    assert_eq!(run(Precedence::Theirs), [2, 3, 4, 5, 6]);
    assert_eq!(run(Precedence::Convo), [5, 6]);
}
