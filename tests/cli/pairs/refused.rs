//! Tests operations that are rejected for PicoClaw session files, which must not change then.

use super::{BEFORE, LOG, Pair, sidecar};
use crate::env::Env;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_message_longer_than_the_limit_is_refused() {
    let pair = Pair::usual();
    let around = r#"{"role":"user","content":"","created_at":"2026-11-20T18:02:03Z"}"#.len();
    let message = |length: usize| format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(length - around));
    pair.refuses(65, "10485760 bytes", |pair| {
        let short = r#"{"role":"user","content":"first"}"#;
        pair.stream(&format!("{short}\n{}\n", message(10_485_760)), &[])
    });
    pair.stream(&message(10_485_759), &[]).fine();
    assert_eq!(pair.added(LOG).len(), 10_485_760);
}

#[test]
fn there_is_no_event_to_undo() {
    let pair = Pair::new(LOG, sidecar(3, 5, BEFORE));
    pair.refuses(1, "keep no events", |pair| pair.run("restore", &[]));
    let pair = Pair::new(
        LOG.replace("broken\n", ""),
        sidecar(0, 4, BEFORE).replace("caf\\u00e9", ""),
    );
    pair.refuses(1, "nothing to undo", |pair| pair.run("restore", &[]));
}

#[test]
fn options_without_meaning_for_a_pair_are_refused() {
    let pair = Pair::usual();
    pair.refuses(
        2,
        "-i=SUFFIX cannot back up the two files of a PicoClaw session",
        |pair| pair.env.run(&["append", "p/s.jsonl", "-i=.bak", "x"]),
    );
    pair.refuses(2, "cannot convert", |pair| {
        pair.run("append", &["--to=native", "x"])
    });
    pair.refuses(2, "--log conflicts with -i", |pair| {
        pair.run("truncate", &["--log", "--all"])
    });
}

#[test]
fn an_unreadable_sidecar_is_not_overwritten() {
    let changes: [(&str, &[&str]); 3] = [("append", &["x"]), ("truncate", &["--all"]), ("restore", &[])];
    for bad in ["", "{\"skip\": 3", "{\"skip\":\"3\"}", "[]"] {
        for (command, options) in changes {
            Pair::new(LOG, bad).refuses(65, "s.meta.json: unreadable", |pair| pair.run(command, options));
        }
    }
    for (command, options) in changes {
        let pair = Pair::usual();
        fs::rename(pair.path("s.meta.json"), pair.path("real")).unwrap();
        symlink("real", pair.path("s.meta.json")).unwrap();
        pair.refuses(77, "not a regular file", |pair| pair.run(command, options));
        assert_eq!(pair.env.read("p/real"), sidecar(0, 5, BEFORE));
        let pair = Pair::usual();
        fs::rename(pair.path("s.jsonl"), pair.path("real")).unwrap();
        symlink("real", pair.path("s.jsonl")).unwrap();
        pair.refuses(77, "not a regular file", |pair| pair.run(command, options));
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let pair = Pair::usual();
    for (command, options) in [("append", &["x", "-n"][..]), ("truncate", &["--all", "-n"])] {
        let run = pair.run(command, options).says("would ");
        assert_eq!(run.out().lines().count(), 1);
        assert_eq!((pair.log(), pair.sidecar()), (LOG.into(), sidecar(0, 5, BEFORE)));
    }
}

#[test]
fn a_command_waits_for_a_lock() {
    let pair = Pair::usual();
    let lock = fs::File::open(pair.path("s.jsonl")).unwrap();
    lock.lock().unwrap();
    pair.refuses(75, "locked by", |pair| {
        pair.run("append", &["x", "--lock-timeout=50ms"])
    });
    pair.refuses(75, "locked by", |pair| {
        pair.run("truncate", &["--all", "--lock-timeout=50ms"])
    });
    drop(lock);
    pair.run("append", &["x"]).fine();
}

#[test]
fn other_files_are_changed_as_usual() {
    let env = Env::new();
    env.write(
        "s.json",
        r#"{"key":"a:b","messages":[{"role":"user","content":"x"}],"summary":""}"#,
    );
    env.run(&["append", "s.json", "-i", "y"]).fine();
    let document = env.read("s.json");
    assert!(
        document.starts_with("{\n  \"key\": \"a:b\",\n  \"messages\": [\n"),
        "{document}"
    );
    assert!(document.contains("\"content\": \"y\""), "{document}");
    env.write(
        "s.jsonl",
        r#"{"key":"a:b","messages":[{"role":"user","content":"x"}],"summary":""}"#,
    );
    env.run(&["append", "s.jsonl", "-i", "x"])
        .status(2)
        .says("a document, not a log");
    env.write("bare.jsonl", crate::env::BARE);
    env.run(&["append", "bare.jsonl", "-i", "x"]).fine();
    assert!(env.read("bare.jsonl").contains("\"id\":\"msg_"));
}

#[test]
fn a_sidecar_is_not_a_session() {
    let pair = Pair::usual();
    let run = |pair: &Pair| pair.env.run(&["append", "p/s.meta.json", "-i", "x"]);
    pair.refuses(2, "is the sidecar of a session", run);
    fs::remove_file(pair.path("s.jsonl")).unwrap();
    let before = pair.sidecar();
    run(&pair).status(2).says("give the log: s.jsonl");
    assert_eq!(pair.sidecar(), before);
}
