//! Tests goose's database.

use super::{convo, names, truth};
use crate::env::Env;
use rusqlite::{Connection, params};
use serde_json::Value;

const LINES: &str = include_str!("../../../src/format/goose/tests/session.jsonl");

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_database_has_its_expected_counts() {
    truth::hold("goose");
}

/// Inserts the lines as rows, in a database with a write-ahead log.
fn filled(env: &Env) -> Connection {
    let database = Connection::open(env.work().join("sessions.db")).unwrap();
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
             CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT NOT NULL DEFAULT '', user_set_name BOOLEAN,
               working_dir TEXT NOT NULL, created_at TIMESTAMP, extension_data TEXT, total_tokens INTEGER, recipe_json TEXT);
             CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
               content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, tokens INTEGER, metadata_json TEXT);
             INSERT INTO sessions VALUES ('20260601_1', '', 'Trays', 0, '/w', '2026-06-01 08:00:00', '{\"a\": 1}', 9, '{\"t\":\"x\"}');
             INSERT INTO sessions VALUES ('20260601_2', 'Empty', '', 1, '/w', '2026-06-01 09:00:00', NULL, NULL, NULL);",
        )
        .unwrap();
    for line in LINES.lines().skip(1).filter(|line| !line.is_empty()) {
        let message: Value = serde_json::from_str(line).unwrap();
        let metadata = message.get("metadata").map(Value::to_string);
        let values = params![
            message["role"].as_str().unwrap(),
            message["content"].to_string(),
            message["created"].as_i64().unwrap(),
            metadata,
        ];
        let insert = "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20260601_1', ?1, ?2, ?3, ?4)";
        database.execute(insert, values).unwrap();
    }
    database
}

#[test]
fn a_session_of_an_open_database_equals_its_export() {
    let env = Env::new();
    let database = filled(&env);
    let before = names(&env.work());
    let read = convo(&env, &["sessions.db"]).fine();
    assert_eq!(names(&env.work()), before);
    let lines = read.objects();
    let headers: Vec<&Value> = lines.iter().filter(|line| line["type"] == "session").collect();
    assert_eq!(headers.len(), 2);
    assert_eq!(
        (&headers[0]["title"], &headers[0]["created_at"]),
        (&"Trays".into(), &"2026-06-01T08:00:00Z".into())
    );
    let about = &headers[0]["metadata"]["goose"]["session"];
    assert_eq!(
        (&about["extension_data"]["a"], &about["recipe"]["t"]),
        (&1.into(), &"x".into())
    );
    assert_eq!(
        (&about["total_tokens"], &about["user_set_name"]),
        (&9.into(), &false.into())
    );
    assert_eq!(lines.iter().filter(|line| line["role"] == "tool").count(), 3);
    assert_eq!(lines.iter().filter(|line| line["strategy"] == "goose").count(), 1);
    let one = convo(&env, &["sessions.db", "--session", "20260601_1"]).fine();
    let built = env.pipe(&["cat", "-q", "--to", "goose"], one.out()).fine();
    let built: Value = serde_json::from_str(built.out()).unwrap();
    assert_eq!(built["conversation"].as_array().unwrap().len(), 12);
    convo(&env, &["sessions.db", "--list"]).fine();
    drop(database);
}

#[test]
fn damage_in_a_row_is_reported_and_hides_nothing() {
    let env = Env::new();
    let database = filled(&env);
    database
        .execute("UPDATE messages SET content_json = '[{' WHERE id = 1", [])
        .unwrap();
    drop(database);
    let run = convo(&env, &["sessions.db"]).status(65).says("not a message");
    assert!(run.out().contains("I look."), "{run}");
    let other = Connection::open(env.work().join("other.db")).unwrap();
    other
        .execute_batch("CREATE TABLE schema_version (version); CREATE TABLE sessions (id TEXT, working_dir TEXT, created_at TEXT); CREATE TABLE messages (id, session_id, role, body);")
        .unwrap();
    drop(other);
    convo(&env, &["other.db"])
        .status(65)
        .says("unknown version of sessions of goose");
}
