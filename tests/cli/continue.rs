//! Tests `continue`, and `append` to full sessions.

use crate::env::{BARE, CHAT, Env, objects};
use serde_json::Value;

fn roles(rows: &[Value]) -> Vec<&str> {
    rows.iter().filter_map(|row| row["role"].as_str()).collect()
}

#[test]
fn a_continuation_copies_active_context_and_links_its_chain() {
    let env = Env::with_chat();
    env.run(&["alias", "add", "-q", "paris", "trip"]).fine();
    env.run(&["append", "trip", "And then?"]).fine();
    env.run(&["append", "trip", "--event", "The train is late."])
        .fine();
    snapshot!("continue_store", env.run(&["continue", "paris"]));
    snapshot!("continue_new", env.run(&["cat", "trip.1"]));
    env.run(&["alias", "resolve", "paris"]).fine().gives("trip.1\n");
    snapshot!("continue_again", env.run(&["continue", "trip"]));
    snapshot!("continue_json", env.run(&["continue", "paris", "--json"]));
    env.run(&["fsck"]).status(0);
    // The old session is unchanged except for the link to its continuation.
    let log = env.run(&["cat", "trip"]).fine();
    assert!(log.out().starts_with(CHAT));
    assert_eq!(objects(log.out()).last().unwrap()["continued_to"], "trip.1");
}

#[test]
fn repeated_continuations_do_not_accumulate_messages() {
    let env = Env::with_chat();
    env.run(&["append", "trip", "And then?"]).fine();
    for nth in 1..6 {
        let before = if nth == 1 {
            "trip".to_string()
        } else {
            format!("trip.{}", nth - 1)
        };
        env.run(&["continue", &before])
            .status(0)
            .gives(format!("trip.{nth}\n"));
    }
    let rows = env.run(&["cat", "trip.5"]).fine().objects();
    assert_eq!(roles(&rows), ["system", "system", "user"]);
    assert_eq!(rows[1]["metadata"]["copied_from"], "m1");
    assert_eq!(
        (&rows[0]["continuation_index"], &rows[0]["original_created_at"]),
        (&5.into(), &"2026-11-01T10:00:00Z".into())
    );
    // Copies are counted once per chain.
    assert_eq!(
        rows[0]["chain_tokens"],
        env.run(&["cat", "trip.1"]).objects()[0]["chain_tokens"]
    );
}

