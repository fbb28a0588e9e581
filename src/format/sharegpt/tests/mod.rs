//! Tests with small records, and with public training sets.

mod properties;

use crate::format::report::{Loss, Report};
use crate::format::tests::bed::{self, through_lines};
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::roles;
use crate::format::tests::truth;
use crate::format::{Format, WritePurpose};
use crate::model::json;
use crate::model::session::Session;
use serde_json::{Value, json};

const FORMAT: Format = Format::Sharegpt;

/// Writes a session as a record; returns the bytes and the report.
fn written(session: &Session, purpose: WritePurpose) -> (Vec<u8>, Report) {
    bed::written(FORMAT, session, purpose)
}

/// A session with these lines.
fn session(lines: &[Value]) -> Session {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    bed::with(&Session::default(), &lines)
}

/// The records of a session after the header.
fn records(session: &Session) -> Vec<Value> {
    let record = |index| serde_json::from_slice(session.record(index).body).unwrap();
    (1..session.len()).map(record).collect()
}

/// The messages of the only session of an input.
fn messages(input: &str) -> Vec<Value> {
    let file = opened(FORMAT, input);
    assert_eq!(file.sessions.len(), 1);
    records(&file.sessions[0])
}

fn turns(record: &[u8]) -> Vec<Value> {
    let record: Value = serde_json::from_slice(record).unwrap();
    record["conversations"].as_array().unwrap().clone()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn training_sets_are_restored() {
    for truth in truth::files("sharegpt") {
        let mut report = Report::default();
        let sessions = truth::read(FORMAT, &truth.path, &mut report).unwrap();
        assert!(
            report.findings.is_empty() && report.losses.is_empty(),
            "{report:?}"
        );
        let bytes = std::fs::read(&truth.path).unwrap();
        let set: Result<Vec<Value>, _> = serde_json::from_slice(&bytes);
        let lines = || String::from_utf8_lossy(&bytes).into_owned();
        let set = set.unwrap_or_else(|_| {
            let lines = lines();
            let lines = lines.lines().filter(|line| !line.is_empty());
            lines.map(|line| serde_json::from_str(line).unwrap()).collect()
        });
        assert_eq!(set.len(), sessions.len());
        for (source, session) in set.iter().zip(&sessions) {
            assert!(!session.text().contains(r#""raw":"#), "{}", session.text());
            let (record, report) = written(&through_lines(session), WritePurpose::Export);
            let record: Value = serde_json::from_slice(&record).unwrap();
            assert_eq!(&record, source);
            assert!(report.losses.is_empty(), "{report:?}");
        }
    }
}

/// Turns with all kinds of data.
const TURNS: &str = r#"{"id":7,"conversations":[
{"from":"user","value":"a\u00e9","weight":0},
{"from":"function_call","value":"[{\"name\": \"f\", \"arguments\": {\"x\": 1.50}}, {\"name\": \"g\", \"arguments\": \"raw\"}]"},
{"from":"observation","value":"one"},{"from":"tool","value":"two"},{"from":"observation","value":"three"},
{"from":"gpt","value":"Done."},{"from":"function_call","value":"no call"},{"from":"critic","value":null}
],"system":"Be terse.","tools":"[ ]","source":"s"}"#;

/// Messages whose content is parts.
const PARTS: &str = r#"{"messages":[{"role":"user","content":[{"type":"image","value":"a.png"},{"type":"text","value":"Look."}],"loss_weight":0.0},
{"role":"assistant","content":[{"type":"reasoning","value":"Hm."},{"type":"text","value":"Yes."},{"type":"tool_call","value":"{\"name\": \"f\", \"arguments\": {}}"}]},
{"role":"tool","content":[{"type":"text","value":"ok"}]}]}"#;

