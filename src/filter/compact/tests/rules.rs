//! Standing instructions are kept by every level that digests or shortens their message.

use super::super::{CompactOptions, LevelAlgorithm};
use super::case::{Case, Done};
use super::choices::Choices;
use crate::model::session::Session;

const RULES: [&str; 2] = ["Do not touch migrations/.", "Run pytest after every change."];

fn compacted(lines: &[String], options: CompactOptions, share: u64) -> Done {
    let mut session = Session::default();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    let choices = Choices {
        options,
        budget: Some(share),
        trigger: None,
        pins: Vec::new(),
        tokenizer: "o200k_base",
    };
    Case::compacted(session, &choices).1
}

fn call(id: &str, result: &str) -> [String; 2] {
    [
        format!(
            r#"{{"role":"assistant","content":"","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"bash","arguments":"{{\"command\":\"make {id}\"}}"}}}}]}}"#
        ),
        format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{result}"}}"#),
    ]
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

#[test]
fn a_digest_has_the_instructions_of_its_exchange() {
    let request = "Our checkout service rounds the tax wrongly for orders with mixed rates, which the accountants found in the audit of last week.";
    let mut lines = vec![user(&format!("{request} {}", RULES.join(" ")))];
    lines.extend(call("one", &"src/main.rs is compiled and linked ".repeat(40)));
    for nth in 0..2 {
        lines.push(user(&format!("And part {nth}?")));
        lines.push(r#"{"role":"assistant","content":"It works."}"#.to_string());
    }
    let mut options = CompactOptions {
        choice: LevelAlgorithm::Tiered,
        ..CompactOptions::default()
    };
    (options.steps.mask, options.steps.head_tail) = (false, false);
    let done = compacted(&lines, options, 5000);
    let digest = done.view.items[0]
        .message(&done.after)
        .unwrap()
        .text()
        .into_owned();
    assert!(
        digest.starts_with("[digest of 3 messages] user: Our checkout service"),
        "{digest}"
    );
    let block = format!("\nstanding instructions:\n- {}", RULES.join("\n- "));
    assert!(digest.ends_with(&block), "{digest}");
    assert_eq!(crate::filter::summarize::standing_instructions(&digest), RULES);
}

#[test]
fn a_summary_has_the_instructions_of_shortened_messages() {
    let words = "The tax of an order is the sum of the taxes of its lines. ".repeat(60);
    let mut lines = vec![user("Begin.")];
    for nth in 0..8 {
        lines.extend(call(
            &format!("c{nth}"),
            &"It is compiled and linked. ".repeat(30),
        ));
    }
    lines.push(user(&format!("{words}{} {words}", RULES.join(" "))));
    lines.extend(call("last", "done"));
    let done = compacted(&lines, CompactOptions::default(), 3500);
    let shown = done.shown();
    assert!(shown.contains(" bytes elided]"), "{shown}");
    let summary = done.summary();
    for rule in RULES {
        assert!(summary.contains(&format!("- user: {rule}")), "{summary}");
    }
}
