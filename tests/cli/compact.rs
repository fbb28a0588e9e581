//! `convo compact`.

mod ahead;
mod compat;
mod programs;
mod question;
mod reminders;
mod repeated;
mod reports;
mod steps;

use crate::env::{CHAT, Env, Run};
use std::fmt::Write;

/// A session with tools: five questions, each with a read of `lines` lines and an answer. The second and fourth read
/// are equal, the fifth is short.
fn work(lines: usize) -> String {
    let mut session = String::from(
        "{\"type\":\"session\",\"version\":1,\"id\":\"work\",\"created_at\":\"2026-11-01T10:00:00Z\"}\n\
         {\"role\":\"system\",\"content\":\"You are terse.\",\"id\":\"s\"}\n",
    );
    let ask = [
        "Please never change the tests.",
        "Where is the budget of the garden kept?",
        "Who pays the violin lesson on Monday?",
        "Look again at the budget.",
        "What is left to do?",
    ];
    for (nth, ask) in ask.iter().enumerate() {
        let file = if nth == 3 { 1 } else { nth };
        let size = if nth == 4 { 2 } else { lines };
        let output: String = (0..size).fold(String::new(), |mut text, line| {
            let _ = write!(text, "{file}:{line}: row {} of file {file}\\n", line * 7);
            text
        });
        let _ = writeln!(
            session,
            r#"{{"role":"user","content":"{ask}","id":"u{nth}","timestamp":"2026-11-0{}T10:00:00Z"}}"#,
            nth + 1
        );
        let _ = writeln!(
            session,
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{nth}","type":"function","function":{{"name":"read","arguments":"{{\"path\":\"{file}.txt\"}}"}}}}],"id":"a{nth}"}}"#
        );
        let _ = writeln!(
            session,
            r#"{{"role":"tool","tool_call_id":"c{nth}","content":"{output}","id":"t{nth}"}}"#
        );
        let _ = writeln!(
            session,
            r#"{{"role":"assistant","content":"That is answer {nth}.","id":"r{nth}"}}"#
        );
    }
    session
}

#[must_use]
fn compact(options: &[&str], session: &str) -> Run {
    Env::new().pipe(&[&["compact"], options].concat(), session)
}

/// `level reason` of each message group by id, from a dry run.
fn levels(options: &[&str], session: &str) -> Vec<String> {
    let run = compact(&[options, &["-n"]].concat(), session).status(0);
    let rows = run.out().lines().map(|row| {
        let columns: Vec<&str> = row.split('\t').collect();
        format!("{} {} {}", columns[0], columns[1], columns[4])
    });
    rows.collect()
}

#[test]
fn a_stream_is_compacted_within_the_budget() {
    let session = work(100);
    for choice in ["--tiered", "--optimize"] {
        for budget in ["3000", "1500", "600", "300"] {
            let run = compact(&["--budget", budget, choice], &session).status(0);
            let again = compact(&["--budget", budget, choice], run.out()).status(0);
            assert_eq!(again.out(), run.out(), "{choice} {budget}");
            // The newest exchange, the instructions and the standing instruction are kept.
            for kept in [
                "You are terse.",
                "What is left to do?",
                "That is answer 4.",
                "Please never change the tests.",
            ] {
                assert!(
                    run.out().contains(kept),
                    "{choice} {budget}: {kept}\n{}",
                    run.out()
                );
            }
            let report = compact(&["--budget", budget, choice, "-n", "--json"], &session).status(0);
            let last = report.out().lines().last().unwrap().to_string();
            let now = last
                .split("\"now\":")
                .nth(1)
                .unwrap()
                .split("\"tokens\":")
                .nth(1)
                .unwrap();
            let tokens: u64 = now.split('}').next().unwrap().parse().unwrap();
            assert!(tokens <= budget.parse().unwrap(), "{choice} {budget}: {last}");
        }
    }
}

#[test]
fn the_mildest_sufficient_level_is_used() {
    let session = work(400);
    let size = "--budget";
    // In this order: repeated reads, the middle of long results, placeholders, digests, a summary.
    assert_eq!(
        levels(&["--tiered", size, "19000"], &session)[..9],
        [
            "u0 full fits", "a0 full fits", "r0 full fits", "u1 full fits", "a1 masked dedupe",
            "r1 full fits", "u2 full fits", "a2 full fits", "r2 full fits"
        ]
    );
    snapshot!(
        "compact_explain",
        compact(&["--tiered", size, "8000", "-n"], &session)
            .status(0)
            .out()
    );
    snapshot!(
        "compact_stream",
        compact(&["--tiered", size, "350"], &session).status(0).out()
    );
    snapshot!(
        "compact_json",
        compact(&["--tiered", size, "350", "-n", "--json"], &session)
            .status(0)
            .out()
    );
}

