//! Tests Cursor transcripts: every command, changes that preserve the other lines, and no conversion to them.

use crate::env::{CHAT, Env};

const FILE: &str = r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nHow strong is the wind?\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"I look."},{"type":"tool_use","name":"Shell","input":{"command": "wind --pier north"}}]},"model":"auto"}
{"role":"assistant","message":{"content":[{"type":"text","text":"11 knots."}]}}
{"type":"turn_ended","status":"success"}
{"role":"user","message":{"content":[{"type":"text","text":"And the tide?"}]}}
"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("chat.jsonl", FILE);
    super::every_command_reads(
        &env,
        "chat.jsonl",
        "cursor",
        r#"{\"command\": \"wind --pier north\"}"#,
    );
}

#[test]
fn in_place_other_lines_keep_their_bytes() {
    let env = Env::new();
    env.write("chat.jsonl", FILE);
    env.run(&["truncate", "--keep-last", "1", "-i", "chat.jsonl"])
        .status(0);
    let lines: Vec<&str> = FILE.lines().collect();
    assert_eq!(env.read("chat.jsonl"), [lines[3], lines[4], ""].join("\n"));
}

#[test]
fn sessions_from_elsewhere_are_refused() {
    let env = Env::new();
    env.pipe(&["cat", "--to", "cursor"], CHAT)
        .status(2)
        .says("Cursor does not resume sessions from transcripts");
}

#[test]
fn calls_without_results_are_reported_once() {
    let env = Env::new();
    env.write("chat.jsonl", format!("{FILE}{FILE}"));
    let run = env.run(&["check", "chat.jsonl"]);
    let reported = run.out().lines().filter(|line| line.contains("ST02")).count();
    assert_eq!(reported, 1, "{run}");
    assert!(run.out().contains("none of the 2 calls has a result"), "{run}");
}
