//! Doubtful instructions: those whose words alone hardly read like a rule, of which a long conversation always has some.

use super::super::quoted_instructions::certain;
use super::*;

/// Unseen rules, the clear ones and the doubtful ones.
fn unseen() -> [Vec<&'static str>; 2] {
    let lines = include_str!("unseen.txt").lines();
    let rules = lines.filter_map(|line| line.strip_prefix("+ "));
    let found = rules.filter(|rule| standing_instructions(rule) == [*rule]);
    let (clear, doubtful) = found.partition(|rule| certain(&[of_user(rule)], &[]).len() == 1);
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
    let (clear, doubtful) = (&clear[..20], &doubtful[..40]);
    let quoted = |rules: &[&str]| quoted(rules, None, 100_000);
    assert_eq!(quoted(doubtful).len(), 8);
    let both = quoted(&[clear, doubtful].concat());
    assert!(clear.iter().all(|rule| both.contains(&rule.to_string())));
}

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
    assert_eq!(quoted(&doubtful[20..40], Some(&previous), 100_000), first);
}

#[test]
fn what_changes_a_rule_takes_no_tokens_of_newer_rules() {
    let old = [
        "Write in a formal tone.",
        "On reflection, a casual tone works better.",
    ];
    let newer = [
        "Never push to main.",
        "Never delete a backup.",
        "Always ask me before you commit.",
    ];
    let all = [&old[..], &newer[..]].concat();
    assert_eq!(quoted(&all, None, 1000), all);
    let (tight, loose) = (quoted(&all, None, 26), quoted(&all[..3], None, 26));
    assert_eq!(tight, newer);
    assert_eq!(loose, all[..3]);
}
