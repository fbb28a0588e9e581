//! Tests logs of llm with its current and earlier tables.

use super::{convo, truth};
use crate::env::Env;
use rusqlite::Connection;
use serde_json::{Value, json};

const TODAY: &str = r#"
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT);
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT);
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT, resolved_model TEXT, options_json TEXT, schema_id TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT, duration_ms INTEGER, datetime_utc TEXT, response_json TEXT);
"#;

const BEFORE: &str = r#"
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT, options_json TEXT, response TEXT, response_json TEXT, conversation_id TEXT, duration_ms INTEGER, datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER);
"#;

fn create_database(env: &Env, schema: &str, rows: &str) -> Connection {
    let database = Connection::open(env.work().join("logs.db")).unwrap();
    database.execute_batch(schema).unwrap();
    database.execute_batch(rows).unwrap();
    database
}

fn objects(env: &Env) -> Vec<Value> {
    convo(env, &["logs.db"]).objects()
}

/// A thread with everything, a fork of it, and an inactive branch.
const ROWS: &str = r#"
INSERT INTO fragments VALUES (7, 'f', 'a novel');
INSERT INTO attachments VALUES ('p', 'image/png', NULL, NULL, x'89504e47'), ('u', 'image/png', NULL, 'https://x/y.png', NULL), ('l', 'image/png', '/home/a.png', NULL, NULL);
INSERT INTO messages VALUES ('m1', NULL, 'user', NULL), ('m2', 'm1', 'assistant', '{"x": 9007199254740993}'), ('m3', 'm2', 'tool', NULL), ('m4', 'm3', 'assistant', NULL), ('m5', 'm4', 'user', NULL), ('m6', 'm3', 'assistant', NULL);
INSERT INTO parts VALUES
 (1, 'm1', 0, 'text', NULL, NULL, '{"text_ref": [{"literal": "read "}, {"fragment": 7}, {"literal": " now"}]}'),
 (2, 'm1', 1, 'attachment', NULL, NULL, '{"attachment": {"id": "p"}}'),
 (3, 'm1', 2, 'attachment', NULL, NULL, '{"attachment": {"id": "u"}}'),
 (4, 'm1', 3, 'attachment', NULL, NULL, '{"attachment": {"id": "l"}}'),
 (5, 'm2', 0, 'reasoning', NULL, 'hm', '{"provider_metadata": {"anthropic": {"signature": "sig"}}}'),
 (6, 'm2', 2, 'tool_call', 'f', NULL, '{"name": "f", "arguments": {"n": 1.50}, "tool_call_id": "c1"}'),
 (7, 'm2', 1, 'tool_call', 'g', NULL, '{"name": "g", "arguments": {}}'),
 (8, 'm3', 0, 'tool_result', 'g', NULL, '{"name": "g", "output": "two"}'),
 (9, 'm3', 1, 'tool_result', 'f', NULL, '{"name": "f", "output": "one", "tool_call_id": "c1", "exception": "E", "attachments": [{"id": "p"}]}'),
 (10, 'm4', 0, 'text', NULL, 'done', NULL), (11, 'm5', 0, 'text', NULL, 'and?', NULL), (12, 'm6', 0, 'text', NULL, 'left', NULL);
INSERT INTO threads VALUES ('t1', 'a thread', 'm4', NULL, '2026-01-01 00:00:00.5+00:00'), ('t2', NULL, 'm5', 't1', '2026-01-02 00:00:00+00:00');
INSERT INTO turns VALUES ('r1', 't1', 'm1', 'm2', 'alias', 'model-1', '{"temperature": 0.50}', NULL, 5, 2, '{"cached": 1}', 12, '2026-01-01T00:00:00+00:00', NULL),
 ('r2', 't1', 'm3', 'm6', 'm', NULL, NULL, NULL, 6, 3, NULL, 1, '2026-01-01T00:00:01+00:00', NULL),
 ('r3', 't1', 'm3', 'm4', 'm', NULL, NULL, NULL, 7, 4, NULL, 1, '2026-01-01T00:00:02+00:00', '{"id": "z"}');
"#;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_database_has_its_expected_counts() {
    truth::hold("llm");
}

