//! Rules about things of the work, and what replaces them.

use super::forms::distinguishes;
use super::instructed::block;
use super::*;

#[test]
fn a_statement_about_things_of_the_work_is_a_rule() {
    distinguishes(
        &[
            "All timestamps are stored in UTC.",
            "Public functions need a doc comment.",
            "Public APIs get semantic versioning.",
            "Database columns are snake_case.",
            "Amounts are in thousands of euros throughout.",
            "No commented-out code in commits.",
            "We write tests with Vitest.",
            "Any change to the schema requires my approval.",
            "For internal memos, use bullet points.",
            "For code reviews, list the bugs first.",
            "Replies to customers are signed by \"The Support Team\".",
            "Each poem has exactly twelve lines.",
            "Dates before 1900 get the suffix AD.",
            "Variables should have meaningful names.",
            "Hotels must have free parking.",
            "Numbers below ten are written out.",
            "Deliver all tables in Markdown.",
            "Include calories per serving.",
            "Flag anything that looks like personal data.",
            "Titles: max 60 characters.",
            "Number your suggestions.",
            "Functions shouldn't have side effects.",
            "Type annotations on all public methods.",
            "Warranty claims require the serial number.",
            "Refuse refunds without a receipt.",
            "Salt-free, please.",
            "Leave comments in Polish.",
            "Responses under 200 words.",
            "Log in UTC.",
            "I'd like a short recap at the end of every session.",
            "Spaces around operators, please.",
            "I use a wheelchair.",
            "Actually, answer me in German.",
            "Tests first, then code.",
            "It's crucial that citations follow APA.",
        ],
        &[
            "Plants need a lot of water.",
            "Tests need fixing.",
            "Prices are lower in Spain.",
            "For beginners, recommend a book.",
            "In Germany, shops must close on Sundays.",
            "Every good story needs a villain, I think.",
            "No pets allowed in the new flat, sadly.",
            "Our team uses Slack a lot.",
            "No cookies left.",
            "No parking here, says the sign.",
            "No two snowflakes are alike.",
            "Add error handling to every function in utils.py.",
            "My level is B1.",
            "Use your imagination!",
            "Prefer not to.",
            "Bold headings look better, in my opinion.",
            "Explain your reasoning.",
            "Keep out of reach of children.",
        ],
    );
}

#[test]
fn an_instruction_for_whatever_happens_is_a_rule() {
    distinguishes(
        &[
            "Escalate if a customer mentions a lawyer.",
            "Tell me when you are not sure about a number.",
            "Let the players fail if they roll badly.",
            "Tell the user when an item is out of stock.",
            "Before running anything destructive, get my ok.",
            "Transfer to a human if the caller asks for one twice.",
            "I'd like you to warn me when a number is wrong.",
            "Whatever I ask, give the short version first.",
            "Ask one question if my request is vague.",
            "In emails to suppliers, be firm but friendly.",
            "I can't stand long lists, so three items at most.",
            "I'm a complete beginner with Rust, explain things accordingly.",
            "Please run the formatter before you hand anything back.",
        ],
        &[
            "Tell me when the build is done.",
            "Check if a file is missing.",
            "Explain what happens if a request fails.",
            "Return 0 if a value is missing.",
            "Let the kids play if they want.",
        ],
    );
}

#[test]
fn a_rule_about_one_thing_replaces_none_about_another() {
    for rules in [
        [
            "Always answer in German.",
            "Write code comments in English from now on.",
        ],
        ["Answer in French.", "Answer customers in English from now on."],
        ["Commit messages in English.", "Actually, answer me in German."],
        [
            "Use tabs for indentation.",
            "From now on use two spaces in YAML files.",
        ],
        [
            "Never use emojis in emails.",
            "Emojis are fine in chat from now on.",
        ],
    ] {
        assert_eq!(block(&rules), rules);
    }
    for [old, new] in [
        [
            "Always answer in German.",
            "Actually, answer in English from now on.",
        ],
        [
            "Commit messages in English.",
            "Write commit messages in German from now on.",
        ],
        [
            "Use four spaces in YAML files.",
            "From now on use tabs everywhere.",
        ],
    ] {
        assert_eq!(block(&[old, new]), [new]);
    }
    assert!(standing_instructions("No answer from the bank yet.").is_empty());
}
