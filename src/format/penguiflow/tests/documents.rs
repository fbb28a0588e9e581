use super::{rewritten, session, state, through_lines};
use crate::format::report::Loss;
use crate::model::session::{Session, of_lines as of};
use proptest::prelude::*;
use serde_json::Value;

const DOCUMENT: &str = concat!(
    r#"{"version": 1, "health": "recovering", "summary": "<session_summary>s</session_summary>", "#,
    r#""turns": [{"user_message": "c", "assistant_response": "C", "trajectory_digest": null, "#,
    r#""artifacts_shown": {}, "artifacts_hidden_refs": [], "ts": 3.5}], "#,
    r#""pending": [{"user_message": "b", "assistant_response": "B", "trajectory_digest": null, "#,
    r#""artifacts_shown": {"n": 1e-05}, "artifacts_hidden_refs": ["r"], "ts": 2.0, "mine": [1, 2]}], "#,
    r#""backlog": [{"user_message": "a", "assistant_response": "A", "trajectory_digest": null, "#,
    r#""artifacts_shown": {}, "artifacts_hidden_refs": [], "ts": 1.0}], "extra": {"k": "v"}}"#,
    "\n",
);

#[test]
fn zones_and_unknown_members_are_restored() {
    let read = session(DOCUMENT.as_bytes()).0.unwrap();
    let texts: Vec<String> = (0..read.len())
        .filter_map(|at| Some(read.record(at).message()?.text().into_owned()))
        .collect();
    assert_eq!(texts, ["a", "A", "b", "B", "c", "C"]);
    assert_eq!(rewritten(&through_lines(&read)).0, DOCUMENT);
    // A missing final newline is not added.
    let bare = DOCUMENT.trim_end();
    assert_eq!(rewritten(&session(bare.as_bytes()).0.unwrap()).0, bare);
}

