//! Tests programs that write summaries: their input, their failures, and the resulting session.

use super::{last_event, stored, talk, view};
use crate::env::{Env, Run};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[must_use]
fn summarize(env: &Env, line: &str, options: &[&str]) -> Run {
    env.run(&[&["summarize", "talk", "--with", &format!("cmd:{line}")], options].concat())
}

/// Runs at another time.
#[must_use]
fn at(env: &Env, now: &str, arguments: &[&str]) -> Run {
    let mut command = env.command(arguments);
    command.env("CONVO_NOW", now);
    env.wait(command)
}

fn lines(env: &Env) -> usize {
    env.run(&["cat", "talk"]).fine().out().lines().count()
}

#[test]
fn a_program_writes_the_summary() {
    let env = stored(6);
    let line = r#"cat > asked.json; echo "$CONVO_STORE" > store.txt; echo "Beans were bought.""#;
    summarize(&env, line, &[]).status(0);
    assert!(view(&env, "talk")[1].ends_with("Beans were bought."));
    let event = last_event(&env, "talk");
    let by = event["by"].as_str().unwrap();
    assert!(
        by.starts_with("cmd:cat#") && by.len() == "cmd:cat#".len() + 8,
        "{by}"
    );
    assert_eq!(env.read("store.txt").trim_end(), env.store().to_str().unwrap());
    let requested: serde_json::Value = serde_json::from_str(&env.read("asked.json")).unwrap();
    assert_eq!(requested["sha256"], event["sha256"]);
    assert!(requested["instructions"].as_str().unwrap().contains("`budget`"));
    env.write("prompt.txt", "In rhymes.");
    env.run(&["restore", "-q", "talk"]).fine();
    summarize(&env, "cat > asked.json; echo Beans.", &["--prompt", "prompt.txt"]).status(0);
    assert!(env.read("asked.json").contains(r#""instructions":"In rhymes.""#));
}

#[test]
fn no_argument_of_a_program_is_stored() {
    const SECRET: &str = "sk-0123456789abcdef";
    let line = format!(r#"KEY="a {SECRET}" cat - --header "Bearer {SECRET}""#);
    for command in [
        &["summarize", "talk"][..],
        &["compact", "talk", "--budget", "250"],
        &["ask", "talk", "Beans?"],
    ] {
        let env = stored(6);
        // It fails and prints its arguments.
        let failing = format!("{line} 2>/dev/null; echo cannot use {SECRET} >&2; exit 3");
        for line in [&failing, &format!("cat >/dev/null; echo Beans.; : {SECRET}")] {
            let with = format!("cmd:{line}");
            let run = env.run(&[command, &["--with", &with, "-q"]].concat());
            assert_eq!(run.status == 0, line != &failing, "{run}");
            let error = run
                .stderr
                .lines()
                .find(|line| line.starts_with("convo: ") && line.contains("status 3"));
            assert!(error.is_none_or(|error| !error.contains(SECRET)), "{run}");
        }
        let log = std::fs::read_to_string(env.log("talk")).unwrap();
        assert!(!log.contains("sk-") && !log.contains("header"), "{log}");
        assert_eq!(
            log.matches("\"by\":\"cmd:cat#").count(),
            if command[0] == "ask" { 0 } else { 2 },
            "{log}"
        );
    }
    // A log with such a record reads as before.
    let env = stored(6);
    let old = r#"{"type":"summary","id":"old","at":"2026-11-20T18:02:03Z","content":"Beans.","covers":["u0","a1"],"by":"cmd:curl -H x"}"#;
    let log = std::fs::read_to_string(env.log("talk")).unwrap();
    std::fs::write(env.log("talk"), format!("{log}{old}\n")).unwrap();
    env.run(&["fsck"]).status(0);
    assert!(view(&env, "talk").contains(&"Beans.".to_string()));
}

#[test]
fn an_answer_may_be_an_object() {
    let env = stored(6);
    let line = r#"printf '```json\n{"schema":"convo.summary/1","summary":"Beans.","by":"model-7"}\n```'"#;
    summarize(&env, line, &[]).status(0);
    assert_eq!(last_event(&env, "talk")["by"], "model-7");
    env.run(&["restore", "-q", "talk"]).fine();
    let line = r#"echo '{"schema":"convo.summary/1","summary":"Beans.","sha256":"00"}'"#;
    summarize(&env, line, &[]).status(69).says("another request");
}

#[test]
fn a_plugin_is_a_summarizer() {
    let env = stored(6);
    let path = env.root().join("bin/convo-sum");
    std::fs::write(&path, "#!/bin/sh\ncat >/dev/null; echo Beans.\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    env.run(&["summarize", "talk", "--with", "sum"]).status(0);
    assert_eq!(last_event(&env, "talk")["by"], "sum");
}

#[test]
fn a_failure_leaves_the_view_unchanged() {
    let env = stored(6);
    let before = view(&env, "talk");
    for (nth, (line, why)) in [
        ("echo no key >&2; exit 3", "failed with status 3: no key"),
        ("exit 0", "the summary is blank"),
        ("echo '<summary> </summary>'", "the summary is blank"),
        ("kill -9 $$", "killed by signal 9"),
        ("printf 'a\\377'", "the output is not UTF-8 (byte 1)"),
        ("yes long | head -n 3000", "more than"),
        ("yes", "output longer than"),
        ("nothing-of-this-name", "status 127"),
        ("echo '{\"schema\":\"convo.summary/1\"}'", "no text in the member"),
    ]
    .into_iter()
    .enumerate()
    {
        let had = lines(&env);
        let run = summarize(&env, line, &["--retry", "--timeout", "20s"]).status(69);
        assert!(run.stderr.contains(why), "{line}: {run}");
        assert_eq!(view(&env, "talk"), before, "{line}");
        assert_eq!(lines(&env), had + 1, "{line}");
        let event = last_event(&env, "talk");
        assert_eq!(
            (event["type"].as_str(), event["failures"].as_u64()),
            (Some("attempt"), Some(nth as u64 + 1))
        );
        assert!(event["why"].as_str().unwrap().contains(why), "{event}");
    }
    summarize(&env, "echo Beans.", &["--retry"]).status(0);
    let run = env.run(&["list", "--json"]).fine();
    assert_eq!(run.objects()[0]["health"], "healthy");
}

#[test]
fn summaries_pause_after_failures() {
    let env = stored(6);
    let ask = |now: &str, options: &[&str]| {
        let line = "echo asked >> asked.txt; exit 1";
        at(
            &env,
            now,
            &[&["summarize", "talk", "--with", &format!("cmd:{line}")], options].concat(),
        )
    };
    let requested = || env.read("asked.txt").lines().count();
    ask("2026-11-20T18:00:00Z", &[])
        .status(69)
        .says("2026-11-20T18:00:02Z");
    ask("2026-11-20T18:00:01Z", &["--if-due"])
        .status(0)
        .says("until 2026-11-20T18:00:02Z");
    assert_eq!(requested(), 1);
    ask("2026-11-20T18:00:02Z", &["--if-due"])
        .status(69)
        .says("2026-11-20T18:00:06Z");
    ask("2026-11-20T18:00:03Z", &[])
        .status(69)
        .says("2026-11-20T18:00:11Z");
    assert_eq!(requested(), 3);
    let had = lines(&env);
    let rests = ask("2026-11-20T18:00:04Z", &[]).status(69);
    assert!(
        rests
            .stderr
            .contains("skipped after 3 failures, until 2026-11-20T18:00:11Z")
            && rests.stderr.contains("hint: run now with --ignore-backoff")
    );
    assert_eq!((requested(), lines(&env)), (3, had));
    ask("2026-11-20T18:00:04Z", &["--retry"])
        .status(69)
        .says("2026-11-20T18:00:20Z");
    assert_eq!(requested(), 4);
    let health = |now: &str| at(&env, now, &["count", "--json", "talk"]).objects()[0]["health"].clone();
    assert_eq!(health("2026-11-20T18:00:30Z"), "degraded");
    env.run(&["append", "talk", "More."]).fine();
    assert_eq!(health("2026-11-20T18:00:10Z"), "degraded");
    assert_eq!(health("2026-11-20T18:00:30Z"), "recovering");
    let run = at(&env, "2026-11-20T18:00:30Z", &["list"]).fine();
    assert!(run.out().ends_with("\trecovering\n"), "{run}");
    // Another backoff, and another number of failures before it.
    ask(
        "2026-11-20T18:01:00Z",
        &["--backoff", "1m", "--max-failures", "9"],
    )
    .status(69)
    .says("18:17:00Z");
    ask("2026-11-20T18:02:00Z", &["--retry-attempts", "9"]).status(69);
    let failing = [
        "summarize", "talk", "--when", "failures>=6", "--with", "cmd:echo Beans.",
    ];
    at(&env, "2026-11-20T19:00:00Z", &failing)
        .status(0)
        .says(": summarized ");
    at(&env, "2026-11-20T19:00:00Z", &failing)
        .status(0)
        .says("below trigger");
    assert_eq!(health("2026-11-20T19:00:00Z"), "healthy");
}

#[test]
fn a_failed_request_is_retried() {
    let env = stored(6);
    let line = "echo asked >> asked.txt; test $(wc -l < asked.txt) -ge 3 && echo Beans.";
    summarize(&env, line, &["--retries", "1", "--backoff", "1ms"]).status(69);
    assert_eq!(
        last_event(&env, "talk")["failures"],
        1,
        "an attempt, however often it was asked"
    );
    summarize(&env, line, &["--retries", "1", "--backoff", "1ms"]).status(0);
    assert_eq!(env.read("asked.txt").lines().count(), 3);
}

/// Whether a process exits within a few seconds. A signaled process exists until it is scheduled once more, which
/// takes longer on a busy machine; one that was not signaled sleeps for a minute.
pub fn ends(pid: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while runs(pid) {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Whether a process exists and has not exited.
fn runs(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state
        .rsplit(')')
        .next()
        .is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
}

#[test]
fn a_timeout_kills_the_program_and_its_children() {
    let env = stored(6);
    let began = Instant::now();
    let line = "trap '' TERM; sleep 60 & echo $! > pid.txt; echo Beans.; sleep 60";
    summarize(&env, line, &["--timeout", "300ms"])
        .status(69)
        .says("timed out after 300 ms");
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(ends(env.read("pid.txt").trim()));
    // A program that exits and leaves a background process has answered, and the background process is killed.
    summarize(&env, "sleep 60 & echo $! > pid.txt; echo Beans.", &[]).status(0);
    assert!(ends(env.read("pid.txt").trim()));
}

#[test]
fn large_pipes_do_not_block() {
    let env = Env::new();
    let session = talk(6).replace(
        "as it always was",
        &"as it always was, word for word ".repeat(20_000),
    );
    env.write("talk.jsonl", &session);
    env.run(&["migrate", "-q", "talk.jsonl"]).fine();
    let options = ["--timeout", "20s", "--retry"];
    // It reads nothing, prints much before it reads, or prints much to standard error.
    summarize(&env, "echo Beans.", &options).status(0);
    env.run(&["restore", "-q", "talk"]).fine();
    summarize(
        &env,
        "head -c 3000000 /dev/zero | tr '\\0' 'e' >&2; cat > /dev/null; echo Beans.",
        &options,
    )
    .status(0);
    env.run(&["restore", "-q", "talk"]).fine();
    let run = summarize(
        &env,
        "head -c 3000000 /dev/zero | tr '\\0' 'a'; cat > /dev/null",
        &options,
    )
    .status(69);
    assert!(
        run.stderr.contains("more than") || run.stderr.contains("the summarized messages"),
        "{run}"
    );
    summarize(&env, "exec 0<&- 1>&-; sleep 0.2", &options)
        .status(69)
        .says("blank");
}

#[test]
fn messages_added_meanwhile_are_kept() {
    let env = stored(6);
    let line = "echo asked >> asked.txt; while ! test -e go; do sleep 0.01; done; echo Beans.";
    let mut command = env.command(&["summarize", "talk", "--with", &format!("cmd:{line}")]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let requested = env.work().join("asked.txt");
    while !requested.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // No lock is held meanwhile.
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
    let shown = view(&env, "talk");
    assert_eq!(shown.len(), 11, "{shown:?}");
    assert!(shown[1].ends_with("Beans."), "{shown:?}");
    let run = env.run(&["context", "talk"]).fine();
    assert!(
        (0..5).all(|nth| run.out().contains(&format!("meanwhile {nth}"))),
        "{run}"
    );
    assert_eq!(env.read("asked.txt").lines().count(), 1, "it is asked once");
}

#[test]
fn concurrent_changes_refuse_the_summary() {
    let env = stored(6);
    let run = summarize(&env, "convo truncate -q talk --keep-last 1; echo Beans.", &[]).status(75);
    assert!(run.stderr.contains("outdated"), "{run}");
    assert_eq!(last_event(&env, "talk")["type"], "truncate");
    assert_eq!(view(&env, "talk"), ["s", "u5", "a5"]);
    // A concurrent failure is counted after the other one.
    let env = stored(6);
    summarize(&env, "convo summarize -q talk --with cmd:false; false", &[]).status(69);
    assert_eq!(last_event(&env, "talk")["failures"], 2);
}

#[test]
fn text_beyond_the_window_is_sent_in_chunks() {
    let env = stored(12);
    let line = r#"cat > piece; cat piece >> asked.txt; echo "piece $(wc -l < asked.txt)""#;
    let options = ["--chunk", "420", "--summary-budget", "100"];
    summarize(&env, line, &options).status(0);
    let pieces = crate::env::objects(&env.read("asked.txt"));
    assert!(pieces.len() > 2, "{}", pieces.len());
    let mut ids: Vec<String> = Vec::new();
    for (nth, piece) in pieces.iter().enumerate() {
        assert_eq!(piece["chunk"], serde_json::json!([nth + 1, pieces.len()]));
        let before = if nth == 0 {
            serde_json::Value::Null
        } else {
            format!("piece {nth}").into()
        };
        assert_eq!(piece["previous_summary"], before);
        ids.extend(
            piece["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|message| message["id"].as_str().unwrap().to_string()),
        );
    }
    let all: Vec<&str> = pieces[0]["ids"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    assert_eq!(ids, all);
    let last = format!("piece {}", pieces.len());
    assert!(view(&env, "talk")[1].ends_with(&last));
    // A failed chunk is a failure of the whole request.
    env.run(&["restore", "-q", "talk"]).fine();
    summarize(&env, "grep -q '\"chunk\":\\[2,' || echo fine", &options).status(69);
    assert_eq!(view(&env, "talk").len(), 27);
    summarize(&env, "cat", &["--chunk", "100"]).status(2);
}

#[test]
fn a_stream_that_cannot_be_summarized_is_unchanged() {
    let env = Env::new();
    let failing = ["summarize", "--with", "cmd:exit 1"];
    let run = env.pipe(&failing, talk(6)).status(69);
    assert_eq!(run.out(), talk(6));
    let run = env.pipe(&[&failing[..], &["--log"]].concat(), talk(6)).status(69);
    let log = run.out().to_string();
    assert!(
        log.starts_with(&talk(6)) && log.contains(r#""failures":1"#),
        "{run}"
    );
    let run = env.pipe(&[&failing[..], &["--log"]].concat(), log).status(69);
    assert!(run.out().contains(r#""failures":2"#), "{run}");
    // A file would be replaced completely, so it is not changed.
    let path = env.write("talk.jsonl", talk(6));
    env.run(&["summarize", "-i", "talk.jsonl", "--with", "cmd:exit 1"])
        .status(69);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), talk(6));
    env.run(&["summarize", "-i", "--log", "talk.jsonl", "--with", "cmd:exit 1"])
        .status(69);
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .contains(r#""failures":1"#)
    );
    env.run(&["summarize", "-i", "talk.jsonl", "--with", "cmd:echo Beans."])
        .status(0);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("Beans.") && !text.contains("attempt"), "{text}");
}

#[test]
fn several_sessions_are_summarized() {
    let env = stored(6);
    env.write("two.jsonl", talk(6).replace("\"id\":\"talk\"", "\"id\":\"two\""));
    env.run(&["migrate", "-q", "two.jsonl"]).fine();
    let line = "grep -q '\"session\":\"talk\"' || echo Beans.";
    env.run(&["summarize", "talk", "two", "--with", &format!("cmd:{line}")])
        .status(69);
    assert_eq!(last_event(&env, "talk")["type"], "attempt");
    assert_eq!(last_event(&env, "two")["type"], "summary");
    let run = env
        .run(&["summarize", "talk", "--json", "--with", "cmd:exit 1"])
        .status(69);
    let report = &run.objects()[0];
    assert_eq!(
        (
            report["changed"].as_bool(),
            report["records"][0]["failures"].as_u64()
        ),
        (Some(false), Some(2))
    );
}

#[test]
fn an_interrupt_kills_the_program_and_its_children() {
    for (signal, number) in [
        (rustix::process::Signal::INT, 2),
        (rustix::process::Signal::TERM, 15),
        (rustix::process::Signal::HUP, 1),
    ] {
        if crate::ask::failing::is_ignored(number) {
            continue;
        }
        let env = stored(6);
        let before = std::fs::read(env.log("talk")).unwrap();
        let line = "cmd:sleep 60 & echo $! > own; mv own pid; sleep 60";
        let mut command = env.command(&["summarize", "talk", "--with", line, "--retries", "3"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        crate::ask::failing::await_file(&env, "pid");
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        assert_eq!(env.ended(child).status, -number);
        assert!(ends(env.read("pid").trim()));
        // That was not a failure of the program.
        assert!(std::fs::read(env.log("talk")).unwrap() == before);
    }
}

#[test]
fn a_backoff_beyond_the_calendar_is_limited() {
    let env = stored(6);
    summarize(&env, "exit 1", &["--backoff", "99999999d"])
        .status(69)
        .says("9999-12-30");
    assert_eq!(
        last_event(&env, "talk")["next_attempt_at"],
        "9999-12-30T22:00:00.999Z"
    );
    summarize(&env, "echo Beans.", &["--if-due"])
        .status(0)
        .says("until 9999");
    assert_eq!(last_event(&env, "talk")["type"], "attempt");
}

#[test]
fn instructions_with_a_summary_fit_the_budget() {
    let env = Env::new();
    let mut session = String::from("{\"type\":\"session\",\"version\":1,\"id\":\"rules\"}\n");
    for nth in 0..12 {
        let rule = format!(
            "Always put invoice number {nth} into the folder with the colour {}, please.",
            nth * 7
        );
        let lines = format!(
            "{{\"role\":\"user\",\"content\":\"{rule} And tell me about {}it.\",\"id\":\"u{nth}\"}}\n{{\"role\":\"assistant\",\"content\":\"{}\",\"id\":\"a{nth}\"}}\n",
            "it and ".repeat(30),
            "Done. ".repeat(20)
        );
        session.push_str(&lines);
    }
    // The tokens left for the answer, and the number of rules next to it.
    for (budget, left, rules) in [(340, 5, 1), (400, 25, 3), (600, 145, 7)] {
        let budget = budget.to_string();
        let line = "cmd:cat > asked.json; echo Filed.";
        let run = env.pipe(&["summarize", "--budget", &budget, "--with", line], &session);
        let run = run.status(0);
        env.write("out.jsonl", run.out());
        let count = env.run(&["count", "--json", "out.jsonl"]).fine();
        let tokens = count.objects()[0]["view"]["tokens"]["total"].as_u64().unwrap();
        assert!(tokens <= budget.parse().unwrap(), "{tokens} of {budget}");
        // What the request lists as kept is kept.
        let requested: serde_json::Value = serde_json::from_str(&env.read("asked.json")).unwrap();
        let pins = requested["pins"].as_array().unwrap();
        assert_eq!(
            (requested["budget"].as_u64(), pins.len()),
            (Some(left), rules),
            "{requested}"
        );
        assert!(pins.iter().all(|pin| run.out().contains(pin.as_str().unwrap())));
    }
}
