//! `convo fork`.

use crate::drop::ids;
use crate::env::{CHAT, Env};

#[test]
fn a_fork_is_an_independent_session() {
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
    // A call keeps its result.
    let run = env.run(&["fork", "trip", "--at", "m3", "--id", "two"]).status(0);
    run.says("convo: trip: moved the end to m4");
    assert_eq!(view("two"), "m1 m2 m3 m4");
    // Both sessions continue independently.
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
fn a_fork_copies_the_view() {
    let env = Env::with_chat();
    env.run(&["drop", "-q", "trip", "--message", "m2"]).fine();
    env.run(&["tag", "-q", "trip", "+work"]).fine();
    env.run(&["fork", "trip", "--at", "m5", "--id", "two"]).fine();
    let view = env.run(&["context", "--to", "native", "two"]).fine();
    assert_eq!(ids(view.out()), "m1 m3 m4 m5");
    env.run(&["tag", "two"]).fine().gives("work\n");
    // Hidden messages can be restored in the fork.
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
fn a_fork_of_a_stream_is_deterministic() {
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

#[test]
fn notes_on_kept_messages_are_copied() {
    let env = Env::with_chat();
    env.run(&["note", "-q", "trip", "On the session"]).status(0);
    env.run(&["note", "-q", "trip", "--message", "m2", "On the question"])
        .status(0);
    env.run(&["note", "-q", "trip", "--message", "m7", "On the end"])
        .status(0);
    env.run(&["fork", "trip", "--at", "m5", "--id", "two"]).fine();
    let notes = env.run(&["note", "two"]).fine();
    assert!(
        notes.out().contains("On the session") && notes.out().contains("On the question"),
        "{notes}"
    );
    assert!(!notes.out().contains("On the end"), "{notes}");
}

#[test]
fn a_fork_in_the_format_of_another_program_has_its_own_id() {
    let env = Env::new();
    let old = "8c1d5f6e-3a47-4b52-9d0e-6f2b7a91c340";
    let line = |uuid: &str, parent: &str, role: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"{old}","version":"2.0.14","type":"{role}","message":{{"role":"{role}","content":"{role} {uuid}"}},"uuid":"{uuid}","timestamp":"2026-03-09T09:00:00.000Z"}}"#
        )
    };
    let [one, two] = [
        "3df1fdef-9172-5a8c-8960-c66071ee9a35",
        "63211af4-43f6-5f95-a8ba-394667914382",
    ];
    let log = [
        line(one, "null", "user"),
        line(two, &format!("\"{one}\""), "assistant"),
    ]
    .join("\n")
        + "\n";
    let run = env
        .pipe(&["fork", "-q", "--to", "same", "--at", one, "-"], &log)
        .fine();
    let new = run.objects()[0]["sessionId"].as_str().unwrap().to_string();
    assert!(new.len() == 36 && new != old, "{run}");
    // Everything else is unchanged, and equal input gives an equal fork.
    assert_eq!(run.out().replace(&new, old), line(one, "null", "user") + "\n");
    assert_eq!(
        env.pipe(&["fork", "-q", "--to", "same", "--at", one, "-"], &log)
            .stdout,
        run.stdout
    );
    let native = env.pipe(&["fork", "-q", "--at", one, "-"], &log).fine();
    assert_eq!(native.objects()[0]["metadata"]["lineage"]["parent"], old);
    assert_eq!(native.out().matches(old).count(), 1, "{native}");
}

/// A fork rewrites the session id in data of formats; `merge` does not count that as a change.
#[test]
fn a_fork_is_merged_without_conflicts() {
    let env = Env::new();
    let parent = "11111111-1111-4111-8111-111111111111";
    let message = |id: &str, session: &str| {
        let lines = format!(r#"{{"claude-code":{{"lines":[{{"sessionId":"{session}"}}]}}}}"#);
        format!(r#"{{"role":"user","content":"{id}","id":"{id}","metadata":{lines}}}"#)
    };
    let header = format!(r#"{{"type":"session","version":1,"id":"{parent}"}}"#);
    let log = [header, message("m1", parent), message("m2", parent)].join("\n") + "\n";
    env.write("parent.jsonl", &log);
    env.run(&["migrate", "-q", "parent.jsonl"]).fine();
    env.run(&["fork", "-q", parent, "--id", "two"]).fine();
    env.run(&["fork", "-q", "two", "--id", "three"]).fine();
    for (a, b) in [
        (parent, "two"),
        ("two", parent),
        ("two", "three"),
        ("three", parent),
    ] {
        env.run(&["merge", a, b]).status(0).says("added 0 records");
    }
    // A changed and a new message have the id of the first side.
    let fork = env.run(&["cat", "-q", "two"]).fine();
    let last = fork.out().lines().last().unwrap();
    let new = last.replace("m2", "m3");
    assert!(!last.contains(parent));
    env.write(
        "fork.jsonl",
        format!(
            "{}{new}\n",
            fork.out()
                .replace("\"content\":\"m1\"", "\"content\":\"changed\"")
        ),
    );
    env.write("base.jsonl", fork.out());
    let run = env
        .run(&["merge", "base.jsonl", "parent.jsonl", "fork.jsonl"])
        .status(0);
    let expected =
        log.replace("\"content\":\"m1\"", "\"content\":\"changed\"") + &message("m3", parent) + "\n";
    run.gives(expected);
}
