//! What a handoff does not repeat, and the text of programs that it does not quote.

use super::super::handoff::{Command, SessionFacts};
use super::handed::{facts, handed};
use super::*;

#[test]
fn the_text_of_a_program_around_a_summary_is_not_quoted() {
    let lines = "This session is being continued from a previous conversation that ran out of context.\nThe importer \
                 retries.\nPlease continue the conversation from where we left it off without asking.";
    let mut facts = facts();
    facts.add_lines_of_summary(lines);
    let text = handed(facts, Some(&format!("Anna imports rows.\n{lines}")), 1000).text;
    let block = text.split("earlier:\n").nth(1).unwrap();
    let block: Vec<&str> = block.lines().take(3).collect();
    assert_eq!(
        block,
        [
            "- Anna imports rows.", "- The importer retries.", "- The importer retries."
        ],
        "{text}"
    );
    assert!(!text.contains("continue the conversation"), "{text}");
    let extracted = ExtractOptions {
        covered: Some(10_000),
        ..ExtractOptions::new(100)
    };
    let text = extract(&[], &[], Some(lines), &extracted, &words).unwrap().text;
    assert!(
        text.contains("The importer retries.") && !text.contains("ontinue"),
        "{text}"
    );
}

#[test]
fn requests_do_not_repeat_standing_instructions() {
    let texts = [
        "Fix the login bug in src/auth.rs. Never push to main without asking me.",
        "From now on, always run the tests.",
        "Rename it. From now on, always run the tests. Then commit.\n\nThanks.",
        "- Never use tabs.\n- Add a header.\n- Add a footer.",
    ];
    let rules_from = texts.map(|text| source("a", Role::User, "", text));
    let facts = SessionFacts {
        requests: texts.map(Into::into).to_vec(),
        ..facts()
    };
    let options = ExtractOptions {
        covered: Some(10_000),
        ..ExtractOptions::new(1000)
    };
    let text = hand_over(facts, &[], &rules_from, None, &options, &words)
        .unwrap()
        .text;
    let (instructions, rest) = text.split_once("requests:\n").unwrap();
    assert_eq!(instructions.matches("\n- user: ").count(), 3, "{text}");
    assert!(
        rest.starts_with(
            "- Fix the login bug in src/auth.rs.\n- Rename it. [...] Then commit.\n  Thanks.\n- - Add a header.\n  - Add a footer.\nplan:"
        ),
        "{text}"
    );
}

/// A sentence of few words is quoted with the one before, unless that is an instruction.
#[test]
fn entries_do_not_repeat_standing_instructions_with_short_sentences() {
    let texts = [
        "Never use float. Fix it. No emojis.",
        "The report has many parts. Draft it. Call me Jo. Print it.",
    ];
    let sources = texts.map(|text| source("a", Role::User, "", text));
    let options = ExtractOptions {
        covered: Some(10_000),
        ..ExtractOptions::new(1000)
    };
    let summary = extract(&sources, &sources, None, &options, &words).unwrap();
    assert_eq!(
        summary.instructions,
        ["Never use float.", "No emojis.", "Call me Jo."]
    );
    let quoted: Vec<&str> = summary.text.lines().skip(5).collect();
    assert_eq!(
        quoted,
        [
            "user: Fix it.",
            "user: The report has many parts. Draft it. [...] Print it."
        ]
    );
}

#[test]
fn equal_lines_of_commands_are_one() {
    let mut facts = SessionFacts::default();
    for nth in 0..40 {
        let text = format!("cd /w && git commit -m '{}{nth}'", "the importer ".repeat(20));
        *facts.commands.seen(&text) = Command {
            runs: 1 + nth % 2,
            failure: (nth == 20).then(|| "1: nothing to commit".to_string()),
            ..Command::default()
        };
    }
    let text = handed(facts, None, 120).text;
    let commands: Vec<&str> = text.lines().filter(|line| line.starts_with("$ ")).collect();
    assert_eq!(commands.len(), 2, "{text}");
    assert!(
        commands[0].starts_with("$ git commit -m 'the importer")
            && commands[0].ends_with("=> 1: nothing to commit (resolved)"),
        "{text}"
    );
    assert!(
        commands[1].starts_with("$ git commit -m 'the importer") && commands[1].ends_with("[...] x59"),
        "{text}"
    );
    assert!(!text.contains(" more commands]"), "{text}");
}

#[test]
fn code_that_repeats_a_standing_instruction_is_quoted_whole() {
    let rule = "Always run cargo fmt before every commit.";
    let code = format!("```\nfirst line of code\n{rule}\nlast line of code\n```");
    let text = format!("{rule} Here is the setup of the harbor.\n{code}");
    let sources = [source("a", Role::User, "", &text)];
    let options = ExtractOptions {
        covered: Some(10_000),
        ..ExtractOptions::new(1000)
    };
    let summary = extract(&sources, &sources, None, &options, &words).unwrap();
    assert_eq!(summary.instructions, [rule]);
    let indented = format!("first line of code\n  {rule}\n  last line of code");
    assert!(summary.text.contains(&indented), "{}", summary.text);
}
