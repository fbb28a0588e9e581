//! Tests AI SDK messages: every command, both versions, and changes that preserve the other messages.

use crate::env::{CHAT, Env};

const FILE: &str = r#"[
 {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "weather?"}]},
 {"id": "m2", "role": "assistant", "metadata": {"at": 5e-06}, "parts": [{"type": "step-start"}, {"type": "reasoning", "text": "call tool", "state": "done"}, {"type": "tool-getWeather", "toolCallId": "call_1", "state": "output-available", "input": {"city": "Leeds"}, "output": {"c": 9}}, {"type": "step-start"}, {"type": "text", "text": "9C", "state": "done"}]},
 {"id": "m3", "role": "user", "parts": [{"type": "text", "text": "and now?"}]}
]
"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("chat.json", FILE);
    super::every_command_takes(&env, "chat.json", "vercel-ui", FILE, r#"{\"city\":"#);
    env.run(&["cat", "--to", "vercel-ui-v4", "chat.json"]).status(0);
}

#[test]
fn in_place_unchanged_messages_keep_their_bytes() {
    super::the_last_exchange_stays_as_it_was(FILE, 3);
}

#[test]
fn any_session_is_written_and_reread() {
    let env = Env::new();
    for to in ["vercel-ui", "vercel-ui-v4"] {
        let built = env.pipe(&["cat", "-q", "--to", to], CHAT).fine();
        env.write("made.json", built.out());
        let texts = env.run(&["cat", "-q", "--to", "openai-chat", "made.json"]).fine();
        assert!(texts.out().contains("22 C, sunny"), "{to}");
        env.run(&["check", "--for", "openai-chat", "made.json"]).status(0);
        env.pipe(&["cat", "--strict", "--to", to], CHAT).status(65);
    }
}

#[test]
fn damage_is_reported_with_its_position_and_preserved() {
    let env = Env::new();
    let damaged = FILE.replacen("\"assistant\"", "assistant\"", 1);
    env.write("chat.json", &damaged);
    let reported = env.run(&["count", "--from", "vercel-ui", "chat.json"]);
    reported.status(65).says("chat.json:");
}
