//! Tests programs that summarize what a compaction drops: their input, and the result when they fail.

use crate::env::{Env, Run, objects};
use std::fmt::Write as _;
use std::process::Stdio;

/// Twelve questions with a tool result each; a rule in the second.
fn talk() -> String {
    let mut session = String::from("{\"type\":\"session\",\"version\":1,\"id\":\"talk\"}\n");
    session.push_str("{\"role\":\"system\",\"content\":\"You are terse.\",\"id\":\"s\"}\n");
    for nth in 0..12 {
        let rule = if nth == 1 {
            " Please never call me, only write."
        } else {
            ""
        };
        let words = format!("What became of row {nth} of the beans?{rule} I was away for all of that week.");
        let found = format!("row {nth} stands well\\n").repeat(12);
        let _ = writeln!(session, r#"{{"role":"user","content":"{words}","id":"u{nth}"}}"#);
        let _ = writeln!(
            session,
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{nth}","type":"function","function":{{"name":"read","arguments":"{{\"row\":{nth}}}"}}}}],"id":"k{nth}"}}"#
        );
        let _ = writeln!(
            session,
            r#"{{"role":"tool","tool_call_id":"c{nth}","content":"{found}","id":"r{nth}"}}"#
        );
        let _ = writeln!(
            session,
            r#"{{"role":"assistant","content":"Row {nth} stands well.","id":"a{nth}"}}"#
        );
    }
    session
}

fn stored() -> Env {
    let env = Env::new();
    env.write("talk.jsonl", talk());
    env.run(&["migrate", "-q", "talk.jsonl"]).fine();
    env
}

#[must_use]
fn compact(env: &Env, line: &str, options: &[&str]) -> Run {
    let own = ["compact", "talk", "--with", &format!("cmd:{line}")];
    env.run(&[&own[..], options].concat())
}

fn tokens(env: &Env) -> u64 {
    let run = env.run(&["count", "--json", "talk"]).fine();
    run.objects()[0]["view"]["tokens"]["total"].as_u64().unwrap()
}

fn log(env: &Env) -> Vec<serde_json::Value> {
    objects(env.run(&["cat", "talk"]).fine().out())
}

#[test]
fn the_program_receives_the_dropped_messages() {
    let env = stored();
    let before = env.run(&["context", "talk"]).fine();
    let line = "cat > asked.json; echo The beans stand well.";
    compact(&env, line, &["--budget", "700"]).status(0);
    assert!(tokens(&env) <= 700, "{}", tokens(&env));
    let requested: serde_json::Value = serde_json::from_str(&env.read("asked.json")).unwrap();
    let event = log(&env).pop().unwrap();
    assert_eq!(event["type"], "compact");
    let by = event["summary"]["by"].as_str().unwrap();
    assert!(
        by.starts_with("cmd:cat#") && by.len() == "cmd:cat#".len() + 8,
        "{by}"
    );
    assert_eq!(event["summary"]["sha256"], requested["sha256"]);
    let text = event["summary"]["content"].as_str().unwrap();
    assert_eq!(
        text,
        "standing instructions, by speaker:\n- user: Please never call me, only write.\n\nThe beans stand well."
    );
    let shown = env.run(&["context", "talk"]).fine();
    let there: Vec<String> = shown
        .objects()
        .iter()
        .map(|record| record["id"].to_string())
        .collect();
    for record in before
        .objects()
        .iter()
        .filter(|record| record["role"] != "system")
    {
        let id = record["id"].to_string();
        let given = requested["messages"].as_array().unwrap();
        let is_given = given.iter().any(|message| {
            message["id"] == record["id"]
                && message["content"].as_str() == record["content"].as_str().or(Some(""))
        });
        assert!(
            record.get("role").is_none() || is_given != there.contains(&id),
            "{record}"
        );
    }
    // The next run receives the summary and replaces it.
    compact(
        &env,
        "cat > asked.json; echo Beans, all well.",
        &["--budget", "450"],
    )
    .status(0);
    let requested: serde_json::Value = serde_json::from_str(&env.read("asked.json")).unwrap();
    assert_eq!(requested["previous_summary"], "The beans stand well.");
    let shown = env.run(&["context", "talk"]).fine();
    assert!(shown.out().contains("never call me") && !shown.out().contains("stand well."));
    env.run(&["restore", "-q", "talk"]).fine();
    env.run(&["restore", "-q", "talk"]).fine();
    assert_eq!(env.run(&["context", "talk"]).fine().out(), before.out());
}

