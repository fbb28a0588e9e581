//! Tests LangChain messages: every command, and changes that preserve the other elements.

use crate::env::{CHAT, Env};

/// A conversation as `messages_to_dict` writes it.
const FILE: &str = r#"[
 {"type": "human", "data": {"content": "Which files changed?", "additional_kwargs": {}, "response_metadata": {}, "type": "human", "name": null, "id": null}},
 {"type": "ai", "data": {"content": "", "additional_kwargs": {}, "response_metadata": {}, "type": "ai", "name": null, "id": "run--1", "tool_calls": [{"name": "git_diff", "args": {"ref": 5e-06}, "id": "call_1", "type": "tool_call"}], "invalid_tool_calls": [], "usage_metadata": {"input_tokens": 31, "output_tokens": 12, "total_tokens": 43}}},
 {"type": "tool", "data": {"content": "src/main.rs | 4 ++--", "additional_kwargs": {}, "response_metadata": {}, "type": "tool", "name": "git_diff", "id": null, "tool_call_id": "call_1", "artifact": null, "status": "success"}},
 {"type": "ai", "data": {"content": "One.", "additional_kwargs": {}, "response_metadata": {}, "type": "ai", "name": null, "id": null, "tool_calls": [], "invalid_tool_calls": [], "usage_metadata": null}},
 {"type": "human", "data": {"content": "And now?", "additional_kwargs": {}, "response_metadata": {}, "type": "human", "name": null, "id": null}}
]
"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("chat.json", FILE);
    super::every_command_takes(&env, "chat.json", "langchain", FILE, r#"{\"ref\": 5e-06}"#);
}

#[test]
fn in_place_unchanged_elements_keep_their_bytes() {
    super::the_last_exchange_stays_as_it_was(FILE, 5);
}

#[test]
fn any_session_is_written_and_reread() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "langchain"], CHAT).fine();
    env.write("made.json", built.out());
    let texts = env.run(&["cat", "-q", "--to", "openai-chat", "made.json"]).fine();
    assert!(texts.out().contains("22 C, sunny"));
    env.run(&["check", "--for", "openai-chat", "made.json"]).status(0);
    env.pipe(&["cat", "--strict", "--to", "langchain"], CHAT)
        .status(65);
}

#[test]
fn damage_is_reported_with_its_position_and_preserved() {
    let env = Env::new();
    let damaged = FILE.replacen("\"tool\", \"data\"", "tool\", \"data\"", 1);
    env.write("chat.json", &damaged);
    let reported = env.run(&["count", "--from", "langchain", "chat.json"]);
    reported.status(65).says("chat.json:");
    let newer = FILE.replace("\"human\"", "\"oracle\"");
    env.write("newer.json", newer);
    env.run(&["count", "newer.json"])
        .status(65)
        .says("not a message; kept unchanged");
}
