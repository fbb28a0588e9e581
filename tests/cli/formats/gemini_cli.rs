//! Tests recordings of the Gemini CLI: logs of operations, and documents.

use crate::env::{CHAT, Env};

const FIRST: &str =
    r#"{"sessionId":"s1","projectHash":"aa","startTime":"2026-01-01T00:00:00.000Z","kind":"main"}"#;

fn user(id: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{{"text":"{text}"}}]}}"#
    )
}

fn model(id: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"{text}","tokens":{{"input":5e0,"output":1,"total":6}},"toolCalls":[{{"id":"c{id}","name":"ls","args":{{}},"result":[{{"functionResponse":{{"id":"c{id}","name":"ls","response":{{"output":"r"}}}}}}],"status":"success"}}]}}"#
    )
}

/// A log in which one question was rewound.
fn log() -> String {
    let lines = [
        FIRST.to_string(),
        user("a", "ask"),
        model("b", "answer"),
        user("c", "left"),
        r#"{"$rewindTo":"c"}"#.to_string(),
        r#"{"id":"n","timestamp":"2026-01-01T00:00:03.000Z","type":"info","content":"note"}"#.to_string(),
        user("d", "more"),
        r#"{"$set":{"summary":"Title"}}"#.to_string(),
    ];
    lines.join("\n") + "\n"
}

#[test]
fn rewound_messages_are_removed() {
    let env = Env::new();
    env.write("log.jsonl", log());
    assert!(
        env.run(&["detect", "log.jsonl"])
            .fine()
            .out()
            .contains("gemini-cli")
    );
    let lines = env.run(&["cat", "log.jsonl"]).fine().objects();
    assert_eq!(lines[0]["title"], "Title");
    let roles: Vec<_> = lines.iter().filter_map(|line| line["role"].as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user"]);
    env.run(&["cat", "--to", "gemini-cli", "log.jsonl"])
        .fine()
        .gives(log());
    env.run(&["check", "--for", "anthropic", "log.jsonl"]).status(0);
    env.run(&["compact", "--budget", "4000", "log.jsonl"]).status(0);
    // Converted from the record stream, the log contains only the remaining messages.
    let stream = env.run(&["cat", "log.jsonl"]).fine();
    let again = env
        .pipe(&["cat", "--strict", "--to", "gemini-cli"], stream.out())
        .fine();
    assert_eq!(again.objects().len(), 5);
    env.run(&["migrate", "log.jsonl", "--out", "moved"]).status(0);
}

/// Gemini CLI sends no message that starts with a slash; `undo` reported success and changed nothing.
#[test]
fn a_change_without_effect_is_refused() {
    let env = Env::new();
    let log = [FIRST.to_string(), user("a", "/stats"), user("b", "ask")].join("\n") + "\n";
    env.write("chat.jsonl", &log);
    env.run(&["undo", "-i", "chat.jsonl"])
        .status(2)
        .says("chat.jsonl: the change cannot be written to a Gemini CLI log");
    assert_eq!(env.read("chat.jsonl"), log);
}

#[test]
fn a_cut_adds_a_line_and_changes_none() {
    let env = Env::new();
    env.write("log.jsonl", log());
    let cut = ["truncate", "--keep-last", "1", "-i", "log.jsonl"];
    env.run(&cut).status(0);
    let after = env.read("log.jsonl");
    let more = after.strip_prefix(&log()).unwrap();
    // An annotation, which is never in the view, is kept.
    let note = log().lines().nth(5).unwrap().to_string();
    assert_eq!(
        more,
        format!("{{\"$set\":{{\"messages\":[{note},{}]}}}}\n", user("d", "more"))
    );
    // A repeated cut finds nothing.
    env.run(&cut).status(0);
    assert_eq!(env.read("log.jsonl"), after);
    env.run(&["append", "log.jsonl", "-i", "And?"]).fine();
    assert_eq!(env.read("log.jsonl").lines().count(), after.lines().count() + 1);
}

#[test]
fn any_session_is_a_log() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "gemini-cli"], CHAT).fine();
    assert_eq!(built.objects()[0]["kind"], "main");
    env.write("made.jsonl", built.out());
    let texts = env
        .run(&["cat", "-q", "--to", "openai-chat", "made.jsonl"])
        .fine();
    assert!(texts.out().contains("22 C, sunny"));
    env.run(&["check", "--for", "openai-chat", "made.jsonl"])
        .status(0);
}

