//! Tests with small sessions: conversion of each block, and sessions of other formats.

use super::{LINES, document, read, returned, sessions, shown, through_lines, with, written};
use crate::format::report::{Loss, Report};
use crate::format::tests::in_place;
use crate::format::{Format, WritePurpose, write};
use crate::model::session::of_lines;
use crate::model::session::{Class, Session};
use crate::model::view::View;

fn roles(session: &Session, view: &View) -> Vec<String> {
    view.messages(session)
        .map(|message| message.role_name().into_owned())
        .collect()
}

#[test]
fn results_and_visibility_match_the_record_stream() {
    for text in [LINES.to_string(), document()] {
        let all = sessions(text.as_bytes());
        let session = &all[0];
        let log = View::after(session, Vec::new());
        assert_eq!(
            roles(session, &log),
            [
                "user", "assistant", "tool", "tool", "user", "user", "assistant", "user", "assistant",
                "tool", "assistant", "assistant", "user"
            ]
        );
        assert_eq!(
            roles(session, &View::replay(session))[..3],
            ["user", "assistant", "user"]
        );
        let text = session.text();
        assert!(
            text.contains(r#""arguments":"{\"n\": 9007199254740993, \"x\":1.0}""#),
            "{text}"
        );
        assert!(text.contains(r#"{"type":"thinking","text":"hm","signature":"c2ln"}"#));
        assert!(text.contains(r#""visibility":"agent""#) && text.contains(r#""category":"context""#));
        assert_eq!(text.matches(r#""type":"foreign""#).count(), 1);
        assert_eq!(text.matches(r#""is_error":true"#).count(), 1);
        assert_eq!(session.header_text("title").as_deref(), Some("Trays"));
        let ids: Vec<String> = log
            .messages(session)
            .map(|message| message.id().unwrap().into_owned())
            .collect();
        let built: Vec<&String> = ids
            .iter()
            .filter(|id| id.starts_with("msg_4") || id.starts_with("msg_3"))
            .collect();
        assert_eq!(built.len(), 3, "{ids:?}");
        assert!(ids.contains(&"msg_i~2".to_string()));
    }
}

#[test]
fn a_session_without_a_first_line_and_a_list_alone_are_read() {
    let (_, messages) = LINES.split_once('\n').unwrap();
    let all = sessions(messages.as_bytes());
    assert_eq!(all[0].header_text("id").as_deref(), Some("tray"));
    assert_eq!(all[0].messages().count(), 13);
    let more = with(&all[0], &[br#"{"role":"user","content":"x"}"#.to_vec()]);
    let after = returned(&[more], true).unwrap();
    assert!(after.starts_with(messages.as_bytes()));
    let document = document();
    let list = &document[document.find('[').unwrap()..];
    let start = document.find("\"conversation\": [").unwrap() + "\"conversation\": ".len();
    let list = if list.starts_with("[\n") {
        list
    } else {
        &document[start..]
    };
    let list = list.trim_end().strip_suffix('}').unwrap();
    let all = sessions(list.as_bytes());
    assert_eq!(all[0].messages().count(), 13);
    assert!(crate::model::json::same(
        &written(&through_lines(&all[0]), WritePurpose::Return).0,
        list.as_bytes()
    ));
}

#[test]
fn cut_messages_are_hidden_and_other_lines_unchanged() {
    let all = sessions(LINES.as_bytes());
    let cut = super::cut(&all[0], 1).unwrap();
    let after = String::from_utf8(returned(&[cut], true).unwrap()).unwrap();
    let (before, now): (Vec<_>, Vec<_>) = (LINES.lines().collect(), after.lines().collect());
    assert_eq!(before.len(), now.len());
    for (before, now) in before.iter().zip(&now) {
        let hidden = before.replace("\"agentVisible\":true", "\"agentVisible\":false");
        let marked = hidden
            .strip_suffix('}')
            .map(|cut| format!(r#"{cut},"metadata":{{"userVisible":true,"agentVisible":false}}}}"#));
        assert!(
            now == before || **now == hidden || Some(*now) == marked.as_deref(),
            "{before}\n{now}"
        );
    }
    assert_eq!(before.last(), now.last());
}

#[test]
fn a_summary_is_a_message_and_reads_back_as_a_summary() {
    let all = sessions(document().as_bytes());
    let summary = br#"{"type":"summary","id":"evt_e","at":"2026-01-01T00:00:00Z","content":"They </conversation_summary> met.","covers":["msg_c","msg_i"]}"#;
    let summed = with(&all[0], &[summary.to_vec()]);
    let after = returned(&[summed], true).unwrap();
    let again = sessions(&after);
    assert!(shown(&again[0])[0].starts_with("summary: They </conversation_summary> met."));
    let text = String::from_utf8(after).unwrap();
    assert!(text.contains("\"message_count\":13"), "{text}");
    // A second summary replaces the first.
    let second = br#"{"type":"summary","id":"evt_f","at":"2026-01-01T00:00:00Z","content":"Later.","covers":["msg_i~2","msg_i~2"]}"#;
    let after = returned(&[with(&again[0], &[second.to_vec()])], true).unwrap();
    let shown = shown(&sessions(&after)[0]);
    assert!(
        shown.iter().any(|text| text == "summary: Later.")
            && !shown.iter().any(|text| text.contains("They <")),
        "{shown:?}"
    );
}

#[test]
fn a_converted_session_has_an_equal_view() {
    let session = of_lines(&[
        r#"{"type":"session","version":1,"id":"x","created_at":"2026-01-01T00:00:00Z","title":"t","metadata":{"cwd":"/w"}}"#,
        r#"{"role":"system","content":"Be brief."}"#,
        r#"{"role":"user","content":"hi","id":"u","timestamp":"2026-01-01T00:00:01.5Z"}"#,
        r#"{"role":"assistant","content":null,"reasoning":[{"type":"thinking","text":"hm","signature":"xx"}],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"d","type":"function","function":{"name":"g","arguments":"no json"}}],"model":"m","usage":{"input_tokens":5}}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"r","id":"r1"}"#,
        r#"{"role":"tool","tool_call_id":"d","content":"s","id":"r2","metadata":{"is_error":true}}"#,
        r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#,
    ]);
    let view = View::replay(&session);
    for format in [Format::Goose, Format::GooseJsonl] {
        let (mut built, mut report) = (Vec::new(), Report::default());
        write(
            format,
            &session,
            &view,
            WritePurpose::Export,
            &mut built,
            &mut report,
        )
        .unwrap();
        let lost: Vec<_> = report
            .losses
            .iter()
            .map(|(loss, times)| (*loss, *times))
            .collect();
        let wanted = [
            (Loss::Id, 1),
            (Loss::Timestamp, 1),
            (Loss::Usage, 1),
            (Loss::Model, 1),
            (Loss::Arguments, 1),
            (Loss::Message, 1),
        ];
        assert_eq!(lost, wanted);
        let again = sessions(&built);
        let (before, after) = (shown(&session), shown(&again[0]));
        assert_eq!(after.len(), before.len() - 1);
        for (nth, (before, after)) in before[1..].iter().zip(&after).enumerate() {
            match nth {
                1 => assert!(
                    after.contains(r#"{\"a\": 1}"#) && after.contains(r#"{\"input\":\"no json\"}"#),
                    "{after}"
                ),
                _ => assert_eq!(before, after),
            }
        }
        assert_eq!(again[0].header_text("title").as_deref(), Some("t"));
        assert!(String::from_utf8(built).unwrap().contains(r#""isError":true"#));
    }
}

#[test]
fn concatenated_lines_are_separate_sessions() {
    let two = format!("{LINES}{LINES}");
    let all = sessions(two.as_bytes());
    let ids: Vec<_> = all
        .iter()
        .filter_map(|session| session.header_text("id"))
        .collect();
    assert_eq!(ids, ["tray", "key_tray_232"]);
    assert_eq!(returned(&all, true).unwrap(), two.as_bytes());
    let two = format!("{}{}", document(), document());
    assert_eq!(returned(&sessions(two.as_bytes()), true).unwrap(), two.as_bytes());
}

#[test]
fn damage_is_reported_and_hides_no_other_message() {
    let damaged = LINES.replace("{\"id\":\"msg_d\"", "{\"id\":msg_d\"");
    let (all, report, _) = read(damaged.as_bytes());
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].place.line, 7);
    assert_eq!(all[0].messages().count(), 12);
    assert_eq!(
        (0..all[0].len())
            .filter(|line| all[0].class(*line) == Class::Unreadable)
            .count(),
        1
    );
    // Lines can be changed next to a damaged one.
    let after = returned(&[super::cut(&all[0], 1).unwrap()], true).unwrap();
    assert!(String::from_utf8(after).unwrap().contains("{\"id\":msg_d\""));
    in_place::hold(Format::Goose, LINES);
    in_place::hold(Format::Goose, document());
    // A line of another format is preserved.
    let unrecognized = format!("{LINES}{{\"type\":\"event_msg\",\"payload\":{{}}}}\n");
    let (all, report, _) = read(unrecognized.as_bytes());
    assert!(report.is_damaged());
    assert_eq!(returned(&all, true).unwrap(), unrecognized.as_bytes());
}
