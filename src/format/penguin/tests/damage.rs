//! Salvaging damaged files, and invariants for any input.

use super::{document, lines, message, read_files, read_one, whats};
use crate::error::ErrorKind;
use crate::model::record::RecordKind as Line;
use proptest::prelude::*;

#[test]
fn a_message_that_is_not_an_object_is_passed_through() {
    let text = document("s", &[message("a", "a"), "[ 1 ]".into(), message("b", "b")]);
    let (session, report) = read_one("s.json", &text);
    assert_eq!(session.messages().count(), 2);
    let line = &lines(&session)[2];
    assert!(line.starts_with(r#"{"type":"foreign","id":"evt_"#), "{line}");
    assert!(
        line.ends_with(r#""at":"2026-01-02T03:04:05Z","format":"penguin","raw":[1]}"#),
        "{line}"
    );
    assert!(report.is_damaged());
}

#[test]
fn raw_control_characters_and_extra_commas_are_fixed() {
    let text = document("s", &[message("a", "one\ntwo\u{1}"), message("b", "three")])
        .replace(r#""category""#, r#",, "category""#)
        .replace("}],", "},\n],");
    let (session, report) = read_one("s.json", &text);
    let texts: Vec<String> = (1..3)
        .map(|index| session.record(index).message().unwrap().text().into_owned())
        .collect();
    assert_eq!(texts, ["one\ntwo\u{1}", "three"]);
    assert_eq!(report.findings.len(), 1);
    assert!(report.is_damaged());
    // Two characters were escaped before it; its position is that in the file.
    let place = session.record(2).place;
    assert!(text[place.offset as usize..].starts_with(r#"{ "role": "user", "content": "three"#));
    assert_eq!(
        place.line,
        1 + text[..place.offset as usize].matches('\n').count() as u64
    );
}

#[test]
fn a_byte_order_mark_is_reported_and_counted() {
    let text = format!("\u{feff}{}", document("s", &[message("a", "a")]));
    let (session, report) = read_one("s.json", &text);
    assert_eq!(whats(&report), ["byte order mark"]);
    let place = session.record(1).place;
    assert!(text[place.offset as usize..].starts_with(r#"{ "role": "user""#));
}

#[test]
fn invalid_utf8_is_replaced() {
    let mut bytes = document("s", &[message("a", "x?y")]).into_bytes();
    let at = bytes.iter().position(|byte| *byte == b'?').unwrap();
    bytes[at] = 0xff;
    let (session, report) = read_files("s.json", &[("s.json", &bytes)]);
    assert_eq!(session.unwrap().record(1).message().unwrap().text(), "x\u{fffd}y");
    assert!(report.is_damaged());
}

#[test]
fn text_after_a_session_is_reported() {
    for tail in ["\0\0\0", "}", "{\"id\":1}"] {
        let (session, report) = read_one(
            "s.json",
            &format!("{}{tail}", document("s", &[message("a", "a")])),
        );
        assert_eq!(session.messages().count(), 1);
        assert_eq!(whats(&report), ["unexpected text after the session"]);
    }
}

#[test]
fn a_truncated_file_yields_its_complete_messages() {
    let text = document("s", &[message("a", "a"), message("b", "b"), message("c", "c")]);
    let cut = &text[..text.find(r#""id": "c""#).unwrap()];
    let (session, report) = read_one("s.json", cut);
    assert_eq!(session.messages().count(), 2);
    assert_eq!(
        session.header_text("created_at").as_deref(),
        Some("2026-01-02T03:04:05Z")
    );
    assert!(report.findings[0].damage && report.findings[0].place.line > 1);
    // A damaged header does not hide the messages.
    let (session, _) = read_one(
        "s.json",
        &text.replacen(r#""metadata": {}"#, r#""metadata": {{"#, 1),
    );
    assert_eq!(session.messages().count(), 3);
}

#[test]
fn the_best_copy_is_read_and_the_others_fill_it_up() {
    let all = [message("a", "a"), message("b", "b"), message("c", "c")];
    let whole = |count: usize| document("s", &all[..count]);
    let truncated = |count: usize| whole(count).replace("], \"tool", "");
    let other = document("s", &[message("z", "z")]);
    // primary, temp, bak -> source, number of messages
    let cases = [
        (
            truncated(2),
            None,
            Some(whole(2)),
            "2 messages from s.json.bak",
            2,
        ),
        (truncated(2), None, Some(whole(1)), "2 messages from it", 2),
        (
            truncated(2),
            Some(whole(2)),
            Some(whole(2)),
            "2 messages from s.json.temp",
            2,
        ),
        (
            truncated(1),
            Some(truncated(3)),
            Some(whole(2)),
            "3 messages from s.json.temp",
            3,
        ),
        (
            String::new(),
            None,
            Some(whole(2)),
            "2 messages from s.json.bak",
            2,
        ),
        (
            "\0\0\0\0".into(),
            Some(truncated(2)),
            Some(other.clone()),
            "2 messages from s.json.temp, 1 from s.json.bak (z)",
            3,
        ),
        ("[]".into(), None, Some(whole(1)), "1 message from s.json.bak", 1),
        (
            truncated(2),
            None,
            Some(other.clone()),
            "2 messages from it, 1 from s.json.bak (z)",
            3,
        ),
    ];
    for (index, (primary, temp, bak, from, messages)) in cases.into_iter().enumerate() {
        let mut files = vec![("s.json", primary.as_bytes())];
        files.extend(temp.as_ref().map(|text| ("s.json.temp", text.as_bytes())));
        files.extend(bak.as_ref().map(|text| ("s.json.bak", text.as_bytes())));
        let (session, report) = read_files("s.json", &files);
        assert_eq!(session.unwrap().messages().count(), messages, "case {index}");
        assert!(
            report.findings[0].what.ends_with(&format!("): {from}")),
            "{index}: {:?}",
            report.findings
        );
        assert!(report.is_damaged());
    }
}

#[test]
fn a_newer_copy_of_a_complete_session_is_a_notice() {
    let one = document("s", &[message("a", "a")]);
    let two = document("s", &[message("a", "a"), message("b", "b")]);
    let (session, report) = read_files(
        "s.json",
        &[("s.json", one.as_bytes()), ("s.json.temp", two.as_bytes())],
    );
    assert_eq!(session.unwrap().messages().count(), 1);
    assert_eq!(
        whats(&report),
        ["s.json.temp is complete and has 2 messages, 1 more; not read"]
    );
    assert!(!report.is_damaged());
}

#[test]
fn input_that_is_not_a_session_is_refused() {
    for text in [
        "",
        " \n",
        "[]",
        "[{\"role\":\"user\",\"content\":\"x\"}]",
        "null",
        "5",
        "{}",
        "{\"name\":\"x\"}",
        "{",
        "\0",
        "{\"id\":\"x\",\"messages\":[",
    ] {
        let (result, _) = read_files("s.json", &[("s.json", text.as_bytes())]);
        let error = result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data, "{text}");
        assert!(error.message.starts_with("not a Penguin session: "), "{error}");
    }
}

#[test]
fn nesting_depth_is_unlimited() {
    let deep = format!("{}1{}", "[{\"messages\":".repeat(100_000), "}]".repeat(100_000));
    let text = document(
        "s",
        &[message("a", "a").replace("\"a\", \"category\"", &format!("{deep}, \"category\""))],
    );
    assert!(text.len() > 1_000_000);
    assert_eq!(read_one("s.json", &text).0.messages().count(), 1);
    // A file of message starts is not read again for each of them.
    let beginnings = format!("{{\"id\" 1,{deep}");
    assert!(
        read_files(
            "s.json",
            &[("s.json", &beginnings.as_bytes()[..beginnings.len() / 2])]
        )
        .0
        .is_err()
    );
}

/// Invariants for any input: no panic, and only complete lines with unique ids.
fn holds_for(files: &[(&str, &[u8])]) {
    for name in ["s.json", "conversation_s.json"] {
        let files: Vec<(String, &[u8])> = files
            .iter()
            .map(|(ending, bytes)| (format!("{name}{ending}"), *bytes))
            .collect();
        let files: Vec<(&str, &[u8])> = files
            .iter()
            .map(|(name, bytes)| (name.as_str(), *bytes))
            .collect();
        let (Ok(session), _) = read_files(name, &files) else {
            continue;
        };
        assert!(session.record(0).event().is_some_and(|event| event.is_header()));
        let mut ids = std::collections::HashSet::new();
        for index in 1..session.len() {
            let record = session.record(index);
            match record.kind {
                Line::Message(message) => assert!(ids.insert(message.id().unwrap().into_owned())),
                Line::Event(event) => assert_eq!(event.name(), "foreign"),
                _ => panic!(
                    "line {index} is neither: {:?}",
                    String::from_utf8_lossy(record.full)
                ),
            }
        }
    }
}

fn valid() -> impl Strategy<Value = String> {
    let member = prop_oneof![
        Just(r#","metadata":{"tool_calls":[{"id":"c"}],"x":NaN}"#),
        Just(r#","timestamp":"2026-01-02T03:04:05""#),
        Just(r#","tokens":3,"id":"m""#),
        Just(r#","role":null,"category":4"#),
        Just(r#","messages":[{"role":"x"}]"#),
        Just(",\"content\":\"\\ud83d\n\""),
    ];
    let messages = prop::collection::vec(prop::collection::vec(member, 0..4), 0..5);
    (messages, any::<bool>()).prop_map(|(messages, older)| {
        let messages: Vec<String> = messages
            .into_iter()
            .map(|members| {
                format!(
                    r#"{{"role":"user","content":[{{"type":"text","text":"a"}}]{}}}"#,
                    members.concat()
                )
            })
            .collect();
        if older {
            format!("[{}]", messages.join(" , "))
        } else {
            document("s", &messages)
        }
    })
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), other in "[\\[\\]{},:\"messageidnul0-9 \\\\]{0,80}") {
        holds_for(&[("", &bytes)]);
        holds_for(&[("", other.as_bytes()), (".bak", &bytes)]);
        let text = format!("{{\"messages\":[{other}");
        holds_for(&[("", text.as_bytes())]);
    }

    #[test]
    fn damaged_documents_are_read_or_refused(
        text in valid(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 0..6),
        backup in valid(),
    ) {
        let mut bytes = text.into_bytes();
        for (index, byte, how) in changes {
            let at = index.index(bytes.len().max(1));
            match how {
                0 if at < bytes.len() => bytes[at] = byte,
                1 => bytes.insert(at.min(bytes.len()), byte),
                2 if at < bytes.len() => { bytes.remove(at); }
                3 if byte < 60 => bytes.truncate(at),
                _ => {}
            }
        }
        holds_for(&[("", &bytes)]);
        holds_for(&[("", &bytes), (".bak", backup.as_bytes())]);
        holds_for(&[("", backup.as_bytes()), (".temp", &bytes)]);
    }
}
