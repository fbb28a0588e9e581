//! Tests the tables of `--flat`: a row per session.

use crate::check::BROKEN;
use crate::env::{CHAT, Env};
use crate::sample_data;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;

fn example(name: &str) -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    let first = std::fs::read_dir(dir).unwrap().next().unwrap().unwrap();
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

/// A session with a value for every member that the examples do not have.
const FULL: &str = concat!(
    r#"{"type":"session","version":1,"id":"full","created_at":"2026-11-01T10:00:00Z","title":"Full","continued_from":"trip","#,
    r#""metadata":{"cwd":"/srv/shop","lineage":{"kind":"fork","parent":"trip"}}}"#,
    "\n",
    r#"{"role":"user","content":"go","id":"u1","timestamp":"2026-11-01T10:00:01Z"}"#,
    "\n",
    r#"{"role":"assistant","content":"a","id":"msg_0123456789abcdef","model":"claude-sonnet-4-5","timestamp":"2026-11-01T10:00:02Z","#,
    r#""usage":{"input_tokens":7,"output_tokens":3}}"#,
    "\n{damaged\n",
);

/// The commands that print tables.
const TABLES: [&[&str]; 3] = [
    &["count", "--flat", "--tokenizer", "chars4", "-q"],
    &["check", "--flat", "-q"],
    &["usage", "--flat", "-q"],
];

/// The members of a table with their types, as documented.
fn documented(command: &str) -> BTreeMap<String, String> {
    let page = include_str!("../../docs/tables.md");
    let heading = format!("## convo {command} --flat\n");
    let (_, section) = page.split_once(&heading).expect("the table is documented");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let member = |row: &str| {
        let (name, rest) = row.split_once("` | ").unwrap();
        (name.to_string(), rest.split(" | ").next().unwrap().to_string())
    };
    rows.map(member).collect()
}

fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_u64() => Some("integer"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("text"),
        Value::Array(_) | Value::Object(_) => Some("nested"),
    }
}

/// Compares the members and types of rows with the page; returns those that have a value in some row.
fn compare_with_page(command: &str, rows: &[Value]) -> BTreeSet<String> {
    let documented = documented(command);
    let mut found = BTreeSet::new();
    for row in rows {
        let row = row.as_object().unwrap();
        assert_eq!(
            row.keys().collect::<Vec<_>>(),
            documented.keys().collect::<Vec<_>>(),
            "{command}"
        );
        for (name, value) in row {
            let Some(kind) = kind(value) else { continue };
            // JSON has one type of numbers.
            let is_whole = documented[name] == "number" && kind == "integer";
            assert!(is_whole || documented[name] == kind, "{command}: {name}: {value}");
            found.insert(name.clone());
        }
    }
    found
}

