//! Tests changes beyond truncation: results replaced with placeholders, instructions kept after a cut.

use super::{BEFORE, LOG, Pair, sidecar};
use std::fs;

/// Three exchanges with a long result each, and an invalid line.
fn long() -> String {
    let mut log = String::new();
    for nth in 0..3 {
        let time = |seconds: u32| format!("\"created_at\":\"2026-03-01T09:0{nth}:0{seconds}Z\"");
        let result = format!("line {nth}\\n").repeat(300);
        log += &format!("{{\"role\":\"user\",\"content\":\"read {nth}\",{}}}\n", time(0));
        log += &format!(
            "{{\"role\":\"assistant\",\"content\":\"\",{},\"tool_calls\":[{{\"id\":\"c{nth}\",\"type\":\"function\",\"function\":{{\"name\":\"read\",\"arguments\":\"{{}}\"}}}}]}}\n",
            time(1)
        );
        log += &format!(
            "{{\"role\":\"tool\",\"content\":\"{result}\",{},\"tool_call_id\":\"c{nth}\"}}\n",
            time(2)
        );
        log += &format!(
            "{{\"role\":\"assistant\",\"content\":\"done {nth}\",{}}}\n",
            time(3)
        );
        log += "half a li\n";
    }
    log
}

#[test]
fn a_budget_is_reached_in_the_files_themselves() {
    let log = long();
    let pair = Pair::new(&log, sidecar(0, 15, BEFORE));
    let run = pair.run("compact", &["--budget", "400"]).status(65);
    assert!(run.stderr.contains("to .convo/archive next to the log"), "{run}");
    let now = String::from_utf8(pair.log()).unwrap();
    let archive = pair.env.read("p/.convo/archive/s.jsonl");
    // Every line is unchanged or archived, and other lines keep their places.
    for line in log.lines() {
        assert!(now.contains(line) || archive.contains(line), "{line}");
    }
    assert_eq!(now.matches("half a li\n").count(), 3);
    assert!(!archive.contains("half a li"), "{archive}");
    let count = pair.env.run(&["count", "-q", "p/s.jsonl"]);
    assert!(now.contains("elided") && now.contains("done 2"), "{count}{now}");
    assert!(
        pair.sidecar()
            .contains(&format!("\"count\": {}", now.lines().count()))
    );
    // A repeated run changes nothing.
    let before = (pair.log(), pair.sidecar());
    pair.run("compact", &["--budget", "400"]).status(65);
    assert_eq!((pair.log(), pair.sidecar()), before);
}

#[test]
fn a_dry_run_and_an_unreachable_budget_change_nothing() {
    for (options, status) in [(["--budget", "400", "-n"], 65), (["--budget", "5", "-q"], 1)] {
        let pair = Pair::new(long().replace("half a li\n", ""), sidecar(0, 12, BEFORE));
        let before = (pair.log(), pair.sidecar());
        let run = pair.run("compact", &options);
        assert_eq!(run.status, if status == 65 { 0 } else { status }, "{run}");
        assert_eq!((pair.log(), pair.sidecar()), before);
        assert!(!pair.path(".convo").exists());
    }
}

#[test]
fn a_rule_before_a_cut_is_kept() {
    let rule = "{\"role\":\"system\",\"content\":\"rule\"}\n";
    let pair = Pair::new(
        format!("{rule}{}", LOG.replace("broken\n", "")),
        sidecar(0, 5, BEFORE),
    );
    pair.run("truncate", &["--keep-last", "1"]).status(0);
    assert_eq!(pair.view(), ["rule", "u2", "a2"]);
    // A result that is already hidden does not matter.
    let pair = Pair::new(
        format!("{rule}{}", LOG.replace("broken\n", "")),
        sidecar(1, 5, BEFORE),
    );
    pair.run("truncate", &["--keep-last", "1"]).status(0);
    assert_eq!(pair.view(), ["u2", "a2"]);
    assert!(!fs::exists(pair.path(".convo")).unwrap());
}
