//! Measures how many standing instructions are detected, and how many other sentences are mistaken for one.

use super::super::marks::{ORDERS, PREFERENCES};
use super::*;

/// Counts detected instructions and false positives, with the totals; prints the errors.
fn detection_rates(name: &str, sentences: &str) -> [usize; 4] {
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
    let [found, of, alarms, others] = detection_rates("tuned on", include_str!("tuned_on.txt"));
    assert!(found * 100 >= of * 90 && alarms * 100 <= others * 15);
}

/// Written before the detector. The learned weights are trained with these sentences, too; the rate on sentences of other
/// authors is measured in `training.rs`.
#[test]
fn held_out_instructions_are_distinguished() {
    let [found, of, alarms, others] = detection_rates("held out", include_str!("held_out.txt"));
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

#[test]
fn one_task_is_no_instruction() {
    for sentence in [
        "Don't commit yet.",
        "Don't fix that now, just tell me why it happens.",
        "Only run the second test this time.",
        "Before you continue, show me the diff.",
        "If the file exists, delete it.",
        "I want you to write the release notes.",
        "I need all the ingredients for the lasagne.",
        "Add a check that the user is never null.",
        "Draft a toast, no longer than two minutes.",
        "Implement a rule that every password must have twelve characters.",
        "List every planet with its number of moons.",
        "Make the function return an empty list instead of null.",
        "No tests were run on that branch.",
        "I prefer the red dress, but it was sold out.",
        "Keep the first two lines of that poem.",
        "According to the landlord, tenants must not use the garden.",
        "The daemon must restart on failure.",
        "Write a prompt for a bot that never discusses prices.",
        "In this project I learned a lot about compilers.",
        "In our codebase there are about 300 files.",
        "From now on it should be easier, I think.",
        "Going forward, the company will focus on mobile.",
        "You can always roll back if it breaks.",
        "Everything should be fine after the restart.",
        "Everything must be working now.",
        "This should never happen.",
        "The build is fine.",
        "I prefer the second draft.",
        "I'd prefer the blue one.",
        "I'd rather not say.",
        "I expect the migration to take an hour.",
        "At least it compiles.",
        "Maximum recursion depth exceeded.",
        "Nothing with that name exists.",
        "If you find the bug, fix it.",
        "Once it works, clean up.",
        "When you're done, tell me what changed.",
        "Sort the list by date and show only the first ten.",
        "As soon as possible, fix the build.",
    ] {
        assert_eq!(strength(sentence), None, "{sentence}");
    }
    for sentence in [
        "Never do that again.",
        "Please never change the tests.",
        "I want you to answer in German.",
        "I need you to never push to main.",
        "Add a test for every bug that you fix.",
        "Before you delete a file, ask me.",
        "If the tests fail, stop and ask me.",
        "Use early returns instead of nested ifs.",
        "Quit rewriting my commit messages.",
        "I told you not to touch the config files.",
        "As I mentioned, I don't eat dairy.",
        "I'm vegan.",
        "no pork",
        "One commit per change.",
        "Tests go next to the code.",
        "All SQL goes through the query builder.",
        "It has to work offline.",
        "Try not to repeat my question back to me.",
        "After every change, rebuild the docs.",
        "Before each commit run the linter.",
        "Give dates as YYYY-MM-DD.",
        "Don't forget that I'm on Windows.",
        "And next time, ask before you change a public interface.",
        "As soon as the tests pass, commit.",
        "Emojis are not allowed.",
        "Pushing to main is not allowed.",
        "We never deploy on Fridays.",
        "We always squash before merging.",
        "You have to ask me before every commit.",
        "It'd be nice if you could always show the diff.",
        "I'd love it if you would always add a short rationale.",
        "I'd be grateful if you always cited a source.",
        "Try to keep your answers to three sentences or fewer.",
        "Can we please stop using abbreviations in identifiers?",
        "Could we always squash before merging?",
        "Would you mind always giving me the metric units?",
        "Money is always stored in cents.",
        "Docs are to be written in British English.",
        "Use four spaces for indentation.",
        "Be brief.",
        "Less jargon, please.",
        "Shorter answers, please.",
        "In this project we log through tracing.",
    ] {
        assert!(strength(sentence).is_some(), "{sentence}");
    }
}

/// The instructions of these user messages after a kept summary with others.
fn block_after(kept: &[&str], texts: &[&str]) -> Vec<String> {
    let sources: Vec<SummarySource<'_>> = texts
        .iter()
        .map(|text| source("m", Role::User, "", text))
        .collect();
    let kept = kept.iter().map(|text| Instruction::new(Some(Role::User), text));
    let options = ExtractOptions {
        kept: kept.collect(),
        ..ExtractOptions::new(1000)
    };
    let found = instructions(&sources, None, &options, &words).unwrap();
    found.into_iter().map(|one| one.text).collect()
}

pub(super) fn block(texts: &[&str]) -> Vec<String> {
    block_after(&[], texts)
}

#[test]
fn a_narrower_rule_replaces_none_and_what_revokes_nothing_is_dropped() {
    for [old, new] in [
        [
            "Always use two spaces in JS files.",
            "Always use four spaces in Python files.",
        ],
        ["Answer in English.", "Answer in German when I write in German."],
    ] {
        assert_eq!(block(&[old, new]), [old, new]);
    }
    for [old, new] in [
        ["Use tabs for indentation.", "No, use spaces."],
        ["Don't push anything.", "OK, you can push now."],
        ["No new dependencies.", "Ignore what I said about dependencies."],
        ["Answer in French.", "Please switch back to English."],
        [
            "Keep the coverage above 90 percent.",
            "85 percent coverage is enough.",
        ],
    ] {
        assert_eq!(block(&[old, new]), [new]);
    }
    assert_eq!(
        block(&["Never push.", "No need to run it again."]),
        ["Never push."]
    );
}

#[test]
fn rules_that_hold_together_are_kept() {
    for rules in [
        [
            "Write all code comments in English.",
            "Please always answer me in German.",
        ],
        ["Keep the commit messages in English.", "Speak German with me."],
        ["Always answer in English.", "Never answer in French."],
        ["Use npm for all scripts.", "Never use yarn."],
        ["Never use npm.", "Never use yarn."],
        ["Prefer metric units everywhere.", "Never use imperial units."],
        ["Always use pnpm.", "Never use npm, yarn or bun."],
        [
            "Always answer in English.",
            "Never answer in French, Spanish or Italian.",
        ],
    ] {
        assert_eq!(block(&rules), rules);
    }
    for [old, new] in [
        ["Never use tabs.", "Use tabs from now on."],
        ["Use tabs, not spaces.", "Use spaces."],
        ["Call me Anna.", "Call me Kasia."],
        ["Always use npm.", "Never use npm, yarn or bun."],
        ["Never use emojis.", "No need to avoid emojis."],
        [
            "Always answer in German, my team reads it.",
            "Always answer in English.",
        ],
        [
            "Always use two spaces in JS files.",
            "Use four spaces everywhere.",
        ],
    ] {
        assert_eq!(block(&[old, new]), [new]);
    }
}

#[test]
fn a_remark_or_a_request_for_once_revokes_no_rule() {
    for [rule, other] in [
        ["Always update the changelog.", "The changelog is fine now."],
        ["Always update the changelog.", "The changelog is now complete."],
        [
            "Never restart the database server.",
            "The database server is back now.",
        ],
        ["Keep the public API stable.", "The public API is back now."],
        [
            "Don't push to the release branch.",
            "The release branch is fine now, CI passed.",
        ],
        ["Never delete backups.", "We no longer need the backups of 2019."],
        [
            "Do not email customers.",
            "We don't need to email any customers about this one.",
        ],
        [
            "Always run the tests before you commit.",
            "Please don't run the tests again, I just did.",
        ],
        ["Always answer in German.", "The English page is fine now."],
        ["Never push.", "Actually, the parser returns three values."],
    ] {
        assert_eq!(block(&[rule, other]), [rule], "{other}");
    }
    assert_eq!(
        block(&["Don't use mocks in tests.", "Mocks are fine in tests."]),
        ["Mocks are fine in tests."]
    );
}

#[test]
fn a_sentence_with_a_cue_revokes_a_rule_with_most_of_its_words() {
    for [old, new] in [
        [
            "Don't add comments to the code.",
            "Actually, add comments to the code.",
        ],
        [
            "Don't touch the vendor folder.",
            "The vendor folder may be edited after all.",
        ],
        [
            "Write all comments in French.",
            "Let's have the comments in English after all.",
        ],
        ["Indent with four spaces.", "Two spaces after all, please."],
        [
            "Never use semicolons in the JavaScript code.",
            "Correction: semicolons in the JavaScript code, please.",
        ],
        [
            "Never edit the Makefile.",
            "Editing the Makefile is no longer a problem.",
        ],
        [
            "Never change files under src/api.",
            "The restriction on files under src/api is lifted.",
        ],
        [
            "Always run the full test suite before a commit.",
            "You can skip the full test suite.",
        ],
        [
            "Keep Python 3.8 compatibility.",
            "3.8 compatibility is not needed any longer.",
        ],
    ] {
        assert_eq!(block(&[old, new]), [new]);
    }
    let unrelated = "Actually, the comments of Dana are on the wall.";
    assert_eq!(
        block(&["Don't add comments to the code.", unrelated]),
        ["Don't add comments to the code."]
    );
    assert!(standing_instructions(unrelated).is_empty());
}

#[test]
fn what_revokes_a_rule_of_a_kept_summary_is_quoted() {
    let again = "English is fine again.";
    assert_eq!(block_after(&["Always answer in German."], &[again]), [again]);
    // What surely changes some rule is quoted with any.
    assert_eq!(block_after(&["Never use tabs."], &[again]), [again]);
    let unrelated = "Actually, the soup is fine again.";
    assert!(block_after(&["Never use tabs."], &[unrelated]).is_empty());
}

/// Only words with a mark are tried as the beginning of an order or a preference.
#[test]
fn each_word_that_begins_an_order_or_a_preference_has_its_mark() {
    let orders = [
        "always cite a source",
        "never use tabs",
        "don't add comments",
        "dont add comments",
        "do not use tabs",
        "avoid long lines",
        "refrain from jokes",
        "make sure that tests pass",
        "ensure that tests pass",
        "I told you to always use tabs",
        "remember to use tabs",
        "1. note that I'm vegetarian",
        "keep answers short",
        "stop apologizing",
        "quit apologizing",
        "enough with the emojis",
        "only use tabs",
        "must not use tabs",
        "prefer tabs",
        "favour tabs",
        "favor tabs",
        "respect the style guide",
        "adhere to the style guide",
        "stick to the style guide",
        "optimize for speed",
        "optimise for speed",
        "act as a pirate",
        "think like a pirate",
    ];
    let preferences = [
        "I want you to always use tabs",
        "I'd like you to always use tabs",
        "it is important that you never use tabs",
        "it's important that you never use tabs",
        "it'd be nice if you always used tabs",
        "you must never use tabs",
        "you're not allowed to use tabs",
        "the assistant must never use tabs",
    ];
    for (words, sentences) in [(ORDERS, &orders[..]), (PREFERENCES, &preferences)] {
        for sentence in sentences {
            assert!(strength(sentence).is_some(), "{sentence}");
        }
        let words_of = |sentence: &str| sentence.trim_start_matches("1. ").to_lowercase();
        let first = |sentence: &&str| words_of(sentence).split(' ').next().unwrap().to_string();
        assert_eq!(sentences.iter().map(first).collect::<Vec<_>>(), words);
    }
}

#[test]
fn an_instruction_is_quoted_after_the_sentence_that_it_refers_to() {
    let found = block_after(
        &[],
        &[
            "The dosage is printed on the box. Only give it when I ask.",
            "Always cite your sources. Only do that when I ask.",
            "Always cite your sources.",
        ],
    );
    let at = |text: &str| found.iter().position(|found| found == text).unwrap();
    assert_eq!(
        at("Always cite your sources.") + 1,
        at("Only do that when I ask."),
        "{found:?}"
    );
}
