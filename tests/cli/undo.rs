//! `convo undo`.

use crate::drop::ids;
use crate::env::{CHAT, Env};

/// The ids of the messages in the view.
fn view(env: &Env) -> String {
    ids(env.run(&["context", "--to", "native", "trip"]).fine().out())
}

#[test]
fn appended_messages_are_undone_and_brought_back() {
    let env = Env::with_chat();
    env.run(&["undo", "-n", "trip"])
        .status(0)
        .says("would undo the append of 1 message");
    assert_eq!(view(&env), "m1 m2 m3 m4 m5 m6 m7");
    let mut seen = Vec::new();
    for _ in 0..5 {
        env.run(&["undo", "trip"]).status(0).says("undid the append of ");
        seen.push(view(&env));
    }
    // A call is hidden with its result.
    let expected = [
        "m1 m2 m3 m4 m5 m6", "m1 m2 m3 m4 m5", "m1 m2 m3 m4", "m1 m2", "m1",
    ];
    assert_eq!(seen, expected);
    env.run(&["undo", "trip"])
        .status(1)
        .says("convo: trip: nothing to undo\n");
    // The log has every message, and each undo can be undone.
    let list = env.run(&["restore", "--list", "trip"]).fine();
    let events: Vec<&str> = list
        .out()
        .lines()
        .filter_map(|line| line.split('\t').next())
        .collect();
    assert_eq!(events.len(), 5);
    for (event, after) in events.iter().zip(["m1 m7", "m1 m6 m7"]) {
        env.run(&["restore", "-q", "trip", event]).fine();
        assert_eq!(view(&env), after);
    }
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn changes_and_appends_are_undone_in_their_order() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    env.run(&["append", "trip", "Thanks!"]).fine();
    env.run(&["title", "-q", "trip", "Rome"]).fine();
    env.run(&["undo", "trip"]).status(0).says("undid meta");
    env.run(&["undo", "trip"])
        .status(0)
        .says("undid the append of 1 message");
    assert_eq!(view(&env), "m1 m6 m7");
    env.run(&["undo", "trip"]).status(0).says("undid truncate");
    assert_eq!(view(&env), "m1 m2 m3 m4 m5 m6 m7");
    // After a gc only the gc can be undone.
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    env.run(&["gc", "-q", "trip"]).fine();
    env.run(&["undo", "trip"])
        .status(1)
        .says("undo the gc first with: convo restore NAME evt_");
    assert_eq!(view(&env), "m1 m6 m7");
}

#[test]
fn an_exchange_is_undone_at_once() {
    let env = Env::with_chat();
    env.run(&["title", "-q", "trip", "Rome"]).fine();
    env.run(&["undo", "trip", "--exchange"])
        .status(0)
        .says("undid the append of 2 messages");
    assert_eq!(view(&env), "m1 m2 m3 m4 m5");
    env.run(&["title", "trip"]).fine().gives("Rome\n");
    env.run(&["undo", "-q", "trip", "--exchange"]).fine();
    assert_eq!(view(&env), "m1");
}

#[test]
fn a_stream_and_a_file_lose_the_message() {
    let env = Env::new();
    let run = env.pipe(&["undo", "-", "--log"], CHAT).status(0);
    assert!(
        run.out().starts_with(CHAT) && run.out().contains("\"strategy\":\"undo\""),
        "{run}"
    );
    env.write("a.jsonl", CHAT);
    env.run(&["append", "-i", "a.jsonl", "Thanks!"]).fine();
    assert_ne!(env.read("a.jsonl"), CHAT);
    env.run(&["undo", "-i", "a.jsonl"])
        .status(0)
        .says("undid the append of 1 message");
    assert_eq!(env.read("a.jsonl"), CHAT);
}

#[test]
fn copies_of_a_continued_session_are_not_undone() {
    let env = Env::with_chat();
    let id = env
        .run(&["continue", "-q", "trip"])
        .status(0)
        .out()
        .trim_end()
        .to_string();
    env.run(&["undo", &id]).status(1).says("nothing to undo");
}
