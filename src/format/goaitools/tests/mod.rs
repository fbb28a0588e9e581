//! Tests of reading and writing states: rejected and preserved data, and the output bytes.

mod fixtures;
mod properties;

use super::*;
use crate::error::ErrorKind;
use crate::format::WritePurpose;
use crate::format::tests::bed;
pub use crate::format::tests::bed::through_lines;
use crate::model::view::View;

/// The result of reading a state, and the report.
pub fn state(text: impl AsRef<[u8]>) -> (Result<Session>, Report) {
    let mut report = Report::default();
    let read = read(&DocumentSource::alone(text.as_ref()), &mut report);
    (read.map(|mut all| all.remove(0)), report)
}

/// The session of a valid state.
pub fn session(text: &str) -> Session {
    state(text).0.unwrap_or_else(|error| panic!("{error:?}: {text}"))
}

/// Writes a session as a state, for a purpose.
pub fn written_for(session: &Session, purpose: WritePurpose) -> (String, Report) {
    let (out, report) = bed::written(Format::Goaitools, session, purpose);
    (String::from_utf8(out).unwrap(), report)
}

pub fn written_back(session: &Session) -> String {
    written_for(session, WritePurpose::Return).0
}

/// A state with these messages and this `processed_length`.
pub fn of(processed: usize, messages: &str) -> String {
    format!(r#"{{"version":1,"provider":"openai","processed_length":{processed},"messages":[{messages}]}}"#)
}

const USER: &str = r#"{"role":"user","content":"q"}"#;
const REPLY: &str = r#"{"role":"assistant","content":"a"}"#;
const RULE: &str = r#"{"role":"system","content":"s"}"#;

#[test]
fn a_state_that_goaitools_discards_is_refused_with_its_offset() {
    let (good, list) = (of(0, USER), r#","messages":[]}"#);
    for (text, what, line, offset) in [
        ("null".to_string(), "not a JSON object", 1, 0),
        ("[]".to_string(), "not a JSON object", 1, 0),
        (" \n".to_string(), "not valid JSON", 2, 2),
        ("{\"version\":1,".to_string(), "not valid JSON", 1, 13),
        (format!("{good}x"), "unexpected text after", 1, good.len()),
        (
            format!("{good}\n{good}"),
            "unexpected text after",
            2,
            good.len() + 1,
        ),
        (format!("{{\"version\":2{list}"), "unsupported version 2", 1, 11),
        (
            format!("{{\n\"version\":\"1\"{list}"),
            "unsupported version \"1\"",
            2,
            12,
        ),
        (
            format!("{{\"version\":1.0{list}"),
            "unsupported version 1.0",
            1,
            11,
        ),
        (format!("{{\"version\":null{list}"), "without version", 1, 0),
        (
            format!("{{\"provider\":\"openai\"{list}"),
            "without version",
            1,
            0,
        ),
        (format!("{{\"version\":1,\"provider\":7{list}"), "provider", 1, 24),
        (
            format!("{{\"version\":1,\"processed_length\":1.5{list}"),
            "not an integer",
            1,
            32,
        ),
        (
            format!("{{\"version\":1,\"processed_length\":\"1\"{list}"),
            "not an integer",
            1,
            32,
        ),
        ("{\"version\":1,\"messages\":{}}".to_string(), "not a list", 1, 24),
    ] {
        let error = state(&text).0.expect_err(&text);
        assert_eq!(error.kind, ErrorKind::Data, "{text}");
        assert!(error.message.contains(what), "{text}: {}", error.message);
        let (_, place) = error.at.unwrap();
        assert_eq!((place.line, place.offset), (line, offset as u64), "{text}");
    }
    let error = state(b"{\"version\":1,\n\"provider\":\"\xff\"}").0.unwrap_err();
    assert_eq!(
        (error.message.as_str(), error.at.unwrap().1.offset),
        ("not UTF-8", 26)
    );
}

#[test]
fn a_readable_state_is_read_and_its_problems_reported() {
    let reported = |report: &Report| -> Vec<(bool, String)> {
        report
            .findings
            .iter()
            .map(|found| (found.damage, found.what.to_string()))
            .collect()
    };
    for (text, messages, damage, what) in [
        (String::new(), 0, false, ""),
        (format!("\u{feff}{}", of(1, USER)), 1, false, ""),
        (of(1, USER).replace("openai", "OpenAI"), 1, false, ""),
        (
            of(1, USER).replace("\"provider\":\"openai\",", ""),
            1,
            false,
            "no provider",
        ),
        (
            of(1, USER).replace("\"version\"", "\"Version\""),
            1,
            false,
            "with other capitalization",
        ),
        (
            of(1, USER).replace("{\"version\":1", "{\"version\":2,\"version\":1"),
            1,
            false,
            "duplicate members",
        ),
        (of(2, USER), 1, true, "processed_length is 2"),
        (
            of(1, USER).replace(":1,\"mess", ":-1,\"mess"),
            1,
            true,
            "processed_length is -1",
        ),
        (of(1, USER).replace(":1,\"mess", ":-0,\"mess"), 1, false, ""),
        (
            of(2, &format!("null,{USER}")),
            2,
            true,
            "message 0: not an object",
        ),
        (of(1, "\"hi\""), 1, true, "message 0: not an object"),
        (of(1, "{\"role\":1}"), 1, true, "message 0: \"role\" is"),
        (
            of(1, "{\"role\":\"user\",\"content\":5}"),
            1,
            true,
            "message 0: \"content\" is",
        ),
        (
            of(1, "{\"role\":\"user\",\"name\":5}"),
            1,
            true,
            "message 0: \"name\" is",
        ),
        (
            of(1, "{\"role\":\"tool\",\"tool_call_id\":5}"),
            1,
            true,
            "message 0: \"tool_call_id\" is",
        ),
        (
            of(1, "{\"role\":\"user\",\"tool_calls\":{}}"),
            1,
            true,
            "message 0: \"tool_calls\" is",
        ),
        (
            of(
                1,
                "{\"role\":\"user\",\"tool_calls\":[{\"function\":{\"name\":[]}}]}",
            ),
            1,
            true,
            "tool_calls",
        ),
        (
            of(1, "{\"role\":\"user\",\"tool_calls\":[7]}"),
            1,
            true,
            "tool_calls",
        ),
        (
            of(
                1,
                "{\"role\":\"user\",\"tool_calls\":[null,{\"id\":null,\"x\":7}]}",
            ),
            1,
            false,
            "",
        ),
        (
            of(
                1,
                "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}",
            ),
            1,
            false,
            "",
        ),
        (of(1, "{\"role\":\"nobody\",\"content\":null}"), 1, false, ""),
        (of(1, "{\"content\":\"x\"}"), 1, false, ""),
    ] {
        let (read, report) = state(&text);
        let session = read.unwrap_or_else(|error| panic!("{error:?}: {text}"));
        assert_eq!(counted_lines(&session).count(), messages, "{text}");
        let reported = reported(&report);
        assert_eq!(reported.is_empty(), what.is_empty(), "{text}: {reported:?}");
        let fits = |(is, reported): &(bool, String)| *is == damage && reported.contains(what);
        assert!(reported.iter().all(fits), "{text}: {reported:?}");
        assert_eq!(session.text(), through_lines(&session).text());
        let unread = (0..session.len()).find(|at| session.class(*at) == Class::Unreadable);
        assert_eq!(unread, None, "{text}: {}", session.text());
    }
}

/// Like Go, ignores case and nulls, and accepts a missing role.
#[test]
fn messages_are_decoded_as_in_go() {
    for (raw, role, text) in [
        (r#"{"ROLE":"user","Content":"hi"}"#, "user", "hi"),
        (
            r#"{"role":"user","role":"tool","content":"a","content":null}"#,
            "tool",
            "a",
        ),
        (r#"{"content":"x","type":"session","id":"y"}"#, "", "x"),
        (r#"{"role":null,"content":"x"}"#, "", "x"),
        (
            r#"{"role":"user","content":"x","metadata":{"goaitools":{"raw":{"role":"tool"}}}}"#,
            "user",
            "x",
        ),
    ] {
        let session = session(&of(0, raw));
        let record = session.record(1);
        let message = record
            .message()
            .unwrap_or_else(|| panic!("{raw}: {}", session.text()));
        assert_eq!(
            (message.role_name().as_ref(), message.text().as_ref()),
            (role, text)
        );
        assert_eq!(written_back(&session), of(0, raw), "and comes back as it was");
    }
}

#[test]
fn members_and_numbers_keep_their_bytes() {
    let odd = r#"{"version":1,"provider":"x\u003c","processed_length":-7,"messages":[null,{"tokens":1E5,"role":"user","id":7,"n":[1.0,-0,1e400,12345678901234567890],"s":"\ud800\/\u00e9"},[]],"extra":{"a":1,"a":2},"b":null}"#;
    assert_eq!(written_back(&session(odd)), odd);
    assert_eq!(written_back(&through_lines(&session(odd))), odd);
    let spaced = odd.replace("\\u003c", "<").replace(",\"b\"", " ,\n\t\"b\"");
    assert_eq!(written_back(&session(&spaced)), odd);
    let (_, report) = written_for(&session(odd), WritePurpose::Export);
    assert!(report.losses.is_empty(), "{:?}", report.losses);
}

/// Removed messages no longer count as seen, and added ones do not count yet.
#[test]
fn the_seen_count_follows_added_and_removed_messages() {
    let text = of(3, &[USER, REPLY, USER, REPLY, USER].join(","));
    let mut grown = session(&text);
    assert_eq!(unseen(&grown), Some(4));
    grown.push_new(br#"{"role":"user","content":"more","id":"m"}"#);
    assert_eq!(
        written_back(&grown),
        of(
            3,
            &[
                USER,
                REPLY,
                USER,
                REPLY,
                USER,
                r#"{"role":"user","content":"more"}"#
            ]
            .join(",")
        )
    );
    let third = grown.id(3).unwrap();
    let cut = format!(r#"{{"type":"truncate","id":"e","before":{third:?}}}"#);
    grown.push_new(cut.as_bytes());
    assert!(
        written_back(&grown).starts_with(&of(1, USER)[..60]),
        "{}",
        written_back(&grown)
    );
    let metadata = String::from_utf8(all_seen(&grown, 0)).unwrap();
    let meta = format!(r#"{{"type":"meta","id":"f","set":{{"metadata":{metadata}}}}}"#);
    grown.push_new(meta.as_bytes());
    assert_eq!(unseen(&grown), Some(grown.len()));
    assert!(
        written_back(&grown).starts_with(&of(4, "")[..60]),
        "{}",
        written_back(&grown)
    );
}

/// A number beyond the messages is kept while none is removed, and then counts as all of them.
#[test]
fn an_invalid_count_is_preserved_until_it_must_change() {
    let mut over = session(&of(99, &[USER, REPLY, USER, REPLY].join(",")));
    assert!(written_back(&over).contains("\"processed_length\":99,"));
    let third = over.id(3).unwrap();
    over.push_new(format!(r#"{{"type":"truncate","id":"e","before":{third:?}}}"#).as_bytes());
    assert_eq!(written_back(&over), of(2, &[USER, REPLY].join(",")));
}

#[test]
fn a_leading_system_message_is_reported_and_can_be_replaced() {
    let text = of(3, &[RULE, USER, REPLY, USER].join(","));
    let (same, report) = written_for(&session(&text), WritePurpose::Return);
    assert_eq!(same, text);
    assert!(report.findings[0].what.contains("system message"), "{report:?}");
    for (event, lead) in [
        (
            r#"{"type":"compact","id":"e","strategy":"x","drop":[["A","B"]],"insert":[{"before":"C","message":{"role":"user","content":"digest","id":"i"}}]}"#,
            r#"{"role":"user","content":"digest"}"#,
        ),
        (
            r#"{"type":"summary","id":"e","content":"sum","covers":["A","B"]}"#,
            r#"{"role":"user","content":"Said earlier"#,
        ),
    ] {
        let mut compacted = session(&text);
        let id = |at: usize| compacted.id(at).unwrap();
        let event = event
            .replace('A', &id(2))
            .replace('B', &id(3))
            .replace('C', &id(4));
        compacted.push_new(event.as_bytes());
        let (written, report) = written_for(&compacted, WritePurpose::Return);
        assert!(
            written.starts_with(&of(2, lead)[..of(2, lead).len() - 2]),
            "{written}"
        );
        assert!(written.ends_with(&format!("{RULE},{USER}]}}")), "{written}");
        assert!(report.findings.is_empty(), "{report:?}");
    }
}

#[test]
fn a_converted_session_becomes_a_state_with_losses_reported() {
    let mut native = Session::default();
    for line in [
        r#"{"type":"session","version":1,"id":"s","title":"T"}"#,
        r#"{"role":"user","content":"\u00e9<","id":"a","timestamp":"2026-01-01T00:00:00Z"}"#,
        r#"{"role":"assistant","content":null,"reasoning":[{"type":"text","text":"hm"}],"tool_calls":[{"type":"function","index":0,"function":{"arguments":{"a": 1},"name":"f"},"id":"c"}]}"#,
        r#"{"role":"user","content":"","name":"ann"}"#,
        r#"{"role":"tool","content":"r","tool_call_id":"c"}"#,
    ] {
        native.push_new(line.as_bytes());
    }
    let (written, report) = written_for(&native, WritePurpose::Export);
    let call = r#"{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"},"index":0}]}"#;
    let result = r#"{"role":"tool","content":"r","tool_call_id":"c"}"#;
    let first = "{\"role\":\"user\",\"content\":\"é\\u003c\"}";
    let named = r#"{"role":"user","name":"ann"}"#;
    assert_eq!(written, of(2, &[first, call, result, named].join(",")));
    let lost: Vec<&str> = report.losses.keys().map(|loss| loss.name()).collect();
    assert_eq!(lost, ["id", "timestamp", "reasoning", "header"]);
}

/// Reasoning of a reply is recognized and restored.
#[test]
fn reasoning_is_preserved() {
    let text = of(
        1,
        r#"{"role":"assistant","reasoning_content":"hm","content":"a"}"#,
    );
    let session = session(&text);
    assert!(session.record(1).message().unwrap().reasoning.is_some());
    assert_eq!(written_back(&session), text);
}

/// A summary in a state is read as a summary, so the next one replaces it.
#[test]
fn a_summary_message_is_read_as_a_summary() {
    let quoted = String::from_utf8(crate::model::summary::message("old <b>", Some("user"))).unwrap();
    let mut shown = Vec::new();
    crate::format::go_json::push_raw(&mut shown, quoted.as_bytes());
    let quoted = String::from_utf8(shown).unwrap();
    let text = of(2, &[&quoted, USER, REPLY, USER].join(","));
    let mut session = session(&text);
    let view = View::replay(&session);
    assert_eq!(view.items[0].summary(&session).as_deref(), Some("old <b>"));
    assert_eq!(written_back(&session), text);
    assert_eq!(written_back(&through_lines(&session)), text);
    let (_, report) = written_for(&session, WritePurpose::Export);
    assert!(report.losses.is_empty(), "{:?}", report.losses);
    assert_eq!(unseen(&session), Some(3), "it counts as the message that it is");
    // A newer summary replaces it.
    let [first, last] = [2, 3].map(|at| session.id(at).unwrap());
    let event = format!(r#"{{"type":"summary","id":"e","content":"new","covers":[{first:?},{last:?}]}}"#);
    session.push_new(event.as_bytes());
    let written = written_back(&session);
    assert!(
        !written.contains("old \\u003c") && written.contains("\\nnew\\n"),
        "{written}"
    );
    assert!(written.starts_with(&of(1, "")[..60]), "{written}");
    // Only the last of several is a summary; the others are messages.
    let several = of(0, &[quoted.as_str(), USER, &quoted].join(","));
    let (read, _) = state(&several);
    let read = read.unwrap();
    assert!(read.record(1).message().is_some() && read.record(3).event().is_some());
    assert_eq!(written_back(&read), several);
    for other in [
        quoted.replace("\"user\"", "\"assistant\""),
        quoted.replace("}", ",\"name\":\"a\"}"),
        quoted.replace("\"role\"", "\"Role\""),
    ] {
        let text = of(0, &other);
        let (read, _) = state(&text);
        let read = read.unwrap();
        assert!(read.record(1).message().is_some(), "{other}");
        assert_eq!(written_back(&read), text);
    }
}