#[test]
fn encodings_that_cannot_be_regenerated_are_preserved() {
    for turn in [
        r#"{ "user_message":"a\u0041","assistant_response":"x" }"#,
        r#"{"user_message": "a", "assistant_response": "b", "artifacts_shown": {"x": NaN, "y": 1e400}}"#,
        r#"{"user_message": "\ud83d", "user_message": "b", "ts": "1.5"}"#,
        r#"{"user_message": {"a": 1}, "assistant_response": false, "ts": Infinity}"#,
        r#"{"artifacts_shown": 0, "artifacts_hidden_refs": {}, "ts": 7}"#,
    ] {
        let document = format!(
            r#"{{"version": 1, "health": "healthy", "summary": "", "turns": [{turn}], "pending": [], "backlog": []}}"#
        );
        let read = session(document.as_bytes()).0.unwrap();
        assert_eq!(rewritten(&through_lines(&read)).0, document);
        // The original is dropped when another message is added.
        let mut changed = Session::default();
        for index in 0..read.len() {
            let line = String::from_utf8_lossy(read.record(index).body).into_owned();
            let line = line.replacen(
                r#""role":"assistant","content":""#,
                r#""role":"assistant","content":"new "#,
                1,
            );
            changed.push_new(line.as_bytes());
        }
        let written = rewritten(&changed).0;
        assert!(written.contains(r#""assistant_response": "new "#), "{written}");
    }
}

#[test]
fn values_other_than_text_are_shown_and_preserved() {
    let document = r#"{"version": 1.0, "health": "healthy", "summary": 5, "turns": [{"user_message": 5}]}"#;
    let (read, report) = session(document.as_bytes());
    let read = read.unwrap();
    assert_eq!(report.findings.len(), 2);
    assert!(
        state(&read)
            .context()
            .windows(9)
            .any(|part| part == b"user\": \"5")
    );
    let written: Value = serde_json::from_str(&rewritten(&read).0).unwrap();
    assert_eq!(
        (&written["summary"], &written["turns"][0]["user_message"]),
        (&5.into(), &5.into())
    );
}

#[test]
fn refusals_state_their_position() {
    let document = "{\"version\": 1,\n\"health\": \"healthy\",\n\"turns\": [{},\n7]}";
    let error = session(document.as_bytes()).0.unwrap_err();
    assert_eq!(error.message, "turns[1] is not an object");
    let place = error.at.unwrap().1;
    assert_eq!((place.line, place.offset), (4, 50));
    for broken in ["[]", "{\"version\":1", "{\"version\":1}x", "{\"version\":01}"] {
        assert_eq!(
            session(broken.as_bytes()).0.unwrap_err().kind.status(),
            65,
            "{broken}"
        );
    }
    assert!(session(b"{\"version\":1,\"health\":\"\xff\"}").0.is_err());
}

#[test]
fn any_session_becomes_a_memory() {
    let session = of(&[
        r#"{"type":"session","version":1,"id":"s","memory":{"keep_last":1}}"#,
        r#"{"role":"system","content":"Be terse."}"#,
        r#"{"role":"user","content":"one","timestamp":"2025-12-14T08:13:20Z"}"#,
        r#"{"role":"user","content":"two"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"{\"n\":1}"}"#,
        r#"{"role":"assistant","content":"done","timestamp":"2025-12-14T08:13:21.250Z","reasoning":[{"type":"thinking","text":"why"}]}"#,
        r#"{"role":"user","content":"three"}"#,
        r#"{"role":"assistant","content":"ok"}"#,
        r#"{"role":"user","content":"open"}"#,
    ]);
    let (written, report) = rewritten(&session);
    let written: Value = serde_json::from_str(&written).unwrap();
    let first = &written["pending"][0];
    assert_eq!(
        (&first["user_message"], &first["assistant_response"]),
        (&"one\n\ntwo".into(), &"done".into())
    );
    assert_eq!(first["ts"], 1_765_700_001.25);
    assert_eq!(
        first["trajectory_digest"]["observations_summary"],
        "- f: {\"n\": 1}"
    );
    assert_eq!(first["trajectory_digest"]["reasoning_summary"], "why");
    assert_eq!(written["turns"][0]["user_message"], "three");
    assert_eq!(written["convo"]["open"][0]["content"], "open");
    assert_eq!(written["config_snapshot"]["budget"]["full_zone_turns"], 1);
    let lost: Vec<_> = report
        .losses
        .iter()
        .map(|(loss, count)| (*loss, *count))
        .collect();
    assert_eq!(
        lost,
        [(Loss::Arguments, 1), (Loss::Message, 1), (Loss::Header, 1)]
    );
    // And back: the unanswered turn becomes a message again.
    let document = rewritten(&session).0;
    let back = super::session(document.as_bytes()).0.unwrap();
    assert_eq!(state(&back).open.len(), 1);
    assert_eq!(rewritten(&back).0, document);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Reading, writing and reading again yields the same session.
    #[test]
    fn a_written_memory_reads_back_equal(document in near_document()) {
        let Ok(read) = session(document.as_bytes()).0 else { return Ok(()) };
        let once = rewritten(&read).0;
        let back = session(once.as_bytes()).0.unwrap();
        prop_assert_eq!(rewritten(&back).0, once);
    }
}

/// Documents with members of any type, in any order, some of them missing.
fn near_document() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(vec![
        "null", "true", "0", "-0", "1.0", "1e5", "5e-324", "NaN", "\"\"", "\"a\"", "\"\\ud83d\"",
        "\"\\u00e9\\/\"", "[]", "{}", "[1, {\"b\" :2}]", "{\"k\":1.50}",
    ]);
    let own = prop::sample::select(vec![
        "user_message", "assistant_response", "trajectory_digest", "artifacts_shown",
        "artifacts_hidden_refs", "ts", "mine",
    ]);
    let object = |members: Vec<(String, String)>| {
        let members: Vec<String> = members
            .iter()
            .map(|(name, value)| format!("\"{name}\" : {value}"))
            .collect();
        format!("{{{}}}", members.join(","))
    };
    let turn = prop::collection::vec(
        (
            own.prop_map(str::to_string),
            scalar.clone().prop_map(str::to_string),
        ),
        0..7,
    )
    .prop_map(object);
    let turns = prop::collection::vec(turn, 0..4).prop_map(|turns| format!("[{}]", turns.join(", ")));
    let health = prop::sample::select(vec!["healthy", "retry", "degraded", "recovering"])
        .prop_map(|name| format!("\"{name}\""));
    let member = prop_oneof![
        3 => (prop::sample::select(vec!["turns", "pending", "backlog"]), turns).prop_map(|(name, value)| (name.to_string(), value)),
        1 => (prop::sample::select(vec!["summary", "extra", "convo"]), scalar).prop_map(|(name, value)| (name.to_string(), value.to_string())),
    ];
    (health, prop::collection::vec(member, 0..6)).prop_map(move |(health, mut members)| {
        members.insert(0, ("health".to_string(), health));
        members.insert(0, ("version".to_string(), "1".to_string()));
        object(members)
    })
}
