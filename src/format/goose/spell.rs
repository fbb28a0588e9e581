//! Records as the message that they were, or as a new one.

use super::NAME;
use super::element::kind;
use crate::format::grouped;
use crate::format::report::{Loss, Report};
use crate::format::request::contents::{Content, pieces};
use crate::format::request::draft;
use crate::format::request::mcp;
use crate::format::request::media::Media;
use crate::format::request::piece::{add_rest, array, object_arguments};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::message::{Message, Role};
use crate::model::record::Record;
use crate::model::time;
use std::collections::VecDeque;

/// The message that records are: results and what the user says, or what the model says. None of none.
pub fn element<B: AsRef<[u8]>>(bodies: &[B], report: &mut Report) -> Option<Vec<u8>> {
    let record = |body| Record::parse(body, crate::error::Place { line: 0, offset: 1 });
    let records: Vec<_> = bodies.iter().map(|body| record(body.as_ref())).collect();
    let said: Vec<(&[u8], Message<'_>)> = records
        .iter()
        .filter_map(|record| Some((record.body, *record.message()?)))
        .collect();
    let (first, message) = said.first()?;
    let is_model = said.iter().any(|(_, message)| message.role() == Role::Assistant);
    let mut element = ObjectBuilder::default();
    let own = grouped::note(first, NAME).and_then(|note| json::member(note, "message"));
    if own.is_none() {
        element.raw("id", message.id.unwrap_or(b"null"));
    } else if let Some(id) = own.and_then(|own| json::member(own, "id")) {
        element.raw("id", id);
    }
    element.text("role", if is_model { "assistant" } else { "user" });
    let mut blocks = Vec::new();
    for (body, message) in &said {
        let notes = grouped::note(body, NAME)
            .and_then(|note| json::member(note, "content"))
            .and_then(|raw| json::elements(raw, Dialect::Strict));
        let notes = notes.unwrap_or_default();
        match message.role() {
            Role::Tool => blocks.push(answer(message, notes.first().copied(), report)),
            _ => blocks.extend(laid(message, &notes, report)),
        }
    }
    match own {
        Some(own) => {
            if let Some(created) = json::member(own, "created") {
                element.raw("created", created);
            }
            element.raw("content", array(&blocks));
            add_rest(&mut element, own, &["id", "created"]);
        }
        None => {
            let only = message.category == Some(b"\"context\"");
            element
                .raw("created", created(message).to_string())
                .raw("content", array(&blocks))
                .raw("metadata", super::element::visibility(!only, true));
        }
    }
    Some(element.finish())
}

/// When a message was said, in seconds.
pub fn created(message: &Message<'_>) -> i64 {
    message
        .timestamp()
        .and_then(|time| time::seconds(&time))
        .unwrap_or(0)
}

fn list(raw: Option<&[u8]>) -> VecDeque<&[u8]> {
    raw.and_then(|raw| json::elements(raw, Dialect::Strict))
        .unwrap_or_default()
        .into()
}

/// The blocks of what is no result, in the order that was noted; what is not noted follows.
fn laid(message: &Message<'_>, notes: &[&[u8]], report: &mut Report) -> Vec<Vec<u8>> {
    let mut contents = pieces(message.content);
    let (mut thoughts, mut calls) = (list(message.reasoning), list(message.tool_calls));
    let mut blocks = Vec::new();
    for note in notes {
        match (kind(note).as_ref(), contents.front()) {
            ("thinking" | "redactedThinking", _) => {
                blocks.extend(
                    thoughts
                        .pop_front()
                        .and_then(|raw| thought(raw, Some(note), report)),
                );
            }
            ("toolRequest", _) => {
                blocks.extend(calls.pop_front().map(|raw| request(raw, Some(note), report)));
            }
            ("text", Some(Content::Text(text))) => {
                let mut block = ObjectBuilder::default();
                add_rest(&mut block, note, &[]);
                block.raw("text", text);
                blocks.push(block.finish());
                contents.pop_front();
            }
            ("text", _) | (_, Some(Content::Text(_)) | None) => {}
            (_, Some(Content::Other(raw))) => {
                blocks.push(mcp::image(raw).unwrap_or_else(|| raw.to_vec()));
                contents.pop_front();
            }
        }
    }
    blocks.extend(thoughts.into_iter().filter_map(|raw| thought(raw, None, report)));
    for content in contents {
        match content {
            Content::Text(b"\"\"") => {}
            content => blocks.extend(said(&content, report)),
        }
    }
    blocks.extend(calls.into_iter().map(|raw| request(raw, None, report)));
    blocks
}

/// A block that says something; none of what cannot be one, which is told.
fn said(content: &Content<'_>, report: &mut Report) -> Option<Vec<u8>> {
    let raw = match content {
        Content::Text(text) => return Some(draft::text_part(text)),
        Content::Other(raw) => raw,
    };
    let made = mcp::image(raw).or_else(|| is_own(raw).then(|| raw.to_vec()));
    if made.is_none() {
        let attached = Media::of(raw).is_some();
        report.lose(if attached { Loss::Attachment } else { Loss::Part }, 1);
    }
    made
}

/// Whether a part is a block as goose has it.
fn is_own(raw: &[u8]) -> bool {
    let own = [
        "image",
        "toolResponse",
        "toolConfirmationRequest",
        "actionRequired",
        "frontendToolRequest",
        "systemNotification",
        "conversationCompacted",
        "resource",
    ];
    let kind = kind(raw);
    own.contains(&kind.as_ref()) && (kind != "image" || json::member(raw, "mimeType").is_some())
}

fn thought(raw: &[u8], note: Option<&[u8]>, report: &mut Report) -> Option<Vec<u8>> {
    let mut block = ObjectBuilder::default();
    let string = |name| json::member(raw, name).filter(|raw| raw.starts_with(b"\""));
    let text = string("text").or(string("thinking"));
    match (kind(raw).as_ref(), text, string("data")) {
        ("redacted_thinking", _, Some(data)) => {
            if note.is_none() {
                block.text("type", "redactedThinking");
            }
            block.raw("data", data);
        }
        (_, Some(text), _) => {
            let signs = ["encrypted_content", "thoughtSignature", "data"];
            let signed = signs.iter().any(|name| json::member(raw, name).is_some());
            report.lose(Loss::Signature, u64::from(signed));
            if note.is_none() {
                block.text("type", "thinking");
            }
            block.raw("thinking", text);
            if note.is_none() || string("signature").is_some() {
                block.raw("signature", string("signature").unwrap_or(b"\"\""));
            }
        }
        _ => {
            report.lose(Loss::Reasoning, 1);
            let signed = json::member(raw, "encrypted_content").is_some();
            report.lose(Loss::Signature, u64::from(signed));
            return None;
        }
    }
    let mut whole = ObjectBuilder::default();
    if let Some(note) = note {
        add_rest(&mut whole, note, &[]);
    }
    add_rest(&mut whole, &block.finish(), &[]);
    Some(whole.finish())
}

fn request(call: &[u8], note: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
    let function = json::member(call, "function")
        .or_else(|| json::member(call, "custom"))
        .unwrap_or(b"{}");
    let name = json::member(function, "name").unwrap_or(b"\"\"");
    let noted = note.and_then(|note| json::member(note, "toolCall"));
    let mut block = ObjectBuilder::default();
    block
        .text("type", "toolRequest")
        .raw("id", json::member(call, "id").unwrap_or(b"\"\""));
    let value = noted.and_then(|noted| json::member(noted, "value"));
    if let (Some(noted), None) = (noted, value)
        && name == b"\"\""
    {
        // What goose could not read is what it was.
        block.raw("toolCall", noted);
    } else {
        let arguments = json::member(function, "arguments").or_else(|| json::member(function, "input"));
        let silent = arguments == Some(b"\"\"") && note.is_some();
        let mut inner = ObjectBuilder::default();
        inner.raw("name", name);
        if !silent {
            let (arguments, wrapped) = as_written(arguments);
            report.lose(Loss::Arguments, u64::from(wrapped));
            inner.raw("arguments", arguments);
        }
        add_rest(&mut inner, value.unwrap_or(b"{}"), &[]);
        let mut made = ObjectBuilder::default();
        match noted.filter(|_| value.is_some()) {
            Some(noted) => add_rest(&mut made, noted, &["value"]),
            None => drop(made.text("status", "success")),
        }
        made.raw("value", inner.finish());
        block.raw("toolCall", made.finish());
    }
    if let Some(note) = note {
        add_rest(&mut block, note, &["type", "toolCall"]);
    }
    block.finish()
}

/// Arguments as they are written: what they were where they are JSON.
fn as_written(arguments: Option<&[u8]>) -> (Vec<u8>, bool) {
    match arguments.and_then(json::text) {
        Some(text) if text.starts_with('{') => match json::value_end(text.as_bytes(), 0, Dialect::Strict) {
            Ok(end) if end == text.len() => (text.into_owned().into_bytes(), false),
            _ => object_arguments(arguments),
        },
        _ => object_arguments(arguments),
    }
}

/// A result as a block.
fn answer(message: &Message<'_>, note: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
    let failed = message.metadata.and_then(|raw| json::member(raw, "is_error")) == Some(b"true");
    let noted = note.and_then(|note| json::member(note, "toolResult"));
    let value = noted.and_then(|noted| json::member(noted, "value"));
    let mut result = ObjectBuilder::default();
    match (noted, value) {
        (Some(noted), None) => {
            let text = message.content.filter(|raw| raw.starts_with(b"\""));
            add_rest(&mut result, noted, &[]);
            result.raw("error", text.unwrap_or(b"\"\""));
        }
        (noted, value) => {
            match noted {
                Some(noted) => add_rest(&mut result, noted, &["value"]),
                None => drop(result.text("status", "success")),
            }
            let list = value.filter(|value| value.starts_with(b"["));
            let notes = list.or_else(|| json::member(value?, "content"));
            let blocks = inside(message, notes, report);
            match (list, value) {
                (Some(_), _) => drop(result.raw("value", blocks)),
                (None, value) => {
                    let mut inner = ObjectBuilder::default();
                    inner.raw("content", blocks);
                    match value {
                        Some(value) => add_rest(&mut inner, value, &["content"]),
                        None => drop(inner.raw("isError", if failed { "true" } else { "false" })),
                    }
                    result.raw("value", inner.finish());
                }
            }
        }
    }
    let mut block = ObjectBuilder::default();
    block
        .text("type", "toolResponse")
        .raw("id", message.tool_call_id.unwrap_or(b"\"\""))
        .raw("toolResult", result.finish());
    if let Some(note) = note {
        add_rest(&mut block, note, &["type", "toolResult"]);
    }
    block.finish()
}

/// The blocks of a result.
fn inside(message: &Message<'_>, notes: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
    let notes = list(notes);
    let contents = pieces(message.content);
    let same = notes.len() == contents.len();
    let mut blocks = Vec::new();
    for (nth, content) in contents.iter().enumerate() {
        let note = notes.get(nth).copied().filter(|_| same);
        match (content, note.map(kind).as_deref(), note) {
            (Content::Text(text), Some("text"), Some(note)) => {
                let mut block = ObjectBuilder::default();
                add_rest(&mut block, note, &[]);
                block.raw("text", text);
                blocks.push(block.finish());
            }
            (Content::Other(raw), Some(_), _) => {
                blocks.push(mcp::image(raw).unwrap_or_else(|| raw.to_vec()));
            }
            (content, ..) => blocks.extend(said(content, report)),
        }
    }
    array(&blocks)
}
