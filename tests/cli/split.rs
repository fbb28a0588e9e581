//! `convo split`.

use crate::env::{BARE, CHAT, Env};
use serde_json::json;

/// The lines of the chat with these numbers, counted from 0.
fn lines(numbers: impl IntoIterator<Item = usize>) -> String {
    let all: Vec<&str> = CHAT.split_inclusive('\n').collect();
    numbers.into_iter().map(|number| all[number]).collect()
}

/// The message lines of these sessions, without headers, links and copies.
fn message_lines(stream: &str) -> String {
    let own = |line: &&str| line.starts_with("{\"role\"") && !line.contains("copied_from");
    stream.split_inclusive('\n').filter(own).collect()
}

#[test]
fn a_stream_is_split_into_several_sessions() {
    let env = Env::new();
    let run = env.pipe(&["split", "--every-turns", "1"], CHAT).fine();
    snapshot!("split_stream", run.out());
    assert_eq!(message_lines(run.out()), lines(1..8));
    // Equal input gives equal output, whatever the clock and the seed.
    env.pipe(&["split", "--every-turns", "1"], CHAT)
        .fine()
        .gives(&run.stdout);
    let count = env.pipe(&["count", "--json"], &run.stdout).fine();
    assert_eq!(count.objects().len(), 2);
    env.pipe(&["check", "--for", "openai-chat"], &run.stdout)
        .status(0);
    // A session within the limit is unchanged.
    env.pipe(&["split", "--max-messages", "7"], CHAT)
        .fine()
        .gives(CHAT);
}

