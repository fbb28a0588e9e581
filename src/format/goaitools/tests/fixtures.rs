//! Tests with recorded goaitools data, if available: `CONVO_FIXTURES` names the directory; the default is
//! `../shared/fixtures`, next to this crate.

use super::{Class, ErrorKind, counted_lines, session, state, through_lines, written_back};
use serde_json::Value;
use std::path::PathBuf;

fn dir() -> PathBuf {
    crate::sample_data::path("goaitools")
}

fn rows(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(dir().join("tables").join(name)).unwrap();
    let table: Value = serde_json::from_str(&text).unwrap();
    table["rows"].as_array().unwrap().clone()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

/// States of other programs are restored unchanged, also after a conversion to lines.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_state_is_restored_byte_for_byte() {
    let dir = dir();
    let mut same = 0;
    for entry in std::fs::read_dir(dir.join("states")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let session = session(&text);
        assert_eq!(written_back(&session), text, "{path:?}");
        assert_eq!(written_back(&through_lines(&session)), text, "{path:?}");
        same += 1;
    }
    eprintln!("goaitools states: {same} files come back byte for byte, as they are and as lines");
    assert!(same >= 13);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn decoding_agrees_with_the_table() {
    let (mut agreed, mut differ) = (0, 0);
    for row in rows("decode.json") {
        let case = text(&row, "case");
        let input = match row["state_in_hex"].as_str() {
            Some(hex) => bytes(hex),
            None => text(&row, "state_in").as_bytes().to_vec(),
        };
        let (read, report) = state(&input);
        let convo = &row["convo"];
        let note = text(convo, "note");
        match text(convo, "outcome") {
            "refuse" => {
                let error = read.expect_err(case);
                assert_eq!(error.kind, ErrorKind::Data, "{case}");
                // With different words for the same reason.
                let why = match text(convo, "why") {
                    "not an object" => "not a JSON object",
                    "text after the document" => "unexpected text after",
                    "no version" => "without version",
                    "processed_length is no integer" => "not an integer",
                    "invalid UTF-8 at its byte offset" => "not UTF-8",
                    "not JSON" => "not valid JSON",
                    why => why,
                };
                assert!(error.message.contains(why), "{case}: {}", error.message);
                assert!(error.at.is_some(), "{case}");
            }
            outcome => {
                let session = read.expect(case);
                let messages = counted_lines(&session).count();
                assert_eq!(messages as u64, convo["messages"].as_u64().unwrap(), "{case}");
                assert_eq!(
                    report.findings.is_empty(),
                    !note.starts_with("reported"),
                    "{case}: {report:?}"
                );
                let written = written_back(&session);
                match text(&row, "mark") {
                    "match" => assert_eq!(written, text(&row["original"], "state_out"), "{case}"),
                    _ => assert!(outcome == "load" && written.contains("\"messages\":["), "{case}"),
                }
            }
        }
        match text(&row, "mark") {
            "match" => agreed += 1,
            _ => differ += 1,
        }
    }
    eprintln!("goaitools decode: {agreed} agree, {differ} differ deliberately, 0 failed");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn encoding_agrees_with_the_table() {
    let (mut agreed, mut differ) = (0, 0);
    for row in rows("reencode.json") {
        let (before, after) = (text(&row, "state_in"), text(&row, "state_out"));
        let (read, report) = state(before);
        let session = read.unwrap();
        let written = written_back(&session);
        assert_eq!(written_back(&through_lines(&session)), written, "{row}");
        if text(&row, "mark") == "match" {
            assert_eq!(written, after);
            agreed += 1;
            continue;
        }
        // Nothing is lost where goaitools loses data; these states have no white space and no escapes.
        assert_eq!(written, before);
        let reported = text(&row, "convo").contains("reported");
        assert_eq!(report.is_damaged(), reported, "{row}");
        differ += 1;
    }
    eprintln!("goaitools reencode: {agreed} agree, {differ} differ deliberately, 0 failed");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn encoding_of_new_text_agrees_with_the_table() {
    let (mut agreed, mut differ) = (0, 0);
    for row in rows("string_text.json") {
        let Ok(content) = String::from_utf8(bytes(text(&row, "text_utf8_hex"))) else {
            // The program rejects such a text.
            assert_eq!(text(&row, "mark"), "differ", "{row}");
            differ += 1;
            continue;
        };
        let mut session = session("");
        let mut line = crate::model::json::ObjectBuilder::default();
        line.text("role", "user")
            .text("content", &content)
            .text("id", "m");
        session.push_new(&line.finish());
        assert!(matches!(session.class(1), Class::Message(_)));
        assert_eq!(written_back(&session), text(&row, "state_out"), "{row}");
        agreed += 1;
    }
    eprintln!("goaitools string_text: {agreed} agree, {differ} differ deliberately, 0 failed");
}
