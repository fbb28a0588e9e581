//! `convo gc`.

use crate::env::{CHAT, Env};

/// Truncates the first exchange of `trip`.
fn cut() -> Env {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    env
}

#[test]
fn unneeded_lines_are_archived_and_can_be_restored() {
    let env = cut();
    let context = env.run(&["context", "trip"]).fine().stdout;
    let before = std::fs::read(env.log("trip")).unwrap();
    snapshot!("gc_dry_run", env.run(&["gc", "trip", "-n"]).status(0));
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), before);
    snapshot!("gc", env.run(&["gc", "trip"]).status(0));
    snapshot!("gc_log", env.run(&["cat", "trip"]).fine());
    env.run(&["context", "trip"]).fine().gives(&context);
    // A second run finds nothing.
    env.run(&["gc", "trip"]).fine().gives("");
    env.run(&["gc"]).fine().gives("");
    let archive = std::fs::read_to_string(env.store().join("archive/trip.jsonl")).unwrap();
    assert!(archive.contains("Weather in Paris?") && !archive.contains("And tomorrow?"));
    snapshot!("gc_nothing_to_undo", env.run(&["restore", "trip"]).status(1));
    env.run(&["append", "-q", "trip", "Thanks."]).fine();
    let list = env.run(&["restore", "--list", "trip"]).fine();
    snapshot!("gc_list", list);
    let event = list.out().split('\t').next().unwrap().to_string();
    // Only the store has an archive.
    let before = std::fs::read(env.log("trip")).unwrap();
    for flag in [
        &["-o", "out.jsonl"][..],
        &["--stdout"],
        &["-t", "jsonl"],
        &["-i"],
        &["--log"],
    ] {
        let run = env.run(&[&["restore", "trip", &event][..], flag].concat());
        assert!(run.status == 1 || run.status == 2, "{run}");
    }
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), before);
    snapshot!("gc_back", env.run(&["restore", "trip", &event]).status(0));
    env.run(&["restore", "trip", &event]).status(1);
    env.run(&["restore", "-q", "trip"]).fine();
    let whole = env.run(&["context", "trip"]).fine();
    assert!(whole.out().starts_with(CHAT) && whole.out().contains("Thanks."));
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn the_receipt_as_json() {
    let env = cut();
    env.run(&["new", "--id", "other"]).status(0);
    snapshot!("gc_json", env.run(&["gc", "--json"]).status(0));
}

#[test]
fn recently_hidden_lines_are_kept() {
    let env = cut();
    // The cut was made just now.
    env.run(&["gc", "--older-than", "1h"]).fine().gives("");
    let mut later = env.command(&["gc", "--older-than", "1h", "-q"]);
    later.env("CONVO_NOW", "2026-11-20T20:00:00Z");
    env.wait(later).fine();
    assert!(env.store().join("archive/trip.jsonl").is_file());
    env.run(&["gc", "--older-than", "soon"]).status(2);
}

#[test]
fn discard_deletes_permanently() {
    let env = cut();
    env.run(&["gc", "-q"]).fine();
    env.run(&["truncate", "-q", "trip", "--all"]).fine();
    snapshot!("gc_discard", env.run(&["gc", "--discard"]).status(0));
    let left = std::fs::read_to_string(env.log("trip")).unwrap();
    assert!(!left.contains("tomorrow") && !env.store().join("archive/trip.jsonl").exists());
    // No check misses the removed lines.
    env.run(&["fsck", "-q"]).fine();
    let reported = env.run(&["restore", "trip"]).status(1).stderr;
    assert!(!reported.contains("hint"), "{reported}");
    env.run(&["alias", "add", "-q", "work", "trip"]).fine();
    env.run(&["remove", "-q", "trip"]).fine();
    env.run(&["gc", "--trash"]).status(2);
    env.run(&["gc", "--discard", "--trash", "--older-than", "1h"])
        .fine();
    assert!(env.store().join("trash/trip.20261120T180203Z.jsonl").is_file());
    snapshot!("gc_trash", env.run(&["gc", "--discard", "--trash"]).status(0));
    assert_eq!(std::fs::read_dir(env.store().join("trash")).unwrap().count(), 0);
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn a_damaged_log_is_unchanged_and_the_others_are_compacted() {
    let env = cut();
    env.run(&["new", "--id", "other"]).status(0);
    env.run(&["append", "other", "text"]).fine();
    env.run(&["truncate", "-q", "other", "--all"]).fine();
    let mut log = std::fs::read(env.log("trip")).unwrap();
    log[200] ^= 1;
    std::fs::write(env.log("trip"), &log).unwrap();
    snapshot!("gc_damaged", env.run(&["gc"]).status(65));
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), log);
    assert!(env.store().join("archive/other.jsonl").is_file());
}

