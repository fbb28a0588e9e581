//! Tests opencode's database.

use super::{convo, names};
use crate::env::Env;
use rusqlite::{Connection, params};
use serde_json::Value;

const EXPORT: &str = include_str!("../../../src/format/opencode/tests/document.json");

/// Inserts the export as rows, in a database with a write-ahead log.
fn filled(env: &Env) -> Connection {
    let database = Connection::open(env.work().join("opencode.db")).unwrap();
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, directory TEXT NOT NULL,
               title TEXT NOT NULL, version TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL,
               time_archived INTEGER, share_url TEXT);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, data TEXT NOT NULL);
             CREATE TABLE session_message (id TEXT PRIMARY KEY, data TEXT);",
        )
        .unwrap();
    let export: Value = serde_json::from_str(EXPORT).unwrap();
    let info = &export["info"];
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let values = params![
        text(&info["id"]),
        text(&info["projectID"]),
        text(&info["parentID"]),
        text(&info["directory"]),
        text(&info["title"]),
        text(&info["version"]),
        info["time"]["created"].as_i64().unwrap(),
        info["time"]["updated"].as_i64().unwrap(),
    ];
    database
        .execute(
            "INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL, 'https://x')",
            values,
        )
        .unwrap();
    let without = |value: &Value| {
        let mut value = value.clone();
        for name in ["id", "sessionID", "messageID"] {
            value.as_object_mut().unwrap().remove(name);
        }
        value.to_string()
    };
    // Insert the rows out of order.
    for message in export["messages"].as_array().unwrap().iter().rev() {
        let info = &message["info"];
        let values = params![
            text(&info["id"]),
            "ses_1",
            info["time"]["created"].as_i64().unwrap(),
            without(info)
        ];
        database
            .execute("INSERT INTO message VALUES (?1, ?2, ?3, ?4)", values)
            .unwrap();
        for part in message["parts"].as_array().unwrap().iter().rev() {
            let values = params![text(&part["id"]), text(&info["id"]), "ses_1", without(part)];
            database
                .execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4)", values)
                .unwrap();
        }
    }
    database
}

#[test]
fn a_session_of_an_open_database_equals_its_export() {
    let env = Env::new();
    let database = filled(&env);
    env.write("tray.json", EXPORT);
    let before = names(&env.work());
    assert!(before.contains(&"opencode.db-wal".to_string()), "{before:?}");
    let listed = convo(&env, &["opencode.db", "--list"]).fine();
    assert!(
        listed.out().starts_with("ses_1\t2026-05-28T20:26:40Z\t"),
        "{listed}"
    );
    let read = convo(&env, &["opencode.db", "--session", "ses_1"]).fine();
    assert_eq!(names(&env.work()), before);
    let lines = read.objects();
    assert_eq!(
        lines[0]["metadata"]["opencode"]["session"]["columns"]["share_url"],
        "https://x"
    );
    assert_eq!(lines[0]["metadata"]["lineage"]["parent"], "ses_0");
    let export = env.run(&["cat", "tray.json"]).fine().objects();
    assert_eq!(lines.len(), export.len());
    for (one, other) in lines.iter().zip(&export).skip(1) {
        for name in [
            "role", "content", "tool_calls", "reasoning", "id", "timestamp", "type", "usage", "covers",
            "drop",
        ] {
            // A parsed value writes its members in another order.
            let written = |value: &Value| value.to_string().len();
            assert_eq!(
                written(&one[name]),
                written(&other[name]),
                "{name}: {one}\n{other}"
            );
        }
    }
    let built = env.pipe(&["cat", "-q", "--to", "opencode"], read.out()).fine();
    let mut built: Value = serde_json::from_str(built.out()).unwrap();
    built.as_object_mut().unwrap().remove("columns");
    assert_eq!(built, serde_json::from_str::<Value>(EXPORT).unwrap());
    drop(database);
}

#[test]
fn damage_in_a_row_is_reported_and_hides_nothing() {
    let env = Env::new();
    let database = filled(&env);
    database
        .execute("UPDATE message SET data = '{' WHERE id = 'msg_03'", [])
        .unwrap();
    database
        .execute("UPDATE part SET message_id = 'gone' WHERE id = 'prt_25'", [])
        .unwrap();
    drop(database);
    let run = convo(&env, &["opencode.db"]).status(65).says("not a message");
    let lines = run.objects();
    assert_eq!(lines.iter().filter(|line| line["role"] == "user").count(), 3);
    assert!(run.out().contains("Last"), "{run}");
    let other = Connection::open(env.work().join("other.db")).unwrap();
    other.execute_batch("CREATE TABLE session (id TEXT); CREATE TABLE message (id TEXT, session_id TEXT); CREATE TABLE part (id TEXT);").unwrap();
    drop(other);
    convo(&env, &["other.db"]).status(65).says("has no column data");
}