#[test]
fn a_failing_program_drops_nothing() {
    let env = stored();
    let before = env.run(&["context", "talk"]).fine();
    for (nth, (line, why)) in [
        ("echo no key >&2; exit 3", "failed with status 3: no key"),
        ("true", "the summary is blank"),
        ("yes row | head -n 900", "more than"),
        ("printf 'a\\377'", "not UTF-8"),
    ]
    .into_iter()
    .enumerate()
    {
        let run = compact(&env, line, &["--budget", "700", "--retry"]).status(69);
        assert!(run.stderr.contains(why), "{line}: {run}");
        assert_eq!(env.run(&["context", "talk"]).fine().out(), before.out(), "{line}");
        let event = log(&env).pop().unwrap();
        assert_eq!(
            (event["type"].as_str(), event["failures"].as_u64()),
            (Some("attempt"), Some(nth as u64 + 1))
        );
    }
    compact(&env, "echo asked > asked.txt; false", &["--budget", "700"])
        .status(69)
        .says("skipped after ");
    assert!(!env.work().join("asked.txt").exists());
    let early = ["--budget", "700", "--if-due"];
    compact(&env, "echo Well.", &early)
        .status(0)
        .says("skipped until");
    compact(&env, "echo Well.", &["--budget", "700", "--retry"]).status(0);
    let health = env.run(&["list", "--json"]).fine();
    assert_eq!(health.objects()[0]["health"], "healthy");
    // A stream is passed on unchanged.
    let failing = ["compact", "--budget", "700", "--with", "cmd:false"];
    assert_eq!(env.pipe(&failing, talk()).status(69).out(), talk());
    env.run(&[
        "compact", "-i", "talk.jsonl", "--budget", "700", "--with", "cmd:false",
    ])
    .status(69);
    assert_eq!(env.read("talk.jsonl"), talk());
}

#[test]
fn streams_and_files_are_compacted_too() {
    let env = Env::new();
    let options = [
        "--budget", "700", "--keep-last", "3", "--with", "cmd:echo Beans, all well.",
    ];
    let run = env.pipe(&[&["compact"], &options[..]].concat(), talk()).status(0);
    assert!(run.out().contains("Beans, all well.") && run.out().lines().count() < 25);
    env.write("talk.jsonl", talk());
    env.run(&[&["compact", "-i", "talk.jsonl"], &options[..]].concat())
        .status(0);
    // Equal except for the ids of the summaries.
    let kept = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.contains("\"evt_"));
        lines.map(str::to_string).collect()
    };
    assert_eq!(kept(&env.read("talk.jsonl")), kept(run.out()));
    // With all steps, placeholders alone suffice, so the program is not called.
    let marks = [
        "compact", "--tiered", "--budget", "1500", "--with", "cmd:echo asked > asked.txt",
    ];
    env.pipe(&marks, talk()).status(0);
    assert!(!env.work().join("asked.txt").exists());
}

#[test]
fn a_budget_without_room_for_a_summary_drops_nothing() {
    let env = stored();
    let before = env.run(&["context", "talk"]).fine();
    let newest = ["--keep-last", "1", "--budget"];
    let mut refused = 0;
    for budget in (100..400).step_by(20) {
        let budget = budget.to_string();
        let run = compact(
            &env,
            "echo Beans, all well.",
            &[&newest[..], &[budget.as_str()]].concat(),
        );
        if run.status == 0 {
            assert!(tokens(&env) <= budget.parse().unwrap());
            env.run(&["restore", "-q", "talk"]).fine();
        } else {
            refused += u32::from(run.stderr.contains("too small for a summary"));
            run.status(1);
        }
        assert_eq!(env.run(&["context", "talk"]).fine().out(), before.out());
    }
    assert!(refused > 0);
}

