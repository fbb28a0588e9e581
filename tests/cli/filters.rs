//! Tests failing filters: a stream is passed on unchanged, and status and standard error report the failure.

use crate::env::Env;
use serde_json::json;

/// Exchanges; an earlier event hides the first of them.
fn talk() -> String {
    let mut text = String::from("{\"type\":\"session\",\"version\":1,\"id\":\"talk\"}\n");
    for nth in 0..8 {
        let words = format!("The {nth}th thing that was said of the beans. ").repeat(12);
        for (role, id) in [("user", format!("u{nth}")), ("assistant", format!("a{nth}"))] {
            text += &format!("{}\n", json!({"role": role, "content": words, "id": id}));
        }
    }
    text + "{\"type\":\"truncate\",\"id\":\"t\",\"at\":\"2026-11-01T10:00:00Z\",\"before\":\"u1\"}\n"
}

#[test]
fn a_failing_filter_prints_the_stream_unchanged() {
    let env = Env::new();
    let talk = talk();
    env.write(
        "answer.json",
        r#"{"schema":"convo.summary/1","sha256":"00","summary":"Beans."}"#,
    );
    for (status, line) in [
        (69, "summarize --with cmd:false"),
        (69, "summarize --with cmd:false --budget 700"),
        (69, "summarize --with missing"),
        (1, "summarize --budget 3"),
        (75, "summarize --apply answer.json"),
        (69, "compact --with cmd:false --budget 700"),
        (69, "compact --with missing --budget 700"),
        (1, "compact --budget 3"),
        (1, "compact --mask-tools --on-no-gain error"),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let run = env.pipe(&arguments, &talk).status(status);
        assert_eq!(run.out(), talk, "{line}: {run}");
        assert!(run.stderr.starts_with("convo: "), "{line}: {run}");
        // The same with -o and in place.
        env.pipe(&[&arguments[..], &["-o", "out.jsonl"]].concat(), &talk)
            .status(status);
        assert_eq!(env.read("out.jsonl"), talk, "{line}");
        let path = env.write("in.jsonl", &talk);
        env.run(&[&arguments[..], &["-i", path.to_str().unwrap()]].concat())
            .status(status);
        assert_eq!(env.read("in.jsonl"), talk, "{line}");
    }
    // Usage errors are reported before input is read.
    env.pipe(&["summarize", "--with", "cmd:"], &talk)
        .status(2)
        .gives("");
}

#[test]
fn other_sessions_of_a_stream_are_processed() {
    let env = Env::new();
    let (first, second) = (talk(), talk().replace("\"talk\"", "\"other\""));
    let line = "if grep -q '\"session\":\"talk\"'; then exit 3; else echo Beans.; fi";
    let with = format!("cmd:{line}");
    let run = env
        .pipe(&["summarize", "--with", &with], format!("{first}{second}"))
        .status(69);
    assert!(run.out().starts_with(&first), "{run}");
    let rest = &run.out()[first.len()..];
    assert!(
        rest.contains("Beans.") && rest.lines().count() < second.lines().count(),
        "{run}"
    );
}

/// The ids that a compaction keeps in view.
fn left(session: &str, options: &[&str]) -> Vec<String> {
    let own = ["compact", "--budget", "700", "--with", "none"];
    let run = Env::new().pipe(&[&own, options].concat(), session).status(0);
    let ids = run.objects().into_iter().skip(1);
    ids.map(|record| record["id"].as_str().unwrap_or_default().to_string())
        .collect()
}

#[test]
fn no_view_starts_with_a_reply_due_to_its_category() {
    let session = |greets: bool, category: &str| {
        let mut text = String::from("{\"type\":\"session\",\"version\":1,\"id\":\"talk\"}\n");
        if greets {
            let hello =
                json!({"role": "assistant", "content": "Hello.", "category": category, "id": "hello"});
            text += &format!("{hello}\n");
        }
        for nth in 0..8 {
            let words = format!("The {nth}th thing that was said of the beans. ").repeat(12);
            for (role, id) in [("user", format!("u{nth}")), ("assistant", format!("a{nth}"))] {
                let category = if id == "a0" { category } else { "dialog" };
                text += &format!(
                    "{}\n",
                    json!({"role": role, "content": words, "id": id, "category": category})
                );
            }
        }
        text
    };
    for category in ["system", "context"] {
        for greets in [false, true] {
            for options in [
                &["--drop-order", "dialog"][..],
                &["--budget-for", "dialog=40%"],
                &["--tiered"],
                &[],
            ] {
                let ids = left(&session(greets, category), options);
                let first = ids.first().map(String::as_str).unwrap_or_default();
                assert!(
                    first.starts_with('u') && ids.len() < 16,
                    "{category}, greeting {greets}, {options:?}: {ids:?}"
                );
            }
        }
    }
    // The greeting at the beginning is kept if the rest is.
    let short = session(true, "system");
    let run = Env::new()
        .pipe(
            &["compact", "--budget", "100000", "--drop-order", "dialog"],
            &short,
        )
        .status(0);
    assert_eq!(run.out(), short);
}