#[test]
fn every_row_has_the_documented_members_and_types() {
    let env = Env::with_chat();
    let (claude, codex) = (example("claude-code"), example("codex"));
    env.write("bare.jsonl", crate::env::BARE);
    env.write("full.jsonl", FULL);
    env.write("broken.jsonl", BROKEN);
    env.write(
        "nothing.jsonl",
        "{\"type\":\"session\",\"version\":1,\"id\":\"nothing\"}\n",
    );
    env.write("empty.jsonl", "");
    let files = [
        "bare.jsonl", "full.jsonl", "broken.jsonl", "nothing.jsonl", "empty.jsonl",
    ];
    let inputs = [&["trip", claude.as_str(), codex.as_str()][..], &files].concat();
    for command in TABLES {
        let rows = env.run(&[command, &inputs[..]].concat()).status(65).objects();
        assert_eq!(rows.len(), inputs.len() - 1, "{command:?}");
        let valued = compare_with_page(command[0], &rows);
        let all: BTreeSet<String> = documented(command[0]).into_keys().collect();
        assert_eq!(valued, all, "{command:?}: members without a value in every row");
        assert_eq!(rows[1]["format"], "claude-code");
        assert_eq!(rows[1]["project"], "uploader");
        assert_eq!(rows[2]["program"], "codex");
        assert_eq!(rows[4]["unreadable"], 1, "{command:?}");
        if command[0] != "check" {
            assert_eq!(rows[2]["usage_input"], Value::Null);
        }
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_row_of_sample_data_has_the_documented_members_and_types() {
    let env = Env::new();
    let mut dirs = vec![sample_data::path("")];
    let mut files = Vec::new();
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            // Large files have the same members and take a minute.
            match path.is_dir() {
                true => dirs.push(path),
                false if path.metadata().unwrap().len() > 1 << 16 => {}
                false => files.push(path.to_str().unwrap().to_string()),
            }
        }
    }
    let mut count = 0;
    for inputs in files.chunks(50) {
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        for command in TABLES {
            // Some files are damaged, and others are not sessions.
            let run = env.run(&[command, &["--all-branches"], &inputs[..]].concat());
            let rows = run.objects();
            count += rows.len();
            compare_with_page(command[0], &rows);
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn violations_agree_with_check() {
    let env = Env::new();
    let broken = env.write("broken.jsonl", BROKEN);
    let broken = broken.to_str().unwrap();
    for options in [&[][..], &["--for", "anthropic"], &["--for", "gemini", "--strict"]] {
        let run = env.run(&[&["check", "--json", "-q"], options, &[broken]].concat());
        let lines = run.status(1).objects();
        let (summary, found) = lines.split_last().unwrap();
        let run = env.run(&[&["check", "--flat", "-q"], options, &[broken]].concat());
        let row = &run.status(1).objects()[0];
        for name in ["errors", "warnings", "valid", "input"] {
            assert_eq!(row[name], summary[name], "{options:?}: {name}");
        }
        let rules: BTreeSet<&str> = found
            .iter()
            .map(|found| found["rule"].as_str().unwrap())
            .collect();
        let rules: Vec<&str> = rules.into_iter().collect();
        assert_eq!(row["rules"], rules.join(","));
        let first = found.iter().find(|found| found["level"] == "error").unwrap();
        for (own, other) in [
            ("first_rule", "rule"),
            ("first_message", "message"),
            ("first_line", "line"),
        ] {
            assert_eq!(row[own], first[other], "{options:?}: {own}");
        }
        let api = options.get(1).map_or(Value::Null, |api| (*api).into());
        assert_eq!(row["api"], api);
        // --fix repairs violations of an API, not those of the structure.
        let repairable = number(row, "repairable");
        match api.is_null() {
            true => assert_eq!(repairable, 0, "{row}"),
            false => assert!(repairable > 0, "{row}"),
        }
    }
    let rules = "[[rule]]\nname = \"calls f, once\"\ncalled = { tool = \"f\" }\n";
    env.write("rules.toml", rules);
    let run = env.pipe(&["check", "--flat", "-q", "--rules", "rules.toml"], CHAT);
    let row = &run.status(1).objects()[0];
    assert_eq!(
        (&row["rules"], &row["first_rule"], &row["valid"], &row["api"]),
        (
            &"calls f  once".into(),
            &"calls f, once".into(),
            &false.into(),
            &Value::Null
        )
    );
    let run = env.pipe(&["check", "--flat", "-q"], CHAT).fine();
    let row = &run.objects()[0];
    assert_eq!((&row["rules"], &row["valid"]), (&Value::Null, &true.into()));
    env.run(&["check", "--flat", "--for", "anthropic", "--fix", broken])
        .status(2);
    env.run(&["check", "--flat", "--junit", "-", broken]).status(2);
}

#[test]
fn usage_rows_add_up_to_the_usage() {
    let env = Env::with_chat();
    env.write("full.jsonl", FULL.replace("{damaged\n", ""));
    env.write(
        "copy.jsonl",
        FULL.replace("{damaged\n", "").replace("\"full\"", "\"copy\""),
    );
    let claude = example("claude-code");
    let inputs = ["trip", "full.jsonl", "copy.jsonl", claude.as_str()];
    let rows = |options: &[&str]| {
        let run = env.run(&[&["usage", "--flat", "-q"], options, &inputs].concat());
        run.fine().objects()
    };
    let all = rows(&[]);
    let requests: Vec<u64> = all.iter().map(|row| number(row, "requests")).collect();
    // The copy repeats a request of another session, and the first session records none.
    assert!(requests[3] > 0 && requests[..3] == [0, 1, 0], "{requests:?}");
    assert_eq!(
        (&all[0]["usage_input"], &all[0]["cost"]),
        (&Value::Null, &Value::Null)
    );
    let run = env.run(&[&["usage", "--by", "program", "--json", "-q"], &inputs[..]].concat());
    let usage = run.fine().objects();
    for (own, other) in [
        ("requests", "requests"),
        ("usage_input", "input"),
        ("usage_output", "output"),
    ] {
        let sum = |rows: &[Value], name: &str| rows.iter().filter_map(|row| row[name].as_u64()).sum::<u64>();
        assert_eq!(sum(&all, own), sum(&usage, other), "{own}");
    }
    let selected = rows(&["--since", "2026-11-01T00:00:00Z"]);
    let ids: Vec<&Value> = selected.iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, ["full", "copy"]);
    let estimated = &rows(&["--estimate"])[0];
    assert!(number(estimated, "requests") > 0 && estimated["estimated"] == true);
    env.run(&["usage", "--flat", "--by", "model", "full.jsonl"])
        .status(2);
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
fn packed_lines_have_the_hash_of_their_row() {
    let env = Env::with_chat();
    let claude = example("claude-code");
    let renamed = CHAT.replace("\"trip\"", "\"copy\"").replace("\"m2\"", "\"x2\"");
    env.write("copy.jsonl", &renamed);
    let inputs = ["trip", "copy.jsonl", claude.as_str()];
    let run = env.run(&[&["cat", "--pack", "--hash", "-q"], &inputs[..]].concat());
    let packed = run.fine();
    let lines = packed.objects();
    let rows = rows(&env, &inputs);
    for (line, row) in lines.iter().zip(&rows) {
        assert_eq!((&line["sha256"], &line["id"]), (&row["sha256"], &row["id"]));
    }
    assert_eq!((lines.len(), &lines[0]["sha256"]), (3, &lines[1]["sha256"]));
    assert_ne!(lines[0]["sha256"], lines[2]["sha256"]);
    // The hash is not part of the session: a command that reads the line does not write it again, so it is never outdated.
    let plain = env.run(&[&["cat", "--pack", "-q"], &inputs[..]].concat()).fine();
    env.pipe(&["cat", "--pack", "-q"], &packed.stdout)
        .fine()
        .gives(&plain.stdout);
    let unpacked = env.run(&[&["cat", "-q"], &inputs[..]].concat()).fine();
    env.pipe(&["cat", "--unpack", "-q"], &packed.stdout)
        .fine()
        .gives(&unpacked.stdout);
    // redact changes lines, and keeps those without secrets.
    let secret = format!("sk-ant-api03-{}xyAA", "Ab3dEf7hIj".repeat(9));
    let leaked = env
        .pipe(&["cat", "--pack", "--hash"], CHAT.replace("Rain.", &secret))
        .fine();
    let redacted = env.pipe(&["redact", "-q"], &leaked.stdout).fine();
    assert!(!redacted.out().contains("sha256"), "{redacted}");
    env.pipe(&["cat", "-q", "--pack"], &redacted.stdout)
        .fine()
        .gives(&redacted.stdout);
    env.pipe(&["redact", "-q"], &packed.stdout)
        .fine()
        .gives(&packed.stdout);
    // A selection has the hash of the messages that are printed.
    let user = env
        .pipe(&["cat", "--pack", "--hash", "--role", "user"], CHAT)
        .fine();
    let row = &env
        .pipe(&["count", "--flat", "-q"], &user.stdout)
        .fine()
        .objects()[0];
    assert_eq!(user.objects()[0]["sha256"], row["sha256"]);
    assert_ne!(row["sha256"], lines[0]["sha256"]);
    // A session without a header, and nothing.
    let bare = env.pipe(&["cat", "--pack", "--hash"], crate::env::BARE).fine();
    assert!(bare.objects()[0]["sha256"].is_string(), "{bare}");
    env.pipe(&["cat", "--pack", "--hash", "-q"], "").fine().gives("");
    env.run(&["cat", "--hash", "trip"]).status(2).says("--pack");
    env.run(&["cat", "--hash", "--pack", "--to", "codex", "trip"])
        .status(2);
    env.run(&["cat", "--hash", "--pack", "-o", "packed.jsonl", "trip"])
        .fine();
    assert!(
        env.read("packed.jsonl")
            .starts_with(r#"{"type":"packed","id":"trip","sha256":""#)
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
            "id", "sha256", "tokens", "view_messages", "program", "created_at", "usage_output",
        ] {
            assert_eq!(one[name], other[name], "{name}");
        }
    }
    let mut command = env.command(&["count", "--flat", "-q"]);
    command.env_clear();
    env.wait(command).fine().gives("");
}