#[test]
fn strategies_by_name() {
    let session = work(100);
    let kept = |options: &[&str]| compact(options, &session).status(0).out().to_string();
    let masked = kept(&["--mask-tools", "--keep-tools", "1", "--mask-min-gain", "0"]);
    assert_eq!(masked.matches("tool output elided").count(), 4);
    assert!(masked.contains("\"tool_call_id\":\"c0\""));
    let excluded = kept(&[
        "--mask-tools", "--keep-tools", "1", "--exclude-tool", "read", "--mask-inputs",
    ]);
    assert_eq!(excluded, session);
    assert_eq!(
        kept(&["--dedupe", "exact", "--min-gain", "0%"])
            .matches("repeated later")
            .count(),
        1
    );
    let shortened = kept(&["--tool-output-lines", "10"]);
    assert_eq!(shortened.matches("bytes elided]").count(), 4);
    let digest = kept(&["--digest-tools", "--keep-last", "2"]);
    assert_eq!(digest.matches("[digest of 4 messages]").count(), 3);
    let last = kept(&["--keep-last", "2"]);
    assert_eq!(last.lines().count(), 2 + 8);
    assert!(!last.contains("\"type\":\"summary\""));
    let summed = kept(&["--keep-last", "2", "--with", "extract"]);
    assert!(summed.contains("\"type\":\"summary\"") && summed.contains("Please never change the tests."));
    // Results are dropped before questions; pinned messages are kept.
    let ordered = kept(&["--budget", "400", "--drop-order", "system_output,dialog"]);
    assert!(ordered.contains("\"id\":\"u4\"") && !ordered.contains("\"id\":\"t1\""));
    let pinned = kept(&[
        "--budget", "400", "--with", "none", "--keep-last", "1", "--pin", "r1",
    ]);
    assert!(
        pinned.contains("\"id\":\"r1\"")
            && pinned.contains("\"id\":\"u1\"")
            && !pinned.contains("\"id\":\"u2\"")
    );
}

#[test]
fn triggers_define_start_and_goal() {
    let session = work(100);
    let run = compact(&["--when", "messages>=50 || tokens>=100000"], &session).status(0);
    assert_eq!(run.out(), session);
    let run = compact(&["--when", "messages>=10", "--tiered"], &session).status(0);
    let messages = run.out().matches("\"role\"").count() + run.out().matches("\"type\":\"summary\"").count();
    assert!(messages <= 8, "{messages}");
    let run = compact(
        &["--when", "fraction>=0.5", "--window", "4000", "-n", "--json"],
        &session,
    )
    .status(0);
    assert!(run.out().contains("\"changed\":true"));
    let run = compact(&["--when", "tokens>=9000000", "-n", "--json"], &session).status(0);
    assert!(
        run.out()
            .contains("\"changed\":false,\"reason\":\"below trigger\""),
        "{}",
        run.out()
    );
}

#[test]
fn in_the_store_compaction_is_one_event_and_can_be_undone() {
    let env = Env::new();
    env.write("work.jsonl", work(100));
    env.run(&["migrate", "-q", "./work.jsonl"]).status(0);
    let before = env.run(&["context", "work"]).fine().stdout;
    let run = env
        .run(&["compact", "work", "--budget", "600"])
        .status(0)
        .gives("");
    assert!(
        run.stderr.starts_with("convo: work: ") && run.stderr.contains(" tokens (21 to "),
        "{}",
        run.stderr
    );
    let log = env.run(&["cat", "work"]).fine();
    assert_eq!(log.out().matches("\"type\":\"compact\"").count(), 1);
    // Elided content can be expanded by item or completely.
    let expanded = env.run(&["expand", "t1", "work"]).fine();
    assert!(work(100).contains(expanded.out()));
    env.run(&["expand", "--text", "u0", "work"])
        .fine()
        .gives("Please never change the tests.\n");
    env.run(&["compact", "work", "--budget", "600"])
        .status(0)
        .says("convo: work: unchanged: ");
    env.run(&["restore", "work"]).status(0);
    env.run(&["context", "work"]).fine().gives(before);
}

