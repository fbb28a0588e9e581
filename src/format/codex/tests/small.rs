//! Tests with small logs: grouping of messages, forks, usage, and changed lines.

use super::{cut, returned, session, shown, written};
use crate::format::report::{Loss, Report};
use crate::format::{Format, WritePurpose, write};
use crate::model::json;
use crate::model::session::of_lines;
use crate::model::session::{Class, Session};
use crate::model::view::View;

pub const META: &str = r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"019e8377-7ad8-7470-898e-dbe92ce983e3","timestamp":"2026-01-01T00:00:00Z","cwd":"/w","model_provider":"openai"}}"#;

pub fn item(payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{payload}}}"#)
}

pub fn event(payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:02Z","type":"event_msg","payload":{payload}}}"#)
}

pub fn turn(id: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-01-01T00:00:01Z","type":"turn_context","payload":{{"turn_id":"{id}","model":"m"}}}}"#
    )
}

pub fn user(text: &str) -> String {
    item(&format!(
        r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#
    ))
}

pub fn reply(text: &str) -> String {
    item(&format!(
        r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#
    ))
}

pub fn thought(id: u8) -> String {
    item(&format!(
        r#"{{"type":"reasoning","id":"rs_{id}","summary":[],"encrypted_content":"e{id}"}}"#
    ))
}

pub fn call(id: &str) -> String {
    item(&format!(
        r#"{{"type":"function_call","name":"f","arguments":"{{}}","call_id":"{id}"}}"#
    ))
}

pub fn output(id: &str) -> String {
    item(&format!(
        r#"{{"type":"function_call_output","call_id":"{id}","output":"r"}}"#
    ))
}

fn used(input: u64) -> String {
    event(&format!(
        r#"{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{input},"cached_input_tokens":0,"output_tokens":1,"reasoning_output_tokens":0,"total_tokens":{}}}}}}}"#,
        input + 1
    ))
}

pub fn log(lines: &[String]) -> Vec<u8> {
    let mut text = format!("{META}\n");
    for line in lines {
        text += line;
        text.push('\n');
    }
    text.into_bytes()
}

/// Roles of the messages, with `r` for reasoning, `t` for text and `c` for calls of the model.
fn shape(session: &Session) -> Vec<String> {
    let of = |index: usize| {
        let record = session.record(index);
        let message = record.message().unwrap();
        let text = !message.text().is_empty();
        let reasoning_parts = message
            .reasoning
            .and_then(|raw| json::elements(raw, json::Dialect::Strict));
        let mut shape = message.role_name().into_owned();
        if shape == "assistant" {
            shape = "r".repeat(reasoning_parts.map_or(0, |all| all.len()));
            shape += if text { "t" } else { "" };
            shape += &"c".repeat(message.tool_calls().len());
        }
        shape
    };
    session.messages().map(|(index, _)| of(index)).collect()
}

