//! `convo drop`.

use crate::env::{CHAT, Env};

/// Ids of the messages of a stream.
pub fn ids(stream: &str) -> String {
    let lines = stream
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let messages = lines.filter(|line| line.get("role").is_some());
    messages
        .map(|line| line["id"].as_str().unwrap().to_string())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn selected_messages_are_dropped_with_their_group() {
    let env = Env::new();
    for (options, left) in [
        (&["--exchange", "1"][..], "m1 m6 m7"),
        (&["--exchange", "2"], "m1 m2 m3 m4 m5"),
        (&["--exchange", "..1,2.."], "m1"),
        (&["--tool", "weather"], "m1 m2 m5 m6 m7"),
        (&["--role", "tool"], "m1 m2 m5 m6 m7"),
        (&["--role", "system"], "m2 m3 m4 m5 m6 m7"),
        (&["--message", "m1", "--message", "m4"], "m2 m5 m6 m7"),
        (&["--grep", "RAIN"], "m1 m2 m3 m4 m5 m6"),
        (&["--role", "assistant", "--exchange", "2"], "m1 m2 m3 m4 m5 m6"),
    ] {
        let run = env.pipe(&[&["drop"], options].concat(), CHAT).status(0);
        assert_eq!(ids(run.out()), left, "{options:?}: {run}");
        // Kept lines keep their bytes.
        assert!(run.out().lines().all(|line| CHAT.contains(line)));
    }
}

#[test]
fn a_drop_in_the_store_is_one_event_that_restore_undoes() {
    let env = Env::with_chat();
    env.run(&["drop", "trip", "--exchange", "1", "-n"]).status(0);
    let view = || ids(env.run(&["context", "--to", "native", "trip"]).fine().out());
    let before = view();
    env.run(&["drop", "trip", "--exchange", "1"])
        .status(0)
        .says("dropped 4 of 7 messages");
    assert_eq!(view(), "m1 m6 m7");
    // Exchanges are numbered in the current view.
    env.run(&["drop", "trip", "--exchange", "2"])
        .status(1)
        .says("no message matches");
    env.run(&["restore", "-q", "trip"]).fine();
    assert_eq!(view(), before);
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn a_session_without_matches_remains_in_the_stream() {
    let env = Env::new();
    let session = |id: &str, text: &str| {
        format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\"}}\n{{\"role\":\"user\",\"content\":\"{text}\",\"id\":\"m{id}\"}}\n{{\"role\":\"user\",\"content\":\"end\",\"id\":\"e{id}\"}}\n"
        )
    };
    let (one, two) = (session("1", "kept"), session("2", "noise"));
    let changed = two.replacen("{\"role\":\"user\",\"content\":\"noise\",\"id\":\"m2\"}\n", "", 1);
    for (input, output) in [
        (format!("{one}{two}"), format!("{one}{changed}")),
        (format!("{two}{one}"), format!("{changed}{one}")),
    ] {
        env.pipe(&["drop", "--grep", "noise"], input)
            .status(1)
            .says("session 1: no message matches")
            .gives(output);
    }
}

#[test]
fn a_selection_without_matches_is_refused() {
    let env = Env::with_chat();
    let log = std::fs::read(env.log("trip")).unwrap();
    for options in [
        &[][..],
        &["--exchange", "0"],
        &["--exchange", "9..3"],
        &["--exchange", ".."],
        &["--exchange", "x"],
        &["--grep", ""],
        &["--category", "x"],
    ] {
        env.run(&[&["drop", "trip"], options].concat())
            .status(2)
            .gives("");
    }
    for options in [
        &["--exchange", "9"][..],
        &["--tool", "none"],
        &["--message", "m99"],
        &["--role", "critic"],
    ] {
        env.run(&[&["drop", "trip"], options].concat())
            .status(1)
            .says("no message matches");
    }
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), log);
}

#[test]
fn a_plan_is_a_list_of_ids() {
    let env = Env::with_chat();
    env.write("plan", "# chosen by a model\n\nm2  the question\n m6\n");
    let run = env.run(&["drop", "--stdout", "trip", "--plan", "plan"]).status(0);
    assert_eq!(ids(run.out()), "m1 m3 m4 m5 m7", "{run}");
    let run = env.run(&["keep", "--stdout", "trip", "--plan", "plan"]).status(0);
    assert_eq!(ids(run.out()), "m1 m2 m6", "{run}");
    // Standard input can be the plan or the session.
    let run = env
        .pipe(&["drop", "--stdout", "trip", "--plan", "-"], "m1\n")
        .status(0);
    assert_eq!(ids(run.out()), "m2 m3 m4 m5 m6 m7", "{run}");
    env.pipe(&["drop", "--plan", "-"], CHAT)
        .status(2)
        .says("both read standard input");
    let log = std::fs::read(env.log("trip")).unwrap();
    env.write("plan", "m2\nm99\n");
    env.run(&["drop", "trip", "--plan", "plan"])
        .status(2)
        .says("line 2 of the plan: no such message in the view: m99");
    env.write("plan", "# nothing\n");
    env.run(&["drop", "trip", "--plan", "plan"])
        .status(2)
        .says("plan: the plan has no ids");
    env.run(&["drop", "trip", "--plan", "none"])
        .status(66)
        .says("cannot read the plan");
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), log);
}

/// A file without messages was written, which was then refused as unknown.
#[test]
fn a_file_that_could_not_be_read_again_is_not_written() {
    let env = Env::new();
    let claude = crate::agents::claude("5d1f0a4e-0000-4000-8000-000000000001", "/src", "Why?");
    let responses = r#"{"model":"m","input":[{"role":"user","content":"hi"}]}"#;
    // Larger than the head that detection reads.
    let large = responses.replace(
        "}]}",
        &format!("}}],\"instructions\":\"{}\"}}", "y".repeat(70_000)),
    );
    let from = "give the format with --from";
    for (name, file, hint) in [
        ("claude.jsonl", claude.as_str(), "write the view to a new file"),
        ("large.json", large.as_str(), from),
        ("request.json", responses, from),
    ] {
        env.write(name, file);
        env.run(&["drop", "--exchange", "1", "-i", name])
            .status(2)
            .says("the remaining file would not be recognized as")
            .says(hint);
        assert_eq!(env.read(name), file);
    }
    // With the format, the rest is readable.
    let from = ["--from", "openai-responses"];
    env.run(&[&["drop", "--exchange", "1", "-i", "request.json"], &from[..]].concat())
        .status(0);
    env.run(&[&["cat", "request.json"], &from[..]].concat()).status(0);
    // Without instructions, the format is another.
    let anthropic = r#"{"model":"m","system":"x","messages":[{"role":"user","content":"hi"}]}"#;
    env.write("anthropic.json", anthropic);
    env.run(&["drop", "--role", "system", "-i", "anthropic.json"])
        .status(0)
        .says("would be read as openai-chat; read it with --from anthropic");
}
