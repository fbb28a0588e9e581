//! Converts between content blocks and native parts.

use crate::format::request::media::{Bytes, MediaKind, RequestMedia};
use crate::format::request::request_part::extra_members;
use crate::model::json::{self, ObjectBuilder};
use std::borrow::Cow;

pub enum ConvertedBlock {
    /// A part of the content.
    Part(Vec<u8>),
    /// Reasoning.
    Thought(Vec<u8>),
    /// A call of this type that is also in `tool_calls`.
    Call(String),
}

fn kind(block: &[u8]) -> Cow<'_, str> {
    json::member_text(block, "type").unwrap_or_default()
}

/// Converts a block; a string is text.
pub fn read(raw: &[u8]) -> ConvertedBlock {
    if raw.starts_with(b"\"") {
        return ConvertedBlock::Part(crate::format::request::draft::text_part(raw));
    }
    match kind(raw).as_ref() {
        "thinking" => ConvertedBlock::Thought(renamed(raw, "thinking", "text")),
        "reasoning" => ConvertedBlock::Thought(renamed(raw, "reasoning", "text")),
        "redacted_thinking" => ConvertedBlock::Thought(raw.to_vec()),
        kind @ ("tool_use" | "tool_call" | "invalid_tool_call" | "input_json_delta") => {
            ConvertedBlock::Call(kind.to_string())
        }
        _ => {
            let media = RequestMedia::of(raw).or_else(|| standard(raw));
            let part = media.and_then(|media| media.chat());
            ConvertedBlock::Part(part.unwrap_or_else(|| raw.to_vec()))
        }
    }
}

/// An attachment in LangChain's own form.
fn standard(raw: &[u8]) -> Option<RequestMedia<'_>> {
    let text = |name: &str| json::member_text(raw, name);
    let kind = match kind(raw).as_ref() {
        "image" => MediaKind::Image,
        "audio" => MediaKind::Audio,
        "file" => MediaKind::File,
        _ => return None,
    };
    let bytes = match (text("base64").or_else(|| text("data")), text("mime_type")) {
        (Some(data), Some(mime)) => Bytes::Here(mime, data),
        (None, mime) => Bytes::At(text("url")?, mime),
        _ => return None,
    };
    Some(RequestMedia {
        kind,
        bytes,
        name: text("filename"),
        detail: None,
    })
}

/// Encodes reasoning as a block.
pub fn reasoning_block(part: &[u8]) -> Vec<u8> {
    match kind(part).as_ref() {
        "thinking" => renamed(part, "text", "thinking"),
        "redacted_thinking" => part.to_vec(),
        _ => {
            let mut block = ObjectBuilder::default();
            block.text("type", "reasoning");
            for (name, value) in extra_members(&renamed(part, "text", "reasoning"), &["type"]) {
                block.raw(&name, value);
            }
            block.finish()
        }
    }
}

/// Encodes a call as a block of this type.
pub fn call(call: &[u8], kind: &str) -> Vec<u8> {
    let own = |name| json::member(call, name).unwrap_or(b"null");
    let arguments = if kind == "tool_call" { "args" } else { "input" };
    let mut block = ObjectBuilder::default();
    block
        .text("type", kind)
        .raw("id", own("id"))
        .raw("name", own("name"))
        .raw(arguments, own("args"));
    block.finish()
}

/// An object with a member renamed.
fn renamed(object: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    for (name, value) in extra_members(object, &[]) {
        built.raw(if name == from { to } else { &name }, value);
    }
    built.finish()
}
