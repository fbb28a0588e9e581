//! Tests with small traces, and with the sample files.

use crate::format::report::{Loss, Report};
use crate::format::tests::bed::written;
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::messages;
use crate::format::{Format, WritePurpose};
use crate::model::session::of_lines;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FORMAT: Format = Format::Sts;

/// A trace with all kinds of data.
const RICH: &str = r#"{"type":"session","harness":"h","id":"s1","name":"Kites","cwd":"/kites","temperature":5e-06}
{"type":"message","message":{"role":"system","content":"Be terse.","timestamp":1785100000100}}
{"type":"message","message":{"role":"user","content":"Look","timestamp":1785100001000.0}}

{"type":"status","message":"warming up"}
{"type":"message","message":{"role":"assistant","content":"","reasoningContent":"Two calls.","toolCalls":[{"id":"a","function":{"name":"f","arguments":"{\"n\": 9007199254740993}"}},{"id":"b","x":1,"function":{"name":"g","arguments":{"k":1.0}}}],"timestamp":1785100002000,"model":"m"}}
{"type":"message","message":{"role":"tool","toolCallId":"b","content":"bad","extra":{"kept":true}}}
{"type":"message","at":1,"message":{"role":"tool","toolCallId":"a","content":""}}
{"type":"message","message":{"role":"assistant"}}
"#;

fn exported(lines: &[&str]) -> (Vec<Value>, Report) {
    let session = of_lines(lines);
    let (out, report) = written(FORMAT, &session, WritePurpose::Export);
    let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    (
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect(),
        report,
    )
}

#[test]
fn every_member_is_read() {
    let file = opened(FORMAT, RICH);
    let session = &file.sessions[0];
    assert_eq!(session.header_text("title").as_deref(), Some("Kites"));
    let messages = messages(session);
    assert_eq!(messages.len(), 6);
    assert_eq!(messages[0]["timestamp"], "2026-07-26T21:06:40.100Z");
    let reply = &messages[2];
    assert_eq!(reply["reasoning"][0]["text"], "Two calls.");
    assert_eq!(reply["model"], "m");
    assert_eq!(
        reply["tool_calls"][0]["function"]["arguments"],
        r#"{"n": 9007199254740993}"#
    );
    assert_eq!(reply["tool_calls"][1]["function"]["arguments"], r#"{"k":1.0}"#);
    assert_eq!(messages[3]["tool_call_id"], "b");
    hold(FORMAT, RICH);
}

#[test]
fn a_second_header_begins_a_second_session() {
    let file = opened(FORMAT, format!("{RICH}{}", RICH.replace("\"s1\"", "\"s2\"")));
    let ids: Vec<_> = file
        .sessions
        .iter()
        .map(|session| session.header_text("id").unwrap())
        .collect();
    assert_eq!(ids, ["s1", "s2"]);
}

#[test]
fn sessions_of_any_format_are_written() {
    let (lines, report) = exported(&[
        r#"{"type":"session","version":1,"id":"a","title":"T","created_at":"2026-01-01T00:00:00Z","source":{"format":"codex"},"metadata":{"cwd":"/w"}}"#,
        r#"{"role":"developer","content":"Rules."}"#,
        r#"{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}}]}"#,
        r#"{"role":"assistant","content":null,"id":"m1","model":"m","usage":{"input_tokens":3},"reasoning":[{"type":"thinking","text":"Hm.","signature":"c2ln"},{"type":"encrypted","encrypted_content":"zz"}],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{no json"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"Done.","timestamp":"2026-01-01T00:00:01.5Z"}"#,
    ]);
    assert_eq!(
        lines[0],
        json!({"type":"session","harness":"codex","id":"a","name":"T","created_at":"2026-01-01T00:00:00Z","cwd":"/w"})
    );
    let message = |nth: usize| &lines[nth]["message"];
    assert_eq!(message(1), &json!({"role":"system","content":"Rules."}));
    assert_eq!(message(2)["content"], "Look\n\n[image]\n\n[file a.pdf]");
    assert_eq!(message(3)["reasoningContent"], "Hm.");
    assert_eq!(
        message(3)["toolCalls"],
        json!([{"id":"c","function":{"name":"f","arguments":"{no json"}}])
    );
    assert_eq!(message(4)["timestamp"], 1_767_225_601_500_u64);
    let lost = [
        (Loss::Id, 1),
        (Loss::Usage, 1),
        (Loss::Reasoning, 1),
        (Loss::Signature, 2),
        (Loss::Attachment, 2),
    ];
    assert_eq!(report.losses, BTreeMap::from(lost));
}

#[test]
fn marks_and_truncated_lines_are_kept() {
    let torn = format!(
        "{RICH}{}",
        r#"{"type":"message","message":{"role":"assistant","content":"cut her"#
    );
    hold(FORMAT, &torn);
    hold(FORMAT, format!("\u{feff}{RICH}"));
}

#[test]
fn a_call_without_arguments_is_not_a_loss() {
    let (_, report) = exported(&[
        r#"{"type":"session","version":1,"id":"s"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f"}}]}"#,
    ]);
    assert!(report.losses.is_empty(), "{report:?}");
}
