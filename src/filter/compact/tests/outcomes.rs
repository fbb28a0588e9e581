//! The outcomes that a handoff attributes to commands.

use super::super::facts;
use super::super::state::CompactionState;
use super::super::{CompactOptions, Steps};
use super::case::Case;
use super::choices::Wish;
use crate::model::session::Session;
use crate::model::view::View;
use crate::tokens::{Counter, Tokenizer};
use std::collections::HashSet;

/// A call and its result.
pub fn exchange(id: usize, name: &str, arguments: &str, result: &str) -> [String; 2] {
    let arguments = arguments.replace('"', "\\\"");
    [
        format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{id}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}]}}"#
        ),
        format!(r#"{{"role":"tool","tool_call_id":"c{id}","content":"{result}"}}"#),
    ]
}

#[test]
fn the_result_of_a_process_belongs_to_its_command() {
    let head = r"Chunk ID: a\nWall time: 1.0 seconds\n";
    let runs = format!(r"{head}Process running with session ID 5\nOutput:\n");
    let fails = format!(r"{head}Process exited with code 101\nOutput:\nerror[E0308]: mismatched types\n");
    let lines = [
        exchange(1, "exec_command", r#"{"cmd":"cargo test"}"#, &runs),
        exchange(2, "write_stdin", r#"{"session_id":5,"chars":""}"#, &runs),
        exchange(3, "write_stdin", r#"{"session_id":5,"chars":""}"#, &fails),
    ]
    .concat();
    let user = r#"{"role":"user","category":"system_output","content":"a.rs b.rs"}"#.to_string();
    let mut session = Session::default();
    lines
        .iter()
        .chain([&user])
        .for_each(|line| session.push_new(line.as_bytes()));
    let view = View::replay(&session);
    let counter = Counter::new(Tokenizer::named("chars4").unwrap(), None);
    let work = CompactionState::new(&session, &view, counter, &HashSet::new());
    let facts = facts::of(&work, &|_| false);
    let commands = facts.commands.in_order();
    assert_eq!(commands.len(), 1);
    assert_eq!(commands[0].1.runs, 1);
    assert_eq!(
        commands[0].1.failure.as_deref(),
        Some("101: error[E0308]: mismatched types")
    );
    assert_eq!(
        facts.errors,
        ["exec_command cargo test => 101: error[E0308]: mismatched types"]
    );
    assert!(facts.tools.is_empty());
    // Command output of the user is not a request.
    assert!(facts.requests.is_empty());
}

#[test]
fn placeholders_keep_the_outcome_of_a_failed_call() {
    let lines = r"compiling a crate of the workspace\n".repeat(60);
    let codex = format!(
        r"Chunk ID: 1\nProcess exited with code 101\nOutput:\n{lines}error[E0308]: mismatched types\n{lines}"
    );
    let claude = format!(r"Exit code 2\n{lines}cp: cannot stat a, b: No such file or directory\n{lines}");
    let fine = format!(r"Process exited with code 0\nOutput:\n{lines}");
    let calls = [
        exchange(1, "exec_command", r#"{"cmd":"cargo test"}"#, &codex),
        exchange(2, "Bash", r#"{"command":"cp a, b"}"#, &claude),
        exchange(3, "exec_command", r#"{"cmd":"cargo fmt"}"#, &fine),
    ];
    let mut session = Session::default();
    session.push_new(br#"{"role":"user","content":"Build it."}"#);
    calls
        .concat()
        .iter()
        .for_each(|line| session.push_new(line.as_bytes()));
    let mut options = CompactOptions {
        steps: Steps {
            mask: true,
            ..Steps::NONE
        },
        ..CompactOptions::default()
    };
    (options.mask.keep, options.mask.min_gain) = (0, Some(0));
    let wish = Wish {
        options,
        budget: None,
        trigger: None,
        pins: Vec::new(),
        tokenizer: "chars4",
    };
    let (case, done) = Case::compacted(session, &wish);
    let (bytes, stream) = done.stream();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    for placeholder in [
        "tool output elided: exec_command => 101: error[E0308]: mismatched types, ",
        "tool output elided: Bash => 2: cp: cannot stat a, b: No such file or directory, ",
        "tool output elided: exec_command, ",
    ] {
        assert!(text.contains(placeholder), "{text}");
    }
    // The store has the results themselves, a stream has only the placeholders.
    for session in [&done.after, &stream] {
        let view = View::replay(session);
        let work = CompactionState::new(session, &view, case.counter(session), &HashSet::new());
        let facts = facts::of(&work, &|_| false);
        let commands = facts.commands.in_order().into_iter();
        let failures: Vec<_> = commands.map(|(_, command)| command.failure.as_deref()).collect();
        assert_eq!(
            failures,
            [
                Some("101: error[E0308]: mismatched types"),
                Some("2: cp: cannot stat a, b: No such file or directory"),
                None,
            ]
        );
        assert_eq!(
            facts.errors,
            [
                "exec_command cargo test => 101: error[E0308]: mismatched types",
                "bash cp a, b => 2: cp: cannot stat a, b: No such file or directory",
            ]
        );
    }
}
