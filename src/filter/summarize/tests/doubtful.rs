//! Doubtful instructions: those whose words alone hardly read like a rule, of which a long conversation always has some.

use super::super::detection::{InstructionKind, detected, doubts};
use super::super::handoff::SessionFacts;
use super::super::words::Sentence;
use super::*;

/// Unseen rules, the clear ones and the doubtful ones.
fn unseen() -> [Vec<&'static str>; 2] {
    let lines = include_str!("unseen.txt").lines();
    let rules = lines.filter_map(|line| line.strip_prefix("+ "));
    let found = rules.filter(|rule| standing_instructions(rule) == [*rule]);
    let (clear, doubtful) = found.partition(|rule| certain(&[of_user(rule)]).len() == 1);
    [clear, doubtful]
}

fn of_user(text: &str) -> SummarySource<'_> {
    source("m", Role::User, "", text)
}

fn quoted(texts: &[&str], previous: Option<&str>, budget: u64) -> Vec<String> {
    let sources: Vec<SummarySource<'_>> = texts.iter().map(|text| of_user(text)).collect();
    let options = ExtractOptions {
        style: SummaryStyle {
            instruction_share: 100,
            ..SummaryStyle::default()
        },
        ..ExtractOptions::new(budget)
    };
    let found = instructions(&sources, previous, &options, &words).unwrap();
    found.into_iter().map(|one| one.text).collect()
}

#[test]
fn few_doubtful_instructions_are_quoted_after_all_clear_ones() {
    let [clear, doubtful] = unseen();
    // Of the first ones, none changes another.
    let (clear, doubtful) = (&clear[..20], &doubtful[..40]);
    let tokens = |rules: &[&str]| {
        quoted(rules, None, 100_000)
            .iter()
            .map(|rule| words(rule) + 2)
            .sum::<u64>()
            + 4
    };
    let reads_like_a_rule = |rule: &&str| {
        detected(rule, Role::User).all(|found| found.kind == InstructionKind::Rule && !doubts(&found))
    };
    let rules: Vec<&str> = doubtful.iter().copied().filter(reads_like_a_rule).collect();
    let all = [clear, &rules].concat();
    // Some read like changes, which have places of their own.
    assert!((8..=12).contains(&quoted(doubtful, None, 100_000).len()));
    let both = quoted(&all, None, 100_000);
    assert!(clear.iter().all(|rule| both.contains(&rule.to_string())));
    let tokens_of_clear = tokens(clear);
    assert_eq!(quoted(&all, None, tokens_of_clear), clear);
    let some = quoted(&all, None, tokens_of_clear + 40);
    assert!(clear.iter().all(|rule| some.contains(&rule.to_string())));
    assert!((clear.len() + 1..clear.len() + 8).contains(&some.len()));
}

#[test]
fn sentences_with_a_form_come_before_newer_ones_that_only_read_like_a_rule() {
    let formed = "Never quote a price without its currency.";
    let learned = "Budget for rings is 1,200.";
    assert_eq!(quoted(&[formed, learned], None, 100), [formed, learned]);
    assert_eq!(quoted(&[formed, learned], None, 14), [formed]);
    // What must not happen comes first.
    let forbids = "No ABBA under any circumstances, Jonas hates it.";
    assert_eq!(quoted(&[forbids, learned], None, 14), [forbids]);
    let firm = "Please give amounts in euros, and never suggest anything with nuts.";
    assert_eq!(
        quoted(&[firm, "Name branches after the ticket."], None, 17),
        [firm]
    );
}

#[test]
fn a_clear_change_without_a_known_rule_comes_before_the_rules_within_half_of_the_budget() {
    let rules = [
        "Never quote a price without its currency.",
        "Never sign a letter without my title.",
    ];
    let change = "It's only me in this chat these days, you can leave that away.";
    let all = [rules[0], rules[1], change];
    assert_eq!(quoted(&all, None, 100), all);
    assert_eq!(quoted(&all, None, 31), [rules[1], change]);
    assert_eq!(quoted(&all, None, 26), rules);
}

#[test]
fn the_most_certain_of_the_doubtful_instructions_are_quoted() {
    let [_, doubtful] = unseen();
    let mut by_score: Vec<(i32, &str)> = doubtful[..40].iter().map(|rule| (score(rule), *rule)).collect();
    by_score.sort_unstable();
    let best: Vec<&str> = by_score[32..].iter().map(|(_, rule)| *rule).collect();
    let quoted = quoted(&doubtful[..40], None, 100_000);
    assert!(
        best.iter().all(|rule| quoted.contains(&rule.to_string())),
        "{best:?}\n{quoted:?}"
    );
}

