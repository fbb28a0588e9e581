//! Recorded usage: each request once, whatever logs it is in.

use crate::env::Env;
use crate::sample_data;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A session in the store with two requests of one day, and the same as a file.
fn recorded() -> Env {
    let env = Env::new();
    let usage = |input: u64, output: u64| json!({"input_tokens":input,"cache_read_input_tokens":1000,"cache_creation_input_tokens":100,"output_tokens":output});
    let lines = [
        json!({"type":"session","version":1,"id":"one","metadata":{"cwd":"/srv/shop"}}),
        json!({"role":"user","content":"Hi","timestamp":"2026-05-11T10:00:00Z"}),
        json!({"role":"assistant","content":"a","id":"msg_0123456789abcdef","model":"claude-sonnet-4-5-20250929","timestamp":"2026-05-11T10:00:01Z","usage":usage(100, 10)}),
        json!({"role":"assistant","content":"b","model":"mystery","timestamp":"2026-05-12T10:00:01Z","usage":usage(1, 2)}),
        json!({"role":"assistant","content":"c","model":"<synthetic>","timestamp":"2026-05-12T10:00:02Z","usage":usage(1, 2)}),
    ];
    env.write("one.jsonl", lines.map(|line| format!("{line}\n")).concat());
    env.run(&["migrate", "-q", "one.jsonl"]).status(0).says("");
    env
}

#[test]
fn a_request_counts_once_in_all_of_its_logs() {
    let env = recorded();
    let rows = "2026-05-11\tclaude-sonnet-4-5-20250929\t1\t100\t1000\t100\t10\t0\t0.001125\n2026-05-12\tmystery\t1\t1\t1000\t100\t2\t0\t-\n";
    env.run(&["usage"])
        .status(0)
        .says("usage: no price: mystery")
        .gives(rows);
    env.run(&["usage", "one", "./one.jsonl", "."])
        .status(0)
        .gives(rows);
    env.run(&["usage", "--explain", "one", "./one.jsonl"])
        .says("one: 2 requests, 0 of them recorded before")
        .says("one.jsonl: 2 requests, 2 of them recorded before");
    env.run(&["usage", "--by", "project", "--cost", "none"])
        .fine()
        .gives("shop\t2\t101\t2000\t200\t12\t0\n");
    env.run(&[
        "usage",
        "--by",
        "week",
        "--since",
        "2026-05-12T00:00:00Z",
        "--cost",
        "none",
    ])
    .fine()
    .gives("2026-05-11\t1\t1\t1000\t100\t2\t0\n");
    env.run(&["usage", "--project", "other"])
        .status(0)
        .says("no recorded usage")
        .gives("");
    let object = env.run(&["usage", "--by", "model", "--json"]).objects().remove(0);
    assert_eq!(object["cost"].as_f64(), Some(0.001125));
    assert_eq!(
        (&object["model"], &object["day"], &object["cost_from"]),
        (
            &json!("claude-sonnet-4-5-20250929"),
            &Value::Null,
            &json!("prices")
        )
    );
}

#[test]
fn prices_come_from_a_file_and_recorded_costs_first() {
    let env = recorded();
    env.write(
        "prices.toml",
        "as-of = \"2026-05-01\"\n[model]\nmystery = { input = 1, output = 2 }\n",
    );
    env.run(&["usage", "--prices", "prices.toml", "--by", "model"])
        .status(0)
        .says("no price: claude-sonnet-4-5-20250929")
        .gives("claude-sonnet-4-5-20250929\t1\t100\t1000\t100\t10\t0\t-\nmystery\t1\t1\t1000\t100\t2\t0\t0.001105\n");
    env.write("bad.toml", "as-of = \"2026\"\nmodel = []\n");
    env.run(&["usage", "--prices", "bad.toml"])
        .status(78)
        .says("bad.toml: line 2, column 9: ");
    env.run(&["usage", "--prices", "none.toml"]).status(78);
    let line = json!({"role":"assistant","content":"x","model":"m","usage":{"input":5,"output":6,"cost":{"input":0.1,"output":0.2,"total":0.3}}});
    env.write(
        "pi.jsonl",
        format!("{}\n{line}\n", json!({"type":"session","version":1,"id":"pi"})),
    );
    env.run(&["usage", "./pi.jsonl"])
        .fine()
        .gives("-\tm\t1\t5\t0\t0\t6\t0\t0.300000\n");
}

#[test]
fn a_terminal_shows_totals_and_bars() {
    let env = recorded();
    let Some(table) = env.terminal(100, "convo usage 2>/dev/null") else {
        return;
    };
    for part in [
        "DAY",
        "CACHE READ",
        "2 requests \u{b7} 2,313 tokens \u{b7} $0.0011 \u{b7} prices of 20",
    ] {
        assert!(table.out().contains(part), "{part}: {table}");
    }
    let chart = env
        .run(&["usage", "--chart", "--by", "day", "--cost", "none"])
        .fine();
    let bars: Vec<&str> = chart.out().lines().collect();
    assert!(
        bars[0].starts_with("2026-05-11  \u{2588}")
            && bars[0].ends_with("  1,210")
            && bars[0].contains('\u{2591}'),
        "{chart}"
    );
}

/// Logs with one rule each, and what they add up to.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn totals_and_rows_are_those_of_the_collection() {
    let folder = sample_data::path("usage");
    let truth = std::fs::read(folder.join("truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let env = Env::new();
    let (mut files, mut wrong) = (0, Vec::new());
    for (name, expected) in truth["files"].as_object().unwrap() {
        let run = env.run(&[
            "usage",
            "-q",
            "--utc",
            "--json",
            "--cost",
            "none",
            folder.join("..").join(name).to_str().unwrap(),
        ]);
        let mut rows: BTreeMap<(String, String), [u64; 5]> = BTreeMap::new();
        let figures = |row: &Value| {
            ["input", "cache_read", "cache_write", "output", "reasoning"]
                .map(|name| row[name].as_u64().unwrap())
        };
        let key = |row: &Value| {
            (
                row["day"].as_str().unwrap().to_string(),
                row["model"].as_str().unwrap_or_default().to_string(),
            )
        };
        for row in run.objects() {
            rows.insert(key(&row), figures(&row));
        }
        let wanted = expected["rows"].as_array().unwrap();
        let wanted: BTreeMap<_, _> = wanted.iter().map(|row| (key(row), figures(row))).collect();
        files += 1;
        if rows != wanted {
            wrong.push(format!("{name}: {rows:?}, expected {wanted:?}"));
        }
    }
    eprintln!("{files} logs");
    assert!(wrong.is_empty() && files > 0, "{}", wrong.join("\n"));
}
