//! `convo fork`.

use crate::drop::ids;
use crate::env::{CHAT, Env};

#[test]
fn a_fork_is_a_session_of_its_own() {
    let env = Env::with_chat();
    let log = std::fs::read(env.log("trip")).unwrap();
    let view = |name: &str| ids(env.run(&["context", "--to", "native", name]).fine().out());
    for (options, left) in [
        (&["--at", "m5"][..], "m1 m2 m3 m4 m5"),
        (&["--before", "m6"], "m1 m2 m3 m4 m5"),
        (&["--exchange", "1"], "m1 m2 m3 m4 m5"),
        (&["--at", "m6"], "m1 m2 m3 m4 m5 m6"),
        (&[], "m1 m2 m3 m4 m5 m6 m7"),
    ] {
        let run = env.run(&[&["fork", "trip"], options].concat()).fine();
        let id = run.out().trim_end().to_string();
        assert_eq!(view(&id), left, "{options:?}");
        let last = left.rsplit(' ').next().unwrap();
        let header = &env.run(&["cat", &id]).fine().objects()[0];
        let lineage = serde_json::json!({"kind": "fork", "parent": "trip", "at": last});
        assert_eq!(header["metadata"]["lineage"], lineage);
        assert_eq!(
            (&header["id"], &header["title"]),
            (&id.as_str().into(), &"Trip".into())
        );
    }
    // A call is not separated from its result.
    let run = env.run(&["fork", "trip", "--at", "m3", "--id", "two"]).status(0);
    run.says("convo: trip: moved the end to m4");
    assert_eq!(view("two"), "m1 m2 m3 m4");
    // Each goes on by itself.
    env.run(&["append", "two", "Thanks!"]).fine();
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), log);
    let run = env.run(&["fork", "trip", "--id", "three", "--json"]).fine();
    let expected = serde_json::json!({
        "schema": "convo.fork/1", "id": "three", "parent": "trip", "at": "m7", "messages": 7,
    });
    assert_eq!(run.objects(), [expected]);
    env.run(&["fork", "trip", "--id", "three"]).status(73).gives("");
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn a_fork_has_what_the_view_has() {
    let env = Env::with_chat();
    env.run(&["drop", "-q", "trip", "--message", "m2"]).fine();
    env.run(&["tag", "-q", "trip", "+work"]).fine();
    env.run(&["fork", "trip", "--at", "m5", "--id", "two"]).fine();
    let view = env.run(&["context", "--to", "native", "two"]).fine();
    assert_eq!(ids(view.out()), "m1 m3 m4 m5");
    env.run(&["tag", "two"]).fine().gives("work\n");
    // What is hidden can be brought back in the fork.
    assert_eq!(ids(env.run(&["cat", "two"]).fine().out()), "m1 m2 m3 m4 m5");
    env.run(&["fork", "trip", "--at", "m2"])
        .status(1)
        .says("no such message in the view: m2");
    env.run(&["fork", "trip", "--exchange", "9"]).status(1);
    env.run(&["fork", "trip", "--exchange", "0"]).status(2);
    env.run(&["fork", "trip", "--at", "m5", "--before", "m5"])
        .status(2);
    env.run(&["fork", "nobody"]).status(66);
    env.run(&["fork", "-n", "trip", "--at", "m5"])
        .status(0)
        .gives("")
        .says("would fork 4 of 6 messages");
    assert_eq!(env.run(&["list"]).fine().out().lines().count(), 2);
}

#[test]
fn a_stream_gives_the_same_bytes_each_time() {
    let env = Env::new();
    let run = env.pipe(&["fork", "-", "--exchange", "1"], CHAT).fine();
    assert_eq!(ids(run.out()), "m1 m2 m3 m4 m5");
    // Messages keep their bytes.
    assert!(run.out().lines().skip(1).all(|line| CHAT.contains(line)));
    env.pipe(&["fork", "-", "--exchange", "1"], CHAT)
        .fine()
        .gives(&run.stdout);
    let other = env.pipe(&["fork", "-", "--before", "m7"], CHAT).fine();
    assert_ne!(other.objects()[0]["id"], run.objects()[0]["id"]);
    let run = env.pipe(&["fork", "-", "--at", "m2", "--to", "openai-chat", "-q"], CHAT);
    assert_eq!(run.fine().out().matches("\"role\"").count(), 2);
    env.write("a.jsonl", CHAT);
    env.run(&["fork", "a.jsonl", "--at", "m2", "-o", "b.jsonl"])
        .fine();
    let log = env.read("b.jsonl");
    assert_eq!(ids(&log), "m1 m2");
}
