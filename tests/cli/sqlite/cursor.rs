//! Tests the database of the Cursor editor.

use super::{convo, names, truth};
use crate::env::Env;
use crate::sample_data;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_database_has_its_expected_counts() {
    let dir = sample_data::path("wild").join("cursor");
    let truth: Value = serde_json::from_slice(&std::fs::read(dir.join("truth.json")).unwrap()).unwrap();
    let expected = &truth["files"]["syn-state.vscdb"];
    let env = Env::new();
    let path = dir.join("syn-state.vscdb");
    // One composer is damaged.
    let run = convo(&env, &[path.to_str().unwrap()]).status(65);
    let counted = truth::counts(&env, run.out());
    for (name, value) in expected.as_object().unwrap() {
        let is_same = match name.as_str() {
            "origin" | "bytes" | "sha256" | "raw" => true,
            "bad_lines" => run.stderr.matches("not a JSON object").count() as u64 == value.as_u64().unwrap(),
            "headers" => {
                let lines = run.objects();
                let headers = lines.iter().filter(|line| line["type"] == "session");
                let headers: Vec<Value> = headers
                    .map(|header| {
                        let mut seen = json!({"id": header["id"], "title": header["title"]});
                        for name in ["cwd", "model"] {
                            if let Some(value) = header["metadata"].get(name) {
                                seen[name] = value.clone();
                            }
                        }
                        seen
                    })
                    .collect();
                json!(headers) == *value
            }
            "usage" => ["input_total", "output"]
                .iter()
                .all(|name| counted["usage"][name] == value[name]),
            _ if value.is_number() => counted[name].as_u64().unwrap_or(0) == value.as_u64().unwrap(),
            _ => counted[name] == *value,
        };
        assert!(is_same, "{name}: {} and not {value}", counted[name]);
    }
}

fn database(env: &Env) -> Connection {
    let database = Connection::open(env.work().join("state.vscdb")).unwrap();
    let tables = "PRAGMA journal_mode = WAL;
        CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
        CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);";
    database.execute_batch(tables).unwrap();
    database
}

fn put(database: &Connection, key: &str, value: &str) {
    let insert = "INSERT INTO cursorDiskKV VALUES (?1, ?2)";
    database.execute(insert, params![key, value.as_bytes()]).unwrap();
}

#[test]
fn chats_are_read_while_the_editor_runs_without_unused_tabs_and_discarded_messages() {
    let env = Env::new();
    let database = database(&env);
    let headers =
        r#"[{"bubbleId":"u"},{"bubbleId":"a"},{"bubbleId":"gone"},{"bubbleId":"bad"},{"bubbleId":"none"}]"#;
    put(
        &database,
        "composerData:c1",
        &format!(
            r#"{{"name":"Gate","createdAt":1785000000123,"modelConfig":{{"modelName":"elm-3"}},"workspaceIdentifier":{{"uri":{{"fsPath":"/src/weir"}}}},"fullConversationHeadersOnly":{headers}}}"#
        ),
    );
    put(
        &database,
        "composerData:c2",
        r#"{"name":"tab","fullConversationHeadersOnly":[]}"#,
    );
    put(
        &database,
        "composerData:c10",
        r#"{"conversation":[{"type":1,"text":"old"}]}"#,
    );
    put(
        &database,
        "bubbleId:c1:u",
        r#"{"type":1,"text":"Open?","createdAt":"2026-07-25T17:20:00.000Z"}"#,
    );
    put(
        &database,
        "bubbleId:c1:a",
        r#"{"type":2,"text":"","thinking":{"text":"look","signature":"c2ln"},"tokenCount":{"inputTokens":0,"outputTokens":7},"toolFormerData":{"tool":5,"toolCallId":"t1","name":"read","params":{"path":"x"},"error":"denied","status":"error"}}"#,
    );
    put(&database, "bubbleId:c1:bad", "{");
    put(
        &database,
        "bubbleId:c1:none",
        r#"{"type":2,"text":"","checkpointId":"p"}"#,
    );
    put(
        &database,
        "bubbleId:c1:edited",
        r#"{"type":1,"text":"discarded"}"#,
    );
    let before = names(&env.work());
    let run = convo(&env, &["state.vscdb"]).status(65);
    assert_eq!(names(&env.work()), before);
    assert!(
        run.stderr.contains("c1: message bad is not a JSON object"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("c1: 1 message is missing from the database"),
        "{}",
        run.stderr
    );
    assert!(!run.out().contains("\"content\":\"discarded\""), "{}", run.out());
    let lines = run.objects();
    let is_header = |line: &&Value| line["type"] == "session";
    let ids: Vec<&Value> = lines.iter().filter(is_header).map(|line| &line["id"]).collect();
    assert_eq!(ids, ["c1", "c10"]);
    let header = lines.iter().find(|line| line["id"] == "c1").unwrap();
    assert_eq!(header["created_at"], "2026-07-25T17:20:00.123Z");
    assert_eq!(header["metadata"]["cwd"], "/src/weir");
    assert_eq!(header["metadata"]["model"], "elm-3");
    assert_eq!(header["metadata"]["cursor"]["discarded"], 1);
    let call = lines.iter().find(|line| line["id"] == "a").unwrap();
    assert_eq!(call["tool_calls"][0]["function"]["arguments"], r#"{"path":"x"}"#);
    assert_eq!(call["reasoning"][0]["signature"], "c2ln");
    assert_eq!(call["usage"], json!({"output_tokens": 7}));
    let result = lines.iter().find(|line| line["role"] == "tool").unwrap();
    assert_eq!(
        (&result["tool_call_id"], &result["content"]),
        (&json!("t1"), &json!("denied"))
    );
    assert_eq!(result["metadata"]["is_error"], true);
    assert_eq!(lines.iter().filter(|line| line["type"] == "foreign").count(), 2);
    let one = convo(&env, &["state.vscdb", "--session", "c10"]).fine();
    env.pipe(&["cat"], one.out()).fine().gives(one.out());
    drop(database);
    // The settings database of a related editor contains no chats.
    let other = Connection::open(env.work().join("other.vscdb")).unwrap();
    other
        .execute_batch("CREATE TABLE ItemTable (key TEXT, value BLOB)")
        .unwrap();
    convo(&env, &["other.vscdb"]).status(65);
}

#[test]
fn a_chat_of_the_command_line_is_refused_by_name() {
    let env = Env::new();
    database(&env);
    // The database of the editor is read by the plugin.
    env.run(&["cat", "./state.vscdb"])
        .status(65)
        .says("SQLite database of the Cursor editor")
        .says("convo sqlite FILE");
    let id = "8f14e45f-ceea-467f-a9f4-ea0b2f3f1b3d";
    let chat = format!("home/.cursor/chats/0cc175b9c0f1b6a831c399e269772661/{id}/store.db");
    env.write(&chat, "");
    let store = Connection::open(env.work().join(&chat)).unwrap();
    let tables = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);";
    store.execute_batch(tables).unwrap();
    let name = "unsupported format 'cursor-store': a chat store of the Cursor CLI";
    let hint = "read the transcript of the chat; list transcripts with: convo list --agents --program cursor";
    convo(&env, &[&chat]).status(65).says(name).says(hint);
    for command in [&["cat", &chat][..], &["search", "lease", &chat], &["slim", &chat]] {
        env.run(command).status(65).says(name).says(hint);
    }
    // Databases of others have such tables among others.
    store.execute_batch("CREATE TABLE packages (id TEXT)").unwrap();
    convo(&env, &[&chat])
        .status(65)
        .says("contains no supported sessions")
        .says("packages");
}
