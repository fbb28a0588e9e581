//! Tests of reading exports.

mod damage;
mod fixtures;
mod small;

use crate::format::Format;
use crate::format::report::Report;
use crate::format::tests::bed;
use crate::model::session::Session;
use serde_json::{Value, json};

pub fn sessions(input: &[u8]) -> (crate::error::Result<Vec<Session>>, Report) {
    let (all, report, _) = bed::read(Format::ChatgptExport, "conversations.json", input);
    (all, report)
}

/// The records of each session of a conversation with these nodes.
pub fn read(current: &str, nodes: &[Value]) -> Vec<Vec<Value>> {
    let all = sessions(conversation(current, nodes).as_bytes()).0.unwrap();
    all.iter().map(records).collect()
}

/// The records of a session after its header.
pub fn records(session: &Session) -> Vec<Value> {
    let record = |index| serde_json::from_slice(session.record(index).body).unwrap();
    (0..session.len()).map(record).collect()
}

/// A conversation with these nodes; each holds its own id.
pub fn conversation(current: &str, nodes: &[Value]) -> String {
    let mapping: Vec<String> = nodes
        .iter()
        .map(|node| format!("{}:{node}", node["id"]))
        .collect();
    format!(
        r#"{{"title":"A talk","id":"talk","conversation_id":"talk","create_time":1784164500.25,"mapping":{{{}}},"current_node":"{current}","default_model_slug":"m-1"}}"#,
        mapping.join(",")
    )
}

pub fn text_node(id: &str, parent: &str, role: &str, text: &str) -> Value {
    node(id, parent, role, json!({"content_type": "text", "parts": [text]}))
}

pub fn node(id: &str, parent: &str, role: &str, content: Value) -> Value {
    json!({"id": id, "parent": parent, "children": [], "message": {
        "id": id, "author": {"role": role}, "content": content, "recipient": "all", "create_time": null,
    }})
}

/// A node with a tool call of the model.
pub fn call(id: &str, parent: &str, tool: &str, text: &str) -> Value {
    let mut node = text_node(id, parent, "assistant", text);
    node["message"]["recipient"] = json!(tool);
    node
}