#[test]
fn errors() {
    let env = cut();
    env.run(&["gc", "nobody"]).status(66);
    snapshot!("gc_path", env.run(&["gc", "./trip.jsonl"]).status(2).stderr);
    let none = Env::new();
    none.run(&["gc"]).status(66);
}

#[test]
fn a_picoclaw_log_is_compacted_in_place() {
    let env = Env::new();
    let line = |text: &str| {
        format!("{{\"role\":\"user\",\"content\":\"{text}\",\"created_at\":\"2026-01-01T00:00:00Z\"}}\n")
    };
    let lines = ["a", "b", "c"].map(line).concat();
    env.write("x.jsonl", &lines);
    env.write("x.meta.json", r#"{"key":"x","summary":"","skip":2,"count":3}"#);
    // The header describes the files.
    let view = || env.run(&["context", "x.jsonl"]).fine().objects().split_off(1);
    let before = view();
    snapshot!("gc_pair", env.run(&["gc", "-i", "x.jsonl"]).status(0));
    assert_eq!(env.read("x.jsonl"), line("c"));
    assert_eq!(env.read(".convo/archive/x.jsonl"), lines[..line("a").len() * 2]);
    assert!(
        env.read("x.meta.json").contains("\"skip\": 0"),
        "{}",
        env.read("x.meta.json")
    );
    assert_eq!(view(), before);
    env.run(&["gc", "-i", "x.jsonl"]).fine();
    snapshot!("gc_pair_refused", env.run(&["gc", "x.jsonl"]).status(2).stderr);
    env.write("chat.jsonl", CHAT);
    env.run(&["gc", "-i", "chat.jsonl"])
        .status(2)
        .says("not the log of a PicoClaw session");
    env.run(&["gc", "-i", "chat"]).status(2);
    env.run(&["gc", "-i"]).status(2);
}

/// Restored lines must not change the view.
#[test]
fn undoing_a_gc_is_refused_if_a_later_cut_would_change() {
    let env = Env::new();
    let texts = [
        ("x", "user"),
        ("a1", "assistant"),
        ("b", "user"),
        ("a2", "assistant"),
        ("x", "user"),
        ("a3", "assistant"),
    ];
    let lines: String = texts
        .iter()
        .enumerate()
        .map(|(nth, (id, role))| format!("{{\"role\":\"{role}\",\"content\":\"{nth}\",\"id\":\"{id}\"}}\n"))
        .collect();
    env.run(&["new", "--id", "chat"]).status(0);
    env.pipe(&["append", "chat", "--stream", "-q"], lines).fine();
    env.run(&["truncate", "-q", "chat", "--before", "b"]).fine();
    env.run(&["gc", "-q", "chat"]).fine();
    let event = env
        .run(&["restore", "-l", "chat"])
        .fine()
        .out()
        .split('\t')
        .next()
        .unwrap()
        .to_string();
    env.run(&["truncate", "-q", "chat", "--before", "x"]).fine();
    let before = std::fs::read(env.log("chat")).unwrap();
    env.run(&["restore", "-n", "chat", &event]).status(1);
    snapshot!(
        "gc_not_back",
        env.run(&["restore", "chat", &event]).status(1).stderr
    );
    assert_eq!(std::fs::read(env.log("chat")).unwrap(), before);
    env.run(&["restore", "-q", "chat"]).fine();
    env.run(&["restore", "-q", "chat", &event]).fine();
}

/// The archive of a removed session does not belong to a new session with the same id.
#[test]
fn another_session_with_the_same_id_has_its_own_archive() {
    let env = cut();
    env.run(&["gc", "-q"]).fine();
    env.run(&["remove", "-q", "trip"]).fine();
    env.run(&["new", "--id", "trip", "--system", "Another."])
        .status(0);
    env.run(&["gc", "--discard", "trip"]).fine();
    env.run(&["fsck", "-q"]).fine();
    std::fs::remove_file(env.log("trip")).unwrap();
    env.run(&["restore", "-q", "trip"]).fine();
    let event = env
        .run(&["restore", "-l", "trip"])
        .fine()
        .out()
        .split('\t')
        .next()
        .unwrap()
        .to_string();
    env.run(&["restore", "-q", "trip", &event]).fine();
}
