//! Property tests: any session can be written, and is read back unchanged.

use super::super::serialize;
use super::written::{rewritten, session, written};
use super::{lines, read_one};
use crate::error::Position;
use crate::format::WritePurpose;
use crate::model::json::{self, Dialect};
use crate::model::record::Record;
use crate::model::time;
use proptest::prelude::*;
use serde_json::{Map, Value, json as value};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c \\n\"\\\\/é😀\u{7f}\u{0}\u{2028}]{0,6}",
        prop::sample::select(vec![
            "result: 4", "Rules.", " ", "null", "NaN", "convo", "penguin"
        ])
        .prop_map(String::from),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn moment() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..60u8, 0..1_000_000u32)
            .prop_map(|(second, micros)| format!("2026-01-02T03:04:{second:02}.{micros:06}Z")),
        Just("2026-06-02T03:04:05+05:30".to_string()),
        Just("2026-06-02T03:04:05.123456789Z".to_string()),
        Just("yesterday".to_string()),
    ]
}

/// Optional members of a line, with values.
fn line() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "system", "developer", "user", "assistant", "tool", "function", "", " ",
    ]);
    let content = prop_oneof![text().prop_map(Value::from), any_value()];
    let calls = value!([{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    let known = (
        prop::option::of(prop_oneof![Just(calls), Just(value!([])), any_value()]),
        prop::option::of(prop_oneof![text().prop_map(Value::from), any_value()]),
        prop::option::of(prop_oneof![text().prop_map(Value::from), any_value()]),
        prop::option::of(moment()),
        prop::option::of(prop::sample::select(vec![
            "system", "context", "dialog", "system_output", "mine",
        ])),
        prop::option::of(prop_oneof![(0..9u8).prop_map(Value::from), any_value()]),
        prop::option::of(any_value()),
    );
    let others = prop::collection::vec((text(), any_value()), 0..3);
    (names, content, known, others).prop_map(|(role, content, known, others)| {
        let (calls, answers, name, timestamp, category, tokens, metadata) = known;
        let mut line = Map::new();
        line.insert("role".into(), role.into());
        line.insert("content".into(), content);
        let members = [
            ("tool_calls", calls),
            ("tool_call_id", answers),
            ("name", name),
            ("timestamp", timestamp.map(Value::from)),
            ("category", category.map(Value::from)),
            ("tokens", tokens),
            ("metadata", metadata),
        ];
        for (name, member) in members {
            // Null is equivalent to an absent member.
            if let Some(member) = member.filter(|member| !member.is_null()) {
                line.insert(name.into(), member);
            }
        }
        for (name, member) in others {
            // Names that this program reserves are not tested here.
            if !name.is_empty() && !matches!(name.as_str(), "convo" | "penguin") {
                line.entry(name).or_insert(member);
            }
        }
        Value::Object(line)
    })
}

/// A line without members that Penguin always adds or encodes differently.
fn plain(line: &str) -> Map<String, Value> {
    let mut members = serde_json::from_str::<Map<String, Value>>(line).unwrap();
    members.remove("id");
    let record = Record::parse(line.as_bytes(), Position { line: 1, offset: 1 });
    let category = record.message().unwrap().category().name();
    let odd = members.get("category").is_some_and(|category| category == "mine");
    if !odd {
        members.insert("category".into(), category.into());
    }
    if let Some(time) = members
        .get("timestamp")
        .and_then(Value::as_str)
        .and_then(time::moment)
    {
        members.insert("timestamp".into(), time.to_string().into());
    }
    if members.get("tokens").is_some_and(|tokens| *tokens == 0) {
        members.remove("tokens");
    }
    if members
        .get("metadata")
        .is_some_and(|metadata| *metadata == value!({}))
    {
        members.remove("metadata");
    }
    members
}

fn is_unexpected(line: &Value) -> bool {
    line["metadata"].get("penguin").is_some() || line["metadata"].get("convo").is_some()
}

proptest! {
    #[test]
    fn a_session_is_restored(all in prop::collection::vec(line(), 0..6)) {
        let all: Vec<Value> = all.into_iter().filter(|line| !is_unexpected(line)).collect();
        let texts: Vec<String> = all.iter().map(Value::to_string).collect();
        let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
        let given = session(&borrowed);
        let (text, report) = written(&given, WritePurpose::Export);
        prop_assert!(report.losses.is_empty(), "{:?}\n{text}", report.losses);
        prop_assert!(text.is_ascii());
        let now = rewritten(&given);
        prop_assert_eq!(now.len(), all.len() + 1);
        for (line, was) in now[1..].iter().zip(&texts) {
            let (mut line, was) = (plain(line), plain(was));
            if let Some(metadata) = line.get_mut("metadata").and_then(Value::as_object_mut) {
                // Members that the reader adds.
                metadata.remove("penguin");
                let odd = metadata.get("convo").filter(|_| metadata.len() == 1 && !was["metadata"].is_object());
                if let Some(odd) = odd.cloned() {
                    line.insert("metadata".into(), odd);
                }
            }
            if line.get("metadata").is_some_and(|metadata| *metadata == value!({})) {
                line.remove("metadata");
            }
            prop_assert_eq!(line, was);
        }
        // A second round trip changes nothing.
        let borrowed: Vec<&str> = now.iter().map(String::as_str).collect();
        prop_assert_eq!(written(&session(&borrowed), WritePurpose::Export).0, text);
    }

    #[test]
    fn a_document_is_restored(
        messages in prop::collection::vec((text(), any_value(), any_value(), 0..5u64, any::<bool>()), 0..5),
        metadata in any_value(),
        records in any_value(),
    ) {
        let names = ["SYSTEM", "CONTEXT", "DIALOG", "SYSTEM_OUTPUT", "INTERNAL"];
        let object = |value: &Value| match value {
            Value::Object(members) => {
                let mut members = members.clone();
                members.retain(|name, _| !matches!(name.as_str(), "message_count" | "token_count" | "convo"));
                Value::Object(members)
            }
            other => value!({"x": other}),
        };
        let sum: u64 = messages.iter().map(|message| message.3).sum();
        let elements: Vec<Value> = messages.iter().enumerate().map(|(nth, (id, content, inner, tokens, odd))| value!({
            "role": if *odd { "tool" } else { "system" },
            "content": content,
            "category": names[nth],
            "id": format!("{id}{nth}"),
            "timestamp": "2026-01-02T03:04:05.000001",
            "metadata": object(inner),
            "tokens": tokens,
            "agent_id": if *odd { value!(id) } else { Value::Null },
            "recipient_id": null,
            "message_type": if *odd { "message" } else { "status" },
        })).collect();
        let mut metadata = object(&metadata);
        metadata["message_count"] = elements.len().into();
        metadata["token_count"] = sum.into();
        let records = if records.is_array() { records } else { value!([records]) };
        let document = value!({
            "id": "s", "created_at": "2026-01-02T03:04:05", "last_active": "2026-01-02T03:04:06",
            "metadata": metadata, "messages": elements,
            "llm_request_lifecycles": [], "tool_call_records": records, "tool_result_records": [],
        });
        let mut text = Vec::new();
        serialize::push(&mut text, document.to_string().as_bytes(), 0);
        // Maps are sorted by name here, but in Penguin's order in the document.
        let text = in_penguins_order(&text);
        let (read, report) = read_one("s.json", &text);
        prop_assert!(!report.is_damaged(), "{:?}", report.findings);
        let read = lines(&read);
        let borrowed: Vec<&str> = read.iter().map(String::as_str).collect();
        let (now, report) = written(&session(&borrowed), WritePurpose::Export);
        prop_assert_eq!(now, text);
        prop_assert!(report.losses.is_empty());
    }
}

/// The document with all members in Penguin's order.
fn in_penguins_order(text: &[u8]) -> String {
    let ordered = |object: &[u8], names: &[&str]| {
        let mut built = json::ObjectBuilder::default();
        for name in names {
            built.raw(name, json::member(object, name).unwrap());
        }
        built.finish()
    };
    let of_message = [
        "role", "content", "category", "id", "timestamp", "metadata", "tokens", "agent_id", "recipient_id",
        "message_type",
    ];
    let of_session = [
        "id", "created_at", "last_active", "metadata", "messages", "llm_request_lifecycles",
        "tool_call_records", "tool_result_records",
    ];
    let messages = json::member(text, "messages")
        .and_then(|raw| json::elements(raw, Dialect::Python))
        .unwrap();
    let messages: Vec<Vec<u8>> = messages
        .into_iter()
        .map(|raw| ordered(raw, &of_message))
        .collect();
    let messages = [b"[", messages.join(&b","[..]).as_slice(), b"]"].concat();
    let whole = json::with_members(&ordered(text, &of_session), &[("messages", Some(&messages))]).unwrap();
    let mut out = Vec::new();
    serialize::push(&mut out, &whole, 0);
    String::from_utf8(out).unwrap()
}