#[test]
fn three_times_without_effect_is_enough() {
    let env = Env::new();
    env.write("work.jsonl", work(100));
    env.run(&["migrate", "-q", "./work.jsonl"]).status(0);
    let more = r#"{"role":"user","content":"And now?"}"#;
    for budget in ["4000", "2000", "280"] {
        env.run(&["compact", "work", "--tiered", "--budget", budget])
            .status(0);
        env.pipe(&["append", "work"], more).status(0);
    }
    let run = env.run(&["compact", "work", "--budget", "150"]).status(1);
    assert!(
        run.stderr.contains("grows too fast")
            && run
                .stderr
                .contains("the largest message is the summary with 91 tokens"),
        "{}",
        run.stderr
    );
    env.run(&["compact", "work", "--budget", "150", "--retry"])
        .status(0);
}

#[test]
fn a_smaller_budget_is_no_growth() {
    let env = Env::new();
    env.write("work.jsonl", work(100));
    env.run(&["migrate", "-q", "./work.jsonl"]).status(0);
    for budget in ["4000", "2000", "280", "150"] {
        env.run(&["compact", "work", "--tiered", "--budget", budget])
            .status(0);
    }
}

#[test]
fn an_unreachable_budget_changes_nothing() {
    let session = work(100);
    let run = compact(&["--budget", "20"], &session).status(1);
    assert_eq!(run.out(), session);
    let stderr = &run.stderr;
    assert!(
        stderr.contains("cannot reach 20 tokens; the minimum is "),
        "{stderr}"
    );
    let smallest = stderr
        .split("the minimum is ")
        .nth(1)
        .unwrap()
        .split('\n')
        .next()
        .unwrap()
        .to_string();
    // The reported size can be reached, and no smaller one.
    compact(&["--budget", &smallest], &session).status(0);
    let less = (smallest.parse::<u64>().unwrap() - 1).to_string();
    compact(&["--budget", &less], &session).status(1);
    let run = compact(
        &["--budget", "1", "--best-effort"],
        "{\"role\":\"user\",\"content\":\"hi\"}\n",
    )
    .status(1);
    assert!(
        run.stderr.contains("the minimum is") && !run.stderr.contains("wrote"),
        "{run}"
    );
    let run = compact(&["--budget", "20", "--best-effort"], &session).status(1);
    assert!(run.stderr.contains("wrote the smallest possible result"), "{run}");
    assert!(run.out().contains("What is left to do?"));
    compact(&["--budget", "2", "--tiered"], CHAT)
        .status(1)
        .gives(CHAT);
    // With several sessions, the others are processed, and the unchanged one is named.
    let other = CHAT.replace("\"id\":\"trip\"", "\"id\":\"other\"");
    let run = compact(
        &["--budget", "90"],
        &format!(
            "{CHAT}{}{other}",
            work(300).replace("You are terse.", &"word ".repeat(300))
        ),
    )
    .status(1);
    assert!(
        run.out().contains("\"id\":\"trip\"") && run.out().contains("\"id\":\"other\""),
        "{run}"
    );
    assert!(
        run.stderr
            .contains("convo: -: session work: cannot reach 90 tokens"),
        "{run}"
    );
}

