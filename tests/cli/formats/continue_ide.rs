//! Tests sessions of Continue: documents whose unchanged items keep their bytes.

use crate::env::{CHAT, Env};

fn item(role: &str, text: &str, more: &str) -> String {
    format!(
        "    {{\n      \"message\": {{\n        \"role\": \"{role}\",\n        \"content\": \"{text}\"\n      }},\n      \"contextItems\": []{more}\n    }}"
    )
}

fn document(items: &[String]) -> String {
    format!(
        "{{\n  \"sessionId\": \"s-1\",\n  \"title\": \"Title\",\n  \"workspaceDirectory\": \"/w\",\n  \"history\": [\n{}\n  ],\n  \"usage\": {{\"totalCost\": 5e-06}}\n}}",
        items.join(",\n")
    )
}

fn items() -> Vec<String> {
    vec![
        item("user", "old", ""),
        item("assistant", "answer", ",\n      \"conversationSummary\": \"sum\""),
        item("user", "ask", ""),
        item("thinking", "hm", ""),
        item("assistant", "more", ""),
        item("user", "last", ",\n      \"editorState\": {\"n\": 1.0}"),
    ]
}

#[test]
fn summarized_messages_are_hidden() {
    let env = Env::new();
    let whole = document(&items());
    env.write("s-1.json", &whole);
    assert!(env.run(&["detect", "s-1.json"]).fine().out().contains("continue"));
    let counted = env.run(&["count", "s-1.json"]).fine();
    assert!(counted.out().contains("messages\t5\t3"), "{counted}");
    env.run(&["cat", "--to", "continue", "s-1.json"])
        .fine()
        .gives(&whole);
    let stream = env.run(&["cat", "s-1.json"]).fine();
    assert_eq!(stream.objects()[0]["title"], "Title");
    // The record stream preserves everything.
    let again = env
        .pipe(&["cat", "--strict", "--to", "continue"], stream.out())
        .fine();
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(again.out()), value(&whole));
    env.run(&["check", "--for", "anthropic", "s-1.json"]).status(0);
    env.run(&["compact", "--budget", "4000", "s-1.json"]).status(0);
    env.run(&["migrate", "s-1.json", "--out", "moved"]).status(0);
}

#[test]
fn a_cut_removes_items_and_changes_no_other() {
    let env = Env::new();
    env.write("s-1.json", document(&items()));
    env.run(&["truncate", "--keep-last", "1", "-i", "s-1.json"])
        .status(0);
    let mut left = items();
    left.drain(2..5);
    assert_eq!(env.read("s-1.json"), document(&left));
    env.run(&["append", "s-1.json", "-i", "And?"]).fine();
    left.push(item("user", "And?", ""));
    assert_eq!(env.read("s-1.json"), document(&left));
}

#[test]
fn any_session_is_a_document() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "continue"], CHAT).fine();
    env.write("made.json", built.out());
    let texts = env.run(&["cat", "-q", "--to", "openai-chat", "made.json"]).fine();
    assert!(texts.out().contains("22 C, sunny"));
    env.run(&["check", "--for", "openai-chat", "made.json"]).status(0);
}

#[test]
fn damage_is_reported_with_its_line() {
    let env = Env::new();
    env.write("s-1.json", document(&items()).replacen("\"ask\"", "ask\"", 1));
    env.run(&["count", "--from", "continue", "s-1.json"])
        .status(65)
        .says("s-1.json:24: byte ");
    env.write(
        "sessions.json",
        r#"[{"sessionId":"s-1","dateCreated":"1750104807000"}]"#,
    );
    env.run(&["count", "sessions.json"])
        .status(65)
        .says("the index of Continue's sessions");
    env.run(&["count", "--from", "continue", "sessions.json"])
        .status(65)
        .says("give the session files listed in sessions.json");
    env.write("s-1.json", document(&items()));
    let stream = env.run(&["cat", "s-1.json"]).fine();
    assert_eq!(stream.objects()[0]["created_at"], "2025-06-16T20:13:27Z");
}

#[test]
fn a_result_is_written_once_and_read_from_both_members() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "continue"], CHAT).fine();
    assert_eq!(built.out().matches("22 C, sunny").count(), 1, "{built}");
    let document: serde_json::Value = serde_json::from_str(built.out()).unwrap();
    let items = document["history"].as_array().unwrap();
    assert!(
        items.iter().all(|item| item["message"]["role"] != "tool"),
        "{built}"
    );
    let output = items
        .iter()
        .find_map(|item| item["toolCallStates"][0]["output"][0]["content"].as_str());
    assert!(output.unwrap().contains("22 C, sunny"));
    env.write("made.json", built.out());
    let back = env.run(&["cat", "made.json"]).fine().objects();
    let results: Vec<_> = back.iter().filter(|line| line["role"] == "tool").collect();
    assert_eq!(results.len(), 1);
    // A system message in an item of its own is read from there.
    let item = r#"{"sessionId":"s","title":"t","workspaceDirectory":"/w","history":[{"message":{"role":"user","content":"a"},"contextItems":[]},{"message":{"role":"assistant","content":"","toolCalls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]},"contextItems":[]},{"message":{"role":"tool","content":"files","toolCallId":"c"},"contextItems":[]}]}"#;
    let back = env.pipe(&["cat"], item).fine().objects();
    assert_eq!(back.last().unwrap()["content"], "files");
}

#[test]
fn a_second_result_of_a_call_is_reported() {
    let said = [
        r#"{"role":"user","content":"q"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"first"}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"second"}"#,
    ];
    Env::new()
        .pipe(&["cat", "--to", "continue"], &(said.join("\n") + "\n"))
        .status(0)
        .says("continue cannot represent: orphans (1)");
}
