//! `--tokenizer cmd:PROGRAM`: a program that counts tokens.

use crate::env::{CHAT, Env, Run};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// Counts the bytes between the quotes, and logs each start.
const BYTES: &str =
    "#!/bin/sh\necho \"$@\" >> starts\nwhile IFS= read -r line; do n=${#line}; echo $((n - 2)); done\n";

fn counting(script: &str) -> Env {
    let env = Env::with_chat();
    let path = env.root().join("bin/bytes");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    env
}

fn total(run: &Run) -> u64 {
    run.objects()[0]["view"]["tokens"]["total"].as_u64().unwrap()
}

#[test]
fn a_program_counts_and_runs_once() {
    let env = counting(BYTES);
    let run = env
        .run(&[
            "count", "--json", "trip", "--tokenizer", "cmd:bytes --secret sk-1",
        ])
        .fine();
    let reported = run.objects()[0]["tokenizer"].as_str().unwrap().to_string();
    assert!(
        reported.starts_with("cmd:bytes#") && !reported.contains("sk-1"),
        "{reported}"
    );
    assert!(total(&run) > 100, "{run}");
    assert_eq!(env.read("starts"), "--secret sk-1\n");
    // Selected by environment and by configuration too.
    let mut by = env.command(&["count", "--json", "trip"]);
    by.env("CONVO_TOKENIZER", "cmd:bytes --secret sk-1");
    assert_eq!(env.wait(by).fine().out(), run.out());
    let dir = env.root().join("config/convo");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(
        dir.join("config.toml"),
        "tokenizer = \"cmd:bytes --secret sk-1\"\n",
    )
    .unwrap();
    assert_eq!(env.run(&["count", "--json", "trip"]).fine().out(), run.out());
}

#[test]
fn a_budget_is_measured_by_the_program() {
    let env = counting(BYTES);
    let count = |name: &str| {
        total(
            &env.run(&["count", "--json", name, "--tokenizer", "cmd:bytes"])
                .fine(),
        )
    };
    let before = count("trip");
    let budget = (before * 2 / 3).to_string();
    env.run(&[
        "compact", "-q", "trip", "--budget", &budget, "--tokenizer", "cmd:bytes",
    ])
    .status(0);
    let log = std::fs::read_to_string(env.log("trip")).unwrap();
    assert!(log.contains("\"tokenizer\":\"cmd:bytes#"), "{log}");
    assert!(count("trip") <= before * 2 / 3);
}

#[test]
fn counts_are_stored_under_a_name_without_arguments() {
    let env = counting(BYTES);
    let with = "cmd:KEY=sk-1 bytes --secret sk-2";
    env.run(&["new", "--id", "kept", "--tokenizer", with, "--system", "terse"])
        .fine();
    let mut append = env.command(&["append", "kept", "hello"]);
    append.env("CONVO_TOKENIZER", with);
    env.wait(append).fine();
    let log = std::fs::read_to_string(env.log("kept")).unwrap();
    assert!(!log.contains("sk-"), "{log}");
    // Overhead 3, the role, the text.
    assert!(log.contains(&format!("\"tokens\":{}", 3 + 4 + 5)), "{log}");
    let starts = env.read("starts").lines().count();
    let run = env.run(&["count", "--json", "kept", "--tokenizer", with]).fine();
    assert_eq!(total(&run), (3 + 6 + 5) + (3 + 4 + 5));
    assert_eq!(
        env.read("starts").lines().count(),
        starts,
        "what is kept is not asked for"
    );
    // A program named by a session is not run.
    env.run(&["append", "kept", "more"]).fine();
    let run = env.run(&["count", "--json", "kept"]).status(0);
    assert!(run.stderr.contains("cmd:bytes#"), "{run}");
    assert_eq!(env.read("starts").lines().count(), starts);
}