#[test]
fn reasoning_text_and_calls_are_one_message() {
    let bytes = log(&[
        user("q"),
        thought(1),
        event(r#"{"type":"agent_message","message":"a"}"#),
        reply("a"),
        call("1"),
        call("2"),
        output("1"),
        output("2"),
        thought(2),
        item(r#"{"type":"web_search_call","id":"w","status":"completed"}"#),
        thought(3),
        call("3"),
        thought(4),
        reply("b"),
        reply("c"),
    ]);
    let (session, report) = session(&bytes);
    assert!(report.findings.is_empty());
    assert_eq!(
        shape(&session),
        ["user", "rtcc", "tool", "tool", "rrc", "rt", "t"]
    );
    // The lines are restored in order, including those between the items of a message.
    let again = written(&session);
    let (ours, theirs) = (super::full_lines(&again), super::full_lines(&bytes));
    assert_eq!(ours.len(), theirs.len());
    assert!(ours.iter().zip(theirs).all(|(one, other)| json::same(one, other)));
}

#[test]
fn usage_is_the_difference_of_totals() {
    let bytes = log(&[
        user("q"),
        reply("a"),
        used(10),
        used(10),
        reply("b"),
        used(25),
        reply("c"),
        used(4),
    ]);
    let (session, _) = session(&bytes);
    let inputs: Vec<String> = session
        .messages()
        .filter_map(|(index, _)| {
            let usage = json::member(session.record(index).body, "usage")?.to_vec();
            Some(String::from_utf8_lossy(json::member(&usage, "input_tokens")?).into_owned())
        })
        .collect();
    // A total that fell has restarted.
    assert_eq!(inputs, ["10", "15", "4"]);
}

#[test]
fn records_inherited_by_a_fork_are_marked() {
    let meta = META.replace(
        "\"cwd\"",
        "\"forked_from_id\":\"019e8304-dff2-79e4-8df0-a7a2fd64797d\",\"cwd\"",
    );
    let parent = META.replace(
        "019e8377-7ad8-7470-898e-dbe92ce983e3",
        "019e8304-dff2-79e4-8df0-a7a2fd64797d",
    );
    let lines = [
        meta,
        parent,
        turn("019e8305-4dcd-7e44-8596-2d14623229ff"),
        user("old"),
        reply("old"),
        used(100),
        turn("019e8377-888b-77a2-86c5-37c187a60271"),
        user("new"),
        reply("new"),
        used(110),
    ];
    let (session, _) = session(lines.join("\n").as_bytes());
    assert_eq!(
        session.header_text("id").as_deref(),
        Some("019e8377-7ad8-7470-898e-dbe92ce983e3")
    );
    let bodies: Vec<String> = session
        .messages()
        .map(|(index, _)| String::from_utf8_lossy(session.record(index).body).into_owned())
        .collect();
    let inherited: Vec<bool> = bodies
        .iter()
        .map(|body| body.contains("\"inherited\":true"))
        .collect();
    assert_eq!(inherited, [true, true, false, false]);
    assert!(!bodies[1].contains("\"usage\""));
    assert!(bodies[3].contains("\"input_tokens\":10,"), "{}", bodies[3]);
}

#[test]
fn a_compaction_replaces_earlier_messages() {
    let replaced = r#"{"timestamp":"2026-01-01T00:00:03Z","type":"compacted","payload":{"message":"m","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"short"}]}]}}"#;
    let summed = r#"{"timestamp":"2026-01-01T00:00:03Z","type":"compacted","payload":{"message":"sum"}}"#;
    let texts = |lines: &[String]| {
        let (session, _) = session(&log(lines));
        let view = View::replay(&session);
        assert!(view.dangling.is_empty(), "{:?}", view.dangling);
        let text = |item: &crate::model::view::Item| match item.summary(&session) {
            Some(text) => text.into_owned(),
            None => item.message(&session).unwrap().text().into_owned(),
        };
        assert!(json::same(
            &written(&session).replace_newlines(),
            &log(lines).replace_newlines()
        ));
        view.items.iter().map(text).collect::<Vec<_>>()
    };
    let (replaced, summed) = (replaced.to_string(), summed.to_string());
    let content = json::quoted(&crate::model::summary::quoted("sum"));
    let content = String::from_utf8(content).unwrap();
    let item = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"short"}]}"#;
    let around = format!("{item},{},{item}", item.replace("\"short\"", &content));
    let quoted = replaced.replace(item, &around);
    assert_eq!(
        texts(&[user("q"), quoted.clone(), reply("b")]),
        ["short", "sum", "short", "b"]
    );
    // In place, the rest of the history keeps its order.
    let bytes = log(&[user("q"), quoted]);
    let (mut changed, _) = session(&bytes);
    let first = json::member_string(View::replay(&changed).items[0].body(&changed), "id").unwrap();
    let drop = format!(r#"{{"type":"compact","id":"e","at":"x","strategy":"s","drop":["{first}"]}}"#);
    changed.push_new(drop.as_bytes());
    let lines = String::from_utf8(returned(&changed, &bytes)).unwrap();
    let lines: Vec<String> = lines.lines().skip(1).map(String::from).collect();
    assert_eq!(texts(&lines), ["sum", "short"]);
    assert_eq!(
        texts(&[user("q"), reply("a"), replaced.clone(), reply("b")]),
        ["short", "b"]
    );
    assert_eq!(
        texts(&[user("q"), reply("a"), summed.clone(), reply("b")]),
        ["sum", "b"]
    );
    assert_eq!(
        texts(&[
            user("q"),
            summed.clone(),
            reply("b"),
            replaced.clone(),
            reply("c")
        ]),
        ["short", "c"]
    );
    assert_eq!(
        texts(&[user("q"), replaced.clone(), reply("b"), replaced.clone()]),
        ["short"]
    );
    assert_eq!(
        texts(&[user("q"), replaced, reply("b"), summed.clone(), reply("c")]),
        ["sum", "c"]
    );
    assert_eq!(texts(&[summed.clone(), user("q"), summed]), ["sum"]);
}

