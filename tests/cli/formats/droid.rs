//! Tests sessions of Factory Droid: every command, changes that preserve the other lines, and no conversion to them.

use crate::env::{CHAT, Env};

const FILE: &str = r#"{"type":"session_start","id":"d1","title":"Kiln","owner":"o","version":2,"cwd":"/kiln"}
{"type":"message","id":"m1","timestamp":"2026-08-05T09:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"Mix."}]}}
{"type":"message","id":"m2","parentId":"m1","message":{"role":"assistant","content":[{"type":"tool_use","id":"x1","name":"Execute","input":{"command": "mix 1"}}]}}
{"type":"message","id":"m3","parentId":"m2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x1","content":"mixed"}]}}
{"type":"todo_state","id":"t1","todos":{"todos":"1. mix"},"messageIndex":3}
{"type":"message","id":"m4","parentId":"m3","message":{"role":"user","content":[{"type":"text","text":"Fire."}]}}
"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("d1.jsonl", FILE);
    super::every_command_reads(&env, "d1.jsonl", "droid", r#"{\"command\": \"mix 1\"}"#);
}

#[test]
fn in_place_other_lines_keep_their_bytes() {
    let env = Env::new();
    env.write("d1.jsonl", FILE);
    env.run(&["truncate", "--keep-last", "1", "-i", "d1.jsonl"])
        .status(0);
    let lines: Vec<&str> = FILE.lines().collect();
    let last = lines[5].replace(r#""parentId":"m3","#, "");
    assert_eq!(env.read("d1.jsonl"), [lines[0], lines[4], &last, ""].join("\n"));
}

/// The previous summary remained, and hid the new one.
#[test]
fn a_new_summary_replaces_the_previous_one() {
    let env = Env::new();
    let lines: Vec<&str> = FILE.lines().collect();
    let summary =
        r#"{"type":"compaction_state","id":"c1","summaryText":"Mixed.","summaryKind":"compaction"}"#;
    let line = |id: &str, parent: &str, role: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let [reply, question] = [
        line("m5", "m4", "assistant", "It burns."),
        line("m6", "m5", "user", "Cool."),
    ];
    let log = [&lines[..5], &[summary, lines[5], &reply, &question, ""]].concat();
    env.write("d1.jsonl", log.join("\n"));
    env.run(&[
        "summarize", "--keep-last", "1", "--with", "cmd:echo Fired.", "-i", "d1.jsonl",
    ])
    .status(0);
    let view = env.run(&["context", "--to", "jsonl", "d1.jsonl"]).fine();
    assert!(
        view.out().contains("Fired.") && view.out().contains("Cool."),
        "{view}"
    );
    assert!(!view.out().contains("Mixed."), "{view}");
}

#[test]
fn sessions_from_elsewhere_are_refused() {
    let env = Env::new();
    env.pipe(&["cat", "--to", "droid"], CHAT)
        .status(2)
        .says("it is not documented what Droid requires");
}

#[test]
fn the_settings_next_to_a_session_are_read() {
    let env = Env::new();
    env.write("d1.jsonl", FILE);
    let settings = r#"{"model": "custom:elm", "tokenUsage": {"inputTokens": 6743}}"#;
    env.write("d1.settings.json", settings);
    let run = env.run(&["cat", "--to", "native", "d1.jsonl"]).fine();
    let metadata = &run.objects()[0]["metadata"];
    assert_eq!(metadata["model"], "custom:elm");
    assert_eq!(metadata["droid"]["tokenUsage"]["inputTokens"], 6743);
    env.run(&["truncate", "--keep-last", "1", "-i", "d1.jsonl"])
        .status(0);
    assert_eq!(env.read("d1.settings.json"), settings);
}
