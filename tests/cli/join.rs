//! Tests `join`, and reading of whole chains.

use crate::env::{BARE, CHAT, Env};

/// Creates a chain of three: `trip`, `trip.1`, `trip.2`.
fn chained() -> Env {
    let env = Env::with_chat();
    for (name, text) in [("trip.1", "In Rome?"), ("trip.2", "In Oslo?")] {
        env.run(&["continue", name.trim_end_matches(".1").trim_end_matches(".2")])
            .status(if name == "trip.1" { 0 } else { 73 });
        if name == "trip.2" {
            env.run(&["continue", "trip.1"]).fine();
        }
        env.run(&["append", name, text]).fine();
        env.run(&["append", name, "-r", "assistant", "Sun."]).fine();
    }
    env
}

#[test]
fn a_chain_is_joined_into_one_session() {
    let env = chained();
    let id = env.run(&["join", "trip.1", "-v"]);
    snapshot!("join_store", &id);
    let id = id.out().trim().to_string();
    snapshot!("join_cat", env.run(&["cat", &id]).fine());
    // A repeated join creates no second session, and the sources are unchanged.
    env.run(&["join", "trip"]).status(73).says(&id);
    assert_eq!(env.run(&["list"]).fine().out().lines().count(), 4);
    env.run(&["fsck"]).status(0);
    snapshot!(
        "join_json",
        env.run(&["join", "trip.2", "--id", "whole", "--json"]).fine()
    );
    env.run(&["join", "trip", "--id", "a/b"]).status(77);
    // Only up to this session.
    let half = env.run(&["join", "--through", "trip.1", "--stdout"]).fine();
    assert!(half.out().contains("In Rome?") && !half.out().contains("In Oslo?"));
    env.run(&["join", "--through", "trip.1", "trip.1", "trip", "--stdout"])
        .fine()
        .gives(half.out());
    env.run(&["join", "--through", "nobody", "trip.1", "trip"])
        .status(66);
    env.run(&["join", "nobody"]).status(66);
}

#[test]
fn a_chain_is_shown_and_counted_as_one() {
    let env = chained();
    snapshot!("join_show", env.run(&["show", "--chain", "trip.1"]).fine());
    snapshot!("join_tree", env.run(&["list", "--tree"]).fine());
    let all = env.run(&["cat", "--chain", "trip"]).fine();
    assert_eq!(all.out().lines().count(), 1 + 7 + 4);
    let view = env
        .run(&["context", "--chain", "trip.2", "--to", "openai-chat"])
        .status(0);
    assert!(view.out().contains("Weather in Paris?") && view.out().contains("In Oslo?"));
    let counted = env.run(&["count", "--chain", "trip", "--json"]).fine().objects();
    assert_eq!(counted[0]["log"]["messages"], 11);
    // A stream is joined in its order.
    let stream = env.run(&["cat", "trip.2", "trip", "trip.1"]).fine();
    env.pipe(&["cat", "--chain"], stream.out())
        .fine()
        .gives(all.out());
}

#[test]
fn sessions_without_links_keep_their_order() {
    let env = Env::new();
    let bare = |name: &str, text: &str| env.write(name, BARE.replace("hi", text));
    bare("one.jsonl", "first");
    bare("two.jsonl", "second");
    snapshot!("join_files", env.run(&["join", "two.jsonl", "one.jsonl"]));
    env.write("trip.jsonl", CHAT);
    // Duplicate ids are replaced, also in events.
    let cut = CHAT
        .replace("\"trip\"", "\"other\"")
        .replace("\"content\":\"", "\"content\":\"Other: ")
        + r#"{"type":"truncate","id":"e","at":"2026-11-02T00:00:00Z","before":"m6"}"#;
    env.write("other.jsonl", cut + "\n");
    snapshot!(
        "join_same_ids",
        env.run(&["join", "trip.jsonl", "other.jsonl", "--id", "both"])
    );
    // A copy that continued shares its first messages with the original.
    let more = CHAT.replace("\"trip\"", "\"more\"") + r#"{"role":"user","content":"And then?","id":"m8"}"#;
    env.write("more.jsonl", more + "\n");
    let run = env.run(&["join", "trip.jsonl", "more.jsonl"]).status(0);
    assert_eq!(run.out().matches("\"role\"").count(), 8, "{run}");
    assert!(
        run.stderr.contains("messages in several sessions, kept once: 7"),
        "{run}"
    );
    env.run(&["join", "trip.jsonl", "other.jsonl"])
        .status(65)
        .says("two different messages have the id m1");
    let to = env
        .run(&["join", "two.jsonl", "one.jsonl", "--to", "openai-chat"])
        .status(0);
    let body: serde_json::Value = serde_json::from_str(to.out()).unwrap();
    assert_eq!(body.as_array().map(Vec::len), Some(4), "{to}");
    env.pipe(&["join"], "").status(0).gives("");
}

