//! A message as an entry.

use super::{NAME, message};
use crate::format::report::{Loss, Report};
use crate::format::request::mcp;
use crate::format::request::media::Media;
use crate::format::request::piece::{array, object_arguments, rest};
use crate::format::request::{Api, draft};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::message::{Message, Role};
use crate::model::record::Record;
use std::borrow::Cow;

/// What a record notes of the entry that it was.
pub fn note(body: &[u8]) -> Option<&[u8]> {
    json::member(json::member(body, "metadata")?, NAME)
}

fn noted<'b>(body: &'b [u8], name: &str) -> Option<&'b [u8]> {
    json::member(note(body)?, name)
}

/// The message of an entry of the type `message`, of a record that came from one; none when it is none.
pub fn message(body: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let record = Record::parse(body, crate::error::Place { line: 0, offset: 1 });
    let said = record.message()?;
    if let Some(raw) = noted(body, "raw").filter(|raw| agrees(raw, said)) {
        return Some(raw.to_vec());
    }
    let rest_of = noted(body, "raw").and_then(message::leftovers);
    let own = rest_of
        .as_deref()
        .or_else(|| noted(body, "message"))
        .unwrap_or(b"{}");
    let role = json::member(own, "role").and_then(json::text);
    let mut made = ObjectBuilder::default();
    match (said.role(), role.as_deref()) {
        (_, Some("bashExecution")) => {
            let parts = said.parts();
            let mut texts = parts.iter().map(|part| match part {
                crate::model::message::Part::Text(text) => text.clone(),
                crate::model::message::Part::Other(..) => Cow::Borrowed(""),
            });
            made.text("role", "bashExecution")
                .text("command", &texts.next().unwrap_or_default())
                .text("output", &texts.collect::<Vec<_>>().join("\n"));
        }
        (_, Some(role @ ("branchSummary" | "compactionSummary"))) => {
            made.text("role", role).text("summary", &said.text());
        }
        (_, Some(role @ ("custom" | "hookMessage"))) => {
            made.text("role", role).raw("content", content(said, report));
        }
        (Role::Assistant, _) => {
            made.text("role", "assistant")
                .raw("content", blocks(said, body, report));
            for name in ["model", "usage"] {
                json::member(body, name).map(|raw| made.raw(name, raw));
            }
        }
        (Role::Tool, _) => {
            made.text("role", "toolResult")
                .raw("toolCallId", said.tool_call_id.unwrap_or(b"\"\""));
            if let Some(name) = said.name {
                made.raw("toolName", name);
            }
            made.raw("content", content(said, report));
        }
        _ => {
            made.text("role", "user").raw("content", content(said, report));
        }
    }
    for (name, value) in rest(own, &["role"]) {
        made.raw(&name, value);
    }
    Some(made.finish())
}

/// Whether a message still is what it was read from.
fn agrees(raw: &[u8], said: &Message<'_>) -> bool {
    let Some((then, _)) = message::of_message(raw) else {
        return false;
    };
    let then = then.body(Api::OpenaiChat);
    let record = Record::parse(&then, crate::error::Place { line: 0, offset: 1 });
    record.message().is_some_and(|then| {
        then.role == said.role
            && then.content == said.content
            && then.tool_calls == said.tool_calls
            && then.tool_call_id == said.tool_call_id
            && then.reasoning == said.reasoning
    })
}

/// The content of what is not the model's.
pub fn content(said: &Message<'_>, report: &mut Report) -> Vec<u8> {
    match said.content {
        Some(raw) if raw.starts_with(b"[") => {
            let parts = json::elements(raw, Dialect::Strict).unwrap_or_default();
            array(parts.into_iter().filter_map(|part| block(part, report)))
        }
        Some(raw) if raw.starts_with(b"\"") => raw.to_vec(),
        _ => b"[]".to_vec(),
    }
}

/// A part as a block; what cannot be one is told.
fn block(raw: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let kind = json::member(raw, "type").and_then(json::text).unwrap_or_default();
    if let (true, text) = (raw.starts_with(b"\""), raw) {
        return Some(draft::text_part(text));
    }
    if matches!(kind.as_ref(), "text") || (kind == "image" && json::member(raw, "mimeType").is_some()) {
        return Some(raw.to_vec());
    }
    let made = mcp::image(raw);
    if made.is_none() {
        let attached = Media::of(raw).is_some();
        report.lose(if attached { Loss::Attachment } else { Loss::Part }, 1);
    }
    made
}

/// The blocks of what the model said, in the order in which they lay.
fn blocks(said: &Message<'_>, body: &[u8], report: &mut Report) -> Vec<u8> {
    let elements = |raw: Option<&[u8]>| -> Vec<Vec<u8>> {
        let found = raw.and_then(|raw| json::elements(raw, Dialect::Strict));
        found
            .unwrap_or_default()
            .into_iter()
            .map(<[u8]>::to_vec)
            .collect()
    };
    let mut thoughts = Vec::new();
    for part in elements(said.reasoning) {
        match json::member(&part, "type") {
            Some(b"\"thinking\"") => thoughts.push(signed(&part)),
            _ => {
                report.lose(Loss::Reasoning, 1);
                let names = ["encrypted_content", "thoughtSignature", "data", "signature"];
                let signed = names.iter().any(|name| json::member(&part, name).is_some());
                report.lose(Loss::Signature, u64::from(signed));
            }
        }
    }
    let texts = match said.content {
        Some(raw) if raw.starts_with(b"\"") && raw != b"\"\"" => vec![draft::text_part(raw)],
        raw => elements(raw)
            .iter()
            .filter_map(|part| block(part, report))
            .collect(),
    };
    let raws = elements(said.tool_calls);
    let notes = elements(noted(body, "calls"));
    let mut calls = Vec::new();
    for (nth, raw) in raws.iter().enumerate() {
        let note = notes.get(nth).filter(|_| notes.len() == raws.len());
        calls.push(call(raw, note.map(Vec::as_slice), report));
    }
    array(draft::in_order(noted(body, "blocks"), [thoughts, texts, calls]))
}

fn signed(part: &[u8]) -> Vec<u8> {
    let mut block = ObjectBuilder::default();
    for (name, value) in rest(part, &[]) {
        let name = if name == "signature" {
            "thinkingSignature"
        } else {
            &name
        };
        block.raw(name, value);
    }
    block.finish()
}

fn call(raw: &[u8], note: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
    let function = json::member(raw, "function")
        .or_else(|| json::member(raw, "custom"))
        .unwrap_or(b"{}");
    let arguments = json::member(function, "arguments").or_else(|| json::member(function, "input"));
    let (arguments, wrapped) = match arguments.and_then(json::text) {
        // Whatever it was, it stands in the string as it was.
        Some(text) if note.is_some() || text.starts_with('{') => {
            match json::value_end(text.as_bytes(), 0, Dialect::Strict) {
                Ok(end) if end == text.len() => (text.as_bytes().to_vec(), false),
                _ => object_arguments(arguments),
            }
        }
        _ => object_arguments(arguments),
    };
    report.lose(Loss::Arguments, u64::from(wrapped));
    let own = |object, name| json::member(object, name).unwrap_or(b"\"\"").to_vec();
    let mut call = ObjectBuilder::default();
    call.text("type", "toolCall")
        .raw("id", own(raw, "id"))
        .raw("name", own(function, "name"))
        .raw("arguments", arguments);
    for (name, value) in note.into_iter().flat_map(|note| rest(note, &[])) {
        call.raw(&name, value);
    }
    call.finish()
}
