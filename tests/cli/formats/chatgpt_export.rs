//! Tests ChatGPT exports: many conversations, branches, and read-only use.

use crate::env::Env;

/// An export of two conversations, the first with a branch and a call.
fn export() -> String {
    let node = |id: &str, parent: &str, role: &str, text: &str, to: &str| {
        format!(
            r#""{id}":{{"id":"{id}","parent":"{parent}","children":[],"message":{{"id":"{id}","author":{{"role":"{role}"}},"create_time":1784164500.25,"content":{{"content_type":"text","parts":["{text}"]}},"recipient":"{to}"}}}}"#
        )
    };
    let first = [
        node("a", "root", "user", "ask", "all"),
        node("b", "a", "assistant", "left", "all"),
        node("c", "a", "assistant", r#"{\"q\":1}"#, "web.run"),
        node("d", "c", "tool", "found", "all"),
        node("e", "d", "assistant", "answer", "all"),
    ];
    let second = [node("x", "root", "user", "other", "all")];
    format!(
        r#"[{{"title":"One","id":"one","mapping":{{{}}},"current_node":"e"}},{{"title":"Two","id":"two","mapping":{{{}}},"current_node":"x"}}]"#,
        first.join(","),
        second.join(",")
    )
}

#[test]
fn conversations_are_sessions_with_branches() {
    let env = Env::new();
    env.write("conversations.json", export());
    env.run(&["detect", "conversations.json"])
        .fine()
        .gives("chatgpt-export\n");
    let lines = env.run(&["cat", "conversations.json"]).fine().objects();
    let ids: Vec<_> = lines
        .iter()
        .filter(|line| line["type"] == "session")
        .map(|line| &line["id"])
        .collect();
    assert_eq!(ids, ["one", "one.1", "two"]);
    let chat = env
        .run(&[
            "cat", "-q", "--to", "openai-chat", "--session", "one", "conversations.json",
        ])
        .fine();
    let messages: Vec<serde_json::Value> = serde_json::from_str(chat.out()).unwrap();
    assert_eq!(
        messages[1]["tool_calls"][0]["function"]["arguments"],
        r#"{"q":1}"#
    );
    assert_eq!(messages[2]["content"], "found");
    env.run(&["count", "--session", "two", "conversations.json"])
        .fine()
        .says("");
    env.pipe(&["check", "--for", "openai-chat", "--session", "one"], export())
        .status(0);
    let kept = env
        .pipe(&["truncate", "--keep-last", "1"], export())
        .status(0)
        .says("1 branch");
    assert!(kept.out().contains("answer"));
    env.pipe(&["compact", "--budget", "4000"], export()).status(0);
    env.run(&["show", "--all-branches", "conversations.json"]).fine();
}

#[test]
fn an_export_becomes_sessions_of_the_store() {
    let env = Env::new();
    env.write("conversations.json", export());
    env.run(&["migrate", "conversations.json"]).status(0);
    let listed = env.run(&["list"]).fine();
    for id in ["one", "one.1", "two"] {
        assert!(listed.out().contains(id), "{listed}");
    }
}

#[test]
fn writing_the_format_is_refused() {
    let env = Env::new();
    env.write("conversations.json", export());
    env.run(&["cat", "--to", "chatgpt-export", "conversations.json"])
        .status(2)
        .says("read-only format");
    for command in [
        &["truncate", "--keep-last", "1"][..],
        &["compact", "--budget", "10"],
    ] {
        let run = env.run(&[command, &["-i", "conversations.json"]].concat());
        assert_ne!(run.status, 0, "{run}");
        assert_ne!(run.status, 101, "{run}");
    }
    assert_eq!(env.read("conversations.json"), export());
}

#[test]
fn a_zip_is_refused_with_the_line_that_feeds_it() {
    let env = Env::new();
    let file = |name: &str| {
        let length = [name.len() as u8, 0, 0, 0];
        [b"PK\x03\x04", &[0; 22][..], &length, name.as_bytes(), b"data"].concat()
    };
    for (names, whose, line) in [
        (
            ["user.json", "conversations.json"],
            "ChatGPT",
            "unzip -p FILE conversations.json | convo",
        ),
        (
            ["users.json", "conversations.json"],
            "Claude.ai",
            "unzip -p FILE conversations.json | convo",
        ),
        (
            ["chat.html", "conversations-000.json"],
            "ChatGPT",
            "unzip -p FILE '*conversations*.json' | convo",
        ),
    ] {
        env.write("export.zip", [file(names[0]), file(names[1])].concat());
        env.run(&["count", "export.zip"])
            .status(65)
            .says(whose)
            .says(line);
    }
}

#[test]
fn damage_is_reported_with_position_and_the_rest_read() {
    let env = Env::new();
    let damaged = export().replacen("\"left\"", "left\"", 1);
    env.write("conversations.json", &damaged);
    let place = format!("conversations.json:1: byte {}: ", damaged.find("left").unwrap());
    let run = env.run(&["cat", "conversations.json"]).status(65).says(&place);
    assert!(run.out().contains("\"id\":\"two\""), "{run}");
    env.run(&["cat", "--strict", "conversations.json"]).status(65);
}
