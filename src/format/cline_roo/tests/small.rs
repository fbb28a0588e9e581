//! Tests with small histories.

use super::{session, shown, through_lines, try_session, with, without, written};
use crate::error::ErrorKind;
use crate::format::report::{Loss, Report};
use crate::format::tests::in_place;
use crate::format::{Format, WritePurpose};
use crate::model::json;
use crate::model::session::Session;

fn message(role: &str, text: &str, more: &str) -> String {
    format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"ts":1780000000000{more}}}"#)
}

fn history(elements: &[String]) -> Vec<u8> {
    format!("[{}]", elements.join(", ")).into_bytes()
}

fn texts(session: &Session) -> Vec<String> {
    let text = |shown: String| {
        let texts: Vec<&str> = shown
            .split(r#""text":""#)
            .skip(1)
            .filter_map(|text| text.split('"').next())
            .collect();
        match shown.strip_prefix("summary: ") {
            Some(text) => format!("= {text}"),
            None => texts.join("+"),
        }
    };
    shown(session).into_iter().map(text).collect()
}

const CUT: &str =
    r#"{"role":"user","content":"[cut]","ts":1780000000000,"isTruncationMarker":true,"truncationId":"t"}"#;

fn summary(id: &str) -> String {
    message(
        "user",
        &format!("sum {id}"),
        &format!(r#","isSummary":true,"condenseId":"{id}""#),
    )
}

#[test]
fn tags_hide_the_messages_of_their_summary_or_cut() {
    let (hidden, condensed) = (r#","truncationParent":"t""#, r#","condenseParent":"s""#);
    let u = |text: &str, more: &str| message("user", text, more);
    let a = |text: &str, more: &str| message("assistant", text, more);
    let cases: Vec<(Vec<String>, &[&str])> = vec![
        // A tag without its marker hides nothing.
        (vec![u("1", hidden), a("2", condensed)], &["1", "2"]),
        (
            vec![u("1", hidden), a("2", ""), CUT.to_string(), u("3", "")],
            &["2", "3"],
        ),
        // A marker may also hide messages after it.
        (
            vec![u("1", ""), CUT.to_string(), a("2", hidden), u("3", "")],
            &["1", "3"],
        ),
        // Everything from the last summary on, regardless of tags.
        (
            vec![u("1", ""), summary("s"), a("2", condensed), u("3", "")],
            &["= sum s", "2", "3"],
        ),
        (
            vec![u("1", ""), summary("s"), a("2", ""), summary("z"), u("3", "")],
            &["= sum z", "3"],
        ),
        // A truncation before the summary hides nothing after it.
        (
            vec![CUT.to_string(), summary("s"), a("2", hidden)],
            &["= sum s", "2"],
        ),
        (
            vec![summary("s"), a("2", hidden), CUT.to_string(), u("3", "")],
            &["= sum s", "3"],
        ),
    ];
    for (elements, wanted) in cases {
        let bytes = history(&elements);
        let read = session(&bytes, None);
        assert_eq!(texts(&read), wanted, "{elements:?}");
        assert_eq!(written(&read, WritePurpose::Return).unwrap().0, bytes);
        let (again, report) = written(&through_lines(&read), WritePurpose::Return).unwrap();
        assert!(report.losses.is_empty(), "{report:?}");
        assert!(
            json::same(again.trim_ascii_end(), &bytes),
            "{}",
            String::from_utf8_lossy(&again)
        );
    }
}

#[test]
fn an_orphaned_result_after_a_summary_is_hidden() {
    let call =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}],"ts":1}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"},{"type":"text","text":"<environment_details>x</environment_details>"}],"ts":1}"#;
    let bytes = history(&[call.to_string(), summary("s"), result.to_string()]);
    let read = session(&bytes, None);
    assert_eq!(
        texts(&read),
        ["= sum s", "<environment_details>x</environment_details>"]
    );
    assert!(read.text().contains(r#""category":"context""#));
    assert_eq!(written(&read, WritePurpose::Return).unwrap().0, bytes);
}

#[test]
fn reasoning_is_a_part_of_its_reply() {
    let reasoning = r#"{"type":"reasoning","summary":[],"encrypted_content":"zz","ts":1}"#.to_string();
    let elements = [
        message("user", "1", ""),
        reasoning.clone(),
        message("assistant", "2", r#","reasoning_content":"hm""#),
        reasoning,
    ];
    let bytes = history(&elements);
    let read = session(&bytes, None);
    assert_eq!(texts(&read), ["1", "2"]);
    assert_eq!(read.text().matches("encrypted_content").count(), 2);
    let grown = with(&read, &[r#"{"role":"user","content":"3"}"#]);
    let after = String::from_utf8(written(&grown, WritePurpose::Return).unwrap().0).unwrap();
    let before = String::from_utf8(bytes).unwrap();
    assert_eq!(
        after,
        format!(
            "{}, {}]",
            &before[..before.len() - 1],
            r#"{"role":"user","content":"3"}"#
        )
    );
}

#[test]
fn messages_dropped_from_a_roo_history_are_tagged() {
    let elements = [
        message("user", "0", r#","condenseParent":"gone""#),
        message("assistant", "1", ""),
        message("user", "2", ""),
        message("assistant", "3", ""),
    ];
    let bytes = history(&elements);
    let read = session(&bytes, None);
    let after = written(&without(&read, 0, 2), WritePurpose::Return).unwrap().0;
    let text = String::from_utf8(after.clone()).unwrap();
    assert_eq!(texts(&session(&after, None)), ["2", "3"]);
    assert_eq!(text.matches("truncationParent").count(), 2);
    assert!(
        text.ends_with(&format!("{}, {}]", elements[2], elements[3])),
        "{text}"
    );
    assert!(text.contains("2 messages hidden"));
    // A second truncation leaves the first unchanged.
    let again = written(&without(&session(&after, None), 0, 1), WritePurpose::Return)
        .unwrap()
        .0;
    assert_eq!(texts(&session(&again, None)), ["3"]);
    // The same through the record stream.
    let stream = written(&through_lines(&without(&read, 0, 2)), WritePurpose::Export)
        .unwrap()
        .0;
    assert!(json::same(stream.trim_ascii_end(), &after));
    // A summary follows the messages that it covers.
    let ids: Vec<String> = read.messages().filter_map(|(index, _)| read.id(index)).collect();
    let event = format!(
        r#"{{"type":"summary","id":"e","at":"2026-01-01T00:00:00Z","content":"So far.","covers":["{}","{}"]}}"#,
        ids[0], ids[2]
    );
    let after = written(&with(&read, &[event]), WritePurpose::Return).unwrap().0;
    let text = String::from_utf8(after.clone()).unwrap();
    assert_eq!(texts(&session(&after, None)), ["= So far.", "3"]);
    assert_eq!(text.matches("condenseParent").count(), 3);
    assert!(text.ends_with(&format!(", {}]", elements[3])));
    // A second summary replaces the first.
    let read = session(&after, None);
    let last = read
        .messages()
        .filter_map(|(index, _)| read.id(index))
        .last()
        .unwrap();
    let event = format!(
        r#"{{"type":"summary","id":"f","at":"2026-01-02T00:00:00Z","content":"All.","covers":["{last}","{last}"]}}"#
    );
    let grown = with(
        &read,
        &[
            event.as_str(),
            r#"{"role":"user","content":[{"type":"text","text":"5"}]}"#,
        ],
    );
    let after = written(&grown, WritePurpose::Return).unwrap().0;
    assert_eq!(texts(&session(&after, None)), ["= All.", "5"]);
}

const PANEL: &str = r#"[{"ts":1,"type":"say","say":"text"},{"ts":2,"type":"say","say":"x","conversationHistoryDeletedRange":[2,3]},{"ts":3,"type":"say","say":"api_req_started","text":"{\"tokensIn\":5,\"tokensOut\":1}","conversationHistoryDeletedRange":[1,2]}]"#;

#[test]
fn messages_hidden_by_cline_are_read_from_the_panel_file() {
    let elements = [
        message("user", "0", ""),
        message("assistant", "1", ""),
        message("user", "2", ""),
        message("assistant", "3", ""),
    ];
    let bytes = history(&elements);
    let read = session(&bytes, Some(PANEL.as_bytes()));
    assert_eq!(texts(&read), ["0", "3"]);
    let mut report = Report::default();
    assert_eq!(
        texts(&try_session(&bytes, None, &mut report).unwrap()),
        ["0", "1", "2", "3"]
    );
    assert_eq!(report.findings.len(), 1);
    assert!(!report.is_damaged());
    // New messages are appended, and omitted ones remain.
    let grown = with(&read, &[r#"{"role":"user","content":"4"}"#]);
    let after = String::from_utf8(written(&grown, WritePurpose::Return).unwrap().0).unwrap();
    let before = String::from_utf8(bytes).unwrap();
    assert_eq!(
        after,
        format!(
            "{}, {}]",
            &before[..before.len() - 1],
            r#"{"role":"user","content":"4"}"#
        )
    );
    // Hiding a message would require changes to other files.
    let refused = written(&without(&read, 0, 1), WritePurpose::Return).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Usage);
    let (new, report) = written(&through_lines(&without(&read, 0, 1)), WritePurpose::Export).unwrap();
    assert_eq!(
        String::from_utf8(new).unwrap(),
        format!("[\n{}\n]\n", elements[3])
    );
    // The list of omitted messages is lost, which is reported.
    let own = written(&through_lines(&read), WritePurpose::Export).unwrap().1;
    assert_eq!(own.losses.get(&Loss::Event), Some(&1));
    assert!(report.losses.contains_key(&Loss::Event));
}

#[test]
fn any_session_is_a_history() {
    let mut any = Session::default();
    for line in [
        r#"{"type":"session","version":1,"id":"x","created_at":"2026-01-01T00:00:00Z"}"#,
        r#"{"role":"system","content":"Rules."}"#,
        r#"{"role":"user","content":"old","id":"a"}"#,
        r#"{"role":"user","content":"hi","id":"b","timestamp":"2026-01-01T00:00:00Z"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"r"}"#,
        r#"{"role":"assistant","content":"done","reasoning":[{"type":"thinking","text":"hm","signature":"xx"}]}"#,
        r#"{"type":"summary","id":"e","at":"2026-01-01T00:00:00Z","content":"So far.","covers":["a","a"]}"#,
    ] {
        any.push_new(line.as_bytes());
    }
    let (out, report) = written(&any, WritePurpose::Export).unwrap();
    let losses: Vec<_> = report
        .losses
        .iter()
        .map(|(loss, times)| (*loss, *times))
        .collect();
    assert_eq!(losses, [(Loss::Id, 1), (Loss::Category, 1)]);
    let again = session(&out, None);
    let shown = shown(&again);
    assert_eq!(shown.len(), 6, "{shown:?}");
    assert_eq!(shown[0], "summary: So far.");
    assert!(again.text().contains(r#""signature":"xx""#));
    assert_eq!(
        written(&through_lines(&again), WritePurpose::Return).unwrap().0,
        out
    );
}

#[test]
fn input_that_is_not_a_history_is_refused() {
    for (wrong, what) in [
        (&b""[..], "not an array of messages"),
        (b"{}", "not an array of messages"),
        (b"[]", "contains no messages"),
        (b"[1]", "contains no messages"),
        (b"[{\"ro", "contains no messages"),
        (
            b"[{\"ts\":1,\"type\":\"say\",\"say\":\"text\"}]",
            "the messages that Cline or Roo display",
        ),
    ] {
        let error = try_session(wrong, None, &mut Report::default()).unwrap_err();
        assert!(error.message.contains(what), "{}", error.message);
    }
    for damaged in [
        &b"[{\"role\":\"user\"}] x"[..],
        b"[{\"role\":\"user\"}, {\"role\":\"user\"",
        b"[{\"role\":\"user\",\"content\":\"\xff\"}]",
    ] {
        let mut report = Report::default();
        assert_eq!(
            try_session(damaged, None, &mut report)
                .unwrap()
                .messages()
                .count(),
            1
        );
        assert!(report.is_damaged());
    }
    let odd = br#"[{"role":"user","content":"1","ts":1}, 5, {"x":1}, {"role":"assistant","content":{"odd":1},"ts":2}]"#;
    let mut report = Report::default();
    let read = try_session(odd, None, &mut report).unwrap();
    assert_eq!(report.findings.iter().filter(|finding| finding.damage).count(), 2);
    assert_eq!(written(&read, WritePurpose::Return).unwrap().0, odd);
}

#[test]
fn a_history_satisfies_all_laws() {
    let call = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"c.1","name":"f","input":{"a": 1},"x":2}],"ts":1,"modelInfo":{"modelId":"m"},"metrics":{"tokens":{"prompt":1}}}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c.1","content":"r"},{"type":"text","text":"and"}],"ts":2}"#;
    let reasoning = r#"{"type":"reasoning","summary":[],"encrypted_content":"zz"}"#;
    let elements = [
        message("user", "1", r#","truncationParent":"t""#),
        CUT.to_string(),
        reasoning.to_string(),
        call.to_string(),
        result.to_string(),
        message("assistant", "3", r#","reasoning_content":"hm""#),
        message("user", "4", ""),
    ];
    in_place::hold(Format::ClineRoo, history(&elements));
}

#[test]
fn a_summary_without_text_is_damage_and_preserved() {
    let elements = [
        message("user", "1", ""),
        r#"{"role":"user","content":[],"isSummary":true,"condenseId":"s"}"#.to_string(),
        message("assistant", "2", ""),
    ];
    let bytes = history(&elements);
    let mut report = Report::default();
    let read = try_session(&bytes, None, &mut report).unwrap();
    assert!(report.is_damaged(), "{report:?}");
    assert_eq!(written(&read, WritePurpose::Return).unwrap().0, bytes);
}

#[test]
fn undoing_a_summary_restores_its_messages() {
    let covered = r#","condenseParent":"s""#;
    let elements = [
        message("user", "1", covered),
        message("assistant", "2", covered),
        summary("s"),
        message("user", "3", ""),
    ];
    let read = session(&history(&elements), None);
    let event = |index: &usize| json::member(read.record(*index).body, "type") == Some(b"\"summary\"");
    let event = (0..read.len()).find(event).unwrap();
    let id = json::member_text(read.record(event).body, "id").unwrap();
    let undo = format!(r#"{{"type":"restore","id":"u","at":"2026-01-01T00:00:00Z","of":"{id}"}}"#);
    let after = written(&with(&read, &[undo]), WritePurpose::Return).unwrap().0;
    assert_eq!(texts(&session(&after, None)), ["1", "2", "3"]);
    let text = String::from_utf8(after).unwrap();
    assert!(!text.contains("isSummary"), "{text}");
}

#[test]
fn calls_of_converted_sessions_get_unique_ids() {
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call.1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let result = |text: &str| format!(r#"{{"role":"tool","tool_call_id":"call.1","content":"{text}"}}"#);
    let mut any = Session::default();
    any.push_new(br#"{"type":"session","version":1,"id":"x"}"#);
    for text in ["a", "b"] {
        any.push_new(call.as_bytes());
        any.push_new(result(text).as_bytes());
    }
    let out = String::from_utf8(written(&any, WritePurpose::Export).unwrap().0).unwrap();
    assert_eq!(out.matches(r#""call_1""#).count(), 2, "{out}");
    assert_eq!(out.matches(r#""call_1_2""#).count(), 2, "{out}");
}

#[test]
fn dropping_unsigned_reasoning_keeps_other_members() {
    let history = r#"[{"role":"user","content":"a","ts":1},{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"b"}],"ts":2}]"#;
    let (out, report) = written(
        &through_lines(&session(history.as_bytes(), None)),
        WritePurpose::Export,
    )
    .unwrap();
    assert!(report.losses.is_empty(), "{:?}", report.losses);
    assert!(
        json::same(history.as_bytes(), out.trim_ascii()),
        "{}",
        String::from_utf8_lossy(&out)
    );
}
