//! Truncated, damaged and malicious logs.

use super::small::{META, call, event, log, output, reply, thought, turn, user};
use super::{returned, session, through_lines, written};
use crate::format::Format;
use crate::format::report::Report;
use crate::format::tests::in_place;
use crate::model::json;
use crate::model::session::Class;
use proptest::prelude::*;

#[test]
fn a_malformed_line_is_reported_and_preserved() {
    let mut bytes = log(&[user("q"), reply("a")]);
    bytes.extend_from_slice(b"{\"timestamp\": oops\n");
    bytes.extend_from_slice(reply("b").as_bytes());
    let (session, report) = session(&bytes);
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].place.line, 4);
    assert_eq!(session.messages().count(), 3);
    assert!((0..session.len()).any(|index| session.class(index) == Class::Unreadable));
    assert_eq!(returned(&session, &bytes), bytes);
}

#[test]
fn lines_of_another_format_are_reported_once_and_preserved() {
    let mut bytes = log(&[user("q")]);
    bytes
        .extend_from_slice(b"{\"type\":\"session\",\"cwd\":\"/w\"}\n{\"role\":\"user\",\"content\":\"x\"}\n");
    let (session, report) = session(&bytes);
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].place.line, 3);
    assert_eq!(
        report.findings[0].what,
        "not a record of a Codex log; kept unchanged (1 more like this)"
    );
    assert_eq!(session.messages().count(), 1);
    assert_eq!(returned(&session, &bytes), bytes);
}

/// Codex does not read it as a message, so a change need not remove it.
#[test]
fn a_display_event_without_text_is_kept() {
    let search = super::small::item(r#"{"type":"web_search_call","id":"w"}"#);
    let bytes = log(&[event(r#"{"type":"user_message","texts":[]}"#), search]);
    assert_eq!(returned(&session(&bytes).0, &bytes), bytes);
}

fn line(kind: u8) -> String {
    match kind {
        0 => user("u"),
        1 => reply("a"),
        2 => thought(1),
        3 => call("c"),
        4 => output("c"),
        5 => turn("t"),
        6 => event(r#"{"type":"task_started"}"#),
        7 => event(r#"{"type":"user_message","message":"u"}"#),
        8 => r#"{"timestamp":"2026-01-01T00:00:03Z","type":"compacted","payload":{"message":"s"}}"#.to_string(),
        9 => r#"{"timestamp":"2026-01-01T00:00:03Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"h"}]},{"type":"reasoning","summary":[]}]}}"#.to_string(),
        10 => "not json".to_string(),
        11 => r#"{"type":"message","role":"user","content":"bare"}"#.to_string(),
        12 => super::small::item(r#"{"type":"web_search_call","id":"w"}"#),
        13 => super::small::item(r#"{"type":"tool_result","result":{}}"#),
        _ => String::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn generated_logs_satisfy_all_laws(kinds in prop::collection::vec(0u8..15, 0..25)) {
        let lines: Vec<String> = kinds.iter().map(|kind| line(*kind)).collect();
        in_place::hold_changes(Format::Codex, log(&lines));
    }

    #[test]
    fn records_are_encoded_as_their_original_lines(kinds in prop::collection::vec(0u8..15, 0..25)) {
        let lines: Vec<String> = kinds.iter().map(|kind| line(*kind)).collect();
        let bytes = log(&lines);
        let (session, _) = session(&bytes);
        let again = written(&through_lines(&session));
        let (ours, theirs) = (super::full_lines(&again), super::full_lines(&bytes));
        prop_assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(theirs) {
            // A string has become a part.
            let bare = theirs.ends_with(b"\"bare\"}");
            let show = String::from_utf8_lossy(ours).into_owned();
            prop_assert!(bare || *ours == theirs || json::same(ours, theirs), "{}", show);
        }
    }
}

#[test]
fn concatenated_logs_are_separate_sessions() {
    let other = META.replace("019e8377", "019e9999");
    let one = log(&[user("q"), reply("a")]);
    let two = [other.as_bytes(), b"\n", user("r").as_bytes(), b"\noops\n"].concat();
    let bytes = [one.clone(), two.clone()].concat();
    let mut report = Report::default();
    let mut reader = crate::format::codex::read::open(crate::format::SessionInput {
        name: Some("x".to_string()),
        head: bytes[..10].to_vec(),
        rest: Box::new(std::io::Cursor::new(bytes[10..].to_vec())),
        returns: true,
        neighbor: None,
    })
    .unwrap();
    let mut sessions = Vec::new();
    while let Some(session) = reader.next(&mut report).unwrap() {
        sessions.push(session);
    }
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0].origin().unwrap().bytes, one);
    assert_eq!(sessions[1].origin().unwrap().bytes, two);
    assert_eq!(
        sessions[1].header_text("id").unwrap(),
        "019e9999-7ad8-7470-898e-dbe92ce983e3"
    );
    // Damage is reported at its position in the whole input.
    assert_eq!(report.findings[0].place.line, 6);
    let start = bytes.len() - 5;
    assert_eq!(report.findings[0].place.offset, start as u64);
}
