//! The blocks of a message: what they say as pieces of a record, and what else they have as notes on it.

use super::element::kind;
use crate::format::request::contents::joined;
use crate::format::request::draft;
use crate::format::request::mcp;
use crate::format::request::piece::{add_rest, array, quoted};
use crate::model::json::{self, Dialect, ObjectBuilder};

/// A piece of a record.
pub enum Piece {
    /// Of the content.
    Said(Vec<u8>),
    /// Of the reasoning.
    Thought(Vec<u8>),
    /// A call.
    Call(Vec<u8>),
}

fn string<'b>(object: &'b [u8], name: &str) -> Option<&'b [u8]> {
    json::member(object, name).filter(|raw| raw.starts_with(b"\""))
}

/// What a block says, and what it has beside that.
pub fn read(block: &[u8]) -> (Piece, Vec<u8>) {
    let note = |known: &[&str]| left(block, known);
    match kind(block).as_ref() {
        "text" if string(block, "text").is_some() => {
            let text = string(block, "text").unwrap_or(b"\"\"");
            (Piece::Said(draft::text_part(text)), note(&["text"]))
        }
        "thinking" if string(block, "thinking").is_some() => {
            let mut thought = ObjectBuilder::default();
            thought
                .text("type", "thinking")
                .raw("text", string(block, "thinking").unwrap_or(b"\"\""));
            if let Some(signature) = string(block, "signature") {
                thought.raw("signature", signature);
            }
            (Piece::Thought(thought.finish()), note(&["thinking", "signature"]))
        }
        "redactedThinking" if string(block, "data").is_some() => {
            let mut thought = ObjectBuilder::default();
            thought
                .text("type", "redacted_thinking")
                .raw("data", string(block, "data").unwrap_or(b"\"\""));
            (Piece::Thought(thought.finish()), note(&["data"]))
        }
        "toolRequest" if string(block, "id").is_some() => request(block),
        kind => {
            let mut note = ObjectBuilder::default();
            note.text("type", kind);
            (Piece::Said(mcp::part(block)), note.finish())
        }
    }
}

/// The members of an object beside those of these names.
fn left(object: &[u8], known: &[&str]) -> Vec<u8> {
    let mut left = ObjectBuilder::default();
    add_rest(&mut left, object, known);
    left.finish()
}

/// A call. One that could not be read by goose has neither name nor arguments.
fn request(block: &[u8]) -> (Piece, Vec<u8>) {
    let id = string(block, "id").unwrap_or(b"\"\"");
    let call = json::member(block, "toolCall").unwrap_or(b"{}");
    let value = json::member(call, "value").filter(|raw| raw.starts_with(b"{"));
    let Some(value) = value else {
        return (
            Piece::Call(draft::call(id, b"\"\"", b"\"\"")),
            left(block, &["id"]),
        );
    };
    let arguments = json::member(value, "arguments").unwrap_or(b"");
    let name = string(value, "name").unwrap_or(b"\"\"");
    let made = draft::call(id, name, &quoted(&String::from_utf8_lossy(arguments)));
    let mut note = ObjectBuilder::default();
    add_rest(&mut note, block, &["id", "toolCall"]);
    let mut inner = ObjectBuilder::default();
    add_rest(&mut inner, call, &["value"]);
    inner.raw("value", left(value, &["name", "arguments"]));
    note.raw("toolCall", inner.finish());
    (Piece::Call(made), note.finish())
}

/// A result.
pub struct Answer {
    /// The id of its call.
    pub id: Vec<u8>,
    /// The content.
    pub content: Vec<u8>,
    /// Whether the tool failed.
    pub failed: bool,
    /// What the block has beside that.
    pub note: Vec<u8>,
}

/// The result that a block is; none of any other block.
pub fn answer(block: &[u8]) -> Option<Answer> {
    if kind(block) != "toolResponse" {
        return None;
    }
    let id = string(block, "id")?.to_vec();
    let result = json::member(block, "toolResult").unwrap_or(b"{}");
    let mut note = ObjectBuilder::default();
    add_rest(&mut note, block, &["id", "toolResult"]);
    let mut inner = ObjectBuilder::default();
    let value = json::member(result, "value");
    let (mut content, mut failed) = (b"\"\"".to_vec(), false);
    match value {
        // Older ones are the list of blocks itself.
        Some(list) if list.starts_with(b"[") => {
            let (said, notes) = inside(list);
            content = said;
            add_rest(&mut inner, result, &["value"]);
            inner.raw("value", notes);
        }
        Some(value) if value.starts_with(b"{") => {
            let (said, notes) = inside(json::member(value, "content").unwrap_or(b"[]"));
            content = said;
            failed = json::member(value, "isError") == Some(b"true");
            add_rest(&mut inner, result, &["value"]);
            let mut left = ObjectBuilder::default();
            add_rest(&mut left, value, &["content"]);
            left.raw("content", notes);
            inner.raw("value", left.finish());
        }
        _ => {
            failed = json::member(result, "status") == Some(b"\"error\"");
            if let Some(error) = string(result, "error") {
                content = error.to_vec();
            }
            add_rest(&mut inner, result, &["error"]);
        }
    }
    note.raw("toolResult", inner.finish());
    Some(Answer {
        id,
        content,
        failed,
        note: note.finish(),
    })
}

/// The content that blocks of a result are, and notes on them.
fn inside(list: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let blocks = json::elements(list, Dialect::Strict).unwrap_or_default();
    let (mut parts, mut notes) = (Vec::new(), Vec::new());
    for block in blocks {
        match string(block, "text").filter(|_| kind(block) == "text") {
            Some(text) => {
                parts.push(draft::text_part(text));
                notes.push(left(block, &["text"]));
            }
            None => {
                parts.push(mcp::part(block));
                let mut note = ObjectBuilder::default();
                note.text("type", &kind(block));
                notes.push(note.finish());
            }
        }
    }
    (joined(&parts, b"[]"), array(&notes))
}
