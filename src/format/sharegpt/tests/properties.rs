//! Property tests: records are restored, and all representable data is written.

use super::{session, sessions, through_lines, written};
use crate::format::Purpose;
use crate::model::json;
use proptest::prelude::*;
use serde_json::{Value, json};

fn from() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "human",
        "user",
        "gpt",
        "chatgpt",
        "assistant",
        "system",
        "function_call",
        "observation",
        "tool",
        "critic",
        "",
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
    prop_oneof![8 => plain, 1 => value(), 1 => Just(json!({"value": "x"}))]
}

fn spoken() -> impl Strategy<Value = Value> {
    let content = prop_oneof![3 => prop::collection::vec(part(), 0..4).prop_map(Value::Array), 1 => value()];
    (from(), content, any::<bool>()).prop_map(|(role, content, loss)| match loss {
        true => json!({"role": role, "content": content, "loss_weight": 0.0}),
        false => json!({"role": role, "content": content}),
    })
}

fn record() -> impl Strategy<Value = Value> {
    let beside = prop::collection::hash_map(
        prop::sample::select(vec!["system", "tools", "id", "images", "chosen"]),
        value(),
        0..4,
    );
    let list = prop_oneof![
        prop::collection::vec(turn(), 0..8).prop_map(|list| ("conversations", list)),
        prop::collection::vec(spoken(), 0..8).prop_map(|list| ("messages", list)),
    ];
    (list, beside).prop_map(|((name, list), beside)| {
        let mut record = json!({name: list});
        for (name, value) in beside {
            record[name] = value;
        }
        record
    })
}

/// Texts, calls and results in order.
fn said(lines: &[Value]) -> Vec<Value> {
    let mut said = Vec::new();
    for line in lines {
        if line["content"].as_str().is_some_and(|text| !text.is_empty()) && line["role"] != "tool" {
            said.push(json!([line["role"], line["content"]]));
        }
        for call in line["tool_calls"].as_array().into_iter().flatten() {
            said.push(json!([call["function"]["name"], call["function"]["arguments"]]));
            let answer = lines.iter().find(|line| line["tool_call_id"] == call["id"]);
            said.extend(answer.map(|answer| json!(["result", answer["content"]])));
        }
    }
    said
}

fn exchange() -> impl Strategy<Value = (String, String, Vec<(String, String)>)> {
    let arguments = prop::sample::select(vec![r#"{"x":1}"#, "{ }", "{bad", "", "[1]", "\"s\""]);
    let calls = prop::collection::vec((arguments.prop_map(str::to_string), "[a-z]{0,4}"), 0..4);
    ("[a-z]{1,5}", "[a-z]{0,5}", calls)
}

proptest! {
    #[test]
    fn records_come_back_as_the_same_json(record in record()) {
        let text = record.to_string();
        let (all, _) = sessions(text.as_bytes());
        prop_assert_eq!(all.len(), 1);
        let (again, _) = written(&through_lines(&all[0]), Purpose::Return);
        prop_assert!(json::same(&again, text.as_bytes()), "{}\n{}\n{}", text, String::from_utf8_lossy(&again), all[0].text());
    }

    #[test]
    fn what_was_said_is_carried(talk in prop::collection::vec(exchange(), 1..5)) {
        let mut lines = vec![json!({"role": "system", "content": "s"})];
        for (nth, (question, answer, calls)) in talk.into_iter().enumerate() {
            lines.push(json!({"role": "user", "content": question}));
            let made: Vec<Value> = calls.iter().enumerate().map(|(at, (arguments, _))| {
                json!({"id": format!("c{nth}_{at}"), "type": "function", "function": {"name": "f", "arguments": arguments}})
            }).collect();
            let mut message = json!({"role": "assistant", "content": answer});
            if !made.is_empty() {
                message["tool_calls"] = Value::Array(made);
            }
            lines.push(message);
            for (at, (_, result)) in calls.iter().enumerate().rev() {
                lines.push(json!({"role": "tool", "tool_call_id": format!("c{nth}_{at}"), "content": result}));
            }
        }
        let (record, _) = written(&session(&lines), Purpose::Export);
        let (all, _) = sessions(&record);
        let again: Vec<Value> = (1..all[0].len())
            .map(|index| serde_json::from_slice(all[0].record(index).body).unwrap())
            .collect();
        prop_assert_eq!(said(&lines), said(&again));
    }

    #[test]
    fn no_bytes_are_too_odd(input in prop::collection::vec(any::<u8>(), 1..200)) {
        let input = [b"{}\n", &input[..]].concat();
        sessions(&input);
    }
}
