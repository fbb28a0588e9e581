//! `convo restore`.

use crate::env::{CHAT, Env};

#[test]
fn changes_are_undone_one_after_another() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    let cut = env.run(&["context", "trip"]).fine().stdout;
    env.run(&["truncate", "-q", "trip", "--all"]).fine();
    let run = env.run(&["restore", "trip"]).status(0).gives("");
    snapshot!("restore", run.stderr);
    env.run(&["context", "trip"]).fine().gives(cut);
    env.run(&["restore", "-q", "trip"]).fine();
    env.run(&["context", "trip"]).fine().gives(CHAT);
    env.run(&["restore", "trip"])
        .status(1)
        .says("convo: trip: nothing to undo\nhint: undo an append with: convo undo NAME\n");
    snapshot!(
        "restore_log",
        env.run(&["cat", "trip"]).fine().out().strip_prefix(CHAT).unwrap()
    );
}

#[test]
fn the_given_event_is_undone() {
    let env = Env::new();
    let first = r#"{"type":"truncate","id":"evt_1","at":"2026-11-02T00:00:00Z","before":"m6"}"#;
    let second = r#"{"type":"truncate","id":"evt_2","at":"2026-11-02T00:00:01Z","before":null}"#;
    env.write("trip.jsonl", format!("{CHAT}{first}\n{second}\n"));
    env.run(&["migrate", "-q", "trip.jsonl"]).fine();
    env.run(&["restore", "-q", "trip", "evt_2"]).fine();
    assert!(env.run(&["context", "trip"]).fine().out().contains("Rain."));
    env.run(&["restore", "trip", "evt_2"])
        .status(1)
        .says("already undone");
    env.run(&["restore", "trip", "evt_9"])
        .status(1)
        .says("convo: trip: no such event: evt_9\n");
    env.run(&["restore", "-q", "trip", "evt_1"]).fine();
    env.run(&["context", "trip"]).fine().gives(CHAT);
}

#[test]
fn restoring_a_restore_repeats_the_change() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--all"]).fine();
    let cut = env.run(&["context", "trip"]).fine().stdout;
    env.run(&["restore", "-q", "trip"]).fine();
    let log = env.run(&["cat", "trip"]).fine().objects();
    let id = log.last().unwrap()["id"].as_str().unwrap().to_string();
    env.run(&["restore", "-q", "trip", &id]).fine();
    env.run(&["context", "trip"]).fine().gives(cut);
}

#[test]
fn as_a_filter() {
    let env = Env::new();
    let log = env.pipe(&["truncate", "--log", "--all"], CHAT).status(0).stdout;
    env.pipe(&["restore"], &log).fine().gives(CHAT);
    let run = env.pipe(&["restore", "-", "--log"], &log).fine();
    assert!(run.stdout.starts_with(&log) && run.stdout.len() > log.len());
    env.pipe(&["restore"], CHAT)
        .status(1)
        .gives(CHAT)
        .says("convo: -: session trip: nothing to undo\n");
}

#[test]
fn a_dry_run_changes_nothing() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--all"]).fine();
    let before = env.run(&["cat", "trip"]).fine().stdout;
    snapshot!("restore_dry_run", env.run(&["restore", "-n", "trip"]));
    env.run(&["cat", "trip"]).fine().gives(before);
}

#[test]
fn messages_appended_after_a_cut_survive_the_undo() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--all"]).fine();
    env.run(&["append", "trip", "later"]).fine();
    assert_eq!(env.run(&["context", "trip"]).fine().objects().len(), 3);
    env.run(&["restore", "-q", "trip"]).fine();
    let view = env.run(&["context", "trip"]).fine();
    assert!(view.out().starts_with(CHAT) && view.out().contains("later"));
}

#[test]
fn the_list_shows_what_can_be_undone() {
    let env = Env::with_chat();
    env.run(&["restore", "--list", "trip"])
        .status(0)
        .gives("")
        .says("no undoable events");
    env.run(&["restore", "--list"])
        .status(0)
        .gives("")
        .says("no removed sessions");
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    env.run(&["truncate", "-q", "trip", "--all"]).fine();
    env.run(&["restore", "-q", "trip"]).fine();
    snapshot!("restore_list", env.run(&["restore", "--list", "trip"]).fine());
    snapshot!(
        "restore_list_json",
        env.run(&["restore", "--list", "trip", "--json"]).fine()
    );
    // The listed events can be undone.
    let list = env.run(&["restore", "--list", "trip"]).fine();
    let first = list.out().split('\t').next().unwrap().to_string();
    env.run(&["restore", "-q", "trip", &first]).fine();
    env.run(&["context", "trip"]).fine().gives(CHAT);
    let log = env.run(&["cat", "trip"]).fine().stdout;
    let stream = env.pipe(&["restore", "--list", "-"], log).fine();
    assert_eq!(stream.out().lines().count(), 4, "{stream}");
    env.run(&["remove", "-q", "trip"]).fine();
    snapshot!("restore_list_removed", env.run(&["restore", "--list"]).fine());
    env.run(&["restore", "--list", "trip", &first]).status(2);
    env.run(&["restore", "--list", "--log", "trip"]).status(2);
}
