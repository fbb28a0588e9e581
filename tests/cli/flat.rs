//! Tests `count --flat`: a table row per session.

use crate::env::{CHAT, Env};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    let first = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    first.path().to_str().unwrap().to_string()
}

/// The rows of these inputs.
fn rows(env: &Env, inputs: &[&str]) -> Vec<Value> {
    env.run(&[&["count", "--flat", "-q"], inputs].concat())
        .fine()
        .objects()
}

fn number(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or_else(|| panic!("{name} of {row}"))
}

#[test]
fn every_row_has_the_same_flat_members() {
    let env = Env::with_chat();
    let (claude, codex) = (example("claude-code"), example("codex"));
    let bare = env.write("bare.jsonl", crate::env::BARE);
    let rows = rows(&env, &["trip", &claude, &codex, bare.to_str().unwrap()]);
    assert_eq!(rows.len(), 4);
    let members: BTreeSet<Vec<&String>> = rows
        .iter()
        .map(|row| row.as_object().unwrap().keys().collect())
        .collect();
    assert_eq!(members.len(), 1, "{members:?}");
    for (name, _) in rows[0].as_object().unwrap() {
        let kinds: BTreeSet<&str> = rows.iter().filter_map(|row| kind(&row[name])).collect();
        assert!(kinds.len() <= 1 && !kinds.contains("nested"), "{name}: {kinds:?}");
    }
    assert_eq!(rows[1]["format"], "claude-code");
    assert_eq!(rows[1]["project"], "uploader");
    assert_eq!(rows[2]["program"], "codex");
    assert_eq!(rows[2]["usage_input"], Value::Null);
}

fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("string"),
        Value::Array(_) | Value::Object(_) => Some("nested"),
    }
}

#[test]
fn figures_agree_with_count_check_and_usage() {
    let env = Env::new();
    let claude = example("claude-code");
    let row = &rows(&env, &[&claude])[0];
    let counted = &env.run(&["count", "--json", "-q", &claude]).fine().objects()[0];
    assert_eq!(row["tokens"], counted["log"]["tokens"]["total"]);
    assert_eq!(row["view_tokens"], counted["view"]["tokens"]["total"]);
    assert_eq!(row["tokens_tool"], counted["view"]["tokens"]["roles"]["tool"]);
    assert_eq!(row["messages_user"], counted["view"]["roles"]["user"]);
    assert_eq!(row["exchanges"], counted["log"]["exchanges"]);
    let calls = counted["view"]["tools"].as_object().unwrap();
    let calls: u64 = calls.values().filter_map(Value::as_u64).sum();
    assert_eq!(number(row, "calls"), calls);
    let usage = env.run(&["usage", "--by", "session", "--json", "-q", &claude]);
    let usage = &usage.fine().objects()[0];
    for (own, other) in [
        ("usage_input", "input"),
        ("usage_cache_read", "cache_read"),
        ("usage_output", "output"),
        ("requests", "requests"),
        ("cost", "cost"),
    ] {
        assert_eq!(row[own], usage[other], "{own}");
    }
    // A call with a failed result, one without a result, and a result without a call.
    let path = env.write(
        "odd.jsonl",
        concat!(
            r#"{"role":"user","content":"go","id":"m1"}"#,
            "\n",
            r#"{"role":"assistant","content":null,"id":"m2","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
            "\n",
            r#"{"role":"tool","tool_call_id":"a","content":"no","id":"m3","metadata":{"is_error":true}}"#,
            "\n",
            r#"{"role":"user","content":"so?","id":"m4"}"#,
            "\n",
            r#"{"role":"tool","tool_call_id":"x","content":"?","id":"m5"}"#,
            "\n",
        ),
    );
    let row = &rows(&env, &[path.to_str().unwrap()])[0];
    let figures = ["calls", "calls_failed", "calls_open"].map(|name| number(row, name));
    assert_eq!(figures, [2, 1, 1]);
    assert!(number(row, "errors") > 0, "{row}");
}

#[test]
fn equal_messages_have_equal_hashes() {
    let env = Env::new();
    let hash = |name: &str, text: &str| {
        let path = env.write(name, text);
        rows(&env, &[path.to_str().unwrap()])[0]["sha256"].clone()
    };
    let first = hash("a.jsonl", CHAT);
    assert_eq!(first.as_str().unwrap().len(), 64);
    let renamed = CHAT
        .replace("\"m2\"", "\"x2\"")
        .replace("2026-11-01", "2026-11-02");
    assert_eq!(hash("b.jsonl", &renamed), first);
    assert_ne!(hash("c.jsonl", &CHAT.replace("Rain.", "Snow.")), first);
    // Truncated messages do not count: the hash covers the view.
    let cut: String = CHAT
        .lines()
        .take(1)
        .chain(CHAT.lines().skip(6))
        .collect::<Vec<_>>()
        .join("\n");
    assert_ne!(hash("d.jsonl", &cut), first);
    // Users store this value in tables, so it must not change between versions.
    assert_eq!(
        first,
        "93086edd1f0b7a7755437ed589f870aa51bb2da24848c837c8efd6b1975700df"
    );
}

#[test]
fn packed_lines_become_rows_without_an_environment() {
    let env = Env::new();
    let claude = example("claude-code");
    let codex = example("codex");
    let packed = env.run(&["cat", "--pack", "-q", &claude, &codex]).fine();
    assert_eq!(packed.out().lines().count(), 2);
    let mut command = env.command(&["count", "--flat", "-q"]);
    command.env_clear().stdin(Stdio::piped());
    let from_packed = env.feed(command, packed.out().as_bytes()).fine().objects();
    for (one, other) in from_packed.iter().zip(rows(&env, &[&claude, &codex])) {
        for name in [
            "id",
            "sha256",
            "tokens",
            "view_messages",
            "program",
            "created_at",
            "usage_output",
        ] {
            assert_eq!(one[name], other[name], "{name}");
        }
    }
    let mut command = env.command(&["count", "--flat", "-q"]);
    command.env_clear();
    env.wait(command).fine().gives("");
}
