//! Tests of reading undamaged documents.

mod arbitrary;
mod back;
mod damage;
mod fixtures;
mod salvage;
mod written;

use super::super::DocumentSource;
use super::super::report::Report;
use super::read;
use crate::error::Result;
use crate::model::json;
use crate::model::session::Session;

/// Reads a file and its companion files.
fn read_files(name: &str, files: &[(&str, &[u8])]) -> (Result<Session>, Report) {
    let find = |wanted: &str| {
        files
            .iter()
            .find(|(name, _)| *name == wanted)
            .map(|(_, bytes)| bytes.to_vec())
    };
    let bytes = find(name).unwrap_or_default();
    let neighbor = |wanted: &str| Ok(find(wanted));
    let mut report = Report::default();
    let source = DocumentSource {
        name: Some(name),
        bytes: &bytes,
        neighbor: &neighbor,
    };
    let result = read(&source, &mut report).map(|mut sessions| {
        assert_eq!(sessions.len(), 1);
        sessions.remove(0)
    });
    (result, report)
}

fn read_one(name: &str, text: &str) -> (Session, Report) {
    let (session, report) = read_files(name, &[(name, text.as_bytes())]);
    (session.unwrap(), report)
}

/// The lines without their endings.
fn lines(session: &Session) -> Vec<String> {
    (0..session.len())
        .map(|index| {
            String::from_utf8(session.full(index).to_vec())
                .unwrap()
                .trim_end()
                .to_string()
        })
        .collect()
}

fn message(id: &str, text: &str) -> String {
    format!(
        r#"{{ "role": "user", "content": "{text}", "category": "DIALOG", "id": "{id}",
           "timestamp": "2026-01-02T03:04:05Z", "metadata": {{}}, "tokens": 0, "agent_id": null,
           "recipient_id": null, "message_type": "message" }}"#
    )
}

fn document(id: &str, messages: &[String]) -> String {
    format!(
        r#"{{"id": "{id}", "created_at": "2026-01-02T03:04:05Z", "last_active": "2026-01-02T03:04:05Z",
  "metadata": {{}}, "messages": [{}], "tool_call_records": []}}"#,
        messages.join(",\n")
    )
}

fn whats(report: &Report) -> Vec<&str> {
    report
        .findings
        .iter()
        .map(|finding| finding.what.as_ref())
        .collect()
}

/// One message with these members after role, content, category and id.
fn only(members: &str) -> (String, Report) {
    let text = document(
        "s",
        &[format!(
            r#"{{"role":"user","content":"x","category":"DIALOG","id":"m"{members}}}"#
        )],
    );
    let (session, report) = read_one("s.json", &text);
    (lines(&session)[1].clone(), report)
}

