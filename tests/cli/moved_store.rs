//! Tests that a store moved by export and import answers as before, and that losses are reported.

use crate::env::{Env, Run};

/// Runs a command in the other store.
fn other(env: &Env, arguments: &[&str]) -> Run {
    env.run(&[&["--store", "other"], arguments].concat())
}

/// Exports the store and imports it into the other one.
fn moved(env: &Env) {
    env.run(&["migrate", "-q", "--output-dir", "out", "@all"])
        .status(0);
    other(env, &["migrate", "-q", "out"]).status(0);
}

#[test]
fn keys_name_the_last_session_of_their_chain() {
    let env = Env::new();
    // The id of one session is derived from its key.
    env.run(&["new", "--key", "tele:1"]).fine();
    env.run(&["new", "--id", "t", "--key", "k"]).fine();
    for key in ["tele:1", "k"] {
        env.run(&["append", key, "old?"]).fine();
        env.run(&["append", key, "-r", "assistant", "old"]).fine();
    }
    env.run(&["continue", "-q", "tele:1"]).fine();
    env.run(&["append", "tele:1", "new?"]).fine();
    moved(&env);
    let same = |key: &str| {
        let expected = env.run(&["cat", "-q", key]).fine();
        other(&env, &["cat", "-q", key]).fine().gives(&expected.stdout);
    };
    same("tele:1");
    same("k");
    other(&env, &["new", "-q", "--key", "k", "--if-missing"])
        .fine()
        .gives("t\n");
    // A repeated import changes nothing, even after the next continuation.
    other(&env, &["continue", "-q", "tele:1"]).fine();
    let before = other(&env, &["alias", "list"]).fine();
    let run = other(&env, &["migrate", "out"]).status(0);
    assert!(!run.stderr.contains("key of"), "{run}");
    other(&env, &["alias", "list"]).fine().gives(&before.stdout);
    other(&env, &["fsck", "-q"]).fine();
    // The first session alone has its key.
    let first = env.run(&["alias", "resolve", "tele:1"]).fine();
    let first = first.out().trim().trim_end_matches(".1").to_string();
    env.run(&["--store", "third", "migrate", "-q", &format!("out/{first}.jsonl")])
        .fine();
    let run = env.run(&["--store", "third", "cat", "-q", "tele:1"]).fine();
    assert!(run.out().contains("old?"), "{run}");
}

#[test]
fn a_key_of_another_session_is_not_changed() {
    let env = Env::new();
    env.run(&["new", "--id", "t", "--key", "k"]).fine();
    other(&env, &["new", "--id", "victim", "--key", "k"]).fine();
    env.run(&["migrate", "-q", "--output-dir", "out", "@all"]).fine();
    other(&env, &["migrate", "out"])
        .status(0)
        .says("k: key of victim, not of t");
    other(&env, &["alias", "resolve", "k"]).fine().gives("victim\n");
}

#[test]
fn aliases_are_a_reported_loss_of_an_export() {
    let env = Env::new();
    env.run(&["new", "--id", "t", "--key", "k"]).fine();
    let export = ["migrate", "--output-dir", "out", "t"];
    let run = env.run(&export).status(0);
    assert!(!run.stderr.contains("not represented"), "{run}");
    env.run(&["alias", "add", "-q", "ann", "t"]).fine();
    env.run(&export).status(0).says("not represented: aliases (1)");
    let strict = [&export[..], &["--strict"]].concat();
    env.run(&strict).status(65).says("lossy conversion");
}

#[test]
fn archived_lines_are_reported_once_and_the_import_is_sound() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    env.run(&["gc", "-q", "trip"]).fine();
    let raw = env.run(&["cat", "-q", "trip"]).fine();
    env.write("raw/trip.jsonl", raw.out());
    let lines = raw.objects().last().unwrap()["lines"].clone();
    let loss = format!("not represented: archived lines ({lines})");
    for source in ["out", "raw"] {
        let other =
            |arguments: &[&str]| env.run(&[&["--store", &format!("of-{source}")], arguments].concat());
        let export = ["migrate", "--output-dir", "out", "trip"];
        if source == "out" {
            env.run(&export).status(0).says(&loss);
            assert!(env.run(&export).status(0).out().starts_with("skipped"));
            let run = other(&["migrate", source]).status(0);
            assert!(!run.stderr.contains("archived"), "{run}");
        } else {
            other(&["migrate", "-n", source]).status(0).says(&loss);
            other(&["migrate", "--strict", source]).status(65);
            other(&["migrate", source]).status(0).says(&loss);
        }
        other(&["fsck", "-q"]).fine();
        other(&["restore", "--list", "trip"])
            .status(0)
            .says("no undoable events");
        // A repeated import changes nothing; new messages are appended.
        other(&["migrate", "-q", source]).status(0);
        assert!(
            other(&["migrate", "-q", source])
                .status(0)
                .out()
                .starts_with("skipped")
        );
        let path = format!("{source}/trip.jsonl");
        env.write(
            &path,
            env.read(&path) + "{\"role\":\"user\",\"content\":\"more\"}\n",
        );
        let run = other(&["migrate", "-q", source]).status(0);
        assert!(run.out().starts_with("updated"), "{run}");
        other(&["fsck", "-q"]).fine();
    }
    // Importing its own export changes nothing.
    env.run(&["migrate", "-q", "--output-dir", "again", "trip"])
        .status(0);
    assert!(
        env.run(&["migrate", "-q", "again"])
            .status(0)
            .out()
            .starts_with("skipped")
    );
}