#[test]
fn a_summary_is_copied_and_cut_messages_are_not() {
    let env = Env::with_chat();
    let summary = r#"{"type":"summary","id":"e1","at":"2026-11-02T00:00:00Z","content":"They talked.","covers":["m2","m5"]}"#;
    env.pipe(&["append", "trip", "--stream", "--events"], summary)
        .status(0);
    env.run(&["continue", "trip"]).fine();
    let rows = env.run(&["cat", "trip.1"]).fine().objects();
    assert_eq!(
        (&rows[2]["content"], &rows[2]["copied_from"]),
        (&"They talked.".into(), &"e1".into())
    );
    snapshot!("continue_context", env.run(&["context", "trip.1"]));
    env.run(&["continue", "trip.1"]).fine();
    assert_eq!(env.run(&["cat", "trip.2"]).objects()[2]["copied_from"], "e1");
    // Joined, the summary occurs once and covers the same messages.
    let joined = env.run(&["join", "trip", "--stdout"]).fine();
    assert_eq!(joined.out().matches("They talked.").count(), 1);
    assert!(joined.out().contains(r#""covers":["m2","m5"]"#));
}

#[test]
fn a_stream_is_printed_as_its_continuation() {
    let env = Env::new();
    let first = env.pipe(&["continue"], CHAT).fine();
    snapshot!("continue_filter", &first);
    // Equal input gives equal output.
    env.pipe(&["continue"], CHAT).fine().gives(first.out());
    let chat = env.write("trip.jsonl", CHAT);
    env.run(&["continue", chat.to_str().unwrap()])
        .fine()
        .gives(first.out());
    let both = env.shell(&format!(
        "(cat {0}; convo continue {0}) | convo join",
        chat.display()
    ));
    both.status(65)
        .says("trip.1 continues trip, which does not link back");
    let error = env.pipe(&["continue"], BARE);
    snapshot!("continue_nameless", error);
    let linked = format!(
        "{CHAT}{}\n",
        r#"{"type":"link","id":"e","at":"x","continued_to":"other"}"#
    );
    env.pipe(&["continue"], linked)
        .status(73)
        .says("continued by other");
    env.pipe(&["continue"], "").status(0).gives("");
}

#[test]
fn stdout_leaves_the_store_unchanged() {
    let env = Env::with_chat();
    let out = env.run(&["continue", "trip", "--stdout"]).fine();
    assert_eq!(out.objects()[0]["id"], "trip.1");
    env.run(&["cat", "trip.1"]).status(66);
    env.run(&["continue", "trip", "-", "--stdout"]).status(0);
    env.pipe(&["continue", "trip", "-"], CHAT)
        .status(2)
        .says("cannot mix stored sessions with files or standard input");
    env.run(&["continue", "nobody"]).status(66);
}

#[test]
fn an_existing_id_is_skipped() {
    let env = Env::with_chat();
    env.run(&["new", "--id", "trip.1"]).fine();
    let id = env.run(&["continue", "trip"]).fine().out().trim().to_string();
    assert!(id.starts_with("trip-") && id.ends_with(".1"), "{id}");
    // The next continuation has the same stem and the next number.
    let next = env.run(&["continue", &id]).fine().out().trim().to_string();
    assert_eq!(next, id.replace(".1", ".2"));
}

#[test]
fn a_full_session_continues_in_a_new_one() {
    let env = Env::with_chat();
    env.run(&["alias", "add", "-q", "paris", "trip"]).fine();
    // By id, alias or a later id, lines are appended to the same last session.
    for (nth, name) in ["trip", "paris", "trip.1", "trip", "paris", "trip"]
        .into_iter()
        .enumerate()
    {
        env.run(&["append", name, &format!("question {nth}"), "--boundary", "8"])
            .status(0);
        env.run(&[
            "append",
            name,
            "-r",
            "assistant",
            &format!("answer {nth}"),
            "--boundary",
            "8",
        ])
        .status(0);
    }
    snapshot!("continue_tree", env.run(&["list", "--tree"]));
    let rows = env.run(&["list", "--json"]).fine().objects();
    assert!(rows.iter().all(|row| row["messages"].as_u64().unwrap() <= 8));
    let joined = env.run(&["join", "paris", "--stdout"]).fine();
    let texts: Vec<String> = joined
        .objects()
        .iter()
        .filter_map(|row| row["content"].as_str().map(str::to_string))
        .collect();
    let messages: Vec<&String> = texts
        .iter()
        .filter(|text| text.starts_with("question") || text.starts_with("answer"))
        .collect();
    assert_eq!(messages.len(), 12);
    assert_eq!(
        (messages[0].as_str(), messages[11].as_str()),
        ("question 0", "answer 5")
    );
    assert!(joined.out().starts_with("{\"type\":\"session\""));
    env.run(&["fsck"]).status(0);
}

#[test]
fn a_pending_question_moves_and_a_long_exchange_does_not() {
    let env = Env::new();
    env.run(&["new", "--id", "chat", "--system", "Be brief."]).fine();
    let call = |nth: usize| {
        format!(
            "{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"c{nth}\",\"type\":\"function\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]}}\n{{\"role\":\"tool\",\"tool_call_id\":\"c{nth}\",\"content\":\"r{nth}\"}}\n"
        )
    };
    let user = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n");
    let answer = "{\"role\":\"assistant\",\"content\":\"done\"}\n";
    let stream = user("short")
        + &call(0)
        + answer
        + &user("long")
        + &(1..10).map(call).collect::<String>()
        + answer
        + &user("next")
        + answer;
    let run = env.pipe(&["append", "chat", "--stream", "--boundary", "9"], &stream);
    snapshot!("continue_stream", run);
    let shown = |id: &str| {
        let rows = env.run(&["cat", id]).objects();
        let word = |row: &Value| {
            row["role"].as_str()?;
            Some(row["content"].as_str().unwrap_or("call").to_string())
        };
        rows.iter().filter_map(word).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown("chat"), "Be brief. short call r0 done long call r1 call");
    let rest: Vec<String> = (2..10).map(|nth| format!("call r{nth}")).collect();
    let marker = "Continuing from session";
    let long = format!("Be brief. {marker} chat long call r1 {} done", rest.join(" "));
    assert_eq!(shown("chat.1"), long);
    assert_eq!(shown("chat.2"), format!("Be brief. {marker} chat.1 next done"));
    env.run(&["fsck"]).status(0);
}

#[test]
fn context_messages_are_copied_within_the_limit() {
    let env = Env::new();
    env.run(&["new", "--id", "chat", "--system", "Be brief."]).fine();
    for nth in 0..40 {
        env.run(&[
            "append",
            "-q",
            "chat",
            "--event",
            &format!("event {nth}"),
            "--boundary",
            "10",
        ])
        .status(0);
    }
    let rows = env.run(&["list", "--json"]).fine().objects();
    assert!(rows.len() > 3 && rows.len() < 12, "{}", rows.len());
    let joined = env.run(&["join", "chat", "--stdout"]).fine();
    let count = joined
        .objects()
        .iter()
        .filter(|row| row["category"] == "context")
        .count();
    assert_eq!(count, 40);
}

#[test]
fn a_limit_reached_by_copies_alone_is_refused() {
    let env = Env::with_chat();
    snapshot!(
        "continue_small",
        env.run(&["append", "trip", "x", "--boundary", "3"])
    );
    snapshot!(
        "continue_smallest",
        env.run(&["append", "trip", "x", "--boundary", "2"])
    );
    assert_eq!(env.run(&["list"]).fine().out().lines().count(), 1);
    env.run(&["append", "trip", "x", "--boundary", "9", "--stdout"])
        .status(2);
    env.pipe(&["append", "-", "x", "--boundary", "9"], CHAT)
        .status(2)
        .says("--max-messages requires a stored session");
    // A missing continuation does not start another one.
    env.run(&["continue", "trip"]).fine();
    env.run(&["remove", "trip.1"]).status(0);
    env.run(&["append", "trip", "x", "--boundary", "9"])
        .status(66)
        .says("trip.1");
}

/// Fifty continuations of two questions each, checked for numbers, tokens and times.
#[test]
fn a_chain_of_fifty() {
    let env = Env::new();
    env.run(&[
        "new", "--id", "chat", "--title", "Long", "--system", "Be brief.", "--alias", "talk",
    ])
    .fine();
    let mut sent = 1;
    for nth in 0..=50 {
        for (role, text) in [
            ("user", "Another question, please."),
            ("assistant", "Another answer."),
        ] {
            env.run(&["append", "talk", "-r", role, &format!("{text} {nth}")])
                .fine();
            sent += 1;
        }
        if nth < 50 {
            env.run(&["continue", "talk"]).fine();
        }
    }
    let rows = env.run(&["list", "--tree", "--json"]).fine().objects();
    assert_eq!(rows.len(), 51);
    let mut tokens = 0;
    for (nth, row) in rows.iter().enumerate().skip(1) {
        assert_eq!(row["id"], format!("chat.{nth}"));
        assert_eq!(row["continuation_index"], nth as u64);
        assert_eq!(
            row["continued_from"],
            if nth == 1 {
                "chat".to_string()
            } else {
                format!("chat.{}", nth - 1)
            }
        );
        assert_eq!(row["original_created_at"], rows[0]["created_at"]);
        assert_eq!(
            (row["depth"].as_u64(), row["title"].as_str()),
            (Some(1), Some("Long"))
        );
        assert!(row["chain_tokens"].as_u64().unwrap() > tokens);
        tokens = row["chain_tokens"].as_u64().unwrap();
        assert_eq!(row["messages"], 4);
    }
    let joined = env.run(&["join", "chat.25", "--stdout"]).fine();
    let messages: Vec<Value> = joined
        .objects()
        .into_iter()
        .filter(|row| row["role"].is_string())
        .collect();
    assert_eq!(messages.len(), sent);
    // The total in the last header equals the tokens of all earlier messages, each counted once.
    let counted = env.run(&["count", "--chain", "chat", "--json"]).fine().objects();
    let last = env.run(&["count", "chat.50", "--json"]).fine().objects();
    let total = |row: &Value| row["log"]["tokens"]["total"].as_u64().unwrap();
    let copies = env.run(&["continue", "chat.50", "--stdout"]).fine();
    let all = copies.objects()[0]["chain_tokens"].as_u64().unwrap();
    eprintln!(
        "a chain of 50 continuations: {sent} messages, {all} tokens; {tokens} ahead of the last, which has {} with its copies",
        total(&last[0])
    );
    assert!(total(&counted[0]) >= all && all > tokens);
}

#[test]
fn continuations_follow_the_rules_of_penguin() {
    let env = Env::new();
    let context = r#"{"role":"system","content":"A map.","id":"m8","category":"context"}"#;
    let rule = r#"{"role":"system","content":"Be kind.","id":"m9"}"#;
    let question = r#"{"role":"user","content":"And then?","id":"m10"}"#;
    let chat = format!("{CHAT}{context}\n{rule}\n{question}\n");
    let run = env.pipe(&["continue", "--to", "penguin", "-q"], &chat).status(0);
    let built: Value = serde_json::from_str(run.out()).unwrap();
    let messages = built["messages"].as_array().unwrap();
    let reported: Vec<_> = messages
        .iter()
        .map(|m| (m["category"].as_str().unwrap(), m["content"].as_str().unwrap()))
        .collect();
    // Standing messages come first, instructions before context, then the open question.
    assert_eq!(
        reported,
        [
            ("SYSTEM", "You are terse."),
            ("SYSTEM", "Be kind."),
            ("CONTEXT", "A map."),
            ("SYSTEM", "Continuing from session trip"),
            ("DIALOG", "And then?"),
        ]
    );
    let marker = &messages[3]["metadata"];
    assert_eq!(
        (&marker["type"], &marker["previous_session"]),
        (&"session_transition".into(), &"trip".into())
    );
    let metadata = &built["metadata"];
    assert_eq!(
        (&metadata["continued_from"], &metadata["continuation_index"]),
        (&"trip".into(), &1.into())
    );
    assert_eq!(metadata["original_created_at"], "2026-11-01T10:00:00");
    assert_eq!(
        metadata["source_session_tokens"],
        marker["previous_session_tokens"]
    );
    let id = built["id"].as_str().unwrap();
    assert!(
        id.starts_with("session_20261120_180203_") && id.len() == 32,
        "{id}"
    );
    // Read back, the file is the same continuation.
    env.write(&format!("{id}.json"), run.out());
    env.write("trip.jsonl", &chat);
    let joined = env
        .run(&["join", "-q", "trip.jsonl", &format!("{id}.json")])
        .status(65);
    let count = joined
        .objects()
        .iter()
        .filter(|row| row["role"].is_string())
        .count();
    assert_eq!(count, 7 + 3);
}

#[test]
fn a_link_cycle_is_reported_without_waiting() {
    let env = Env::with_chat();
    env.run(&["continue", "trip"]).fine();
    // A link that the named session does not confirm is ignored.
    let link = "{\"type\":\"link\",\"id\":\"evt_trip\",\"at\":\"x\",\"continued_to\":\"trip\"}\n";
    let log = std::fs::read_to_string(env.log("trip.1")).unwrap();
    std::fs::write(env.log("trip.1"), log + link).unwrap();
    env.run(&["append", "trip", "x", "--boundary", "9"]).fine();
    assert!(env.run(&["cat", "trip.1"]).fine().out().contains("\"x\""));
    let found = env.run(&["fsck"]).status(1);
    assert!(
        found
            .out()
            .contains("names the continuation trip, which does not link back"),
        "{}",
        found.out()
    );
    env.run(&["fsck", "--repair"]).status(0);
    env.run(&["fsck"]).status(0).gives("");
    // Headers that form a cycle, as another system may write them.
    let (one, two) = ("a", "b");
    for (id, from) in [(one, two), (two, one)] {
        let head = format!(r#"{{"type":"session","version":1,"id":"{id}","continued_from":"{from}"}}"#);
        let link = format!(r#"{{"type":"link","id":"evt_l","at":"x","continued_to":"{from}"}}"#);
        let lines = [&head, r#"{"role":"user","content":"x"}"#, &link];
        env.write(&format!("{id}.jsonl"), lines.join("\n") + "\n");
    }
    env.run(&["migrate", "a.jsonl", "b.jsonl"]).status(0);
    env.run(&["append", "a", "x", "--boundary", "9"])
        .status(65)
        .says("link cycle");
    let found = env.run(&["fsck", "a", "b"]).status(1);
    assert!(found.out().contains("link cycle: a, b"), "{}", found.out());
    env.run(&["--lock-timeout", "100ms", "continue", "a"]).status(73);
}

#[test]
fn with_strict_a_damaged_session_is_not_continued() {
    let env = Env::with_chat();
    let log = env.log("trip");
    let damaged = std::fs::read_to_string(&log)
        .unwrap()
        .replacen("Paris", "Porto", 1);
    std::fs::write(&log, damaged).unwrap();
    env.run(&["continue", "trip", "--strict"])
        .status(65)
        .says("--strict");
    env.run(&["cat", "trip.1"]).status(66);
    env.run(&["continue", "trip"]).status(65).gives("trip.1\n");
}
