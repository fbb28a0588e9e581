//! Tests session traces: every command, and changes that preserve the other lines.

use crate::env::{CHAT, Env};

const FILE: &str = r#"{"type":"session","harness":"llama.app","id":"sess-7f21","name":"Kites","cwd":"/home/someuser/kites","temperature":5e-06}
{"type":"message","message":{"role":"user","content":"How strong is the wind?","timestamp":1785100001000}}
{"type":"message","message":{"role":"assistant","content":"","toolCalls":[{"id":"w1","function":{"name":"wind","arguments":"{\"pier\": \"north\", \"seq\": 9007199254740993}"}}],"timestamp":1785100002000,"model":"juniper-7b"}}
{"type":"message","message":{"role":"tool","toolCallId":"w1","content":"11 kn","timestamp":1785100003200}}
{"type":"message","message":{"role":"assistant","content":"11 knots."}}
{"type":"message","message":{"role":"user","content":"And the tide?"}}
"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("chat.jsonl", FILE);
    super::every_command_takes(&env, "chat.jsonl", "sts", FILE, r#"{\"pier\": \"north\""#);
}

#[test]
fn in_place_other_lines_keep_their_bytes() {
    super::the_last_exchange_stays_as_it_was(FILE, 5);
}

#[test]
fn any_session_is_written_and_reread() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "sts"], CHAT).fine();
    assert!(
        built.out().starts_with(r#"{"type":"session","harness":"#),
        "{built}"
    );
    env.write("made.jsonl", built.out());
    assert_eq!(env.run(&["detect", "made.jsonl"]).fine().out(), "sts\n");
    let texts = env
        .run(&["cat", "-q", "--to", "openai-chat", "made.jsonl"])
        .fine();
    assert!(texts.out().contains("22 C, sunny"));
    env.run(&["check", "--for", "openai-chat", "made.jsonl"])
        .status(0);
}

#[test]
fn a_second_session_needs_a_second_file() {
    let env = Env::new();
    let two = [FILE, &FILE.replace("sess-7f21", "sess-2")].concat();
    env.write("two.jsonl", &two);
    env.run(&["count", "two.jsonl"]).status(0);
    let native = env.run(&["cat", "--to", "native", "two.jsonl"]).fine();
    env.pipe(&["cat", "--to", "sts"], native.out())
        .status(2)
        .says("only one session per file");
}

#[test]
fn content_of_another_shape_is_damage() {
    let env = Env::new();
    let line = r#"{"type":"message","message":{"role":"user","content":[{"type":"text","text":"a"}]}}"#;
    env.write("chat.jsonl", format!("{FILE}{line}\n"));
    env.run(&["count", "chat.jsonl"])
        .status(65)
        .says("chat.jsonl:7")
        .says("the content of a message is not a string");
}

#[test]
fn notes_of_the_format_are_not_reported_as_lost() {
    let env = Env::new();
    env.write("chat.jsonl", FILE);
    for target in ["codex", "claude-code", "openai-chat", "sharegpt", "pi", "goose"] {
        let run = env
            .run(&["cat", "--to", target, "chat.jsonl"])
            .status(0)
            .says("header (1)");
        assert!(!run.stderr.contains("metadata"), "{target}: {run}");
        assert!(!run.stderr.contains("ids"), "{target}: {run}");
    }
}