#[test]
fn broken_links_are_reported() {
    let env = chained();
    // With the middle session missing, only its own messages are lost.
    env.run(&["remove", "trip.1"]).status(0);
    snapshot!(
        "join_missing",
        env.run(&["join", "--through", "trip.2", "--stdout"]).status(65)
    );
    snapshot!(
        "join_end_missing",
        env.run(&["join", "trip", "--id", "x"]).status(65)
    );
    env.run(&["join", "--through", "trip.2", "--strict"]).status(65);
    assert_eq!(env.run(&["list"]).fine().out().lines().count(), 3);
    // Two continuations of one session, and a cycle.
    let line = |id: &str, from: &str| {
        format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\",\"continued_from\":\"{from}\"}}\n{{\"role\":\"user\",\"content\":\"{id}\"}}\n"
        )
    };
    let branched =
        line("b", "a") + &line("c", "a") + &line("a", "a").replace(",\"continued_from\":\"a\"", "");
    snapshot!("join_branched", env.pipe(&["join"], &branched));
    env.pipe(&["join", "--through", "c", "-"], &branched)
        .status(65)
        .says("c continues a");
    let circle = line("a", "b") + &line("b", "a");
    snapshot!("join_circle", env.pipe(&["join"], circle));
}

#[test]
fn a_missing_session_prevents_a_stored_join() {
    let env = Env::with_chat();
    env.run(&["join", "trip", "nobody", "--id", "both"]).status(66);
    env.run(&["cat", "both"]).status(66);
    let part = env.run(&["join", "trip", "nobody", "--stdout"]);
    assert!(part.status(66).out().contains("Weather"));
}

/// Both copies of a session continued: no message is ignored or reported as damage.
#[test]
fn copies_of_a_session_are_joined() {
    let env = Env::new();
    let more = |text: &str| format!("{CHAT}{{\"role\":\"user\",\"content\":\"{text}\"}}\n");
    env.write("a.jsonl", more("from a"));
    env.write("b.jsonl", more("from b"));
    let joined = env.run(&["join", "--stdout", "a.jsonl", "b.jsonl"]).status(0);
    let count = |text: &str| joined.out().matches(text).count();
    assert_eq!(
        (count("from a"), count("from b"), count("And tomorrow?")),
        (1, 1, 1),
        "{joined}"
    );
}

#[test]
fn logs_of_another_program_are_joined_into_one_path() {
    for format in ["claude-code", "qwen-code"] {
        let env = Env::new();
        let mut texts = Vec::new();
        for nth in 1..4 {
            let (question, answer) = (format!("question {nth}"), format!("answer {nth}"));
            let said = format!(
                "{{\"role\":\"user\",\"content\":\"{question}\"}}\n{{\"role\":\"assistant\",\"content\":\"{answer}\"}}\n"
            );
            let id = format!("0000000{nth}-0000-4000-8000-000000000000");
            let header = format!("{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\"}}\n");
            let built = env.pipe(&["cat", "-q", "--to", format], &(header + &said));
            env.write(&format!("{nth}.jsonl"), built.out());
            texts.extend([question, answer]);
        }
        let inputs = ["1.jsonl", "2.jsonl", "3.jsonl"];
        let joined = env
            .run(&[&["join", "-q", "--to", "same"][..], &inputs].concat())
            .fine();
        let stream = env
            .run(&[&["join", "-q", "--stdout"][..], &inputs].concat())
            .fine();
        let converted = env.pipe(&["cat", "-q", "--to", format], stream.out());
        for log in [joined.out(), converted.out()] {
            env.write("joined.jsonl", log);
            let shown = env.run(&["cat", "joined.jsonl", "--to", "openai-chat"]);
            let shown = shown.status(0);
            assert!(
                texts.iter().all(|text| shown.out().contains(text)),
                "{format}: {shown}"
            );
            let ids: std::collections::HashSet<String> = log
                .lines()
                .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["sessionId"].to_string())
                .collect();
            assert_eq!(ids.len(), 1, "{log}");
        }
    }
}
