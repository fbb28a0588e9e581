//! Tests Claude.ai exports: tools inside messages, and read-only use.

use crate::env::Env;

const EXPORT: &str = r#"[{"uuid":"one","name":"One","created_at":"2026-06-02T21:00:02.214000Z","account":{"uuid":"me"},"chat_messages":[
{"uuid":"a","sender":"human","text":"ask","content":[{"type":"text","text":"ask"}],"created_at":"2026-06-02T21:00:08Z"},
{"uuid":"b","sender":"assistant","text":"x","created_at":"2026-06-02T21:00:09Z","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t","name":"look","input":{"q":1}},{"type":"tool_result","tool_use_id":"t","name":"look","content":[{"type":"text","text":"found"}]},{"type":"text","text":"answer"}]}]},
{"uuid":"two","name":"","chat_messages":[{"uuid":"c","sender":"human","text":"other"}]}]"#;

#[test]
fn tool_calls_are_extracted_from_their_messages() {
    let env = Env::new();
    env.write("conversations.json", EXPORT);
    env.run(&["detect", "conversations.json"])
        .fine()
        .gives("claude-ai-export\n");
    let run = env
        .run(&[
            "cat", "--to", "anthropic", "--session", "one", "conversations.json",
        ])
        .status(0)
        .says("reasoning (1)");
    let messages: serde_json::Value = serde_json::from_str(run.out()).unwrap();
    assert_eq!(messages["messages"][1]["content"][0]["input"]["q"], 1);
    env.pipe(&["check", "--for", "anthropic", "--session", "one"], EXPORT)
        .status(0);
    let reported = env
        .run(&["count", "conversations.json"])
        .status(0)
        .says("header (1)");
    assert!(reported.out().contains("two"), "{reported}");
    env.run(&["truncate", "--keep-last", "1", "conversations.json"])
        .status(0);
    env.run(&["compact", "--budget", "4000", "conversations.json"])
        .status(0);
    env.run(&["show", "conversations.json"]).status(0);
    env.run(&["migrate", "conversations.json"]).status(0);
    env.run(&["list"]).fine().says("");
}

#[test]
fn writing_is_refused_and_damage_reported() {
    let env = Env::new();
    env.write("conversations.json", EXPORT);
    env.run(&["cat", "--to", "claude-ai-export", "conversations.json"])
        .status(2)
        .says("read-only format");
    let run = env.run(&["truncate", "--keep-last", "1", "-i", "conversations.json"]);
    assert!(![0, 101].contains(&run.status), "{run}");
    assert_eq!(env.read("conversations.json"), EXPORT);
    env.write(
        "conversations.json",
        EXPORT.replacen("\"human\",", "\"human\"", 1),
    );
    let run = env
        .run(&["cat", "conversations.json"])
        .status(65)
        .says("conversations.json:2: byte ");
    assert!(run.out().contains("\"id\":\"two\""), "{run}");
}
