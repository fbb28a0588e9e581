//! Tests sessions of Grok Build: every command, changes that preserve the other lines, and no conversion to them.

use crate::agents::put;
use crate::env::{CHAT, Env};

const FILE: &str = r#"{"type":"system","content":"You know the sea."}
{"type":"user","content":[{"type":"text","text":"How strong is the wind?"}],"prompt_index":0}
{"type":"reasoning","id":"r1","summary":[{"type":"summary_text","text":"Look it up."}],"encrypted_content":"ZW5j"}
{"type":"assistant","content":"","tool_calls":[{"id":"w1","name":"wind","arguments":"{\"pier\": \"north\"}"}],"model_id":"grok-4"}
{"type":"tool_result","tool_call_id":"w1","content":"11 kn"}
{"type":"assistant","content":"11 knots.","model_id":"grok-4"}
{"type":"user","content":[{"type":"text","text":"And the tide?"}],"prompt_index":1}
"#;

const SUMMARY: &str = r#"{"info":{"id":"s1-0001","cwd":"/kites"},"generated_title":"Wind","created_at":"2026-08-03T07:00:00Z","current_model_id":"grok-4"}"#;

const UPDATES: &str = r#"{"timestamp":1785740400,"method":"session/update","params":{"sessionId":"s1-0001","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"How strong is the wind?"},"_meta":{"promptIndex":0}}}}
{"timestamp":1785740402,"method":"session/update","params":{"sessionId":"s1-0001","update":{"sessionUpdate":"tool_call","toolCallId":"w1","title":"wind","rawInput":{}}}}
"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("chat_history.jsonl", FILE);
    super::every_command_reads(&env, "chat_history.jsonl", "grok", r#"{\"pier\": \"north\"}"#);
    env.write("updates.jsonl", UPDATES);
    super::every_command_reads(&env, "updates.jsonl", "grok", "How strong");
}

#[test]
fn in_place_a_reply_is_removed_with_its_reasoning() {
    let env = Env::new();
    env.write("chat_history.jsonl", FILE);
    env.run(&["truncate", "--keep-last", "1", "-i", "chat_history.jsonl"])
        .status(0);
    let lines: Vec<&str> = FILE.lines().collect();
    assert_eq!(
        env.read("chat_history.jsonl"),
        format!("{}\n{}\n", lines[0], lines[6])
    );
}

/// Two prompts in a row were read as one.
#[test]
fn appended_prompts_are_separate() {
    let env = Env::new();
    env.write("updates.jsonl", UPDATES);
    for text in ["And the tide?", "And the moon?"] {
        env.run(&["append", "-q", "-i", "updates.jsonl", text]).status(0);
    }
    let view = env.run(&["context", "updates.jsonl"]).fine().objects();
    let contents: Vec<_> = view[3..].iter().map(|record| &record["content"]).collect();
    assert_eq!(contents, ["And the tide?", "And the moon?"]);
    let last = env.read("updates.jsonl");
    assert!(
        last.lines()
            .last()
            .unwrap()
            .contains(r#""_meta":{"promptIndex":2}"#),
        "{last}"
    );
}

#[test]
fn sessions_from_elsewhere_are_refused() {
    let env = Env::new();
    env.pipe(&["cat", "--to", "grok"], CHAT)
        .status(2)
        .says("Grok requires three files");
}

#[test]
fn a_session_in_its_home_has_a_name_and_times() {
    let env = Env::new();
    let dir = ".grok/sessions/%2Fkites/s1-0001";
    put(&env, format!("{dir}/summary.json"), SUMMARY, 1);
    put(&env, format!("{dir}/updates.jsonl"), UPDATES, 1);
    put(&env, format!("{dir}/chat_history.jsonl"), FILE, 1);
    let rows = env.run(&["list", "--agents", "--json"]).fine().objects();
    assert_eq!(
        (&rows[0]["name"], &rows[0]["project"], &rows[0]["title"]),
        (&"grok:s1-0001".into(), &"/kites".into(), &"Wind".into())
    );
    env.run(&["search", "-c", "tide"]).fine();
    let records = env.run(&["cat", "--to", "native", "grok:@last"]).fine().objects();
    let times: Vec<_> = { records.iter() }.map(|record| &record["timestamp"]).collect();
    assert_eq!(
        (times[2], times[3], times[4]),
        (
            &"2026-08-03T07:00:00Z".into(),
            &"2026-08-03T07:00:02Z".into(),
            &serde_json::Value::Null
        )
    );
}

/// A history of version 0.
const OLDER: &str = r#"{"role":"system","content":"You know the sea."}
{"role":"user","content":"How strong is the wind?"}
{"role":"assistant","content":"","tool_calls":[{"id":"w1","type":"function","function":{"name":"wind","arguments":"{\"pier\": \"north\"}"}}],"model_id":"grok-3"}
{"role":"tool","tool_call_id":"w1","content":"12 kn"}
{"role":"assistant","content":"12 knots.","model_id":"grok-3"}
"#;

#[test]
fn a_session_of_the_older_version_in_its_home_is_read() {
    let env = Env::new();
    let dir = ".grok/sessions/%2Fkites/s0-0001";
    let summary = SUMMARY
        .replace("s1-0001", "s0-0001")
        .replace("Wind", "Older wind");
    put(&env, format!("{dir}/summary.json"), &summary, 1);
    put(&env, format!("{dir}/chat_history.jsonl"), OLDER, 1);
    let newer = ".grok/sessions/%2Fkites/s1-0001";
    put(&env, format!("{newer}/summary.json"), SUMMARY, 2);
    // One line alone is not enough to detect the format.
    put(
        &env,
        format!("{newer}/chat_history.jsonl"),
        FILE.lines().nth(1).unwrap(),
        2,
    );
    let columns = "name,messages,project,title";
    let rows = env
        .run(&["list", "--agents", "--columns", columns, "--sort", "title"])
        .fine();
    assert_eq!(
        rows.out(),
        "grok:s0-0001\t5\t/kites\tOlder wind\ngrok:s1-0001\t1\t/kites\tWind\n"
    );
    let found = env.run(&["search", "-c", "12 kn"]).fine();
    assert_eq!(found.out(), "grok:s0-0001\t2\n");
    env.run(&["search", "-c", "north"])
        .fine()
        .gives("grok:s0-0001\t1\n");
    let shown = env.run(&["cat", "grok:s0-0"]).fine();
    assert_eq!(shown.objects().len(), 5, "{shown}");
    env.run(&["archive", "-q"]).status(0);
    std::fs::remove_dir_all(env.root().join("home").join(dir)).unwrap();
    env.run(&["search", "-c", "12 kn"])
        .fine()
        .gives("grok:s0-0001\t2\n");
    let shown = env.run(&["cat", "grok:s0-0001"]).status(0);
    assert_eq!(shown.objects().len(), 5, "{shown}");
}