#[test]
fn turns_are_messages() {
    let found = messages(TURNS);
    assert_eq!(
        roles(&found),
        [
            "system", "user", "assistant", "tool", "tool", "tool", "assistant", "assistant", "critic"
        ]
    );
    let calls = &found[2]["tool_calls"];
    assert_eq!(calls[0]["id"], "call_1_1");
    assert_eq!(
        calls[0]["function"],
        json!({"name": "f", "arguments": "{\"x\": 1.50}"})
    );
    assert_eq!(calls[1]["function"]["arguments"], "raw");
    assert_eq!(found[3]["tool_call_id"], "call_1_1");
    assert_eq!(found[4]["tool_call_id"], "call_1_2");
    assert!(found[5].get("tool_call_id").is_none());
    assert_eq!(found[7]["content"], "no call");
    let file = opened(FORMAT, TURNS);
    assert_eq!(file.report.findings.len(), 2, "{:?}", file.report);
    assert!(!file.report.is_damaged() && file.report.losses.is_empty());
    let header = file.sessions[0].text();
    assert!(
        header.starts_with(r#"{"type":"session","version":1,"id":"7","#),
        "{header}"
    );
    assert!(
        header.contains(r#""tools":"[ ]""#) && header.contains(r#""source":"s""#),
        "{header}"
    );
    assert!(header.contains(r#"a\u00e9"#));
    hold(FORMAT, TURNS);
}

#[test]
fn parts_with_values_are_messages() {
    let found = messages(PARTS);
    assert_eq!(found[0]["content"][0]["image_url"]["url"], "a.png");
    assert_eq!(found[1]["content"], "Yes.");
    assert_eq!(found[1]["reasoning"], json!([{"type": "text", "text": "Hm."}]));
    assert_eq!(found[2]["tool_call_id"], found[1]["tool_calls"][0]["id"]);
    hold(FORMAT, PARTS);
}

#[test]
fn a_user_message_closes_open_calls() {
    let found = messages(
        r#"{"conversations":[{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{}}"},{"from":"human","value":"Well?"},{"from":"observation","value":"x"}]}"#,
    );
    assert!(found[2].get("tool_call_id").is_none());
}

#[test]
fn any_session_is_a_record() {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}});
    let session = session(&[
        json!({"type": "session", "version": 1, "id": "talk", "title": "t", "metadata": {"tools": [1]}}),
        json!({"role": "system", "content": "Be terse."}),
        json!({"role": "user", "content": "Hi.", "id": "m", "timestamp": "2026-01-01T00:00:00Z"}),
        json!({"role": "assistant", "content": "Let me see.", "tool_calls": [call("a", "{\"x\":1}"), call("b", "{bad")], "reasoning": [{"type": "thought", "text": "hm", "thoughtSignature": "c2ln"}]}),
        json!({"role": "tool", "tool_call_id": "b", "content": "two"}),
        json!({"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {"url": "u"}}]}),
        json!({"role": "user", "content": "1"}),
        json!({"role": "user", "content": "2"}),
    ]);
    let (record, report) = written(&session, WritePurpose::Export);
    let whole: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(
        (&whole["id"], &whole["system"], &whole["tools"]),
        (&json!("talk"), &json!("Be terse."), &json!([1]))
    );
    let turn = |from: &str, value: &str| json!({"from": from, "value": value});
    assert_eq!(
        turns(&record),
        [
            turn("human", "Hi."),
            turn("gpt", "Let me see."),
            turn("function_call", r#"{"name": "f", "arguments": {"x":1}}"#),
            turn("observation", "one"),
            turn("function_call", r#"{"name": "f", "arguments": "{bad"}"#),
            turn("observation", "two"),
            turn("human", "1"),
            turn("human", "2"),
        ]
    );
    let expected = [
        Loss::Id,
        Loss::Timestamp,
        Loss::Reasoning,
        Loss::Signature,
        Loss::Attachment,
        Loss::Header,
        Loss::Order,
    ];
    let expected = expected.into_iter().map(|loss| (loss, 1)).collect();
    assert_eq!(report.losses, expected);
}

#[test]
fn new_turns_have_the_sender_names_of_the_record() {
    let record = r#"{"conversations":[{"from":"user","value":"a"},{"from":"assistant","value":"b"}]}"#;
    let more = [
        (0, r#"{"role":"user","content":"c"}"#),
        (0, r#"{"role":"assistant","content":"d"}"#),
    ];
    let after = opened(FORMAT, record).with(&more);
    let from: Vec<_> = turns(after.as_bytes())
        .iter()
        .map(|turn| turn["from"].clone())
        .collect();
    assert_eq!(from, ["user", "assistant", "user", "assistant"]);
}

#[test]
fn instructions_change_in_place() {
    let file = opened(FORMAT, TURNS);
    let id = file.sessions[0].id(1).unwrap();
    let change = |what: Value| {
        let mut event =
            json!({"type":"compact","id":"evt_1","at":"2026-01-01T00:00:00Z","strategy":"s","drop":[]});
        event[what["name"].as_str().unwrap()] = what["value"].clone();
        event.to_string()
    };
    let edit = change(json!({"name": "edit", "value": [{"id": id, "content": "Be brief."}]}));
    assert_eq!(file.with(&[(0, &edit)]), TURNS.replace("Be terse.", "Be brief."));
    let drop = change(json!({"name": "drop", "value": [id]}));
    let after: Value = serde_json::from_str(&file.with(&[(0, &drop)])).unwrap();
    let mut expected: Value = serde_json::from_str(TURNS).unwrap();
    expected.as_object_mut().unwrap().remove("system");
    assert_eq!(after, expected);
    // The same in the record stream.
    let edited = bed::with(&through_lines(&file.sessions[0]), &[edit]);
    let (record, _) = written(&edited, WritePurpose::Export);
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(record["system"], "Be brief.");
    assert_eq!(record["conversations"], expected["conversations"]);
}

#[test]
fn a_changed_call_with_a_text_becomes_two_turns() {
    let file = opened(FORMAT, TURNS);
    let id = file.sessions[0].id(3).unwrap();
    let edit = json!({"type":"compact","id":"evt_1","at":"2026-01-01T00:00:00Z","strategy":"s","edit":[{"id":id,"content":"Well."}]});
    let after = file.with(&[(0, &edit.to_string())]);
    let after = turns(after.as_bytes());
    assert_eq!(after.len(), 9);
    assert_eq!(after[1]["value"], "Well.");
    assert_eq!(after[2], turns(TURNS.as_bytes())[1]);
}

#[test]
fn other_records_are_damage_and_other_turns_are_kept() {
    let text = r#"[{"instruction":"a","output":"b"},{"conversations":[7,{"value":"x"},{"from":"gpt","value":"y"}]},{"instruction":"c"}]"#;
    let file = opened(FORMAT, text);
    assert_eq!(file.sessions.len(), 1);
    assert_eq!(file.report.findings.len(), 4, "{:?}", file.report);
    assert_eq!(file.with(&[]), text);
    let (record, _) = written(&through_lines(&file.sessions[0]), WritePurpose::Return);
    assert_eq!(
        turns(&record),
        [
            json!(7),
            json!({"value": "x"}),
            json!({"from": "gpt", "value": "y"})
        ]
    );
}

#[test]
fn annotations_of_older_versions_restore_records() {
    let lines = [
        json!({"type":"session","version":1,"id":"7","metadata":{"tools":"[ ]","sharegpt":{"form":"turns","members":{"id":7,"source":"s"}}}}),
        json!({"role":"system","content":"Be terse.","metadata":{"sharegpt":{"system":true}}}),
        json!({"role":"user","content":"a","metadata":{"sharegpt":{"from":"user","members":{"weight":0}}}}),
        json!({"role":"assistant","content":null,"tool_calls":[{"id":"call_1_1","type":"function","function":{"name":"f","arguments":"{}"}}],"metadata":{"sharegpt":{"array":true}}}),
        json!({"role":"tool","tool_call_id":"call_1_1","content":"one"}),
    ];
    let (record, report) = written(&session(&lines), WritePurpose::Export);
    assert!(report.losses.is_empty(), "{report:?}");
    let expected = r#"{"id":7,"source":"s","system":"Be terse.","tools":"[ ]","conversations":[{"from":"user","value":"a","weight":0},{"from":"function_call","value":"[{\"name\": \"f\", \"arguments\": {}}]"},{"from":"observation","value":"one"}]}"#;
    assert!(
        json::same(&record, expected.as_bytes()),
        "{}",
        String::from_utf8_lossy(&record)
    );
    let lines = [
        json!({"type":"session","version":1,"id":"p","metadata":{"sharegpt":{"form":"parts"}}}),
        json!({"role":"user","content":"a"}),
    ];
    let (record, _) = written(&session(&lines), WritePurpose::Export);
    let expected = r#"{"messages":[{"role":"user","content":[{"type":"text","value":"a"}]}]}"#;
    assert!(json::same(&record, expected.as_bytes()));
}
