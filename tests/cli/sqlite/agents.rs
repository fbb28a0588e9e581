//! Tests sessions of the OpenAI Agents SDK.

use super::{convo, truth};
use crate::env::Env;
use rusqlite::Connection;
use serde_json::{Value, json};

fn tables(sessions: &str, messages: &str) -> String {
    format!(
        "CREATE TABLE {sessions} (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
         CREATE TABLE {messages} (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL,
           created_at TIMESTAMP, FOREIGN KEY (session_id) REFERENCES {sessions} (session_id));"
    )
}

fn create_database(env: &Env, schema: &str, items: &[(&str, &str)]) -> Connection {
    let database = Connection::open(env.work().join("agents.db")).unwrap();
    database.execute_batch(schema).unwrap();
    // Rows without a session row are possible too.
    database.pragma_update(None, "foreign_keys", false).unwrap();
    for (session, item) in items {
        let query = "INSERT INTO agent_messages (session_id, message_data, created_at) VALUES (?1, ?2, '2026-01-01 00:00:00')";
        database.execute(query, [session, item]).unwrap();
    }
    database
}

fn texts(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["content"].as_str()).collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_database_has_its_expected_counts() {
    truth::hold("openai-agents");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn items_are_restored() {
    let mut sessions = 0;
    for (path, _) in truth::files("openai-agents") {
        let env = Env::new();
        let database =
            Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let mut ids = database.prepare("SELECT session_id FROM agent_sessions").unwrap();
        let ids: Vec<String> = ids
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for id in ids {
            let query = "SELECT message_data FROM agent_messages WHERE session_id = ?1 ORDER BY id";
            let mut items = database.prepare(query).unwrap();
            let items = items.query_map([&id], |row| row.get::<_, String>(0)).unwrap();
            let items: Vec<Value> = items
                .map(|item| serde_json::from_str(&item.unwrap()).unwrap())
                .collect();
            let stream = convo(&env, &[path.to_str().unwrap(), "--session", &id]).fine();
            let back = env.pipe(&["cat", "-q", "--to", "openai-responses"], &stream.stdout);
            let back: Value = serde_json::from_str(back.out()).unwrap();
            assert_eq!(back, Value::Array(items), "{id}");
            sessions += 1;
        }
    }
    eprintln!("openai-agents: {sessions} sessions are written as the items that they were");
}

#[test]
fn tables_of_any_name_and_several_of_them() {
    let env = Env::new();
    let database = create_database(
        &env,
        &tables("agent_sessions", "agent_messages"),
        &[("a", r#"{"role":"user","content":"one"}"#)],
    );
    let list = convo(&env, &["agents.db", "--list"]).fine();
    assert!(list.out().starts_with("a\t-\t31\t"), "{list}");
    database
        .execute_batch(&tables("\"my sessions\"", "\"my \"\"items\"\"\""))
        .unwrap();
    database
        .execute_batch("INSERT INTO \"my \"\"items\"\"\" VALUES (1, 'a', '{\"role\":\"user\",\"content\":\"two\"}', '2026-01-01 00:00:00')")
        .unwrap();
    let list = convo(&env, &["agents.db", "--list"]).fine();
    assert_eq!(list.out(), "agent_messages/a\t-\t31\t\nmy \"items\"/a\t-\t31\t\n");
    let only = convo(&env, &["agents.db", "--session", "my"]).fine().objects();
    assert_eq!(texts(&only), ["two"]);
    database
        .execute_batch("DROP TABLE agent_messages; DROP TABLE agent_sessions")
        .unwrap();
    assert_eq!(texts(&convo(&env, &["agents.db"]).fine().objects()), ["two"]);
    drop(database);
    env.run(&["detect", "agents.db"])
        .status(65)
        .gives("openai-agents\n");
}

#[test]
fn values_that_are_not_items_are_passed_through() {
    let env = Env::new();
    create_database(
        &env,
        &tables("agent_sessions", "agent_messages"),
        &[
            ("a", r#"{"role":"user","content":"one"}"#),
            ("a", "no json"),
            ("a", r#"{"role":"assistant","content":"two"}"#),
            ("b", r#"{"__enc__":1,"v":1,"payload":"gAAA"}"#),
            ("c", r#"{"type":"compaction","encrypted_content":"gBBB"}"#),
            ("c", r#"{"role":"user","content":"on"}"#),
        ],
    );
    let run = convo(&env, &["agents.db"])
        .status(65)
        .says("a: items that are not JSON objects, kept unchanged: 1")
        .says("items are encrypted")
        .says("header (1)");
    let lines = run.objects();
    assert_eq!(
        lines[2],
        json!({"type": "foreign", "format": "openai-agents", "raw": "no json"})
    );
    assert_eq!(lines[5]["raw"]["payload"], "gAAA");
    // Messages before a compaction are hidden; the compaction itself is sent.
    assert_eq!(lines[8]["type"], "truncate");
    assert_eq!(lines[8]["before"], lines[7]["id"]);
    let compacted = convo(&env, &["agents.db", "--session", "c"]).fine();
    let sent = env.pipe(&["context", "--to", "openai-responses"], compacted.stdout);
    assert!(sent.out().contains("gBBB"), "{sent}");
}

#[test]
fn branches_are_sessions_and_turns_have_their_usage() {
    let env = Env::new();
    let message = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
    let items: Vec<String> = [
        ("user", "1"),
        ("assistant", "2"),
        ("user", "3"),
        ("assistant", "4"),
        ("user", "5"),
        ("assistant", "6"),
        ("user", "lost"),
    ]
    .map(|(role, text)| message(role, text))
    .to_vec();
    let items: Vec<(&str, &str)> = items.iter().map(|item| ("a", item.as_str())).collect();
    let database = create_database(&env, &tables("agent_sessions", "agent_messages"), &items);
    database
        .execute_batch(
            "CREATE TABLE message_structure (id INTEGER PRIMARY KEY, session_id TEXT, message_id INTEGER, branch_id TEXT, message_type TEXT, sequence_number INTEGER, user_turn_number INTEGER, branch_turn_number INTEGER, tool_name TEXT);
             INSERT INTO message_structure (session_id, message_id, branch_id, sequence_number, user_turn_number) VALUES
              ('a', 1, 'main', 1, 1), ('a', 2, 'main', 2, 1), ('a', 3, 'main', 3, 2), ('a', 4, 'main', 4, 2),
              ('a', 1, 'other', 5, 1), ('a', 2, 'other', 6, 1), ('a', 5, 'other', 7, 2), ('a', 6, 'other', 8, 2);
             CREATE TABLE turn_usage (id INTEGER PRIMARY KEY, session_id TEXT, branch_id TEXT, user_turn_number INTEGER, requests INTEGER, input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER, input_tokens_details JSON, output_tokens_details JSON);
             INSERT INTO turn_usage VALUES (1, 'a', 'main', 1, 1, 10, 1, 11, '{\"cached_tokens\": 4}', NULL), (2, 'a', 'main', 2, 3, 20, 2, 22, NULL, NULL), (3, 'a', 'other', 2, 1, 30, 3, 33, NULL, NULL);",
        )
        .unwrap();
    let run = convo(&env, &["agents.db"]).status(0).says("usage (1)");
    let lines = run.objects();
    assert_eq!(texts(&lines), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(
        lines[5],
        json!({"type": "foreign", "format": "openai-agents", "raw": {"role": "user", "content": "lost"}})
    );
    assert_eq!(lines[6]["id"], "a.1");
    assert_eq!(
        lines[6]["metadata"]["lineage"],
        json!({"kind": "branch", "parent": "a", "at": "item_2"})
    );
    assert_eq!(lines[6]["metadata"]["openai-agents"]["branch"], "other");
    let used: Vec<u64> = lines
        .iter()
        .filter_map(|line| line["usage"]["input_tokens"].as_u64())
        .collect();
    assert_eq!(used, [10, 20, 30]);
    assert_eq!(lines[2]["usage"]["input_tokens_details"]["cached_tokens"], 4);
}
