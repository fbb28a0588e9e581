//! Tests Codex logs: counting, changes in place, and conversion from any session.

use crate::env::{CHAT, Env};

const ID: &str = "019e8377-7ad8-7470-898e-dbe92ce983e3";

/// Two turns with a call each.
fn log() -> String {
    let mut lines = vec![format!(
        r#"{{"timestamp":"2026-11-01T10:00:00Z","type":"session_meta","payload":{{"id":"{ID}","timestamp":"2026-11-01T10:00:00Z","cwd":"/w","model_provider":"openai"}}}}"#
    )];
    for turn in ["one", "two"] {
        let line = |kind: &str, payload: &str| {
            format!(r#"{{"timestamp":"2026-11-01T10:00:01Z","type":"{kind}","payload":{payload}}}"#)
        };
        let text = "tool output that is long ".repeat(40);
        lines.extend([
            line("turn_context", &format!(r#"{{"turn_id":"{turn}","model":"gpt"}}"#)),
            line("response_item", &format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"ask {turn}"}}]}}"#)),
            line("event_msg", &format!(r#"{{"type":"user_message","message":"ask {turn}"}}"#)),
            line("response_item", r#"{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}"#),
            line("response_item", &format!(r#"{{"type":"function_call","name":"shell","arguments":"{{\"n\":9007199254740993}}","call_id":"{turn}"}}"#)),
            line("response_item", &format!(r#"{{"type":"function_call_output","call_id":"{turn}","output":"{text}"}}"#)),
            line("event_msg", &format!(r#"{{"type":"exec_command_end","call_id":"{turn}","exit_code":0}}"#)),
            line("response_item", &format!(r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"done {turn}"}}]}}"#)),
        ]);
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_log_is_detected_and_counted() {
    let env = Env::new();
    env.write("rollout.jsonl", log());
    let counted = env.run(&["count", "--json", "rollout.jsonl"]).fine().objects();
    assert_eq!(counted[0]["log"]["messages"], 8);
    env.run(&["check", "--for", "openai-responses", "rollout.jsonl"])
        .status(0);
    env.run(&["cat", "--to", "openai-chat", "rollout.jsonl"])
        .status(0)
        .says("signatures (2)");
    env.run(&["cat", "--strict", "--to", "openai-chat", "rollout.jsonl"])
        .status(65)
        .gives("");
}

#[test]
fn a_cut_removes_whole_lines_and_keeps_the_others() {
    let env = Env::new();
    let before = log();
    env.write("rollout.jsonl", &before);
    env.run(&["truncate", "--keep-last", "1", "-i", "rollout.jsonl"])
        .status(0);
    let lines: Vec<&str> = before.lines().collect();
    let wanted = [&lines[..1], &lines[9..]].concat().join("\n") + "\n";
    assert_eq!(env.read("rollout.jsonl"), wanted);
    // A repeated cut changes nothing.
    env.run(&["truncate", "--keep-last", "1", "-i", "rollout.jsonl"])
        .status(0);
    assert_eq!(env.read("rollout.jsonl"), wanted);
    // The same through a pipe.
    env.write("whole.jsonl", &before);
    let piped = env
        .run(&["truncate", "--keep-last", "1", "--to", "codex", "whole.jsonl"])
        .status(0);
    assert_eq!(piped.out(), wanted);
}

#[test]
fn a_compaction_edits_lines_and_a_summary_adds_one() {
    let env = Env::new();
    let before = log();
    env.write("rollout.jsonl", &before);
    env.run(&[
        "compact", "--budget", "200", "--best-effort", "-i", "rollout.jsonl",
    ])
    .status(0);
    let after = env.read("rollout.jsonl");
    assert!(after.len() < before.len());
    let same = after.lines().filter(|line| before.contains(line)).count();
    assert!(same + 2 >= after.lines().count(), "{after}");
    env.run(&["check", "--for", "openai-responses", "rollout.jsonl"])
        .status(0);

    env.write("rollout.jsonl", &before);
    env.run(&["summarize", "-q", "--keep-last", "1", "-i", "rollout.jsonl"])
        .fine();
    let after = env.read("rollout.jsonl");
    let new: Vec<&str> = after.lines().filter(|line| !before.contains(line)).collect();
    assert_eq!(new.len(), 1, "{after}");
    assert!(new[0].contains(r#""type":"compacted""#));
    assert_eq!(after.lines().count(), before.lines().count() + 1);
}

#[test]
fn any_session_is_written_as_a_log_and_restored() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "codex"], CHAT).fine();
    env.write("made.jsonl", built.out());
    let back = env.run(&["cat", "-q", "--to", "jsonl", "made.jsonl"]).fine();
    let texts: Vec<String> = back
        .objects()
        .iter()
        .map(|message| match &message["content"] {
            serde_json::Value::Array(parts) => parts[0]["text"].as_str().unwrap().to_string(),
            content => content.as_str().unwrap_or_default().to_string(),
        })
        .collect();
    assert_eq!(
        texts,
        [
            "You are terse.", "Weather in Paris?", "", "22 C, sunny", "22 C and sunny.", "And tomorrow?",
            "Rain."
        ]
    );
    // The same bytes every time.
    let again = env.pipe(&["cat", "-q", "--to", "codex"], CHAT).fine();
    assert_eq!(again.out(), built.out());
}

#[test]
fn an_unchanged_log_keeps_its_bytes() {
    let env = Env::new();
    let before = log();
    env.write("rollout.jsonl", &before);
    env.run(&["cat", "--to", "codex", "rollout.jsonl"])
        .fine()
        .gives(&before);
    env.run(&["migrate", "-q", "rollout.jsonl"]).fine();
    env.run(&["cat", "-q", "--to", "codex", ID]).status(0);
}

#[test]
fn damage_is_reported_with_its_line_and_preserved() {
    let env = Env::new();
    let damaged = log().replacen("\"call_id\":\"one\"}}", "\"call_id\":\"one", 1);
    env.write("rollout.jsonl", &damaged);
    env.run(&["count", "rollout.jsonl"])
        .status(65)
        .says("rollout.jsonl:6: byte ");
    env.run(&["cat", "--strict", "rollout.jsonl"]).status(65);
}
