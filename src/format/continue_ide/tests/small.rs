//! Tests with small documents.

use super::{session, shown, texts, through_lines, try_session, with, without, written};
use crate::format::report::{Loss, Report};
use crate::format::{DocumentSource, WritePurpose, continue_ide};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;

fn item(role: &str, text: &str, more: &str) -> String {
    format!(r#"{{"message":{{"role":"{role}","content":"{text}"}},"contextItems":[]{more}}}"#)
}

const CALL: &str = r#"{"id":"c","type":"function","function":{"name":"ls","arguments":"{\"a\": 5e-06}"}}"#;

fn calls(states: &str) -> String {
    format!(
        r#"{{"message":{{"role":"assistant","content":"","toolCalls":[{CALL}]}},"contextItems":[],"toolCallStates":{states}}}"#
    )
}

const DONE: &str = r#"[{"toolCallId":"c","status":"done","output":[{"content":"a.txt","name":"n"}]}]"#;
const RESULT: &str = r#"{"message":{"role":"tool","content":"a.txt","toolCallId":"c"},"contextItems":[]}"#;

fn document<I: AsRef<str>>(items: &[I]) -> Vec<u8> {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    let items = items.join(",\n    ");
    format!("{{\n  \"sessionId\": \"s\",\n  \"title\": \"t\",\n  \"history\": [\n    {items}\n  ],\n  \"usage\": {{\"totalCost\": 5e-06}}\n}}").into_bytes()
}

fn same(one: &[u8], other: &[u8]) {
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(json::same(one, other), "\n{}\n{}", show(one), show(other));
}

#[test]
fn items_are_messages_and_are_restored() {
    let u = |text: &str| item("user", text, "");
    let cases: Vec<(Vec<String>, &[&str])> = vec![
        (vec![u("1"), item("assistant", "2", "")], &["1", "2"]),
        // Reasoning belongs to the next reply, or is a separate message.
        (vec![item("thinking", "hm", ""), item("assistant", "2", ""), item("thinking", "ha", ""), u("3")], &["2", "", "3"]),
        // A result item takes precedence over the state of its call; otherwise, the state has the result.
        (vec![u("1"), calls(DONE), RESULT.to_string()], &["1", "", "a.txt"]),
        (vec![u("1"), calls(DONE), u("3")], &["1", "", "a.txt", "3"]),
        (vec![u("1"), calls("[]")], &["1", ""]),
        (vec![u("1"), calls(r#"[{"toolCallId":"c","status":"errored","output":[{"content":"x"},{"content":"y"}]}]"#)], &["1", "", "x\ny"]),
        // Covers everything up to and including the item with the last summary.
        (vec![u("1"), item("assistant", "2", r#","conversationSummary":"S""#), u("3")], &["= S", "3"]),
        (
            vec![u("1"), item("user", "2", r#","conversationSummary":"S""#), item("assistant", "3", r#","conversationSummary":"T""#)],
            &["= T"],
        ),
        (vec![item("system", "rules", ""), item("critic", "odd", ""), u("1")], &["rules", "odd", "1"]),
        (
            vec![
                r#"{"message":{"role":"user","id":"own","content":[{"type":"text","text":"1"},{"type":"imageUrl","imageUrl":{"url":"data:image/png;base64,AA=="}}]},"contextItems":[{"id":{"x":1},"content":"c"}],"editorState":{}}"#.to_string(),
                r#"{"message":{"role":"assistant","content":"2","usage":{"promptTokens":1,"completionTokens":2}},"contextItems":[],"reasoning":{"active":false,"text":"shown"}}"#.to_string(),
                r#"{"message":{"role":"thinking","content":"","redactedThinking":"zz"},"contextItems":[]}"#.to_string(),
                r#"{"message":{"role":"assistant","content":"3"},"x":1}"#.to_string(),
                r#"{"message":{"role":"assistant","content":"4","toolCalls":[{"odd":1}]},"contextItems":[]}"#.to_string(),
            ],
            &["1", "2", "3", "4"],
        ),
    ];
    for (items, wanted) in cases {
        let bytes = document(&items);
        let read = session(&bytes);
        assert_eq!(texts(&read), wanted, "{items:?}");
        assert_eq!(
            String::from_utf8(written(&read, WritePurpose::Return).0).unwrap(),
            String::from_utf8(bytes.clone()).unwrap()
        );
        let (again, report) = written(&through_lines(&read), WritePurpose::Export);
        assert!(report.losses.is_empty(), "{report:?}");
        same(&again, &bytes);
    }
}

#[test]
fn a_cut_removes_items_and_changes_no_other() {
    let items = [
        item("user", "1", ""),
        item("assistant", "2", ""),
        item("user", "3", ""),
        item("assistant", "4", ""),
    ];
    let read = session(&document(&items));
    for changed in [without(&read, 0, 2), through_lines(&without(&read, 0, 2))] {
        same(&written(&changed, WritePurpose::Return).0, &document(&items[2..]));
    }
    assert_eq!(
        written(&without(&read, 0, 2), WritePurpose::Return).0,
        document(&items[2..])
    );
    // The covered messages remain before the summary.
    let summed = item("assistant", "2", r#","conversationSummary":"S""#);
    let items = [items[0].clone(), summed, items[2].clone(), items[3].clone()];
    let read = session(&document(&items));
    assert_eq!(
        written(&without(&read, 0, 1), WritePurpose::Return).0,
        document(&[&items[..2], &items[3..]].concat())
    );
}

#[test]
fn a_summary_is_stored_in_its_last_covered_item() {
    let items = [
        item("user", "1", ""),
        item("assistant", "2", ""),
        item("user", "3", ""),
        item("assistant", "4", ""),
    ];
    let read = session(&document(&items));
    let event =
        r#"{"type":"summary","id":"e","at":"2026-01-01T00:00:00Z","content":"S","covers":["msg_1","msg_2"]}"#;
    for summed in [with(&read, &[event]), through_lines(&with(&read, &[event]))] {
        let after = written(&summed, WritePurpose::Return).0;
        assert_eq!(texts(&session(&after)), ["= S", "3", "4"]);
        let wanted = item("assistant", "2", r#","conversationSummary":"S""#);
        same(&after, &document(&[&items[0], &wanted, &items[2], &items[3]]));
    }
    // After undoing the summary, the messages are visible again.
    let summed = [
        &items[0],
        &item("assistant", "2", r#","conversationSummary":"S""#),
        &items[2],
    ];
    let read = session(&document(&summed));
    let summary = (0..read.len()).find_map(|line| {
        let record = read.record(line);
        let event = record.event().filter(|event| event.name() == "summary")?;
        event.id().map(|id| id.into_owned())
    });
    let undo = format!(
        r#"{{"type":"restore","id":"r","at":"2026-01-01T00:00:00Z","of":"{}"}}"#,
        summary.unwrap()
    );
    for restored in [with(&read, &[&undo]), through_lines(&with(&read, &[&undo]))] {
        let after = written(&restored, WritePurpose::Return).0;
        same(&after, &document(&items[..3]));
    }
    // In a session from another format, the summary covers nothing.
    let mut any = Session::default();
    for line in [
        r#"{"role":"user","content":"old","id":"a"}"#,
        r#"{"role":"user","content":"hi"}"#,
        r#"{"type":"summary","id":"e","at":"2026-01-01T00:00:00Z","content":"S","covers":["a","a"]}"#,
    ] {
        any.push_new(line.as_bytes());
    }
    assert_eq!(
        texts(&session(&written(&any, WritePurpose::Export).0)),
        ["= S", "hi"]
    );
}

#[test]
fn tool_results_are_written_where_the_program_reads_them() {
    let grown = r#"{"role":"tool","tool_call_id":"c","content":"new"}"#;
    let read = session(&document(&[item("user", "1", ""), calls("[]")]));
    let after = written(&with(&read, &[grown]), WritePurpose::Return).0;
    let text = String::from_utf8(after.clone()).unwrap();
    assert_eq!(texts(&session(&after)), ["1", "", "new"]);
    assert_eq!(text.matches("\"new\"").count(), 1, "{text}");
    // An edited result is changed in all its positions.
    for items in [vec![calls(DONE), RESULT.to_string()], vec![calls(DONE)]] {
        let read = session(&document(&items));
        let view = View::replay(&read);
        let id = read.id(view.items[1].line().unwrap()).unwrap();
        let edit = format!(
            r#"{{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"s","edit":[{{"id":"{id}","content":"short"}}]}}"#
        );
        let changed = with(&read, &[edit]);
        for changed in [through_lines(&changed), changed] {
            let after = written(&changed, WritePurpose::Return).0;
            assert_eq!(shown(&session(&after)), shown(&changed));
            let text = String::from_utf8(after).unwrap();
            assert!(!text.contains("a.txt"), "{text}");
        }
    }
}

#[test]
fn any_session_is_a_document() {
    let mut any = Session::default();
    for line in [
        r#"{"type":"session","version":1,"id":"x","title":"T","metadata":{"cwd":"/w"}}"#,
        r#"{"role":"system","content":"Rules."}"#,
        r#"{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"bad"}}],"reasoning":[{"type":"thinking","text":"hm","signature":"xx"}],"usage":{"input_tokens":5,"output_tokens":2}}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"r","metadata":{"is_error":true}}"#,
        r#"{"role":"tool","tool_call_id":"nobody","content":"lost"}"#,
        r#"{"role":"assistant","content":"done","reasoning":[{"type":"encrypted","encrypted_content":"zz"}]}"#,
    ] {
        any.push_new(line.as_bytes());
    }
    let (out, report) = written(&any, WritePurpose::Export);
    let losses: Vec<_> = report
        .losses
        .iter()
        .map(|(loss, times)| (*loss, *times))
        .collect();
    assert_eq!(losses, [(Loss::Reasoning, 1), (Loss::Signature, 1)]);
    let again = session(&out);
    assert_eq!(texts(&again), ["Rules.", "hi", "", "r", "lost", "done"]);
    assert_eq!(again.header_text("title").as_deref(), Some("T"));
    let text = String::from_utf8(out.clone()).unwrap();
    for kept in [
        "\"errored\"",
        "\"signature\": \"xx\"",
        "\"promptTokens\": 5",
        "\"workspaceDirectory\": \"/w\"",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    same(&written(&through_lines(&again), WritePurpose::Export).0, &out);
}

#[test]
fn the_index_contains_the_start_of_a_session() {
    let bytes = document(&[item("user", "1", "")]);
    let index = br#"[{"sessionId":"s","title":"t","dateCreated":"1750104807000"}]"#;
    let neighbor = |name: &str| Ok((name == "sessions.json").then(|| index.to_vec()));
    let source = DocumentSource {
        neighbor: &neighbor,
        ..DocumentSource::alone(&bytes)
    };
    let read = continue_ide::read::read(&source, &mut Report::default()).unwrap();
    assert_eq!(
        read[0].header_text("created_at").as_deref(),
        Some("2025-06-16T20:13:27Z")
    );
}

#[test]
fn input_that_is_not_a_session_is_refused() {
    for (wrong, what) in [
        (&b""[..], "no Continue session"),
        (b"{}", "no Continue session"),
        (b"{\"history\":1}", "no Continue session"),
        (b"[{\"sessionId\":\"s\",\"dateCreated\":\"1\"}]", "an array"),
    ] {
        let error = try_session(wrong, &mut Report::default()).unwrap_err();
        assert!(error.message.contains(what), "{}", error.message);
    }
    let element = r#"{"message":{"role":"user","content":"a"}}"#;
    for damaged in [
        format!(r#"{{"history":[{element}]}} x"#),
        format!(r#"{{"history":[{element}, {{"mess"#),
    ] {
        let mut report = Report::default();
        assert_eq!(
            try_session(damaged.as_bytes(), &mut report)
                .unwrap()
                .messages()
                .count(),
            1
        );
        assert!(report.is_damaged());
    }
    let odd = document(&[
        item("user", "1", ""),
        "5".to_string(),
        "{}".to_string(),
        r#"{"message":{"role":"user"}}"#.to_string(),
    ]);
    let mut report = Report::default();
    let read = try_session(&odd, &mut report).unwrap();
    assert_eq!(report.findings.len(), 2);
    assert_eq!(written(&read, WritePurpose::Return).0, odd);
    same(&written(&through_lines(&read), WritePurpose::Return).0, &odd);
}

#[test]
fn a_call_without_an_id_is_damage_and_hides_no_other() {
    let both = format!(r#"{CALL},{}"#, CALL.replace(r#""id":"c""#, r#""id":null"#));
    let whole = calls(DONE);
    let message = whole.replace(CALL, &both);
    let mut report = Report::default();
    let session = try_session(&document(&[message]), &mut report).unwrap();
    assert!(report.is_damaged());
    let view = View::replay(&session);
    let calls: Vec<_> = view
        .messages(&session)
        .map(|message| message.tool_calls().len())
        .collect();
    assert_eq!(calls, [1, 0]);
}