#[test]
fn reports_name_the_sessions_of_an_input_with_several() {
    let other = CHAT.replace("\"id\":\"trip\"", "\"id\":\"other\"");
    let run = compact(&["--budget", "50"], &format!("{CHAT}{other}")).status(0);
    for id in ["trip", "other"] {
        let report = format!("session {id}: compacted from ");
        assert_eq!(run.stderr.matches(&report).count(), 1, "{run}");
    }
    let run = compact(&["--budget", "50", "-n"], &format!("{CHAT}{other}")).status(0);
    assert!(run.stderr.contains("session other: would compact from "), "{run}");
    let run = compact(&["--budget", "50", "--json"], &format!("{CHAT}{other}")).status(0);
    assert!(
        run.stderr.contains(r#""input":"-""#)
            && run.stderr.contains(r#""message":"session other: compacted"#),
        "{run}"
    );
    let run = compact(&["--budget", "50"], CHAT).status(0);
    assert!(
        run.stderr.contains("compacted from ") && !run.stderr.contains("session trip"),
        "{run}"
    );
}

#[test]
fn nothing_is_changed_in_place_if_an_input_has_no_file() {
    let env = Env::new();
    let file = env.write("a.jsonl", CHAT);
    env.run(&["compact", "--budget", "50", "-i", "a.jsonl", "-"])
        .status(2)
        .says("-: -i requires a file");
    assert_eq!(std::fs::read_to_string(file).unwrap(), CHAT);
}

#[test]
fn sessions_that_hold_little() {
    let header = "{\"type\":\"session\",\"version\":1,\"id\":\"s\"}\n";
    for session in [
        "",
        header,
        "{\"role\":\"system\",\"content\":\"Be terse.\"}\n",
        "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"r\"}\n",
        "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}\n",
        "{\"role\":\"assistant\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n",
    ] {
        compact(&["--budget", "1000"], session).status(0).gives(session);
        let run = compact(&["--budget", "1"], session);
        let expected = i32::from(session.contains("role"));
        assert_eq!(run.status, expected, "{session}: {run}");
    }
    // A call without a result, and two calls with one id, are kept.
    let calls = |id: &str, content: &str| {
        format!(
            "{{\"role\":\"assistant\",\"content\":\"{content}\",\"tool_calls\":[{{\"id\":\"{id}\",\"type\":\"function\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}},{{\"id\":\"{id}\",\"type\":\"function\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]}}\n"
        )
    };
    let session = format!(
        "{{\"role\":\"user\",\"content\":\"{}\"}}\n{{\"role\":\"user\",\"content\":\"go\"}}\n{}{{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"1\"}}\n",
        "much to say about nothing ".repeat(30),
        calls("x", "twice"),
    );
    let run = compact(&["--budget", "60", "--best-effort"], &session);
    assert!(run.out().contains(&calls("x", "twice")), "{run}");
}

#[test]
fn contradictory_options_are_refused() {
    let refused = |options: &[&str], stderr: &str| {
        let run = compact(options, CHAT).status(2);
        assert!(run.stderr.contains(stderr), "{options:?}: {}", run.stderr);
        assert_eq!(run.out(), "");
    };
    refused(&[], "no budget, trigger or strategy given");
    refused(&["--budget", "0"], "expected at least 1 token");
    refused(
        &["--budget", "many"],
        "expected a number of tokens or a percentage",
    );
    refused(&["--budget", "-5"], "expected a positive number of tokens");
    refused(&["--budget", "60%"], "a percentage in --budget requires --window");
    refused(
        &["--budget", "100", "--reserve", "100"],
        "must be smaller than the budget",
    );
    refused(&["--reserve", "5"], "--budget");
    refused(
        &["--budget", "9", "--tiered", "--optimize"],
        "cannot be used with",
    );
    refused(&["--budget", "9", "--media", "burn"], "keep-last, keep or drop");
    refused(&["--budget", "9", "--with", "no name"], "extract, none");
    refused(
        &["--budget", "9", "--drop-order", "system"],
        "system messages are never dropped",
    );
    refused(&["--budget", "9", "--budget-for", "dialog"], "CATEGORY=SHARE");
    refused(&["--budget", "9", "--tokenizer", "o201k_base"], "o200k_base");
    refused(&["--when", "weight>5"], "unknown value");
    refused(&["--when", "fraction>=0.5"], "requires --window");
    refused(&["--window", "gpt-99", "--budget", "50%"], "a known model, e.g.");
    refused(&["--budget", "9", "--strategy", "best"], "--strategy");
    let run = compact(&["--budget", "10", "--pin", "nobody"], CHAT).status(1);
    assert!(run.stderr.contains("--pin nobody: no such message in the view"));
    let run = compact(&["--budget", "10", "--pin-rules", "gone.txt"], CHAT).status(66);
    assert!(run.stderr.contains("gone.txt"));
}

#[test]
fn an_unreachable_budget_leaves_the_stream_unchanged() {
    let env = Env::new();
    let stream = concat!(
        r#"{"type":"session","version":1,"id":"s1"}"#,
        "\n",
        r#"{"role":"user","content":"the garden","id":"m1"}"#,
        "\n",
        r#"{"role":"assistant","content":"the seeds","id":"m2"}"#,
        "\n",
        r#"{"role":"user","content":"a second question","id":"m3"}"#,
        "\n",
        r#"{"type":"summary","id":"evt_1","at":"2026-01-01T00:00:00Z","content":"They spoke of the garden.","covers":["m1","m2"]}"#,
        "\n",
        r#"{"role":"assistant","content":"a second answer","id":"m4"}"#,
    );
    for more in [
        &[][..],
        &["--tiered"],
        &["--to", "native"],
        &["--compat", "penguin"],
    ] {
        let mut call = vec!["compact", "--budget", "2"];
        call.extend(more);
        let run = env.pipe(&call, stream).status(1);
        assert_eq!(run.out(), stream, "{more:?}: {run}");
    }
    // Other sessions are processed.
    let big = format!("{stream}\n{}", crate::env::CHAT);
    let run = env.pipe(&["compact", "--budget", "14"], &big);
    assert!(
        run.out().ends_with(crate::env::CHAT) && !run.out().contains("the seeds"),
        "{run}"
    );
}