fn score(rule: &str) -> i32 {
    Sentence::of(without_list_mark(rule)).map_or(i32::MIN, |sentence| sentence.learned().rule)
}

/// With or without the messages that the earlier summary covers.
#[test]
fn doubtful_instructions_of_an_earlier_summary_leave_no_room_for_further_ones() {
    let [_, doubtful] = unseen();
    let first = quoted(&doubtful[..20], None, 100_000);
    assert_eq!(first.len(), 8);
    let block: Vec<Instruction> = first
        .iter()
        .map(|text| Instruction::new(Some(Role::User), text))
        .collect();
    let previous = text::beginning(&head(&[]), &block);
    for further in [&doubtful[20..40], &doubtful[..40]] {
        let quoted = quoted(further, Some(&previous), 100_000);
        assert!(first.iter().all(|rule| quoted.contains(rule)));
        // Some rules read like changes.
        assert!(quoted.len() <= first.len() + 4, "{quoted:?}");
    }
}

#[test]
fn a_rule_is_quoted_with_what_changes_it_or_not_at_all() {
    let pair = [
        "Write in a formal tone.",
        "On reflection, a casual tone works better.",
    ];
    let newer = [
        "Never push to main.",
        "Never delete a backup.",
        "Always ask me before you commit.",
    ];
    let all = [&pair[..], &newer[..]].concat();
    let block = pair.map(|text| Instruction::new(Some(Role::User), text));
    let previous = text::beginning(&head(&[]), &block);
    for budget in 4..60 {
        for quoted in [
            quoted(&pair, None, budget),
            quoted(&all, None, budget),
            quoted(&[], Some(&previous), budget),
            quoted(&newer, Some(&previous), budget),
        ] {
            let has = |text: &str| quoted.contains(&text.to_string());
            assert!(!has(pair[0]) || has(pair[1]), "{budget}: {quoted:?}");
        }
    }
    assert_eq!(quoted(&all, None, 60), all);
    assert_eq!(quoted(&all, None, 26), newer);
}

#[test]
fn what_changes_a_rule_of_a_kept_summary_comes_first() {
    let newer = [
        "Never push to main.",
        "Always ask me before you commit.",
        "Never delete a backup.",
    ];
    for (rule, change) in [
        (
            "Write in a formal tone.",
            "On reflection, a casual tone works better.",
        ),
        ("Never deploy on Fridays.", "You can deploy on Fridays now."),
        ("Always use tabs.", "Use spaces instead."),
    ] {
        let texts = [&[change][..], &newer[..]].concat();
        let sources: Vec<SummarySource<'_>> = texts.iter().map(|text| of_user(text)).collect();
        let options = ExtractOptions {
            style: SummaryStyle {
                instruction_share: 100,
                ..SummaryStyle::default()
            },
            kept: vec![Instruction::new(Some(Role::User), rule)],
            ..ExtractOptions::new(20)
        };
        let quoted: Vec<String> = instructions(&sources, None, &options, &words)
            .unwrap()
            .into_iter()
            .map(|one| one.text)
            .collect();
        assert!(
            quoted.contains(&change.to_string()) && quoted.len() < 4,
            "{quoted:?}"
        );
    }
}

/// Pairs of an unseen rule that is not doubtful and its change, both of which are found if there are no others.
fn pairs() -> Vec<[&'static str; 2]> {
    let lines = include_str!("unseen_changes.txt").lines();
    let pairs = lines
        .filter_map(|line| line.split_once('\t'))
        .map(|(old, new)| [old, new]);
    let is_clear = |rule: &str| certain(&[of_user(rule)]).len() == 1;
    let are_found = |pair: &[&str; 2]| quoted(pair, None, 1000) == *pair && is_clear(pair[0]);
    pairs.filter(are_found).collect()
}

#[test]
fn changes_without_a_known_rule_are_quoted_next_to_many_rules() {
    for eight in pairs().chunks_exact(8).take(8) {
        let quoted = quoted(&eight.concat(), None, 4000);
        for [rule, change] in eight {
            let has = |text: &str| quoted.contains(&text.to_string());
            assert!(!has(rule) || has(change), "{rule} {change}");
        }
    }
}

