//! Tests with small documents: conversion of parts, and sessions of other formats.

use super::{DOCUMENT, bed, returned, sessions, shown, through_lines, with, written};
use crate::format::report::Loss;
use crate::format::tests::in_place;
use crate::format::{Format, WritePurpose};
use crate::model::json;
use crate::model::session::of_lines;
use crate::model::session::{Class, Session};
use crate::model::view::View;

fn roles(session: &Session, view: &View) -> Vec<String> {
    view.messages(session)
        .map(|message| message.role_name().into_owned())
        .collect()
}

#[test]
fn steps_and_results_are_messages() {
    let (all, report) = sessions(DOCUMENT.as_bytes());
    assert!(report.findings.is_empty());
    let session = &all[0];
    let log = View::after(session, Vec::new());
    assert_eq!(
        roles(session, &log),
        [
            "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "user", "assistant",
            "user"
        ]
    );
    let ids: Vec<String> = log
        .messages(session)
        .map(|message| message.id().unwrap().into_owned())
        .collect();
    assert_eq!(ids[..5], ["msg_01", "msg_02", "msg_02#2", "msg_02#3", "msg_02#4"]);
    // Failed messages and those before the compaction's first kept message are not sent.
    assert_eq!(
        roles(session, &View::replay(session)),
        ["user", "user", "assistant", "user"]
    );
    let text = session.text();
    assert!(
        text.contains(r#""arguments":"{\"n\":9007199254740993,\"x\":1.0}""#),
        "{text}"
    );
    assert!(text.contains(r#""kind":"child","parent":"ses_0""#));
    assert!(text.contains(r#"{"type":"thinking","text":"hm","signature":"c2ln"}"#));
    assert!(text.contains(r#""category":"context""#));
    assert!(text.contains(r#""is_error":true"#));
    assert_eq!(text.matches(r#""type":"foreign""#).count(), 3);
    let used: u64 = (0..session.len())
        .filter_map(|line| json::member(json::member(session.record(line).body, "usage")?, "input"))
        .map(|raw| std::str::from_utf8(raw).unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(used, 5 + 9 + 100);
}

#[test]
fn cleared_and_ignored_parts_are_hidden() {
    let whole = DOCUMENT.replace(r#""type": "compaction""#, r#""type": "note""#);
    let (all, _) = sessions(whole.as_bytes());
    let shown = shown(&all[0]).join("\n");
    assert!(
        shown.contains("[Old tool result content cleared]") && !shown.contains("not for you"),
        "{shown}"
    );
    assert!(!shown.contains("never sent") && shown.contains("They looked."));
    let text = all[0].text();
    assert!(text.contains("\"long\"") && text.contains("not for you") && text.contains("never sent"));
}

#[test]
fn a_session_converted_to_a_document_reads_back_equal() {
    let session = of_lines(&[
        r#"{"type":"session","version":1,"id":"x","created_at":"2026-01-01T00:00:00Z","title":"t"}"#,
        r#"{"role":"system","content":"Be brief."}"#,
        r#"{"role":"user","content":"hi","timestamp":"2026-01-01T00:00:01Z"}"#,
        r#"{"role":"assistant","content":null,"reasoning":[{"type":"thinking","text":"hm","signature":"xx"}],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"d","type":"function","function":{"name":"g","arguments":"no json"}}],"model":"m","usage":{"input_tokens":5,"output_tokens":2,"cache_read_input_tokens":7}}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"r"}"#,
        r#"{"role":"tool","tool_call_id":"d","content":"s","metadata":{"is_error":true}}"#,
        r#"{"role":"assistant","content":"done"}"#,
        r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#,
    ]);
    let (built, report) = written(&session, WritePurpose::Export);
    let lost: Vec<_> = report
        .losses
        .iter()
        .map(|(loss, times)| (*loss, *times))
        .collect();
    assert_eq!(lost, [(Loss::Arguments, 1), (Loss::Message, 1)]);
    let (again, damage) = sessions(&built);
    assert!(damage.findings.is_empty());
    let (before, after) = (shown(&session), shown(&again[0]));
    assert_eq!(after.len(), before.len() - 1);
    for (nth, (before, after)) in before[1..].iter().zip(&after).enumerate() {
        match nth {
            1 => assert!(
                after.contains(r#"{\"a\":1}"#) && after.contains(r#"{\"input\":\"no json\"}"#),
                "{after}"
            ),
            _ => assert_eq!(before, after),
        }
    }
    assert_eq!(again[0].header_text("title").as_deref(), Some("t"));
    let text = String::from_utf8(built).unwrap();
    assert!(
        text.contains(r#""tokens":{"input":5,"output":2,"reasoning":0,"cache":{"read":7,"write":0}}"#),
        "{text}"
    );
    assert!(text.contains(r#""finish":"stop""#));
    // A second round trip changes nothing.
    assert!(json::same(
        &written(&through_lines(&again[0]), WritePurpose::Return).0,
        text.as_bytes()
    ));
}

#[test]
fn added_messages_come_after_the_others() {
    let (all, _) = sessions(DOCUMENT.as_bytes());
    let lines = [
        br#"{"role":"assistant","content":"ok","tool_calls":[{"id":"n","type":"function","function":{"name":"f","arguments":"{}"}}]}"#.to_vec(),
        br#"{"role":"tool","tool_call_id":"n","content":"r"}"#.to_vec(),
        br#"{"role":"user","content":"and?"}"#.to_vec(),
    ];
    let grown = with(&all[0], &lines);
    let after = String::from_utf8(returned(std::slice::from_ref(&grown), true).unwrap()).unwrap();
    let ended = DOCUMENT.trim_end().strip_suffix("\n  ]\n}").unwrap();
    assert!(after.starts_with(ended), "{after}");
    let (again, _) = sessions(after.as_bytes());
    assert_eq!(shown(&again[0]), shown(&grown));
    let ids: Vec<String> = again[0]
        .messages()
        .map(|(line, _)| again[0].id(line).unwrap())
        .collect();
    assert!(ids.is_sorted(), "{ids:?}");
}

#[test]
fn concatenated_documents_are_separate_sessions() {
    let two = format!("{DOCUMENT}{}", DOCUMENT.replace("ses_1", "ses_2"));
    let (all, _) = sessions(two.as_bytes());
    let ids: Vec<_> = all
        .iter()
        .filter_map(|session| session.header_text("id"))
        .collect();
    assert_eq!(ids, ["ses_1", "ses_2"]);
    assert_eq!(returned(&all, true).unwrap(), two.as_bytes());
}

#[test]
fn a_list_of_messages_is_a_session_without_an_id() {
    let start = DOCUMENT.find("[\n    {\"info\"").unwrap();
    let list = &DOCUMENT[start..DOCUMENT.trim_end().len() - 1];
    let (all, report) = sessions(list.as_bytes());
    assert!(report.findings.is_empty(), "{report:?}");
    assert_eq!(all[0].header_text("id").as_deref(), Some("tray"));
    assert!(json::same(
        &written(&through_lines(&all[0]), WritePurpose::Return).0,
        list.trim_ascii().as_bytes()
    ));
}

#[test]
fn damage_is_reported_and_hides_no_other_message() {
    let damaged = DOCUMENT.replace(r#""text": "And that""#, r#""text": nothing"#);
    let (all, report) = sessions(damaged.as_bytes());
    assert_eq!(report.findings.len(), 1);
    assert_eq!(
        report.findings[0].place.line,
        1 + damaged[..damaged.find("nothing").unwrap()].matches('\n').count() as u64
    );
    assert_eq!(all[0].messages().count(), 9);
    assert!((0..all[0].len()).all(|line| all[0].class(line) != Class::Unreadable));
    assert_eq!(returned(&all, false).unwrap(), damaged.as_bytes());
    in_place::hold(Format::Opencode, DOCUMENT);
    // A truncated document cannot be changed.
    let (all, report) = sessions(&DOCUMENT.as_bytes()[..DOCUMENT.len() / 2]);
    let changed = with(&all[0], &[br#"{"role":"user","content":"x"}"#.to_vec()]);
    assert!(report.is_damaged() && returned(&[changed], true).is_err());
}

/// A compaction cannot name it.
#[test]
fn a_kept_message_without_an_id_remains_in_the_view() {
    let message = |info: &str, text: &str| {
        format!(
            r#"{{"info":{{{info}"role":"user","time":{{"created":1}}}},"parts":[{{"type":"text","text":"{text}"}}]}}"#
        )
    };
    let messages = [message(r#""id":"msg_1","#, "one"), message("", "two")].join(",");
    let document = format!(r#"{{"info":{{"id":"ses_a"}},"messages":[{messages}]}}"#);
    let (all, _) = sessions(document.as_bytes());
    let changed = bed::cut(&all[0], 1).unwrap();
    let after = returned(std::slice::from_ref(&changed), true).unwrap();
    assert_eq!(shown(&sessions(&after).0[0]), shown(&changed));
}

#[test]
fn a_cut_keeps_the_text_of_an_earlier_compaction() {
    let (all, _) = sessions(DOCUMENT.as_bytes());
    let changed = bed::cut(&all[0], 1).unwrap();
    let after = returned(std::slice::from_ref(&changed), true).unwrap();
    let text = String::from_utf8(after).unwrap();
    assert!(!text.contains("Earlier messages were cut off"), "{text}");
}