/// Lines as the elements of an array, for a single comparison.
trait AsArray {
    fn replace_newlines(&self) -> Vec<u8>;
}

impl AsArray for Vec<u8> {
    fn replace_newlines(&self) -> Vec<u8> {
        [b"[", super::full_lines(self).join(&b',').as_slice(), b"]"].concat()
    }
}

#[test]
fn a_cut_also_removes_events_about_the_removed_messages() {
    let bytes = log(&[
        event(r#"{"type":"task_started","turn_id":"t1"}"#),
        turn("t1"),
        user("old"),
        event(r#"{"type":"user_message","message":"old"}"#),
        reply("gone"),
        event(r#"{"type":"task_complete"}"#),
        event(r#"{"type":"task_started","turn_id":"t2"}"#),
        turn("t2"),
        user("new"),
        call("1"),
        event(r#"{"type":"exec_command_end","call_id":"1","exit_code":0}"#),
        output("1"),
        reply("kept"),
    ]);
    let (session, _) = session(&bytes);
    let cut = cut(&session, 2).unwrap();
    let after = returned(&cut, &bytes);
    let lines = super::full_lines(&bytes);
    let wanted: Vec<&[u8]> = [&lines[..1], &lines[7..]].concat();
    assert_eq!(super::full_lines(&after), wanted);
    assert_eq!(shown(&super::session(&after).0), shown(&cut));
    // The same without the original bytes, from the records alone.
    let built = written(&super::through_lines(&cut));
    assert!(json::same(&built.replace_newlines(), &after.replace_newlines()));
}

#[test]
fn display_events_do_not_become_user_messages() {
    let bytes = log(&[
        user("gone"),
        event(r#"{"type":"task_started"}"#),
        event(r#"{"type":"user_message","message":"u"}"#),
    ]);
    let (session, _) = session(&bytes);
    let after = returned(&cut(&session, 0).unwrap(), &bytes);
    assert!(shown(&super::session(&after).0).is_empty());
}

#[test]
fn a_summary_adds_one_line() {
    let bytes = log(&[user("q"), reply("a"), user("r"), reply("b")]);
    let (mut session, _) = session(&bytes);
    let ids: Vec<String> = session
        .messages()
        .filter_map(|(index, _)| session.id(index))
        .collect();
    let summary = format!(
        r#"{{"type":"summary","id":"evt_s","at":"2026-01-02T00:00:00Z","content":"it was \"so\"","covers":["{}","{}"]}}"#,
        ids[0], ids[1]
    );
    session.push_new(summary.as_bytes());
    let after = returned(&session, &bytes);
    let (lines, were) = (super::full_lines(&after), super::full_lines(&bytes));
    assert_eq!(lines.len(), were.len() + 1);
    assert_eq!([&lines[..3], &lines[4..]].concat(), were);
    assert_eq!(json::member(lines[3], "type"), Some(&b"\"compacted\""[..]));
    let (again, _) = super::session(&after);
    let view = View::replay(&again);
    assert_eq!(view.items[0].summary(&again).unwrap(), "it was \"so\"");
    let texts = view.messages(&again).map(|message| message.text().into_owned());
    assert_eq!(texts.collect::<Vec<_>>(), ["r", "b"]);
}

#[test]
fn an_edit_changes_only_its_line() {
    let bytes = log(&[
        user("q"),
        call("1"),
        call("2"),
        output("1"),
        output("2"),
        reply("a"),
    ]);
    let (mut session, _) = session(&bytes);
    let ids: Vec<String> = session
        .messages()
        .filter_map(|(index, _)| session.id(index))
        .collect();
    let edit = format!(
        r#"{{"type":"compact","id":"evt_e","at":"2026-01-02T00:00:00Z","strategy":"s","edit":[{{"id":"{}","content":"short"}}],"insert":[{{"before":"{}","message":{{"role":"user","content":"put in"}}}}]}}"#,
        ids[2], ids[4]
    );
    session.push_new(edit.as_bytes());
    let after = returned(&session, &bytes);
    let (lines, were) = (super::full_lines(&after), super::full_lines(&bytes));
    assert_eq!(lines[..4], were[..4]);
    assert_eq!(
        json::member(json::member(lines[4], "payload").unwrap(), "output"),
        Some(&b"\"short\""[..])
    );
    assert_eq!(lines[5], were[5]);
    // The message and its display event.
    assert_eq!(lines.len(), were.len() + 2);
    assert_eq!(lines[8], were[6]);
    assert_eq!(shown(&super::session(&after).0).len(), 6);
}

#[test]
fn messages_only_in_the_display_log_are_not_duplicated() {
    let bytes = log(&[
        event(r#"{"type":"user_message","message":"q","images":[]}"#),
        reply("a"),
        event(r#"{"type":"user_message","message":"r"}"#),
    ]);
    let (mut session, _) = session(&bytes);
    assert_eq!(shape(&session), ["user", "t", "user"]);
    assert!(json::same(
        &written(&session).replace_newlines(),
        &bytes.replace_newlines()
    ));
    session.push_new(br#"{"role":"user","content":"s"}"#);
    let after = returned(&session, &bytes);
    assert!(after.starts_with(&bytes));
    assert_eq!(shape(&super::session(&after).0), ["user", "t", "user", "user"]);
}

#[test]
fn the_older_format_has_no_envelopes() {
    let lines = [
        r#"{"id":"x","timestamp":"2025-01-01T00:00:00Z","instructions":null}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}"#,
        r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"1"}"#,
        r#"{"type":"function_call_output","call_id":"1","output":"r"}"#,
    ];
    let bytes = (lines.join("\n") + "\n").into_bytes();
    let (session, report) = session(&bytes);
    assert!(report.findings.is_empty());
    assert_eq!(session.header_text("id").as_deref(), Some("x"));
    assert_eq!(shape(&session), ["user", "c", "tool"]);
    assert!(json::same(
        &written(&session).replace_newlines(),
        &bytes.replace_newlines()
    ));
}

#[test]
fn a_session_converted_to_a_log_reads_back_equal() {
    let session = of_lines(&[
        r#"{"type":"session","version":1,"id":"x","created_at":"2026-01-01T00:00:00Z","title":"t"}"#,
        r#"{"role":"system","content":"rule"}"#,
        r#"{"role":"user","content":"hi","timestamp":"2026-01-01T00:00:01Z"}"#,
        r#"{"role":"assistant","content":"well","model":"gpt","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"r"}"#,
        r#"{"role":"assistant","content":"done","reasoning":[{"type":"reasoning","summary":[],"encrypted_content":"e"}]}"#,
    ]);
    let view = View::replay(&session);
    let (mut out, mut report) = (Vec::new(), Report::default());
    write(
        Format::Codex,
        &session,
        &view,
        WritePurpose::Export,
        &mut out,
        &mut report,
    )
    .unwrap();
    // Only the original account can decrypt it.
    assert_eq!(report.losses.get(&Loss::Signature), Some(&1));
    let (again, damage) = super::session(&out);
    assert!(damage.findings.is_empty(), "{damage:?}");
    assert_eq!(again.header_text("title").as_deref(), Some("t"));
    assert_eq!(shape(&again), ["system", "user", "tc", "tool", "rt"]);
    let text = String::from_utf8(out).unwrap();
    let count = |what: &str| text.matches(what).count();
    assert_eq!(
        (
            count("turn_context"),
            count("user_message"),
            count("agent_message")
        ),
        (1, 1, 2)
    );
    assert!(text.contains(r#""model":"gpt""#));
    assert!(!(0..again.len()).any(|index| again.class(index) == Class::Unreadable));
}
