//! Tests continuations as Penguin files, and what Penguin itself reads in unusual files.

use crate::env::Env;
use serde_json::Value;

fn file(env: &Env, name: &str) -> Value {
    serde_json::from_str(&env.read(name)).unwrap()
}

/// A chain of three stored sessions, written as Penguin files.
fn written() -> Env {
    let env = Env::with_chat();
    env.run(&["append", "trip", "An open question?"]).fine();
    env.run(&["continue", "trip"]).fine().gives("trip.1\n");
    for (role, text) in [
        ("assistant", "Answered."),
        ("user", "More?"),
        ("assistant", "More."),
    ] {
        env.run(&["append", "trip.1", "-r", role, text]).fine();
    }
    env.run(&["continue", "trip.1"]).fine().gives("trip.2\n");
    env.run(&["append", "trip.2", "The last."]).fine();
    let run = env.run(&[
        "migrate", "--to", "penguin", "--out", "p", "trip", "trip.1", "trip.2",
    ]);
    assert_eq!(run.status, 0, "{run}");
    assert!(!run.stderr.contains(" represent"), "{run}");
    env
}

#[test]
fn a_continuation_has_links_and_marker_as_in_penguin() {
    let env = written();
    let [first, second, third] =
        ["p/trip.json", "p/trip.1.json", "p/trip.2.json"].map(|name| file(&env, name));
    assert_eq!(first["metadata"]["continued_to"], "trip.1");
    assert!(
        first["metadata"]["continuation_time"]
            .as_str()
            .is_some_and(|time| time.len() == 19)
    );
    assert_eq!(second["metadata"]["continued_to"], "trip.2");
    assert_eq!(second["metadata"]["continued_from"], "trip");
    assert_eq!(third["metadata"].get("continued_to"), None);
    let marker = |session: &Value| {
        let messages = session["messages"].as_array().unwrap().iter();
        let found = messages
            .rev()
            .find(|message| message["metadata"]["type"] == "session_transition");
        found.unwrap()["metadata"].clone()
    };
    assert_eq!(marker(&second)["previous_session"], "trip");
    assert!(marker(&second)["previous_session_tokens"].is_u64());
    assert_eq!(marker(&third)["previous_session"], "trip.1");
    let copied = &second["messages"][0]["metadata"]["copied_from"];
    assert_eq!(*copied, "m1");
    let index = file(&env, "p/session_index.json");
    assert_eq!(index["trip"]["continued_to"], "trip.1");
}

#[test]
fn the_files_of_a_continuation_are_joined() {
    let env = written();
    let run = env
        .run(&["join", "-q", "p/trip.2.json", "p/trip.json", "p/trip.1.json"])
        .fine();
    let texts: Vec<Value> = run.objects().iter().map(|line| line["content"].clone()).collect();
    let count = |text: &str| texts.iter().filter(|known| *known == text).count();
    for text in [
        "You are terse.", "An open question?", "Answered.", "More?", "More.", "The last.",
    ] {
        assert_eq!(count(text), 1, "{text}: {run}");
    }
    assert!(!run.out().contains("Continuing from session"), "{run}");
}

/// Data written from a line's own metadata is read back as metadata.
#[test]
fn a_continuation_is_restored() {
    let env = written();
    let back = env.run(&["cat", "-q", "p/trip.1.json"]).fine();
    let was = env.run(&["cat", "trip.1"]).fine();
    let messages = |lines: Vec<Value>| -> Vec<Value> {
        let messages = lines.into_iter().filter(|line| line["role"].is_string());
        messages.map(|line| line["metadata"].clone()).collect()
    };
    assert_eq!(messages(back.objects()), messages(was.objects()));
    env.pipe(&["cat", "--to", "penguin"], back.out())
        .fine()
        .gives(env.read("p/trip.1.json"));
}

