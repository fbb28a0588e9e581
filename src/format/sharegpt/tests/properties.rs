//! Property tests: any record is restored.

use super::{FORMAT, opened, through_lines, written};
use crate::format::WritePurpose;
use crate::model::json;
use proptest::prelude::*;
use serde_json::{Value, json};

fn from() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "human", "user", "gpt", "chatgpt", "assistant", "system", "function_call", "observation", "tool",
        "critic", "",
    ])
    .prop_map(str::to_string)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-z\"\\\\{}\u{e9}\n ]{0,12}".prop_map(Value::String),
        Just(json!(null)),
        Just(json!(7)),
        Just(json!([{"type": "text", "value": "t"}])),
        prop::sample::select(vec![
            r#"{"name": "f", "arguments": {"x": 1}}"#,
            r#"{"name":"f","arguments":{}}"#,
            r#"{"name": "f", "arguments": "{\"x\": 1}"}"#,
            r#"{"name": "f", "arguments": "plain"}"#,
            r#"{"name": "f", "arguments": 5, "id": "c"}"#,
            r#"[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"y": [1]}}]"#,
            r#"[{"name": "f", "arguments": {}}]"#,
            "[]",
            "{}",
        ])
        .prop_map(|text| Value::String(text.to_string())),
    ]
}

fn part() -> impl Strategy<Value = Value> {
    (
        prop::sample::select(vec!["text", "reasoning", "tool_call", "image", "video"]),
        value(),
    )
        .prop_map(|(kind, value)| json!({"type": kind, "value": value}))
}

fn turn() -> impl Strategy<Value = Value> {
    let plain = (from(), value(), any::<bool>()).prop_map(|(from, value, weight)| match weight {
        true => json!({"from": from, "value": value, "weight": 0.5}),
        false => json!({"from": from, "value": value}),
    });
    // A string as a turn cannot be distinguished from a damaged one in the record stream.
    let other = value().prop_filter("a string", |value| !value.is_string());
    prop_oneof![8 => plain, 1 => other, 1 => Just(json!({"value": "x"}))]
}

fn chat_message() -> impl Strategy<Value = Value> {
    let content = prop_oneof![3 => prop::collection::vec(part(), 0..4).prop_map(Value::Array), 1 => value()];
    (from(), content, any::<bool>()).prop_map(|(role, content, loss)| match loss {
        true => json!({"role": role, "content": content, "loss_weight": 0.0}),
        false => json!({"role": role, "content": content}),
    })
}

fn record() -> impl Strategy<Value = Value> {
    let extra = prop::collection::hash_map(
        prop::sample::select(vec!["system", "tools", "id", "images", "chosen"]),
        value(),
        0..4,
    );
    let list = prop_oneof![
        prop::collection::vec(turn(), 0..8).prop_map(|list| ("conversations", list)),
        prop::collection::vec(chat_message(), 0..8).prop_map(|list| ("messages", list)),
    ];
    (list, extra).prop_map(|((name, list), extra)| {
        let mut record = json!({name: list});
        for (name, value) in extra {
            record[name] = value;
        }
        record
    })
}

proptest! {
    #[test]
    fn records_are_restored_as_equal_json(record in record()) {
        let text = record.to_string();
        let file = opened(FORMAT, &text);
        prop_assert_eq!(file.sessions.len(), 1);
        prop_assert_eq!(file.with(&[]), text.as_str());
        let session = &file.sessions[0];
        let (again, _) = written(&through_lines(session), WritePurpose::Return);
        prop_assert!(json::same(&again, text.as_bytes()), "{}\n{}\n{}", text, String::from_utf8_lossy(&again), session.text());
    }
}
