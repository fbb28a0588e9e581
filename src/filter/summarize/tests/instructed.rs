//! Measures how many standing instructions are detected by form, and how many other sentences are mistaken for one.

use super::*;

/// Counts detected instructions and false positives, with the totals; prints the errors.
fn told(name: &str, sentences: &str) -> [usize; 4] {
    let mut rates = [0; 4];
    for line in sentences.lines() {
        let (mark, sentence) = line.split_at(2);
        let found = strength(sentence).is_some();
        let expected = mark == "+ ";
        let at = if expected { 0 } else { 2 };
        rates[at] += usize::from(found);
        rates[at + 1] += 1;
        if found != expected {
            eprintln!("{name}: wrong: {line}");
        }
    }
    let [found, of, false_alarms, others] = rates;
    eprintln!("{name}: {found} of {of} found, {false_alarms} of {others} false alarms");
    rates
}

#[test]
fn instructions_are_distinguished_from_other_sentences() {
    let [found, of, alarms, others] = told("tuned on", include_str!("tuned_on.txt"));
    assert!(found * 100 >= of * 90 && alarms * 100 <= others * 15);
}

/// Written before the detector and not used to tune it, but by the same author, so the rate on other people's
/// sentences is lower.
#[test]
fn held_out_instructions_are_distinguished() {
    let [found, of, alarms, others] = told("held out", include_str!("held_out.txt"));
    assert!(found * 100 >= of * 90 && alarms * 100 <= others * 15);
}

#[test]
fn answers_reports_and_single_tasks_set_no_rule() {
    for sentence in [
        "no, that's horrible.",
        "no, it's not phase 1",
        "yes need to be fully clean",
        "No fixes applied.",
        "No errors, everything is working fine",
        "read the parser file in full please and tell me if there are any other things",
        "split it into separate modules with a description of each module",
        "write some markdown here in chat, anything you can do",
    ] {
        assert_eq!(strength(sentence), None, "{sentence}");
    }
    for sentence in [
        "no semicolons.",
        "No emojis, they look silly.",
        "Tell me before any change of the schema.",
        "Give each module a description.",
        "yes, always run the tests",
    ] {
        assert!(strength(sentence).is_some(), "{sentence}");
    }
    let pasted = "{\"error\":{\"message\":\"every block must have an id\"}}";
    assert!(standing_instructions(pasted).is_empty());
}
