//! `convo keep`.

use crate::drop::ids;
use crate::env::{CHAT, Env};

#[test]
fn all_but_the_selected_messages_are_dropped() {
    let env = Env::new();
    for (options, left) in [
        (&["--exchange", "2"][..], "m1 m6 m7"),
        (&["--role", "user"], "m1 m2 m6"),
        (&["--tool", "weather"], "m1 m3 m4"),
        (&["--message", "m4"], "m1 m3 m4"),
        (&["--grep", "sunny", "--role", "assistant"], "m1 m5"),
    ] {
        let run = env.pipe(&[&["keep"], options].concat(), CHAT).status(0);
        assert_eq!(ids(run.out()), left, "{options:?}: {run}");
    }
    env.pipe(&["keep", "--exchange", "1.."], CHAT)
        .status(0)
        .gives(CHAT);
    env.pipe(&["keep", "--role", "critic"], CHAT).status(1);
    env.pipe(&["keep"], CHAT).status(2).gives("");
}

#[test]
fn a_file_is_changed_in_place() {
    let env = Env::new();
    env.write("chat.jsonl", CHAT);
    env.run(&["keep", "-i", "--exchange", "2", "chat.jsonl"])
        .status(0)
        .says("dropped 4 of 7 messages");
    assert_eq!(ids(&env.read("chat.jsonl")), "m1 m6 m7");
}