#[test]
fn the_next_summary_of_the_same_messages_quotes_the_same() {
    let [clear, doubtful] = unseen();
    let pairs = pairs();
    for nth in 0..8 {
        let of = |all: &[&'static str]| all[8 * nth..8 * nth + 8].to_vec();
        let texts = [of(&clear), of(&doubtful), pairs[4 * nth..4 * nth + 4].concat()].concat();
        for budget in (20..500).step_by(23) {
            let first = quoted(&texts, None, budget);
            let block: Vec<Instruction> = first
                .iter()
                .map(|text| Instruction::new(Some(Role::User), text))
                .collect();
            let previous = text::beginning(&head(&[]), &block);
            assert_eq!(quoted(&texts, Some(&previous), budget), first, "{budget}");
            assert_eq!(quoted(&[], Some(&previous), budget), first, "{budget} {texts:?}");
        }
    }
}

#[test]
fn a_handoff_quotes_doubtful_instructions_only_as_requests() {
    let [clear, doubtful] = unseen();
    let (rule, task) = (clear[0], doubtful[0]);
    let tasks = [
        task,
        "Make sure the new function handles None and add a test.",
        "Delete every file under tmp/.",
    ];
    let handed = |previous: Option<&str>| {
        let said = [&[rule][..], &tasks].concat();
        let facts = SessionFacts {
            requests: said.iter().map(|text| (*text).into()).collect(),
            ..SessionFacts::default()
        };
        let options = ExtractOptions {
            covered: Some(10_000),
            ..ExtractOptions::new(1000)
        };
        let rules: Vec<SummarySource<'_>> = said.into_iter().map(of_user).collect();
        hand_over(facts, &rules, &rules, previous, &options, &words).unwrap()
    };
    let first = handed(None);
    assert_eq!(first.instructions, [rule]);
    assert_eq!(text::read(&first.text).facts.requests, tasks);
    // A conversation quotes its requests nowhere else.
    assert_eq!(quoted(&tasks[1..], None, 100), tasks[1..]);
    // Those of an earlier summary are kept.
    let block = [task].map(|text| Instruction::new(Some(Role::User), text));
    let previous = text::beginning(&head(&[]), &block);
    assert_eq!(handed(Some(&previous)).instructions.len(), 2);
}

/// What a summary quotes as instructions if the assistant gives these replies to these remarks, one by one.
fn quoted_in_dialogue(remarks: &[&str], replies: &[&str], previous: Option<&str>) -> Vec<String> {
    let pairs = (0..remarks.len().max(replies.len())).flat_map(|nth| {
        let remark = remarks.get(nth).copied().unwrap_or("And then?");
        let reply = replies[nth % replies.len()];
        [
            source("u", Role::User, "", remark),
            source("a", Role::Assistant, "", reply),
        ]
    });
    let pairs: Vec<SummarySource<'_>> = pairs.collect();
    let options = ExtractOptions {
        covered: Some(10_000),
        ..ExtractOptions::new(1000)
    };
    let said: Vec<_> = pairs
        .iter()
        .filter(|source| source.role == Role::User)
        .cloned()
        .collect();
    let summary = extract(&pairs, &said, previous, &options, &words);
    summary.unwrap().instructions
}

const OF_PEOPLE: [&str; 4] = [
    "My sister moved to Leeds in May.",
    "I lost my keys and called our neighbor.",
    "How did it go with the van?",
    "We won the cup, and my dad cried.",
];

#[test]
fn dialogues_between_people_have_no_doubtful_instructions() {
    let [clear, doubtful] = unseen();
    let remarks = [clear[0], clear[1], doubtful[0], doubtful[1]];
    let longest = "I wrote my letter and our report was done. ".repeat(10);
    let of_programs = [
        "I fixed the test and moved the file.",
        "I tried that, and it failed.",
        "My mistake, I checked my notes and changed `my_home` in my-car/config.toml.",
        &longest,
    ];
    let people = OF_PEOPLE.repeat(3);
    assert_eq!(quoted_in_dialogue(&remarks, &people, None), clear[..2]);
    let program = of_programs.repeat(3);
    let all = quoted_in_dialogue(&remarks, &program, None);
    assert!(all.len() > 2, "{all:?}");
    // Too few to know.
    assert_eq!(quoted_in_dialogue(&remarks, &OF_PEOPLE, None), all);
}

#[test]
fn an_earlier_summary_shows_that_people_speak_and_keeps_its_instructions() {
    let [clear, doubtful] = unseen();
    let entries = OF_PEOPLE.map(|text| format!("assistant: {text}\n")).concat();
    let earlier = format!(
        "[summary of 20 messages]\nstanding instructions, by speaker:\n- user: {}\n{entries}",
        doubtful[2]
    );
    let remarks = [clear[0], doubtful[0]];
    assert_eq!(
        quoted_in_dialogue(&remarks, &OF_PEOPLE, Some(&earlier)),
        [doubtful[2], clear[0]]
    );
}
