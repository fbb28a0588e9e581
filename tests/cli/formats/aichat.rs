//! Sessions of aichat.

use crate::env::{CHAT, Env};

const FILE: &str = "model: openai:gpt-4o
save_session: true
compressed_messages:
- role: user
  content: first question
- role: assistant
  content: first answer
messages:
- role: system
  content: They talked.
- role: user
  content: |-
    one
    two
- role: assistant
  content: three
";

#[test]
fn a_file_is_detected_and_counted() {
    let env = Env::new();
    env.write("talk.yaml", FILE);
    env.run(&["detect", "talk.yaml"]).fine().gives("aichat\n");
    let counted = env.run(&["count", "--json", "talk.yaml"]).fine().objects();
    assert_eq!(counted[0]["log"]["messages"], 4);
    assert_eq!(counted[0]["view"]["messages"], 2);
    env.run(&["check", "--for", "anthropic", "talk.yaml"]).status(0);
    env.run(&["show", "talk.yaml"]).fine();
    env.run(&["cat", "--to", "aichat", "talk.yaml"])
        .fine()
        .gives(FILE);
    env.run(&["migrate", "-q", "talk.yaml"]).fine();
    env.run(&["cat", "-q", "--to", "aichat", "talk"])
        .status(0)
        .gives(FILE);
}

#[test]
fn a_file_is_changed_in_place() {
    let env = Env::new();
    env.write("talk.yaml", FILE);
    env.run(&["append", "-i", "talk.yaml", "And: now?"]).fine();
    let grown = env.read("talk.yaml");
    assert_eq!(grown, format!("{FILE}- role: user\n  content: \"And: now?\"\n"));
    // Covered messages move to the compressed ones with their original bytes.
    let text = format!(
        "content: '{}'",
        "motor crate divert hopper late count reject ".repeat(40)
    );
    let long = grown.replace("content: three", &text);
    env.write("talk.yaml", &long);
    env.run(&["summarize", "-q", "--keep-last", "1", "-i", "talk.yaml"])
        .fine();
    let summed = env.read("talk.yaml");
    let moved = format!("- role: assistant\n  {text}\nmessages:\n- role: system\n");
    assert!(summed.contains(&moved), "{summed}");
    assert!(
        summed.ends_with("- role: user\n  content: \"And: now?\"\n"),
        "{summed}"
    );
    // Compressed messages can be restored.
    env.run(&["restore", "-q", "-i", "talk.yaml"]).fine();
    let back = env.read("talk.yaml");
    let live =
        "model: openai:gpt-4o\nsave_session: true\nmessages:\n- role: user\n  content: first question\n";
    assert!(back.starts_with(live) && back.contains(&text), "{back}");
    env.write("talk.yaml", FILE);
    env.run(&["truncate", "-q", "--keep-last", "0", "-i", "talk.yaml"])
        .fine();
    let cut = env.read("talk.yaml");
    assert!(
        !cut.contains("three") || cut.contains("compressed_messages:"),
        "{cut}"
    );
    env.run(&["count", "talk.yaml"]).fine();
}

#[test]
fn any_session_is_a_file() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "aichat"], CHAT).status(0);
    env.write("made.yaml", built.out());
    let again = env.run(&["cat", "-q", "--to", "aichat", "made.yaml"]).status(0);
    assert_eq!(again.out(), built.out());
    let lines = env
        .run(&["cat", "-q", "--to", "jsonl", "made.yaml"])
        .fine()
        .objects();
    let calls: Vec<_> = lines
        .iter()
        .filter(|line| line["tool_calls"].is_array())
        .collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["tool_calls"][0]["function"]["name"], "weather");
    env.pipe(&["cat", "--strict", "--to", "aichat"], CHAT)
        .status(65)
        .gives("");
}

#[test]
fn damage_is_reported_with_its_line() {
    let env = Env::new();
    env.write("talk.yaml", FILE.replace("content: three", "content: *three"));
    env.run(&["count", "talk.yaml"])
        .status(65)
        .says("talk.yaml:16: byte ");
    env.run(&["cat", "--strict", "talk.yaml"]).status(65);
    env.write("other.yaml", "model: x\nname: y\n");
    env.run(&["count", "other.yaml"]).status(65);
    env.run(&["count", "--from", "aichat", "other.yaml"])
        .status(65)
        .says("not an aichat session: no messages");
}

#[test]
fn a_model_is_written_only_if_aichat_accepts_it() {
    let env = Env::new();
    let chat = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\",\"model\":\"gpt-4o\"}\n";
    let built = env.pipe(&["cat", "--to", "aichat"], chat).status(0);
    assert!(built.out().starts_with("messages:\n"), "{built}");
    let built = built.says("--model CLIENT:MODEL");
    env.write("bare.yaml", built.out());
    env.run(&["detect", "bare.yaml"]).fine().gives("aichat\n");
    env.run(&["count", "bare.yaml"]).fine();
    let model = ["cat", "-q", "--to", "aichat", "--model", "openai:gpt-4o"];
    let built = env.pipe(&model, chat).status(0);
    assert!(
        built.out().starts_with("model: openai:gpt-4o\nmessages:\n"),
        "{built}"
    );
    // It replaces the file's own summary.
    env.write("talk.yaml", FILE);
    let again = env
        .run(&["cat", "--to", "aichat", "--model", "claude:x", "talk.yaml"])
        .status(0);
    assert!(
        again.out().starts_with("model: claude:x\nsave_session: true\n"),
        "{again}"
    );
    env.pipe(&["cat", "--to", "aichat", "--model", "gpt-4o"], chat)
        .status(2)
        .says("--model: 'gpt-4o' is not CLIENT:MODEL");
    env.pipe(&["cat", "--to", "openai-chat", "--model", "m"], chat)
        .status(2)
        .says("--model: openai-chat cannot represent the model of a session");
    let codex = env.pipe(
        &["cat", "-q", "--to", "codex", "--model", "m-7"],
        chat.replace(",\"model\":\"gpt-4o\"", ""),
    );
    assert!(codex.status(0).out().contains("\"model\":\"m-7\""));
    env.pipe(&["cat", "--model", "m"], chat).status(2);
}