#[test]
fn a_plain_message_is_a_plain_line() {
    let text = document("s", &[message("m1", "a"), message("m2", r"b\ud83d\u00e9")]);
    let (session, report) = read_one("s.json", &text);
    assert_eq!(report.findings, []);
    let lines = lines(&session);
    assert!(lines[0].starts_with(
        r#"{"type":"session","version":1,"id":"s","created_at":"2026-01-02T03:04:05Z","source":{"format":"penguin","name":"s.json","sha256":"#
    ));
    assert!(
        lines[0].ends_with(r#""metadata":{"penguin":{"last_active":"2026-01-02T03:04:05Z"}}}"#),
        "{}",
        lines[0]
    );
    assert_eq!(
        lines[2],
        r#"{"role":"user","content":"b\ud83d\u00e9","id":"m2","timestamp":"2026-01-02T03:04:05Z","category":"dialog"}"#
    );
    let place = session.record(2).place;
    assert!(text[place.offset as usize..].starts_with(r#"{ "role": "user", "content": "b"#));
    assert_eq!(
        place.line,
        1 + text[..place.offset as usize].matches('\n').count() as u64
    );
}

#[test]
fn every_member_is_placed() {
    let (line, report) = only(
        r#","timestamp":"2026-01-02T03:04:05Z","metadata":{"n" : 1e400,"tool_calls":[ ],"tool_call_id":"c",
           "action_type":"ls","status":"ok"},"tokens":7,"agent_id":"a","recipient_id":null,"message_type":"action",
           "n":-0.0"#,
    );
    assert_eq!(
        line,
        concat!(
            r#"{"role":"user","content":"x","tool_calls":[],"tool_call_id":"c","name":"ls","id":"m","#,
            r#""timestamp":"2026-01-02T03:04:05Z","category":"dialog","tokens":7,"#,
            r#""metadata":{"penguin":{"agent_id":"a","message_type":"action","metadata":{"n":1e400,"status":"ok"},"#,
            r#""places":{"tool_calls":1,"tool_call_id":2,"action_type":3},"members":{"n":-0.0}}}}"#
        )
    );
    assert!(!report.is_damaged());
}

#[test]
fn members_that_a_record_cannot_hold_are_preserved() {
    let (line, report) =
        only(r#","timestamp":"soon","tokens":-1,"metadata":{"x":[NaN,-Infinity],"action_type":" "}"#);
    assert!(line.ends_with(
        concat!(
            r#""metadata":{"penguin":{"timestamp":"soon","tokens":-1,"metadata":{"x":[null,null],"action_type":" "},"#,
            r#""numbers":{"/metadata/x/0":"NaN","/metadata/x/1":"-Infinity"}}}}"#
        )
    ), "{line}");
    assert!(report.losses.is_empty());
    assert_eq!(report.findings.iter().filter(|finding| finding.damage).count(), 3);
    assert!(
        only(r#","metadata":[1]"#)
            .0
            .ends_with(r#""metadata":{"penguin":{"metadata":[1]}}}"#)
    );
    assert!(!only(r#","metadata":null"#).1.is_damaged());
}

#[test]
fn categories_are_derived_from_name_number_or_role() {
    let cases = [
        (r#""SYSTEM_OUTPUT""#, Some("system_output"), None, false),
        (r#""dialog""#, Some("dialog"), Some(r#""dialog""#), true),
        (r#""ERROR""#, None, Some(r#""ERROR""#), false),
        ("2", Some("context"), Some("2"), true),
        ("5", None, Some("5"), true),
        ("9", None, Some("9"), true),
        ("null", None, None, true),
        (r#""SYSTEM_PROMPT""#, None, Some(r#""SYSTEM_PROMPT""#), true),
    ];
    for (raw, category, kept, damage) in cases {
        let (line, report) = only(&format!(r#","category":{raw}"#));
        let line = line.as_bytes();
        assert_eq!(json::member_text(line, "category").as_deref(), category, "{raw}");
        let penguin = json::member(line, "metadata").and_then(|raw| json::member(raw, "penguin"));
        let found = penguin.and_then(|raw| json::member(raw, "category"));
        assert_eq!(found, kept.map(str::as_bytes), "{raw}");
        assert_eq!(report.is_damaged(), damage, "{raw}");
    }
}

#[test]
fn a_missing_role_follows_from_the_category() {
    for (category, metadata, role) in [
        ("SYSTEM", "{}", "system"),
        ("CONTEXT", "{}", "system"),
        ("DIALOG", "{}", "user"),
        ("SYSTEM_OUTPUT", "{}", "system"),
        ("SYSTEM_OUTPUT", r#"{"tool_call_id":"c"}"#, "tool"),
        ("ERROR", "{}", "user"),
    ] {
        let text =
            format!(r#"{{"role":"","content":1,"category":"{category}","id":"m","metadata":{metadata}}}"#);
        let (session, report) = read_one("s.json", &document("s", &[text]));
        let record = session.record(1);
        assert_eq!(record.message().unwrap().role_name(), role, "{category}");
        assert!(report.is_damaged());
    }
}

#[test]
fn derived_ids_are_unique_and_stable() {
    let bare = r#"{"role": "user", "content": "x", "category": "DIALOG"}"#.to_string();
    let text = document(
        "s",
        &[
            message("m", "a"),
            bare.clone(),
            message("m", "b"),
            bare,
            message("", "c"),
        ],
    );
    let (session, report) = read_one("s.json", &text);
    let ids: Vec<String> = (1..session.len()).filter_map(|index| session.id(index)).collect();
    let unique: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!((ids.len(), unique.len()), (5, 5));
    assert_eq!(lines(&read_one("s.json", &text).0), lines(&session));
    assert!(lines(&session)[3].contains(r#""penguin":{"id":"m"}"#));
    assert_eq!(report.findings.len(), 1);
    assert!(report.is_damaged());
}

#[test]
fn a_derived_id_yields_to_an_id_in_the_file() {
    let bare = r#"{"role":"user","content":"x","category":"DIALOG"}"#.to_string();
    let (session, _) = read_one("s.json", &document("s", std::slice::from_ref(&bare)));
    let derived = session.id(1).unwrap();
    let (session, report) = read_one("s.json", &document("s", &[message(&derived, "a"), bare]));
    assert_eq!(session.id(1).as_ref(), Some(&derived));
    assert_ne!(session.id(2).as_ref(), Some(&derived));
    assert_eq!(report.findings, []);
}

#[test]
fn members_go_to_the_header_or_its_metadata() {
    let text = r#"{"id":"a:b","created_at":"soon","metadata":{"title":"T\u00e9","continued_from":"p",
        "continuation_index":2,"directory":"/x","agent_id":"g"},"messages":[],"llm_request_lifecycles":[],
        "tool_call_records":[{"a" : 1}],"odd":{"z":1.50}}"#;
    let (session, report) = read_one("a:b.json", text);
    let header = &lines(&session)[0];
    assert!(header.contains(
        r#""id":"key_a_3ab","title":"Té","key":"a:b","continued_from":"p","continuation_index":2,"#
    ));
    assert!(
        header.ends_with(concat!(
            r#""metadata":{"penguin":{"created_at":"soon","metadata":{"directory":"/x","agent_id":"g"},"#,
            r#""tool_call_records":[{"a":1}],"members":{"odd":{"z":1.50}}}}}"#
        )),
        "{header}"
    );
    assert_eq!(
        whats(&report),
        ["created_at is not a valid timestamp; kept unchanged"]
    );
    assert!(header.contains(r#""title":"Té""#), "{header}");
}

#[test]
fn a_lone_surrogate_in_a_title_keeps_the_header_readable() {
    let (session, _) = read_one(
        "s.json",
        r#"{"id":"s","metadata":{"title":"a\ud83d"},"messages":[]}"#,
    );
    let line = lines(&session)[0].clone();
    assert_eq!(session.header_text("id").as_deref(), Some("s"));
    assert_eq!(session.header_text("title").as_deref(), Some("a\u{fffd}"));
    assert!(line.contains(r#""metadata":{"title":"a\ud83d"}"#));
}

#[test]
fn a_missing_session_id_is_the_file_name_or_a_hash() {
    let text = r#"{"messages":[]}"#;
    for name in ["x.json", "x.json.bak", "x.json.temp"] {
        let (session, report) = read_one(name, text);
        assert_eq!(session.header_text("id").as_deref(), Some("x"));
        assert!(report.is_damaged());
    }
    let mut report = Report::default();
    let session = read(&DocumentSource::alone(text.as_bytes()), &mut report)
        .unwrap()
        .remove(0);
    let id = session.header_text("id").unwrap();
    assert!(id.starts_with("session_") && id.len() == 24, "{id}");
    assert!(read_one("x.json", r#"{"id":"y","messages":[]}"#).1.is_damaged());
}

#[test]
fn times_without_a_zone_are_reported_once() {
    let text = document("s", &[message("a", "a"), message("b", "b")]).replace("05Z", "05.25");
    let (session, report) = read_one("s.json", &text);
    assert_eq!(report.findings.len(), 1);
    assert!(!report.is_damaged());
    let line = lines(&session)[1].clone();
    let time = json::member_text(line.as_bytes(), "timestamp")
        .unwrap()
        .into_owned();
    assert!(
        time.starts_with("2026-01-02T03:04:05.25") && crate::model::time::is_rfc3339(&time),
        "{time}"
    );
}

#[test]
fn the_older_format_is_read_like_the_newer() {
    let part = |text: &str| format!(r#"[{{"type": "text", "text": "{text}"}}]"#);
    let text = format!(
        r#"{{"messages":[{{"role":"system","content":{},"category":"SYSTEM_PROMPT","timestamp":"2025-01-02T03:04:05Z"}},
           {{"role":"user","content":[{{"type":"text","text":"a"}},{{"type":"text","text":"b"}}],"category":"CONVERSATION"}},
           {{"role":"system","content":{},"category":"WORKING_MEMORY"}}],
           "metadata":{{"created_at":"2025-01-02T03:04:05Z","last_active":"x","session_id":"one","title":"T","tags":["t"]}}}}"#,
        part("p\\u00e9"),
        part("m"),
    );
    let (session, report) = read_one("conversation_x.json", &text);
    let lines = lines(&session);
    assert!(lines[0].contains(r#""id":"one","created_at":"2025-01-02T03:04:05Z","title":"T","source""#));
    assert!(
        lines[0].ends_with(r#""penguin":{"last_active":"x","metadata":{"tags":["t"]}}}}"#),
        "{}",
        lines[0]
    );
    assert!(lines[1].starts_with(r#"{"role":"system","content":"p\u00e9","id":"msg_"#));
    assert!(
        lines[1].ends_with(r#""category":"system","metadata":{"penguin":{"category":"SYSTEM_PROMPT"}}}"#)
    );
    assert!(lines[2].contains(r#""content":[{"type":"text","text":"a"},{"#));
    assert!(lines[3].contains(r#""category":"context""#));
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
}

#[test]
fn a_bare_list_is_a_session_in_a_file_of_that_name_only() {
    let text =
        r#"[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}]}]"#;
    for (name, id) in [
        ("conversation_7.json", "session_7"),
        ("conversation_session_7.json", "session_7"),
    ] {
        let (session, report) = read_one(name, text);
        assert_eq!(session.header_text("id").as_deref(), Some(id));
        assert_eq!(session.record(2).message().unwrap().content, Some(&b"\"b\""[..]));
        assert!(!report.is_damaged(), "{:?}", report.findings);
    }
    let (session, report) = read_one("conversation_7.json", &text[..text.len() - 9]);
    assert_eq!(session.messages().count(), 1);
    assert!(report.is_damaged());
}
