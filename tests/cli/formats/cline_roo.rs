//! Tests histories of Cline and Roo Code: hidden messages are kept in them with a marker.

use crate::env::{CHAT, Env};

fn message(role: &str, text: &str, more: &str) -> String {
    format!(
        r#"{{"role": "{role}", "content": [{{"type": "text", "text": "{text}"}}], "ts": 1780000000000{more}}}"#
    )
}

/// A history with a summary.
fn history() -> String {
    let condensed = r#", "condenseParent": "s""#;
    let elements = [
        message("user", "old", condensed),
        message("assistant", "answer", condensed),
        message("user", "sum", r#", "isSummary": true, "condenseId": "s""#),
        message("user", "ask", ""),
        message("assistant", "more", ""),
        message("user", "last", r#", "x": 5e-06"#),
    ];
    format!("[{}]", elements.join(", "))
}

#[test]
fn summarized_messages_are_hidden() {
    let env = Env::new();
    env.write("api_conversation_history.json", history());
    let file = "api_conversation_history.json";
    assert!(env.run(&["detect", file]).fine().out().contains("cline-roo"));
    let counted = env.run(&["count", file]).fine();
    assert!(counted.out().contains("messages\t5\t3"), "{counted}");
    env.run(&["cat", "--to", "cline-roo", file])
        .fine()
        .gives(history());
    let stream = env.run(&["cat", file]).fine();
    assert_eq!(stream.objects()[0]["id"], "task_1780000000000");
    // The record stream preserves everything.
    let again = env
        .pipe(&["cat", "--strict", "--to", "cline-roo"], stream.out())
        .fine();
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(again.out()), value(&history()));
    env.run(&["check", "--for", "anthropic", file]).status(0);
    env.run(&["compact", "--budget", "4000", file]).status(0);
    env.run(&["migrate", file, "--out", "moved"]).status(0);
}

/// Such a history was written and then refused as one without messages.
#[test]
fn a_history_of_only_a_summary_is_read() {
    let env = Env::new();
    let summary = message("user", "sum", r#", "isSummary": true, "condenseId": "s""#);
    env.write("summary.json", format!("[{summary}]"));
    let view = env.run(&["context", "summary.json"]).fine();
    assert_eq!(view.objects()[1]["content"], "sum", "{view}");
    env.write(
        "empty.json",
        r#"[{"type":"reasoning","ts":1,"isTruncationMarker":true}]"#,
    );
    env.run(&["context", "--from", "cline-roo", "empty.json"])
        .status(65)
        .says("contains no messages");
}

#[test]
fn a_cut_tags_dropped_messages_and_changes_nothing_else() {
    let env = Env::new();
    env.write("task.json", history());
    env.run(&["truncate", "--keep-last", "1", "-i", "task.json"])
        .status(0);
    let after = env.read("task.json");
    assert_eq!(after.matches("truncationParent").count(), 2);
    assert!(after.ends_with(&format!(", {}]", message("user", "last", r#", "x": 5e-06"#))));
    assert!(
        env.run(&["count", "task.json"])
            .fine()
            .out()
            .contains("messages\t5\t1")
    );
    env.run(&["append", "task.json", "-i", "And?"]).fine();
    assert!(
        env.read("task.json")
            .starts_with(after.strip_suffix(']').unwrap())
    );
}

#[test]
fn messages_hidden_by_cline_are_read_from_another_file() {
    let env = Env::new();
    let elements = [
        message("user", "1", ""),
        message("assistant", "2", ""),
        message("user", "3", ""),
    ];
    let history = format!("[{}]", elements.join(", "));
    env.write("api_conversation_history.json", &history);
    let file = "api_conversation_history.json";
    env.run(&["count", file]).status(0).says("ui_messages.json");
    let panel = r#"[{"ts":1,"type":"say","say":"text","text":"x","conversationHistoryDeletedRange":[0,1]}]"#;
    env.write("ui_messages.json", panel);
    assert!(env.run(&["count", file]).fine().out().contains("messages\t3\t1"));
    env.run(&["append", file, "-i", "-r", "assistant", "Good."])
        .fine();
    env.run(&["append", file, "-i", "And?"]).fine();
    env.run(&["truncate", "--keep-last", "1", "-i", file])
        .status(2)
        .says("convo cat --to cline-roo");
    env.run(&["count", "ui_messages.json"])
        .status(65)
        .says("the messages that Cline or Roo display");
    env.run(&["count", "--from", "cline-roo", "ui_messages.json"])
        .status(65)
        .says("the messages that Cline or Roo display");
}

#[test]
fn any_session_is_a_history() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "cline-roo"], CHAT).fine();
    env.write("made.json", built.out());
    let texts = env
        .run(&[
            "cat", "-q", "--from", "cline-roo", "--to", "openai-chat", "made.json",
        ])
        .status(0);
    assert!(texts.out().contains("22 C, sunny"));
}

#[test]
fn damage_is_reported_with_its_line() {
    let env = Env::new();
    let laid = history().replace(", {", ",\n{").replacen("\"ask\"", "ask\"", 1);
    env.write("task.json", laid);
    env.run(&["count", "--from", "cline-roo", "task.json"])
        .status(65)
        .says("task.json:4: byte ");
}
