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
    let (all, report, _) = bed::read(Format::ClaudeAiExport, "conversations.json", input);
    (all, report)
}

/// The records of the sessions of a conversation with these messages.
pub fn read(messages: &[Value]) -> Vec<Vec<Value>> {
    let all = sessions(conversation(messages).to_string().as_bytes()).0.unwrap();
    let record = |session: &Session, index| serde_json::from_slice(session.record(index).body).unwrap();
    let records = |session: &Session| (0..session.len()).map(|index| record(session, index)).collect();
    all.iter().map(records).collect()
}

/// A conversation with these messages.
pub fn conversation(messages: &[Value]) -> Value {
    json!({
        "uuid": "talk", "name": "A talk", "summary": "Short.", "created_at": "2026-06-02T21:00:02.214000Z",
        "account": {"uuid": "me"}, "chat_messages": messages,
    })
}

/// A message with these blocks.
pub fn message(uuid: &str, sender: &str, content: Value) -> Value {
    json!({
        "uuid": uuid, "sender": sender, "text": "the same again", "content": content,
        "created_at": "2026-06-02T21:00:08+02:00", "attachments": [], "files": [],
    })
}

pub fn after(parent: &str, mut message: Value) -> Value {
    message["parent_message_uuid"] = json!(parent);
    message
}

/// A block of text.
pub fn text(text: &str) -> Value {
    json!({"type": "text", "text": text, "citations": [], "flags": null})
}