#[test]
fn every_split_option_ends_a_part() {
    let env = Env::new();
    let reasons = |options: &[&str]| {
        let run = env
            .pipe(&[&["split", "--dry-run"], options].concat(), CHAT)
            .status(0);
        let rows = run
            .out()
            .lines()
            .map(|row| row.rsplit('\t').next().unwrap().to_string());
        rows.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(reasons(&["--max-messages", "5"]), "first messages");
    assert_eq!(reasons(&["--max-tokens", "60"]), "first tokens");
    assert_eq!(reasons(&["--every-turns", "1"]), "first turns");
    assert_eq!(reasons(&["--at", "m6"]), "first at");
    assert_eq!(reasons(&["--gap", "4m"]), "first gap");
    assert_eq!(reasons(&["--gap", "5m"]), "first");
    assert_eq!(reasons(&["--per-day"]), "first");
    assert_eq!(reasons(&["--gap", "6h", "--every-turns", "1"]), "first turns");
    // Days end in the local time zone.
    let mut there = env.command(&["split", "--dry-run", "--per-day"]);
    there.env("TZ", "<+1355>-13:55");
    let run = env.feed(there, CHAT.as_bytes());
    assert!(run.out().ends_with("\tday\n"), "{run}");
}

#[test]
fn an_unreachable_limit_is_reported() {
    let env = Env::new();
    let run = env.pipe(&["split", "--max-messages", "4"], CHAT).status(1);
    assert_eq!(message_lines(run.out()), lines(1..8));
    run.says("convo: -: trip.1: exchange of 5 messages exceeds the limit; not divided\n");
    env.pipe(&["split", "--max-messages", "1"], CHAT)
        .status(2)
        .gives("")
        .says("a part of 1 messages is too small: 1 are copied into each part\nhint: raise the limit, or use --carry none\n");
    let run = env
        .pipe(&["split", "--max-messages", "1", "--carry", "none"], CHAT)
        .status(1);
    assert!(!run.out().contains("copied_from"));
    env.pipe(&["split", "--at", "m9"], CHAT)
        .status(1)
        .gives("")
        .says("no such message in the view: m9");
    env.pipe(&["split", "--at", "m7"], CHAT)
        .status(0)
        .says("moved the split point m7 to the start of its exchange");
    env.pipe(&["split"], CHAT).status(2).says("--max-messages");
    env.pipe(&["split", "--max-messages", "0"], CHAT).status(2);
}

#[test]
fn stored_parts_are_a_chain() {
    let env = Env::with_chat();
    let run = env.run(&["split", "trip", "--every-turns", "1"]).status(0);
    assert_eq!(run.stderr, "convo: trip: split into 2 parts: trip.1 to trip.2\n");
    let run = run.gives("trip.1\ntrip.2\n");
    // The filter gives the same as the store.
    let pieces = env.run(&["cat", "trip.1", "trip.2"]).fine();
    env.pipe(&["split", "--every-turns", "1", "--log"], CHAT)
        .fine()
        .gives(&pieces.stdout);
    let log = env.run(&["cat", "trip"]).fine();
    snapshot!("split_event", log.out().strip_prefix(CHAT).unwrap());
    env.run(&["context", "trip"]).fine();
    env.run(&["fsck"]).status(0);
    // A repeated split creates nothing.
    env.run(&["split", "trip", "--every-turns", "1"])
        .status(0)
        .says("trip: unchanged: already split into 2 parts: trip.1 to trip.2")
        .gives(&run.stdout);
    env.run(&["cat", "trip"]).fine().gives(log.stdout);
    env.run(&["split", "trip", "--max-messages", "3", "--carry", "none"])
        .status(73)
        .gives("")
        .says("trip.2: exists as a different part of an earlier split\nhint: choose other ids with --id\n");
    env.run(&["split", "trip", "--every-turns", "1", "--id", "leg"])
        .status(0)
        .gives("leg.1\nleg.2\n");
    env.run(&["fsck"]).status(0);
}

#[test]
fn hidden_messages_are_kept_in_the_parts() {
    let env = Env::with_chat();
    for text in ["And after that?", "And then?"] {
        env.run(&["append", "trip", text]).status(0);
        env.run(&["append", "trip", "-r", "assistant", "Sun."]).status(0);
    }
    env.run(&["truncate", "trip", "--before", "m6"]).status(0);
    let view = env.run(&["context", "trip", "--to", "openai-chat"]).status(0);
    env.run(&["split", "trip", "--every-turns", "2", "-q", "--carry", "none"])
        .status(0);
    let shown = ["trip.1", "trip.2"].map(|id| {
        let run = env.run(&["context", id, "--to", "openai-chat"]).status(0);
        serde_json::from_slice::<Vec<serde_json::Value>>(&run.stdout).unwrap()
    });
    let whole: Vec<serde_json::Value> = serde_json::from_slice(&view.stdout).unwrap();
    assert_eq!(shown.concat(), whole);
    assert_eq!(env.run(&["context", "trip.1"]).status(0).out().lines().count(), 6);
    // It can be restored.
    env.run(&["restore", "trip.1"]).status(0);
    let back = env.run(&["cat", "trip.1", "--to", "openai-chat", "-q"]).status(0);
    assert!(back.out().contains("Weather in Paris?"));
}

#[test]
fn a_file_for_each_part() {
    let env = Env::new();
    env.write("chat.jsonl", CHAT);
    let cut = |more: &[&str]| {
        env.run(
            &[
                &["split", "chat.jsonl", "--every-turns", "1", "--out", "parts"],
                more,
            ]
            .concat(),
        )
    };
    cut(&[])
        .status(0)
        .gives("parts/trip.1.jsonl\nparts/trip.2.jsonl\n");
    let both = env.read("parts/trip.1.jsonl") + &env.read("parts/trip.2.jsonl");
    env.pipe(&["split", "--every-turns", "1"], CHAT)
        .fine()
        .gives(both);
    // A repeated run finds the file; another file with that name is kept.
    cut(&[]).status(0);
    env.write("parts/trip.2.jsonl", "mine\n");
    cut(&[])
        .status(73)
        .says("parts/trip.2.jsonl: the file exists with different content");
    assert_eq!(env.read("parts/trip.2.jsonl"), "mine\n");
    cut(&["--to", "openai-chat", "-q"])
        .status(0)
        .gives("parts/trip.1.json\nparts/trip.2.json\n");
    let second: Vec<serde_json::Value> = serde_json::from_str(&env.read("parts/trip.2.json")).unwrap();
    assert_eq!(second[0]["content"], "You are terse.");
    assert_eq!(second.len(), 3);
    // One document on standard output cannot hold two sessions.
    env.pipe(&["split", "--every-turns", "1", "--to", "openai-chat"], CHAT)
        .status(2)
        .gives("")
        .says("with --output-dir DIR");
    // Messages without ids get one, and an uncut session is a file too.
    env.write("bare.jsonl", BARE);
    let run = env
        .run(&["split", "bare.jsonl", "--every-turns", "1", "--out", "parts"])
        .status(0);
    assert!(run.out().starts_with("parts/session_"), "{run}");
}

#[test]
fn joining_the_parts_restores_the_session() {
    let env = Env::with_chat();
    let pieces = env.pipe(&["split", "--every-turns", "1"], CHAT).fine();
    let whole = env.pipe(&["join", "--id", "trip"], &pieces.stdout).status(0);
    assert_eq!(message_lines(whole.out()), lines(1..8));
    let header = &whole.objects()[0];
    assert_eq!(header["title"], "Trip");
    env.run(&["split", "trip", "--every-turns", "1", "-q"]).status(0);
    let run = env.run(&["join", "trip.2", "-q"]).status(0);
    let again = env.run(&["cat", run.out().trim_end()]).fine();
    assert_eq!(message_lines(again.out()), lines(1..8));
    let tree = env.run(&["list", "--tree"]).fine();
    assert!(
        tree.out().contains("  trip.1\t") && tree.out().contains("  trip.2\t"),
        "{tree}"
    );
    env.run(&["fsck"]).status(0);
}

#[test]
fn reports_as_objects() {
    let env = Env::with_chat();
    let plan = env
        .run(&["split", "trip", "--every-turns", "1", "--dry-run", "--json"])
        .fine();
    let piece = |id: &str, messages: u64, tokens: u64, began: &str, reason: &str| {
        json!({
            "id": id, "messages": messages, "exchanges": 1, "tokens": tokens, "began": began, "reason": reason,
            "too_large": false,
        })
    };
    assert_eq!(
        plan.objects(),
        [json!({"schema": "convo.split/1", "input": "trip", "pieces": [
            piece("trip.1", 5, 50, "2026-11-01T10:00:01Z", "first"),
            piece("trip.2", 3, 21, "2026-11-01T10:05:00Z", "turns"),
        ]})]
    );
    env.run(&["cat", "trip"]).fine().gives(CHAT);
    let done = env.run(&["split", "trip", "--every-turns", "1", "--json"]).fine();
    assert_eq!(done.objects()[0]["changed"], true);
    let again = env.run(&["split", "trip", "--every-turns", "1", "--json"]).fine();
    assert_eq!(again.objects()[0]["changed"], false);
}

#[test]
fn an_interrupted_split_is_completed_by_a_rerun_or_fsck() {
    for repair in [false, true] {
        let env = Env::with_chat();
        env.run(&["split", "trip", "--every-turns", "1"]).status(0);
        let (first, log) = (env.log("trip.1"), std::fs::read(env.log("trip")).unwrap());
        let pieces = [&first, &env.log("trip.2")].map(|path| std::fs::read(path).unwrap());
        // Killed before the commit: the parts exist, but the session does not name them.
        std::fs::write(
            env.log("trip"),
            &log[..log[..log.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1],
        )
        .unwrap();
        let run = env.run(&["fsck"]).status(0);
        assert!(
            run.out()
                .contains("trip.1, trip.2 claims to be a part of this session"),
            "{run}"
        );
        crate::untrusted::mark(&env, "split", "trip", &["trip.1", "trip.2"]);
        let run = env.run(&["fsck"]).status(1);
        assert!(
            run.out()
                .contains("split into trip.1, trip.2, which is not recorded"),
            "{run}"
        );
        if !repair {
            // Killed before the first part was named.
            std::fs::remove_file(&first).unwrap();
            let run = env.run(&["fsck"]).status(1);
            assert!(
                run.out().contains("unfinished split: 1 of 2 parts exist"),
                "{run}"
            );
        }
        match repair {
            true => env.run(&["fsck", "--repair"]),
            false => env.run(&["split", "trip", "--every-turns", "1"]),
        }
        .status(0);
        env.run(&["fsck"]).status(0);
        let now = [&first, &env.log("trip.2")].map(|path| std::fs::read(path).unwrap());
        assert_eq!(now, pieces);
        assert!(
            env.run(&["cat", "trip"])
                .fine()
                .out()
                .contains("\"into\":[\"trip.1\",\"trip.2\"]")
        );
    }
}

#[test]
fn a_missing_part_is_reported() {
    let env = Env::with_chat();
    env.run(&["split", "trip", "--every-turns", "1"]).status(0);
    // A session in the trash can be restored; one whose parts exist can be removed.
    env.run(&["remove", "trip.2"]).status(0);
    env.run(&["fsck"]).status(0);
    env.run(&["remove", "--purge", "trip.2"]).status(0);
    let run = env.run(&["fsck"]).status(1);
    assert!(run.out().contains("split into trip.2, which is missing"), "{run}");
    env.run(&["fsck", "--repair"]).status(0);
    env.run(&["fsck"]).status(0);
    env.run(&["remove", "--purge", "trip"]).status(0);
    env.run(&["fsck"]).status(0);
}

#[test]
fn an_existing_name_prevents_every_file() {
    let env = Env::new();
    let chat = env.write("chat.jsonl", CHAT);
    let out = env.work().join("out");
    std::fs::create_dir(&out).unwrap();
    std::os::unix::fs::symlink("nowhere", out.join("session.2.jsonl")).unwrap();
    let requested = [
        "split",
        chat.to_str().unwrap(),
        "--id",
        "session",
        "--every-turns",
        "1",
        "--out",
    ];
    let requested = [&requested[..], &[out.to_str().unwrap()]].concat();
    env.run(&requested).status(77).says("is a symbolic link");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1);
}

#[test]
fn a_session_that_grew_is_split_under_other_names() {
    let env = Env::new();
    env.run(&["new", "--id", "chat"]).fine();
    let add = |text: &str| drop(env.run(&["append", "chat", text]).fine());
    let answer = || drop(env.run(&["append", "chat", "-r", "assistant", "yes"]).fine());
    for text in ["one", "two"] {
        add(text);
        answer();
    }
    env.run(&["split", "chat", "--every-turns", "1"]).status(0);
    add("three");
    answer();
    env.run(&["split", "chat", "--every-turns", "1"])
        .status(73)
        .says("exists as a different part");
    env.run(&["split", "chat", "--every-turns", "1", "--id", "again"])
        .status(0)
        .gives("again.1\nagain.2\nagain.3\n");
}

/// From an export, or another file with many sessions.
#[test]
fn each_session_is_written_to_its_own_file() {
    let env = Env::new();
    let many = "{\"messages\":[{\"role\":\"user\",\"content\":\"one\"}]}\n{\"messages\":[{\"role\":\"user\",\"content\":\"two\"},{\"role\":\"assistant\",\"content\":\"2\"}]}\n";
    env.write("many.jsonl", many);
    let run = env.run(&["split", "--out", "files", "many.jsonl"]).fine();
    assert_eq!(run.out().lines().count(), 2, "{}", run.out());
    for (path, text) in run.out().lines().zip(["one", "two"]) {
        assert!(env.read(path).contains(text));
        env.run(&["count", path]).fine();
    }
    // A repeated run creates nothing twice.
    env.run(&["split", "--out", "files", "many.jsonl"]).fine();
    let run = env
        .run(&["split", "--out", "pages", "--to", "markdown", "many.jsonl"])
        .status(0);
    assert!(
        run.out().lines().all(|path| path.ends_with(".md")),
        "{}",
        run.out()
    );
    env.run(&["split", "many.jsonl"])
        .status(2)
        .says("no split point given")
        .says("--output-dir alone");
}
