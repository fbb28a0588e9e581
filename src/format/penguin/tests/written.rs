//! Writes sessions as documents and reads them again.

use super::{document, lines, message, only, read_one};
use crate::error::Position;
use crate::format::report::Report;
use crate::format::tests::bed;
use crate::format::{Format, WritePurpose};
use crate::model::json;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;

pub(super) fn session(lines: &[&str]) -> Session {
    let mut session = Session::default();
    for line in lines {
        let full = format!("{line}\n");
        session.push(&Record::parse(full.as_bytes(), Position { line: 1, offset: 1 }));
    }
    session
}

pub(super) fn written(session: &Session, purpose: WritePurpose) -> (String, Report) {
    let (out, report) = bed::written(Format::Penguin, session, purpose);
    (String::from_utf8(out).unwrap(), report)
}

/// The lines after the header when read again.
pub(super) fn rewritten(session: &Session) -> Vec<String> {
    let (text, _) = written(session, WritePurpose::Export);
    let id = json::member_text(text.as_bytes(), "id").unwrap();
    let (session, report) = read_one(&format!("{id}.json"), &text);
    assert!(!report.is_damaged(), "{:?}", report.findings);
    lines(&session)
}

/// A member of the nth message.
fn member(text: &str, nth: usize, name: &str) -> String {
    let messages = json::member(text.as_bytes(), "messages").unwrap();
    let message = json::elements(messages, json::Dialect::Python).unwrap()[nth];
    String::from_utf8(json::compact(json::member(message, name).unwrap()).0).unwrap()
}

const HEADER: &str = r#"{"type":"session","version":1,"id":"s","created_at":"2026-01-02T03:04:05Z"}"#;

#[test]
fn a_session_has_the_shape_of_penguin() {
    let (text, report) = written(
        &session(&[
            HEADER,
            r#"{"role":"system","content":"Rules."}"#,
            r#"{"role":"user","content":"é","id":"m1","timestamp":"2026-01-02T03:04:06.5Z"}"#,
        ]),
        WritePurpose::Export,
    );
    assert!(report.losses.is_empty(), "{:?}", report.losses);
    let local = |time: &str| crate::model::time::local(time).unwrap();
    let expected = r#"{
  "id": "s",
  "created_at": "CREATED",
  "last_active": "SAID",
  "metadata": {
    "message_count": 2,
    "token_count": 0
  },
  "messages": [
    {
      "role": "system",
      "content": "Rules.",
      "category": "SYSTEM",
      "id": "ID",
      "timestamp": "CREATED",
      "metadata": {
        "convo": {
          "timestamp": null
        }
      },
      "tokens": 0,
      "agent_id": null,
      "recipient_id": null,
      "message_type": "status"
    },
    {
      "role": "user",
      "content": "\u00e9",
      "category": "DIALOG",
      "id": "m1",
      "timestamp": "SAID",
      "metadata": {},
      "tokens": 0,
      "agent_id": null,
      "recipient_id": null,
      "message_type": "message"
    }
  ],
  "llm_request_lifecycles": [],
  "tool_call_records": [],
  "tool_result_records": []
}"#;
    let id = member(&text, 0, "id");
    assert!(id.starts_with("\"msg_") && id.len() == 14, "{id}");
    let expected = expected
        .replace("\"ID\"", &id)
        .replace("CREATED", &local("2026-01-02T03:04:05Z"))
        .replace("SAID", &local("2026-01-02T03:04:06.5Z"));
    assert_eq!(text, expected);
}

