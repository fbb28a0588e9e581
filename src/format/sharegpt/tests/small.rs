//! Conversion of single turns and messages.

use super::{messages, session, sessions, written};
use crate::format::report::{Loss, Report};
use crate::format::{Purpose, Returned};
use crate::model::origin::Origin;
use crate::model::view::View;
use serde_json::{Value, json};
use std::sync::Arc;

fn turns(record: &[u8]) -> Vec<Value> {
    let record: Value = serde_json::from_slice(record).unwrap();
    record["conversations"].as_array().unwrap().clone()
}

#[test]
fn turns_are_messages() {
    let record = r#"{"id":7,"conversations":[
{"from":"user","value":"a\u00e9","weight":0},
{"from":"function_call","value":"[{\"name\": \"f\", \"arguments\": {\"x\": 1.50}}, {\"name\": \"g\", \"arguments\": \"raw\"}]"},
{"from":"observation","value":"one"},{"from":"tool","value":"two"},{"from":"observation","value":"three"},
{"from":"gpt","value":"Done."},{"from":"function_call","value":"no call"},{"from":"critic","value":null}
],"system":"Be terse.","tools":"[ ]","source":"s"}"#;
    let found = messages(record);
    let of = |name: &str| {
        found
            .iter()
            .map(|message| message[name].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("role"),
        [
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
            "tool",
            "assistant",
            "assistant",
            "critic"
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
    let (all, report) = sessions(record.as_bytes());
    assert_eq!(report.losses.get(&Loss::Part), Some(&1));
    assert_eq!(report.findings.len(), 1, "the role is told");
    assert!(!report.is_damaged());
    let header = all[0].text();
    assert!(
        header.starts_with(r#"{"type":"session","version":1,"id":"7","#),
        "{header}"
    );
    assert!(
        header.contains(r#""tools":"[ ]""#) && header.contains(r#""source":"s""#),
        "{header}"
    );
    assert!(header.contains(r#"a\u00e9"#));
}

#[test]
fn parts_with_values_are_messages() {
    let found = messages(
        r#"{"messages":[{"role":"user","content":[{"type":"image","value":"a.png"},{"type":"text","value":"Look."}],"loss_weight":0.0},
{"role":"assistant","content":[{"type":"reasoning","value":"Hm."},{"type":"text","value":"Yes."},{"type":"tool_call","value":"{\"name\": \"f\", \"arguments\": {}}"}]},
{"role":"tool","content":[{"type":"text","value":"ok"}]}]}"#,
    );
    assert_eq!(found[0]["content"][0]["image_url"]["url"], "a.png");
    assert_eq!(found[1]["content"], "Yes.");
    assert_eq!(found[1]["reasoning"], json!([{"type": "text", "text": "Hm."}]));
    assert_eq!(found[2]["tool_call_id"], found[1]["tool_calls"][0]["id"]);
}

#[test]
fn a_question_ends_what_nothing_has_answered() {
    let found = messages(
        r#"{"conversations":[{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{}}"},{"from":"human","value":"Well?"},{"from":"observation","value":"x"}]}"#,
    );
    assert!(found[2].get("tool_call_id").is_none());
}

#[test]
fn any_session_is_a_record() {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}});
    let talk = session(&[
        json!({"type": "session", "version": 1, "id": "talk", "title": "t"}),
        json!({"role": "system", "content": "Be terse."}),
        json!({"role": "user", "content": "Hi.", "id": "m", "timestamp": "2026-01-01T00:00:00Z"}),
        json!({"role": "assistant", "content": "Let me see.", "tool_calls": [call("a", "{\"x\":1}"), call("b", "{bad")], "reasoning": [{"type": "text", "text": "hm"}]}),
        json!({"role": "tool", "tool_call_id": "b", "content": "two"}),
        json!({"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {"url": "u"}}]}),
        json!({"role": "user", "content": "1"}),
        json!({"role": "user", "content": "2"}),
    ]);
    let (record, report) = written(&talk, Purpose::Export);
    let whole: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(
        (&whole["id"], &whole["system"]),
        (&json!("talk"), &json!("Be terse."))
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
    for (loss, times) in [
        (Loss::Id, 1),
        (Loss::Timestamp, 1),
        (Loss::Reasoning, 1),
        (Loss::Attachment, 1),
        (Loss::Order, 1),
        (Loss::Header, 1),
    ] {
        assert_eq!(report.losses.get(&loss), Some(&times), "{loss:?}");
    }
    assert!(!report.losses.contains_key(&Loss::Orphan));
}

#[test]
fn what_is_added_speaks_in_the_words_of_the_record() {
    let record = br#"{"conversations":[{"from":"user","value":"a"},{"from":"assistant","value":"b"}]}"#;
    let (all, _) = sessions(record);
    let mut talk = all[0].clone();
    talk.push_new(br#"{"role":"user","content":"c"}"#);
    talk.push_new(br#"{"role":"assistant","content":"d"}"#);
    let bytes = record.to_vec();
    talk.set_origin(Arc::new(Origin {
        bytes,
        ..Origin::default()
    }));
    let returned = Returned {
        session: &talk,
        view: &View::replay(&talk),
        changed: true,
    };
    let mut out = Vec::new();
    super::super::write::back(&[returned], &mut out, &mut Report::default()).unwrap();
    let from: Vec<_> = turns(&out).iter().map(|turn| turn["from"].clone()).collect();
    assert_eq!(from, ["user", "assistant", "user", "assistant"]);
}

#[test]
fn what_is_no_record_or_no_turn_is_carried_along() {
    let (all, report) = sessions(br#"[{"instruction":"a","output":"b"},{"conversations":[7,{"value":"x"},{"from":"gpt","value":"y"}]}]"#);
    assert_eq!(all.len(), 2);
    assert_eq!(report.findings.len(), 3);
    let (record, _) = written(&all[1], Purpose::Return);
    assert_eq!(
        turns(&record),
        [
            json!(7),
            json!({"value": "x"}),
            json!({"from": "gpt", "value": "y"})
        ]
    );
}