#[test]
fn damage_is_reported_with_its_line_and_preserved() {
    let env = Env::new();
    env.write("log.jsonl", log().replacen("\"more\"", "more\"", 1));
    env.run(&["count", "log.jsonl"])
        .status(65)
        .says("log.jsonl:7: byte ");
    let prompts = r#"[{"sessionId":"s","messageId":0,"type":"user","message":"hi","timestamp":"t"}]"#;
    env.write("logs.json", prompts);
    env.run(&["count", "logs.json"])
        .status(65)
        .says("the log of prompts of the Gemini CLI");
    env.run(&["count", "--from", "gemini-cli", "logs.json"])
        .status(65)
        .says("logs.json contains prompts, not sessions; give a file in chats/");
}

/// A user record that repeats the result of a call, as the program writes it after the record with the call.
fn repeated(id: &str, call: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:03.000Z","type":"user","content":[{{"functionResponse":{{"id":"{call}","name":"ls","response":{{"output":"r"}}}}}}]}}"#
    )
}

#[test]
fn a_duplicate_result_is_read_once() {
    let env = Env::new();
    let lines = [
        FIRST.to_string(),
        user("a", "ask"),
        model("b", "answer"),
        repeated("c", "cb"),
        repeated("b_response", "cb"),
        user("d", "more"),
        model("e", "again"),
        repeated("f", "ce"),
        user("g", "thanks"),
    ];
    let log = lines.join("\n") + "\n";
    env.write("log.jsonl", &log);
    let roles = |file: &str| {
        let lines = env.run(&["cat", file]).fine().objects();
        let roles = lines
            .iter()
            .filter_map(|line| line["role"].as_str().map(str::to_string));
        roles.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(roles("log.jsonl"), "user assistant tool user assistant tool user");
    env.run(&["check", "-q", "--for", "gemini", "log.jsonl"]).fine();
    env.run(&["cat", "--to", "gemini-cli", "log.jsonl"])
        .fine()
        .gives(&log);
    // The same after the program resumed the session, when the content contains the calls.
    let call = r#""content":[{"functionCall":{"id":"cb","name":"ls","args":{}}}],"tokens""#;
    let resumed = log.replacen(r#""content":"answer","tokens""#, call, 1);
    let resumed = resumed.replacen(r#""toolCalls""#, r#""was""#, 1);
    env.write("resumed.jsonl", resumed);
    assert_eq!(
        roles("resumed.jsonl"),
        "user assistant tool user assistant tool user"
    );
    // A reused id belongs to another call.
    env.write(
        "again.jsonl",
        env.read("resumed.jsonl").replace("\"ce\"", "\"cb\""),
    );
    assert_eq!(roles("again.jsonl"), roles("resumed.jsonl"));
    // The result of another call is not a repetition.
    let other = log.replace(&repeated("c", "cb"), &repeated("c", "x"));
    env.write(
        "other.jsonl",
        other.replace(&repeated("b_response", "cb"), &repeated("b_response", "y")),
    );
    assert_eq!(roles("other.jsonl").matches("tool").count(), 4);
    // A repeated result is dropped with the original.
    env.run(&["truncate", "-q", "-i", "--keep-last", "2", "log.jsonl"])
        .fine();
    let cut = env.read("log.jsonl");
    let last = cut.lines().last().unwrap();
    assert!(
        !last.contains(r#""id":"cb""#) && last.contains(r#""id":"f""#),
        "{cut}"
    );
    assert_eq!(roles("log.jsonl"), "user assistant tool user");
}
