//! The outcomes that a handoff attributes to commands.

use super::super::facts;
use super::super::state::CompactionState;
use crate::model::session::Session;
use crate::model::view::View;
use crate::tokens::{Counter, Tokenizer};
use std::collections::HashSet;

/// A call and its result.
fn exchange(id: usize, name: &str, arguments: &str, result: &str) -> [String; 2] {
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