#[test]
fn a_failing_or_invalid_program_changes_nothing() {
    for (program, why) in [
        ("exit 3", "status 3"),
        ("echo no model >&2; exit 1", "status 1: no model"),
        ("/nonexistent/tokenizer", "status 127"),
        (
            "while read -r line; do echo many; done",
            "expected a number, got 'many'",
        ),
        ("while read -r line; do echo -4; done", "expected a number"),
        ("while read -r line; do echo 1.5; done", "expected a number"),
        ("while read -r line; do echo; done", "expected a number"),
        (
            "while read -r line; do echo 99999999; done",
            "99999999 tokens for a text of 5 bytes",
        ),
        (
            "while read -r line; do echo 18446744073709551616; done",
            "expected a number",
        ),
        (
            "while read -r line; do echo 0; done",
            "counted 'convo' as 0 tokens",
        ),
        (
            "n=0; while read -r line; do n=$((n + 1)); echo $n; done",
            "counted 'convo' as 1 tokens, then as 3",
        ),
        (
            "while read -r line; do printf \"2\\n2\\n\"; done",
            "more than one number",
        ),
        (
            "read -r a; read -r b; read -r c; printf '2\\n0\\n2\\n'; exit 7",
            "status 7",
        ),
        ("read -r a; printf 3; head -c 1000 /dev/zero", "expected a number"),
    ] {
        let env = Env::with_chat();
        let before = std::fs::read(env.log("trip")).unwrap();
        let with = format!("cmd:{program}");
        let file = env.write("chat.jsonl", CHAT);
        let compact = ["compact", "trip", "--budget", "60", "--tokenizer", &with];
        let run = env.run(&compact).status(69);
        assert!(run.stderr.contains(why), "{program}: {run}");
        assert!(run.stderr.contains("convo: tokenizer cmd:"), "{program}: {run}");
        assert!(run.stdout.is_empty(), "{run}");
        assert_eq!(std::fs::read(env.log("trip")).unwrap(), before, "{program}");
        env.run(&[
            "compact", "-i", "chat.jsonl", "--budget", "60", "--tokenizer", &with,
        ])
        .status(69);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), CHAT);
        let names: Vec<_> = std::fs::read_dir(env.work()).unwrap().collect();
        assert_eq!(names.len(), 2, "{program}: {names:?}");
        env.run(&["new", "--id", "n", "--system", "x", "--tokenizer", &with])
            .status(69);
        assert!(!env.log("n").exists(), "{program}");
    }
}

#[test]
fn a_program_that_does_not_answer_is_killed() {
    let env = Env::with_chat();
    let began = Instant::now();
    let mut count = env.command(&["count", "trip", "--tokenizer", "cmd:sleep 60"]);
    count.env("CONVO_TOKENIZER_TIMEOUT", "200ms");
    let run = env.wait(count).status(69);
    assert!(run.stderr.contains("no answer within 200 ms"), "{run}");
    // A program that keeps running after its input is closed is killed.
    let lingering = "cmd:while read -r line; do echo 2; done; sleep 60";
    env.run(&["count", "trip", "--tokenizer", lingering]).fine();
    assert!(began.elapsed() < Duration::from_secs(15));
    env.run(&["count", "trip", "--tokenizer", "cmd:"]).status(2);
    env.run(&["count", "trip", "--tokenizer", "cmd: "]).status(2);
    let mut wrong = env.command(&["count", "trip"]);
    wrong.env("CONVO_TOKENIZER", "cmd:");
    env.wait(wrong).status(78);
}

#[test]
fn many_texts_are_counted_without_waiting_for_each() {
    let env = counting(BYTES);
    let lines: String = (0..3000)
        .map(|nth| {
            format!(
                "{{\"role\":\"user\",\"content\":\"message {nth} {}\"}}\n",
                "x".repeat(nth % 900)
            )
        })
        .collect();
    let began = Instant::now();
    env.pipe(&["count", "--json", "--tokenizer", "cmd:bytes"], lines)
        .fine();
    assert!(began.elapsed() < Duration::from_secs(20));
}