#[test]
fn a_thread_contains_the_ancestors_of_its_last_message() {
    let env = Env::new();
    create_database(&env, TODAY, ROWS);
    let run = convo(&env, &["logs.db"]).status(0);
    assert_eq!(run.stderr, "convo: logs.db: not represented: attachments (2)\n");
    let lines = run.objects();
    let ids: Vec<&str> = lines.iter().filter_map(|line| line["id"].as_str()).collect();
    let main = ["m1", "m2", "m3", "m3.1"];
    let fork = ["m4", "m5"];
    let expected = [&["t1"][..], &main, &["m4", "t1.1", "m6", "t2"], &main, &fork].concat();
    assert_eq!(ids, expected);
    assert_eq!(
        lines[1]["content"],
        json!([{"type": "text", "text": "read a novel now"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
            {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
            {"type": "attachment", "attachment": {"type": "image/png", "path": "/home/a.png"}}])
    );
    let reply = &lines[2];
    assert_eq!(reply["content"], Value::Null);
    assert_eq!(
        reply["reasoning"],
        json!([{"type": "thinking", "thinking": "hm", "signature": "sig"}])
    );
    assert_eq!(reply["tool_calls"][1]["function"]["arguments"], "{\"n\":1.50}");
    assert_eq!(
        (&reply["model"], &reply["timestamp"]),
        (&json!("model-1"), &json!("2026-01-01T00:00:00+00:00"))
    );
    assert_eq!(
        reply["usage"],
        json!({"input_tokens": 5, "output_tokens": 2, "token_details": {"cached": 1}})
    );
    assert!(
        run.out()
            .contains(r#""provider_metadata":{"x":9007199254740993}"#)
    );
    assert!(run.out().contains(r#""options":{"temperature":0.50}"#));
    // Results in order, each with its call; one had no id and got that of the call.
    assert_eq!(lines[3]["tool_call_id"], reply["tool_calls"][0]["id"]);
    assert_eq!(lines[4]["tool_call_id"], "c1");
    assert_eq!(
        lines[4]["metadata"],
        json!({"is_error": true, "llm": {"exception": "E"}})
    );
    assert_eq!(lines[4]["content"][1]["type"], "image_url");
    // Shared usage is counted once.
    let used: Vec<u64> = lines
        .iter()
        .filter_map(|line| line["usage"]["input_tokens"].as_u64())
        .collect();
    assert_eq!(used, [5, 7, 6]);
    let lineage: Vec<&Value> = lines
        .iter()
        .map(|line| &line["metadata"]["lineage"])
        .filter(|one| !one.is_null())
        .collect();
    assert_eq!(
        lineage,
        [
            &json!({"kind": "branch", "parent": "t1", "at": "m3"}),
            &json!({"kind": "fork", "parent": "t1"})
        ]
    );
    convo(&env, &["logs.db", "--strict"]).status(65).gives("");
    env.pipe(
        &["check", "--for", "anthropic"],
        convo(&env, &["logs.db", "--session", "t2"]).stdout,
    )
    .status(0);
}

#[test]
fn broken_chains_end_at_the_gap() {
    let env = Env::new();
    create_database(
        &env,
        TODAY,
        r#"INSERT INTO messages VALUES ('a', 'b', 'user', NULL), ('b', 'a', 'user', NULL), ('c', 'gone', 'user', NULL);
        INSERT INTO parts VALUES (1, 'a', 0, 'text', NULL, 'x', NULL), (2, 'c', 0, 'odd', NULL, 'y', '{"more": 1}'), (3, 'c', 1, 'text', NULL, 'z', 'no json'),
         (4, 'c', 2, 'text', NULL, NULL, '{"text_ref": [{"fragment": 1}]}');
        INSERT INTO threads VALUES ('round', NULL, 'a', NULL, 'yesterday'), ('torn', NULL, 'c', NULL, NULL), ('void', NULL, NULL, NULL, NULL);"#,
    );
    let run = convo(&env, &["logs.db"])
        .status(65)
        .says("round: message a precedes itself")
        .says("torn: missing message gone")
        .says("torn: additional data of a part of c is not a JSON object")
        .says("torn: a text of c refers to the missing fragment 1");
    let lines = run.objects();
    assert_eq!(lines.iter().filter(|line| line["type"] == "session").count(), 3);
    assert_eq!(
        lines[4]["content"][0],
        json!({"type": "odd", "text": "y", "more": 1})
    );
}

#[test]
fn conversations_without_a_thread_come_after_the_threads() {
    let env = Env::new();
    let rows = r#"
INSERT INTO threads VALUES ('c1', 'new', 'm1', NULL, NULL);
INSERT INTO messages VALUES ('m1', NULL, 'user', NULL);
INSERT INTO conversations VALUES ('c1', 'old', 'm'), ('c2', 'kept', 'm');
INSERT INTO responses VALUES ('r1', 'm', 'gone over', NULL, NULL, NULL, 'x', NULL, 'c1', 1, '2026-01-01T00:00:00', 1, 1),
 ('r3', 'm', 'second', NULL, '{"messages": []}', NULL, 'b', NULL, 'c2', 1, '2026-01-03T00:00:00', 1, 1),
 ('r2', 'm', 'first', 'be brief', NULL, NULL, 'a', NULL, 'c2', 1, '2026-01-02T00:00:00', 1, 1),
 ('r4', 'm', 'alone', '', NULL, NULL, '', NULL, NULL, 1, '2026-01-04T00:00:00', NULL, NULL);
"#;
    create_database(&env, &[TODAY, BEFORE].concat(), rows);
    let run = convo(&env, &["logs.db"]).status(0).says("metadata (1)");
    let lines = run.objects();
    let ids: Vec<&str> = lines.iter().filter_map(|line| line["id"].as_str()).collect();
    let kept = ["c2", "r2.system", "r2.prompt", "r2", "r3.prompt", "r3"];
    assert_eq!(
        ids,
        [&["c1", "m1"][..], &kept, &["r4", "r4.prompt", "r4"]].concat()
    );
    assert!(!run.out().contains("gone over"));
    convo(&env, &["logs.db", "--list"])
        .fine()
        .gives("c1\t-\t0\tnew\nc2\t2026-01-02T00:00:00Z\t21\tkept\nr4\t2026-01-04T00:00:00Z\t5\t\n");
}

#[test]
fn tools_and_attachments_are_placed_around_their_response() {
    let env = Env::new();
    let more = r#"
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT, tool_call_id TEXT);
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT, tool_call_id TEXT);
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT);
CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
CREATE TABLE system_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
INSERT INTO fragments VALUES (1, 'x', 'novel'), (2, 'y', 'rules ');
INSERT INTO attachments VALUES ('p', 'image/png', NULL, 'https://x/y.png', NULL);
INSERT INTO prompt_fragments VALUES ('r1', 1, 0);
INSERT INTO system_fragments VALUES ('r1', 2, 0);
INSERT INTO prompt_attachments VALUES ('r1', 'p', 0);
INSERT INTO tool_calls VALUES (1, 'r1', NULL, 'f', '{"a": 1}', NULL);
INSERT INTO tool_results VALUES (1, 'r2', NULL, 'f', 'out', NULL);
INSERT INTO responses VALUES ('r1', 'm', 'ask', 'be brief', NULL, NULL, '', NULL, 'gone', 1, '2026-01-01T00:00:00', 1, 1),
 ('r2', 'm', '', NULL, NULL, NULL, 'done', NULL, 'gone', 1, '2026-01-01T00:00:01', 1, 1);
"#;
    create_database(&env, BEFORE, more);
    let lines = objects(&env);
    assert_eq!(lines[0]["id"], "gone");
    assert_eq!(lines[1]["content"], "rules\n\nbe brief");
    assert_eq!(lines[2]["content"][0]["text"], "novel\nask");
    assert_eq!(lines[2]["content"][1]["type"], "image_url");
    assert_eq!(lines[3]["tool_calls"][0]["function"]["arguments"], "{\"a\": 1}");
    assert_eq!(lines[4]["tool_call_id"], lines[3]["tool_calls"][0]["id"]);
    assert_eq!(lines[5]["content"], "done");
    assert_eq!(lines.len(), 6);
}