#[test]
fn an_older_conversation_is_detected_by_its_name() {
    let env = Env::new();
    let text = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":"2025-01-02T03:04:05"}]}"#;
    env.write("conversation_20250102_030405.json", text);
    env.write("other.json", text);
    env.run(&["detect", "conversation_20250102_030405.json"]).fine();
    let run = env
        .run(&["cat", "-q", "conversation_20250102_030405.json"])
        .status(0);
    let lines = run.objects();
    assert_eq!(lines[0]["id"], "session_20250102_030405", "{run}");
    assert_eq!(lines[0]["source"]["format"], "penguin");
    assert_eq!(lines[1]["content"], "hi");
    let other = env.run(&["cat", "-q", "other.json"]).fine();
    assert_eq!(other.objects()[0]["source"]["format"], "openai-chat");
}

/// A session of these messages, given as the members after the role.
fn session(messages: &[&str]) -> String {
    let messages: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(nth, members)| format!(r#"{{"role":"user","content":"{nth}","id":"m{nth}",{members}}}"#))
        .collect();
    format!(
        r#"{{"id":"session_1","created_at":"2026-08-20T09:00:00","metadata":{{}},"messages":[{}]}}"#,
        messages.join(",")
    )
}

#[test]
fn a_category_in_small_letters_is_reported_and_metadata_may_be_null() {
    let env = Env::new();
    let time = r#""timestamp":"2026-08-20T09:00:01""#;
    env.write(
        "session_1.json",
        session(&[&format!(r#""category":"context",{time},"metadata":{{}}"#)]),
    );
    let run = env.run(&["cat", "session_1.json"]).status(65);
    assert!(
        run.stderr
            .contains("the category is 'context', which Penguin reads as DIALOG"),
        "{run}"
    );
    assert_eq!(run.objects()[1]["category"], "context");
    env.write(
        "session_1.json",
        session(&[&format!(r#""category":"DIALOG",{time},"metadata":null"#)]),
    );
    env.run(&["cat", "-q", "session_1.json"]).fine();
}

/// Penguin sorts by the text of the time, not by the moment.
#[test]
fn exact_trimming_orders_mixed_times_as_penguin_does() {
    let env = Env::new();
    let text = "word ".repeat(40);
    let message = |time: &str| format!(r#""category":"DIALOG","text":"{text}","timestamp":"{time}""#);
    let times = [
        "2026-08-20T10:00:00+09:00", // 01:00 UTC
        "2026-08-20T09:00:00Z", "2026-08-20 11:00:00", "2026-08-20T03:00:00-09:00", // 12:00 UTC
    ];
    let messages = times.map(message);
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    let document = session(&messages).replace(r#""content":""#, &format!(r#""content":"{text}"#));
    env.write("session_1.json", document);
    let kept = |options: &[&str]| -> Vec<String> {
        let compact = [
            "compact", "-q", "session_1.json", "--compat", "penguin", "--budget", "150",
        ];
        let run = env.run(&[&compact[..], &["--always", "--best-effort"], options].concat());
        let lines = run.objects().into_iter();
        let ids = lines.filter(|line| line["role"].is_string());
        ids.map(|line| line["id"].as_str().unwrap().to_string()).collect()
    };
    // A space sorts before T, so the oldest text is not the oldest moment.
    assert_eq!(kept(&["--compat-exact"]), ["m0"]);
    let log = env.run(&["cat", "-q", "session_1.json"]);
    assert_eq!(log.objects()[1]["metadata"]["penguin"]["timestamp"], times[0]);
    let context = env
        .run(&["context", "-q", "session_1.json", "--to", "penguin-context"])
        .fine();
    let order: Vec<usize> = (0..4)
        .map(|nth| context.out().find(&format!("word {nth}\"")).unwrap())
        .collect();
    let mut sorted = [2, 3, 1, 0];
    sorted.sort_by_key(|nth| order[*nth]);
    assert_eq!(sorted, [2, 3, 1, 0], "{context}");
}
