//! Tests PenguiFlow memory states, piped through a command and stored in files.

mod due;

use crate::env::Env;
use serde_json::{Value, json};

const BACK: [&str; 4] = ["--from", "penguiflow", "--to", "penguiflow"];

fn turn(user: &str, answer: &str) -> Value {
    json!({
        "user_message": user, "assistant_response": answer, "trajectory_digest": null, "artifacts_shown": {},
        "artifacts_hidden_refs": [], "ts": 1.5,
    })
}

/// A state with this policy: number of full turns, summary limit, total limit and overflow policy.
fn state(turns: &[Value], (keep, summary, total, overflow): (u64, u64, u64, &str)) -> String {
    let state = json!({
        "version": 1, "health": "healthy", "summary": "", "turns": turns, "pending": [], "backlog": [],
        "config_snapshot": {
            "strategy": "rolling_summary", "budget": {
                "full_zone_turns": keep, "summary_max_tokens": summary, "total_max_tokens": total,
                "overflow_policy": overflow,
            },
            "retry_attempts": 1, "recovery_backlog_limit": 2,
        },
        "mine": [1, 2],
    });
    state.to_string() + "\n"
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn users(state: &Value, zone: &str) -> Vec<String> {
    let turns = state[zone].as_array().unwrap().iter();
    turns
        .map(|turn| turn["user_message"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn a_turn_is_completed_by_its_answer() {
    let env = Env::new();
    let with = |arguments: &[&'static str]| [arguments, &BACK].concat();
    let requested = env.pipe(&with(&["append", "Hello?"]), "").fine();
    let document = parsed(requested.out());
    assert_eq!(users(&document, "turns"), [""; 0]);
    assert_eq!(document["convo"]["open"][0]["content"], "Hello?");
    let answered = env
        .pipe(&with(&["append", "-r", "assistant", "Hi."]), requested.out())
        .fine();
    let document = parsed(answered.out());
    assert_eq!(users(&document, "turns"), ["Hello?"]);
    assert_eq!(document["turns"][0]["assistant_response"], "Hi.");
    assert_eq!(document.get("convo"), None);
    // In Python's encoding.
    assert!(answered.out().starts_with(
        r#"{"version": 1, "health": "healthy", "summary": "", "turns": [{"user_message": "Hello?", "#
    ));
    // A run with tools in one append.
    let run = concat!(
        r#"{"role":"user","content":"Weather?"}"#,
        "\n",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]}"#,
        "\n",
        r#"{"role":"tool","tool_call_id":"c","content":"22"}"#,
        "\n",
        r#"{"role":"assistant","content":"22 degrees"}"#,
        "\n",
    );
    env.write("state.json", answered.out());
    env.pipe(&["append", "-i", "state.json", "--stream"], run).fine();
    let document = parsed(&env.read("state.json"));
    assert_eq!(users(&document, "turns"), ["Hello?", "Weather?"]);
    let digest = &document["turns"][1]["trajectory_digest"];
    assert_eq!(digest["observations_summary"], r#"- w: "22""#);
    // A stored file gets the time.
    assert!(document["turns"][1]["ts"].as_f64().unwrap() > 1e9);
}

#[test]
fn turns_beyond_the_kept_ones_are_pending_and_summarized() {
    let env = Env::new();
    let turns = [
        turn("one", &"and this is its answer, at some length. ".repeat(9)),
        turn("two", &"this one is answered as well, and in full. ".repeat(9)),
    ];
    env.write("state.json", state(&turns, (1, 100, 10_000, "truncate_oldest")));
    let add = |user: &str| {
        env.run(&["append", "-i", "state.json", user]).fine();
        env.run(&["append", "-i", "state.json", "-r", "assistant", "fine"])
            .fine();
        parsed(&env.read("state.json"))
    };
    let grown = add("three");
    assert_eq!(users(&grown, "pending"), ["one", "two"]);
    assert_eq!(
        (users(&grown, "turns"), &grown["mine"]),
        (vec!["three".to_string()], &json!([1, 2]))
    );
    let counted = env
        .run(&["count", "--json", "state.json"])
        .fine()
        .objects()
        .remove(0);
    assert_eq!(
        (&counted["memory"]["pending"], &counted["memory"]["turns"]),
        (&json!(2), &json!(1))
    );
    let shown = env.run(&["show", "state.json"]).fine();
    assert!(shown.out().contains("2 turns awaiting a summary"));
    let requested = env
        .run(&["summarize", "--request", "state.json"])
        .fine()
        .objects()
        .remove(0);
    assert_eq!(requested["messages"].as_array().unwrap().len(), 4);
    // The file counts failures; after too many, pending turns move to the backlog.
    let fail = |now: &str| {
        let mut command = env.command(&["summarize", "-i", "state.json", "--with", "cmd:exit 3"]);
        command.env("CONVO_NOW", now);
        env.feed(command, b"").status(69);
        parsed(&env.read("state.json"))
    };
    let failed = fail("2026-11-20T10:00:00Z");
    assert_eq!(
        (&failed["health"], &failed["convo"]["attempt"]["failures"]),
        (&json!("retry"), &json!(1))
    );
    assert_eq!(
        failed["convo"]["attempt"]["next_attempt_at"],
        "2026-11-20T10:00:02Z"
    );
    assert_eq!(users(&failed, "pending").len(), 2);
    let mut early = env.command(&[
        "summarize", "-i", "state.json", "--with", "cmd:exit 3", "--if-due",
    ]);
    early.env("CONVO_NOW", "2026-11-20T10:00:01Z");
    env.feed(early, b"")
        .status(0)
        .says("skipped until 2026-11-20T10:00:02Z");
    let failed = fail("2026-11-20T10:00:03Z");
    assert_eq!(
        (&failed["health"], users(&failed, "backlog").len()),
        (&json!("degraded"), 2)
    );
    let hidden = env
        .run(&["context", "state.json", "--to", "penguiflow-context"])
        .fine();
    assert_eq!(
        parsed(hidden.out())["conversation_memory"]
            .as_object()
            .unwrap()
            .len(),
        1
    );
    // It recovers.
    env.run(&[
        "summarize", "-i", "state.json", "--with", "cmd:echo two were asked",
    ])
    .status(0);
    let healed = parsed(&env.read("state.json"));
    assert_eq!(
        healed["summary"],
        "<session_summary>\ntwo were asked\n</session_summary>"
    );
    assert_eq!(
        (&healed["health"], healed.get("convo")),
        (&json!("healthy"), None)
    );
    assert_eq!(users(&healed, "turns"), ["three"]);
    assert!(users(&healed, "pending").is_empty() && users(&healed, "backlog").is_empty());
}

#[test]
fn content_above_the_total_is_dropped_or_refused() {
    let env = Env::new();
    let long = "x".repeat(400);
    // P1 of the reference: the loop ends, the newest turn is kept, and the status reports that the total is not met.
    env.write(
        "state.json",
        state(&[turn("a", "b")], (3, 20, 60, "truncate_summary")),
    );
    env.run(&["append", "-i", "state.json", &long]).fine();
    env.run(&["append", "-i", "state.json", "-r", "assistant", "ok"])
        .status(1)
        .says("the view exceeds the total of the retention policy");
    assert_eq!(users(&parsed(&env.read("state.json")), "turns"), [long.as_str()]);
    // P6: a rejected turn is not stored.
    env.write("state.json", state(&[turn("a", "b")], (3, 20, 60, "error")));
    env.run(&["append", "-i", "state.json", &long]).fine();
    let before = env.read("state.json");
    env.run(&["append", "-i", "state.json", "-r", "assistant", "ok"])
        .status(1)
        .says("raise the total, or set overflow=truncate_oldest");
    assert_eq!(env.read("state.json"), before);
    // A summary that is too long is shortened; its tags are kept.
    let turns = [
        turn(
            &"the first of the questions is here. ".repeat(9),
            "and its answer too",
        ),
        turn("the second one", "b"),
    ];
    env.write("state.json", state(&turns, (1, 20, 10_000, "truncate_oldest")));
    env.run(&["append", "-i", "state.json", "three"]).fine();
    env.run(&["append", "-i", "state.json", "-r", "assistant", "ok"])
        .fine();
    env.run(&[
        "summarize",
        "-i",
        "state.json",
        "--with",
        "cmd:printf '%s. ' It was asked twice, and answered twice, I think, by somebody, at some time",
    ])
    .status(0);
    let summary = parsed(&env.read("state.json"))["summary"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(
        summary.starts_with("<session_summary>") && summary.ends_with("</session_summary>"),
        "{summary}"
    );
    assert!(summary.chars().count() / 4 < 20, "{summary}");
}

#[test]
fn another_memory_policy_is_applied_and_reported() {
    let env = Env::new();
    env.write(
        "state.json",
        state(&[turn("a", "b"), turn("c", "d")], (5, 20, 60, "error")),
    );
    env.run(&[
        "append",
        "-i",
        "state.json",
        "e",
        "--memory",
        "truncation,keep_last=1,total=0",
    ])
    .status(0)
    .says("strategy truncation instead of rolling_summary");
    let changed = env
        .run(&["append", "-i", "state.json", "-r", "assistant", "f"])
        .status(0)
        .says("dropped exchanges: 2");
    assert!(!changed.stderr.contains("instead of"));
    let document = parsed(&env.read("state.json"));
    assert_eq!(users(&document, "turns"), ["e"]);
    assert_eq!(document["config_snapshot"]["strategy"], "truncation");
    let reported = env
        .pipe(
            &[&["append", "g", "--memory", "keep_last=2"][..], &BACK].concat(),
            env.read("state.json"),
        )
        .status(0);
    assert_eq!(
        parsed(reported.out())["config_snapshot"]["budget"]["full_zone_turns"],
        2
    );
    env.run(&["append", "-i", "state.json", "x", "--memory", "total=5"])
        .status(2);
    env.run(&["append", "-i", "state.json", "x", "--memory", "wat"])
        .status(2);
}

#[test]
fn documents_that_penguiflow_refuses_are_refused_with_path() {
    let env = Env::new();
    let whole = state(&[turn("a", "b")], (1, 20, 60, "error"));
    for (from, to, what) in [
        (r#""version":1"#, r#""version":2"#, "version is 2"),
        (r#""health":"healthy""#, r#""health":"fine""#, "health is"),
        (
            r#""trajectory_digest":null"#, r#""trajectory_digest":5"#, "turns[0].trajectory_digest",
        ),
    ] {
        let broken = whole.replacen(from, to, 1);
        assert_ne!(broken, whole);
        env.write("state.json", &broken);
        env.run(&["append", "-i", "--from", "penguiflow", "state.json", "x"])
            .status(65)
            .says(what);
        assert_eq!(env.read("state.json"), broken);
    }
    // A file that is not a memory state is recognized and skipped.
    env.write(
        "kv.json",
        r#"{"etag":"e","schema_version":1,"value":{},"tombstone":false}"#,
    );
    env.write("state.json", whole);
    env.run(&["migrate", "kv.json", "state.json"])
        .status(65)
        .says("a key-value record of PenguiFlow");
}

#[test]
fn a_system_message_is_refused() {
    let env = Env::new();
    let state = r#"{"version":1,"health":"healthy","summary":"","turns":[],"pending":[],"backlog":[]}"#;
    env.write("p.json", state);
    env.run(&["append", "-i", "p.json", "-r", "system", "Be brief."])
        .status(65)
        .says("PenguiFlow memory cannot represent system messages");
    assert_eq!(env.read("p.json"), state);
    let chat = "{\"role\":\"system\",\"content\":\"S\"}\n{\"role\":\"user\",\"content\":\"q\"}\n{\"role\":\"assistant\",\"content\":\"a\"}\n";
    env.pipe(&["context", "--to", "penguiflow-context"], chat)
        .status(0)
        .says("messages (1)");
}

#[test]
fn a_message_of_another_role_is_reported() {
    let said = concat!(
        r#"{"role":"user","content":"q"}"#,
        "\n",
        r#"{"role":"critic","content":"important"}"#,
        "\n",
        r#"{"role":"assistant","content":"ok"}"#,
        "\n",
    );
    Env::new()
        .pipe(&["cat", "--from", "jsonl", "--to", "penguiflow"], said)
        .status(0)
        .says("penguiflow cannot represent: messages (1)");
}