#[test]
fn categories_and_types_follow_the_rule_of_penguin() {
    let (text, _) = written(
        &session(&[
            r#"{"role":"developer","content":"Rules."}"#,
            r#"{"role":"system","content":"Saved. Result: 4"}"#,
            r#"{"role":"system","content":"It rains."}"#,
            r#"{"role":"tool","content":"x","tool_call_id":"c","name":"ls"}"#,
            r#"{"role":"user","content":"x","category":"context"}"#,
        ]),
        WritePurpose::Export,
    );
    let of = |name| {
        (0..5)
            .map(|nth| member(&text, nth, name))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(of("role"), r#""system" "system" "system" "tool" "user""#);
    assert_eq!(
        of("category"),
        r#""SYSTEM" "SYSTEM_OUTPUT" "CONTEXT" "SYSTEM_OUTPUT" "CONTEXT""#
    );
    assert_eq!(
        of("message_type"),
        r#""status" "message" "message" "action" "message""#
    );
    assert_eq!(
        member(&text, 3, "metadata"),
        r#"{"tool_call_id":"c","action_type":"ls"}"#
    );
    assert!(member(&text, 2, "metadata").contains(r#""convo":{"category":null}"#));
}

#[test]
fn members_unknown_to_penguin_are_restored() {
    let all = [
        r#"{"role":"developer","content":"Rules.","id":"a","timestamp":"2026-01-02T03:04:05Z"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"x"}}],"id":"b","timestamp":"2026-01-02T03:04:05.100000Z","reasoning":[{"type":"text","text":"why","signature":"s"}],"usage":{"n":1.50},"model":"m","metadata":{"own":1}}"#,
        r#"{"role":"tool","content":[{"type":"text","text":"x"}],"tool_call_id":" ","name":7,"id":"c","timestamp":"2026-01-02T03:04:06Z","tokens":"many"}"#,
        r#"{"role":"user","content":"x","name":"eve","id":"d","timestamp":"soon","category":"mine","refusal":null}"#,
        r#"{"role":"system","content":"It rains.","id":"e"}"#,
    ];
    let lines = rewritten(&session(&[&[HEADER][..], &all].concat()));
    for (line, was) in lines[1..].iter().zip(all) {
        let mut members = json::members(was.as_bytes(), json::Dialect::Strict).unwrap();
        let mut now = json::members(line.as_bytes(), json::Dialect::Strict).unwrap();
        let category = |line: &str| {
            let record = Record::parse(line.as_bytes(), Position { line: 1, offset: 1 });
            record.message().unwrap().category()
        };
        assert_eq!(category(line), category(was), "{line}");
        // Messages without a category get an explicit one.
        if !members.iter().any(|(name, _)| name == "category") {
            now.retain(|(name, _)| name != "category");
        }
        members.sort();
        now.sort();
        assert_eq!(now, members, "{line}");
    }
}

#[test]
fn the_header_is_restored() {
    let header = r#"{"type":"session","version":1,"id":"s","key":"agent:main","created_at":"2026-01-02T03:04:05Z","title":"T","continued_from":"p","continuation_index":2,"tokenizer":"chars4","scope":{"a":1},"metadata":{"x":[1.0]}}"#;
    let lines = rewritten(&session(&[header]));
    let line = lines[0].as_bytes();
    for name in [
        "id", "key", "created_at", "title", "continued_from", "continuation_index", "tokenizer", "scope",
    ] {
        assert_eq!(
            json::member(line, name),
            json::member(header.as_bytes(), name),
            "{name}"
        );
    }
    let metadata = json::member(line, "metadata").unwrap();
    assert_eq!(json::member(metadata, "x"), Some(&b"[1.0]"[..]));
}

#[test]
fn a_continuation_has_penguin_members_for_its_chain() {
    let header = r#"{"type":"session","version":1,"id":"s","created_at":"2026-01-02T03:04:05Z","continued_from":"p","continuation_index":2,"original_created_at":"2026-01-01T00:00:00Z","source_tokens":7,"chain_tokens":9,"continued_to":"q"}"#;
    let (text, _) = written(&session(&[header]), WritePurpose::Export);
    let metadata = json::member(text.as_bytes(), "metadata").unwrap();
    let local = crate::model::time::local("2026-01-01T00:00:00Z").unwrap();
    for (name, value) in [
        ("continued_from", "\"p\"".to_string()),
        ("continued_to", "\"q\"".to_string()),
        ("continuation_index", "2".to_string()),
        ("original_created_at", format!("\"{local}\"")),
        ("source_session_tokens", "7".to_string()),
    ] {
        assert_eq!(json::member(metadata, name), Some(value.as_bytes()), "{name}");
    }
    let line = rewritten(&session(&[header]))[0].clone();
    for name in ["original_created_at", "source_tokens", "chain_tokens"] {
        let was = json::member(header.as_bytes(), name);
        assert_eq!(json::member(line.as_bytes(), name), was, "{name}");
    }
}

#[test]
fn a_summary_is_a_context_message_and_reads_back_as_an_event() {
    let event = r#"{"type":"summary","id":"evt_1","at":"2026-01-02T03:05:00Z","content":"They </conversation_summary> met.","covers":["a","b"],"sha256":"00","by":"extract"}"#;
    let all = [
        HEADER,
        r#"{"role":"user","content":"x","id":"a","timestamp":"2026-01-02T03:04:05Z"}"#,
        r#"{"role":"assistant","content":"y","id":"b","timestamp":"2026-01-02T03:04:06Z"}"#,
        r#"{"role":"user","content":"z","id":"c","timestamp":"2026-01-02T03:04:07Z"}"#,
        event,
    ];
    let session = session(&all);
    let (text, report) = written(&session, WritePurpose::Export);
    assert!(report.losses.is_empty(), "{:?}", report.losses);
    assert_eq!(member(&text, 0, "category"), r#""CONTEXT""#);
    assert!(text.contains("They <\\\\/conversation_summary> met."), "{text}");
    let lines = rewritten(&session);
    assert_eq!(
        lines[1],
        r#"{"type":"summary","id":"evt_1","at":"2026-01-02T03:05:00Z","content":"They </conversation_summary> met.","sha256":"00","by":"extract","here":true}"#
    );
    assert_eq!(lines.len(), 3);
    let last: Vec<&str> = lines.iter().map(String::as_str).collect();
    let shown = |session: &Session| View::replay(session).shown(session).len();
    assert_eq!(shown(&super::written::session(&last)), shown(&session));
}

#[test]
fn both_of_two_summaries_are_read() {
    let first = r#"{"role":"system","content":"one","category":"CONTEXT","id":"a","metadata":{"type":"summary","convo":{"summary_event":{}}}}"#;
    let second = first.replace("one", "two").replace("\"a\"", "\"b\"");
    let (session, _) = read_one("s.json", &document("s", &[first.to_string(), second]));
    let lines = lines(&session);
    assert!(
        lines[1].starts_with(r#"{"role":"system","content":"one""#),
        "{}",
        lines[1]
    );
    assert!(
        lines[2].starts_with(r#"{"type":"summary","id":"b","content":"two","#),
        "{}",
        lines[2]
    );
}

#[test]
fn hidden_messages_are_reported_lost_only_on_export() {
    let all = [
        HEADER,
        r#"{"role":"user","content":"x","id":"a"}"#,
        r#"{"type":"truncate","id":"e","at":"2026-01-02T03:04:05Z","before":null}"#,
        r#"{"type":"meta","id":"f","set":{"title":"T"}}"#,
        "damaged",
    ];
    let (text, report) = written(&session(&all), WritePurpose::Export);
    let lost: Vec<_> = report
        .losses
        .iter()
        .map(|(loss, times)| (loss.name(), *times))
        .collect();
    assert_eq!(lost, [("event", 1), ("unreadable", 1)]);
    assert!(
        text.contains(r#""title": "T""#) && text.contains(r#""messages": [],"#),
        "{text}"
    );
    assert!(written(&session(&all), WritePurpose::Return).1.losses.is_empty());
}

#[test]
fn unusual_members_are_restored_in_place() {
    for members in [
        r#","tokens":1.5"#,
        r#","timestamp":"soon""#,
        r#","category":"mystery""#,
        r#","category":"dialog""#,
        r#","category":"ERROR""#,
        r#","metadata":{"status":"ok","tool_call_id":"c","convo":5,"action_type":" "}"#,
        r#","metadata":{"x":[NaN,{"y":-Infinity}]}"#,
        r#","agent_id":"g","recipient_id":"h","message_type":"status","odd":[1.0]"#,
    ] {
        let (line, _) = only(members);
        let (text, report) = written(&session(&[&line]), WritePurpose::Export);
        assert!(report.losses.is_empty(), "{members}: {:?}", report.losses);
        let message = json::member(text.as_bytes(), "messages").unwrap();
        let message = json::elements(message, json::Dialect::Python).unwrap()[0];
        let given = format!("{{{}}}", &members[1..]);
        for (name, value) in json::members(given.as_bytes(), json::Dialect::Python).unwrap() {
            let now: Vec<u8> = json::member(message, &name).unwrap().to_vec();
            let now = String::from_utf8(now).unwrap().replace(['\n', ' '], "");
            assert_eq!(now, String::from_utf8_lossy(value).replace(' ', ""), "{members}");
        }
    }
}

#[test]
fn members_that_penguin_rejects_are_fixed_and_reported() {
    for (members, name, value, losses) in [
        (r#","role":"""#, "role", r#""user""#, 1),
        (r#","category":3"#, "category", r#""DIALOG""#, 0),
        (r#","category":5"#, "category", r#""ERROR""#, 0),
        (r#","metadata":[1]"#, "metadata", "{}", 1),
        (r#","id":5"#, "message_type", r#""message""#, 1),
    ] {
        let (line, _) = only(members);
        let (text, report) = written(&session(&[&line]), WritePurpose::Export);
        assert_eq!(member(&text, 0, name), value, "{members}");
        assert_eq!(report.losses.values().sum::<u64>(), losses, "{members}");
    }
}

#[test]
fn stale_totals_are_preserved_until_a_change() {
    let stale = r#"{"id":"s","last_active":"2026-01-02T03:04:00","metadata":{"message_count":7,"token_count":1},"messages":[MESSAGE]}"#
        .replace("MESSAGE", &message("a", "x"));
    let (mut session, _) = read_one("s.json", &stale);
    let (text, _) = written(&session, WritePurpose::Return);
    assert!(text.contains(r#""last_active": "2026-01-02T03:04:00""#), "{text}");
    assert!(text.contains(r#""message_count": 7,"#) && text.contains(r#""token_count": 1"#));
    session
        .push_new(br#"{"role":"user","content":"y","id":"b","timestamp":"2026-01-02T03:05:00Z","tokens":3}"#);
    let (text, _) = written(&session, WritePurpose::Return);
    assert!(
        text.contains(r#""message_count": 2,"#) && text.contains(r#""token_count": 3"#),
        "{text}"
    );
    let local = crate::model::time::local("2026-01-02T03:05:00Z").unwrap();
    assert!(text.contains(&format!(r#""last_active": "{local}""#)), "{text}");
}

#[test]
fn a_message_that_is_not_an_object_is_restored() {
    let messages = ["1.0".to_string(), message("a", "x"), "[NaN]".to_string()];
    let (session, _) = read_one("s.json", &document("s", &messages));
    let (text, report) = written(&session, WritePurpose::Export);
    assert!(report.losses.is_empty(), "{:?}", report.losses);
    let messages = json::member(text.as_bytes(), "messages").unwrap();
    let all = json::elements(messages, json::Dialect::Python).unwrap();
    assert_eq!((all[0], all.len()), (&b"1.0"[..], 3));
    assert_eq!(String::from_utf8_lossy(all[2]).replace(['\n', ' '], ""), "[NaN]");
}

#[test]
fn messages_without_ids_get_different_ones() {
    let line = r#"{"role":"user","content":"x"}"#;
    let lines: Vec<&str> = std::iter::repeat_n(line, 2000).collect();
    let (text, _) = written(&session(&lines), WritePurpose::Export);
    let messages = json::member(text.as_bytes(), "messages").unwrap();
    let all = json::elements(messages, json::Dialect::Python).unwrap();
    let ids: std::collections::HashSet<_> = all.iter().map(|raw| json::member(raw, "id")).collect();
    assert_eq!(ids.len(), 2000);
    assert_eq!(written(&session(&lines), WritePurpose::Export).0, text);
}
