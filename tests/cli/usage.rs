//! Tests recorded usage: each request counts once, even if several logs contain it.

use crate::env::Env;
use crate::sample_data;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A stored session with two requests of one day, and the same as a file.
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
        "usage", "--by", "week", "--since", "2026-05-12T00:00:00Z", "--cost", "none",
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
fn sessions_without_records_are_estimated_on_request() {
    let env = Env::new();
    let lines = [
        json!({"type":"session","version":1,"id":"none","metadata":{"model":"gpt-4o"}}),
        json!({"role":"user","content":"one two three"}),
        json!({"role":"assistant","content":"four five"}),
        json!({"role":"user","content":"six"}),
        json!({"role":"assistant","content":"seven"}),
    ];
    let log = lines.map(|line| format!("{line}\n")).concat();
    env.pipe(&["usage", "-"], &log).says("no recorded usage");
    let counts = |text: &str| {
        let run = env.pipe(
            &["usage", "--estimate", "--json", "--tokenizer", "o200k_base", "-"],
            text,
        );
        let row = run.status(0).objects().remove(0);
        assert_eq!(
            (&row["estimated"], &row["model"]),
            (&true.into(), &"gpt-4o".into())
        );
        ["requests", "input", "output"].map(|name| row[name].as_u64().unwrap())
    };
    let tokens: Vec<u64> = log
        .lines()
        .skip(1)
        .map(|line| {
            let run = env.pipe(&["count", "--json", "--tokenizer", "o200k_base"], line);
            run.objects()[0]["view"]["tokens"]["total"].as_u64().unwrap()
        })
        .collect();
    // Each request sends all earlier messages.
    let input = 2 * tokens[0] + tokens[1] + tokens[2];
    assert_eq!(counts(&log), [2, input, tokens[1] + tokens[3]]);
    // Recorded usage is not estimated.
    let env = recorded();
    let plain = env.run(&["usage", "one"]).status(0);
    assert_eq!(env.run(&["usage", "--estimate", "one"]).stdout, plain.stdout);
}

#[test]
fn input_is_divided_among_tools() {
    let env = Env::new();
    let call = |id: &str, name: &str| json!({"role":"assistant","content":null,"tool_calls":[{"id":id,"type":"function","function":{"name":name,"arguments":""}}]});
    let lines = [
        json!({"role":"user","content":"x".repeat(1000)}),
        call("a", "Read"),
        json!({"role":"tool","tool_call_id":"a","content":"y".repeat(1000)}),
        call("b", "Bash"),
        json!({"role":"tool","tool_call_id":"b","content":"z".repeat(2000)}),
        json!({"role":"assistant","content":"Done.","model":"m","usage":{"input_tokens":1000,"output_tokens":7}}),
    ];
    let log = lines.map(|line| format!("{line}\n")).concat();
    let run = env
        .pipe(&["usage", "--by", "tool", "--json", "--cost", "none", "-"], log)
        .status(0);
    let rows: BTreeMap<String, [u64; 2]> = run
        .objects()
        .into_iter()
        .map(|row| {
            let numbers = ["input", "output"].map(|name| row[name].as_u64().unwrap());
            (row["tool"].as_str().unwrap_or("-").to_string(), numbers)
        })
        .collect();
    let (read, bash, rest) = (rows["Read"], rows["Bash"], rows["-"]);
    assert_eq!(read[0] + bash[0] + rest[0], 1000);
    assert!(
        (220..=250).contains(&read[0]) && (450..=500).contains(&bash[0]),
        "{rows:?}"
    );
    assert_eq!([read[1], bash[1], rest[1]], [0, 0, 7]);
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
    env.write("bad.toml", "as-of = \"2026\"\nmodel = { mystery = 5 }\n");
    env.run(&["usage", "--prices", "bad.toml"])
        .status(78)
        .says("expected a table");
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
fn usage_is_written_as_a_page() {
    let env = recorded();
    let page = env.run(&["usage", "-q", "--to", "html"]).fine();
    for part in [
        "<h1>Usage</h1>",
        "<li>2 requests \u{b7} 2,313 tokens \u{b7} $0.0011 \u{b7} prices of ",
        "<td>2026-05-11</td><td>claude-sonnet-4-5-20250929</td><td class=\"right\">1</td>",
        "<td class=\"right\">-</td>",
        "script-src 'none'",
    ] {
        assert!(page.out().contains(part), "{part}: {page}");
    }
    env.run(&["usage", "--to", "markdown"])
        .status(2)
        .says("expected html");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_terminal_shows_totals_and_bars() {
    let env = recorded();
    let table = env.terminal((100, 50), "convo usage 2>/dev/null");
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

/// Logs with one rule each, and their expected totals.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn totals_and_rows_match_the_collection() {
    let dir = sample_data::path("usage");
    let truth = std::fs::read(dir.join("truth.json")).unwrap();
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
            dir.join("..").join(name).to_str().unwrap(),
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