#[test]
fn concurrent_appends_are_kept_and_conflicts_refused() {
    let env = stored();
    let line = "echo asked >> asked.txt; while ! test -e go; do sleep 0.01; done; echo Beans, all well.";
    let mut command = env.command(&[
        "compact",
        "talk",
        "--budget",
        "700",
        "--with",
        &format!("cmd:{line}"),
    ]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    while !env.work().join("asked.txt").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    for nth in 0..5 {
        env.run(&[
            "append",
            "talk",
            "--lock-timeout",
            "1s",
            &format!("meanwhile {nth}"),
        ])
        .fine();
    }
    env.write("go", "");
    env.ended(child).status(0);
    let shown = env.run(&["context", "talk"]).fine();
    assert!((0..5).all(|nth| shown.out().contains(&format!("meanwhile {nth}"))));
    assert!(shown.out().contains("Beans, all well."));
    assert_eq!(env.read("asked.txt").lines().count(), 1, "it is asked once");
    let event = log(&env).pop().unwrap();
    assert_eq!(event["now"]["tokens"].as_u64(), Some(tokens(&env)));

    let env = stored();
    let line = "convo truncate -q talk --keep-last 9; echo Beans, all well.";
    compact(&env, line, &["--budget", "700"])
        .status(75)
        .says("outdated");
    assert_eq!(log(&env).pop().unwrap()["type"], "truncate");
}

#[test]
fn a_dry_run_runs_no_program() {
    let env = stored();
    let run = compact(&env, "echo asked > asked.txt", &["--budget", "700", "-n"])
        .status(0)
        .says("at most");
    assert!(run.out().lines().any(|row| row.ends_with("\tsummary")), "{run}");
    assert!(!env.work().join("asked.txt").exists());
}

#[test]
fn text_beyond_the_window_is_sent_in_chunks() {
    let env = stored();
    let line = r#"cat > piece; cat piece >> asked.txt; echo "piece $(wc -l < asked.txt)""#;
    let options = [
        "--budget", "700", "--chunk", "700", "--summary-budget", "120", "--summary-tool-max", "60",
    ];
    compact(&env, line, &options).status(0);
    let pieces = objects(&env.read("asked.txt"));
    assert!(pieces.len() > 1);
    let given: Vec<&serde_json::Value> = pieces
        .iter()
        .flat_map(|piece| piece["messages"].as_array().unwrap())
        .map(|message| &message["id"])
        .collect();
    let ids: Vec<&serde_json::Value> = pieces[0]["ids"].as_array().unwrap().iter().collect();
    assert_eq!(given, ids);
    assert!(env.read("asked.txt").contains(" bytes elided]"));
    let event = log(&env).pop().unwrap();
    let text = event["summary"]["content"].as_str().unwrap();
    assert!(text.ends_with(&format!("piece {}", pieces.len())), "{text}");
}

#[test]
fn options_without_effect_are_refused() {
    let env = stored();
    for (options, why) in [
        (
            &["--timeout", "3s"][..],
            "--timeout requires a summarizer program",
        ),
        (&["--prompt", "x"], "--prompt requires a summarizer program"),
        (
            &["--summary-tool-max", "9"],
            "--summary-tool-max requires a summarizer program",
        ),
        (&["--if-due"], "--if-due requires a summarizer program"),
        (
            &["--with", "cmd:x", "--dates", "full"],
            "--dates requires the built-in",
        ),
        (&["--with", "cmd:x", "--optimize"], "--optimize requires"),
        (&["--with", "cmd:"], "expected a command after 'cmd:'"),
        (
            &["--with", "cmd:x", "--compat", "penguiflow", "--keep-last", "3"],
            "conflicts with a summarizer program",
        ),
    ] {
        env.run(&[&["compact", "talk", "--budget", "700"], options].concat())
            .status(2)
            .says(why);
    }
    env.run(&["compact", "talk", "--budget", "700", "--with", "nobody-has-this"])
        .status(69)
        .says("no such summarizer");
}
