//! Encodes messages as entries.

use crate::format::report::{Loss, Report};
use crate::format::request::draft;
use crate::format::request::mcp;
use crate::format::request::media::Media;
use crate::format::request::request_part::{AnnotatedMessage, extra_members, object_arguments};
use crate::model::json::{self, Dialect, ObjectBuilder, array};
use crate::model::message::{Message, Role};
use std::borrow::Cow;

/// Restores the entry of a message, without id and time.
pub fn entry(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    match annotated.noted("type") {
        Some(kind @ b"\"branch_summary\"") => {
            built.raw("type", kind).text("summary", &annotated.message.text());
        }
        Some(kind) => drop(
            built
                .raw("type", kind)
                .raw("content", content(&annotated.message, report)),
        ),
        None => drop(
            built
                .text("type", "message")
                .raw("message", message(annotated, true, report)),
        ),
    }
    built.finish()
}

/// Encodes the message of an entry; `own` if it was read from one.
pub fn message(piece: &AnnotatedMessage<'_>, own: bool, report: &mut Report) -> Vec<u8> {
    let (annotated, body) = (&piece.message, piece.body);
    let role = piece.noted("role").and_then(json::text).filter(|_| own);
    let mut built = ObjectBuilder::default();
    match (annotated.role(), role.as_deref()) {
        (_, Some("bashExecution")) => {
            let parts = annotated.parts();
            let mut texts = parts.iter().map(|part| match part {
                crate::model::message::MessagePart::Text(text) => text.clone(),
                crate::model::message::MessagePart::Other(..) => Cow::Borrowed(""),
            });
            built
                .text("role", "bashExecution")
                .text("command", &texts.next().unwrap_or_default())
                .text("output", &texts.collect::<Vec<_>>().join("\n"));
        }
        (_, Some(role @ ("branchSummary" | "compactionSummary"))) => {
            built.text("role", role).text("summary", &annotated.text());
        }
        (_, Some(role @ ("custom" | "hookMessage"))) => {
            built
                .text("role", role)
                .raw("content", content(annotated, report));
        }
        (Role::Assistant, _) => {
            built
                .text("role", "assistant")
                .raw("content", blocks(piece, own, report));
            for name in ["model", "usage"] {
                json::member(body, name).map(|raw| built.raw(name, raw));
            }
        }
        (Role::Tool, _) => {
            built
                .text("role", "toolResult")
                .raw("toolCallId", annotated.tool_call_id.unwrap_or(b"\"\""));
            if let Some(name) = annotated.name {
                built.raw("toolName", name);
            }
            built.raw("content", content(annotated, report));
        }
        _ => {
            built
                .text("role", "user")
                .raw("content", content(annotated, report));
        }
    }
    built.finish()
}

/// Encodes the content of a message that is not from the model.
pub fn content(annotated: &Message<'_>, report: &mut Report) -> Vec<u8> {
    match annotated.content {
        Some(raw) if raw.starts_with(b"[") => {
            let parts = json::items(raw);
            array(parts.into_iter().filter_map(|part| block(part, report)))
        }
        Some(raw) if raw.starts_with(b"\"") => raw.to_vec(),
        _ => b"[]".to_vec(),
    }
}

/// Encodes a part as a block; otherwise reports a loss.
fn block(raw: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let kind = json::member_text(raw, "type").unwrap_or_default();
    if let (true, text) = (raw.starts_with(b"\""), raw) {
        return Some(draft::text_part(text));
    }
    if matches!(kind.as_ref(), "text") || (kind == "image" && json::member(raw, "mimeType").is_some()) {
        return Some(raw.to_vec());
    }
    let built = mcp::image(raw);
    if built.is_none() {
        let attached = Media::of(raw).is_some();
        report.count_loss(if attached { Loss::Attachment } else { Loss::Part }, 1);
    }
    built
}

/// Encodes the blocks of a model message.
fn blocks(piece: &AnnotatedMessage<'_>, own: bool, report: &mut Report) -> Vec<u8> {
    let mut reasoning_parts = Vec::new();
    for part in piece.reasoning() {
        match json::member(part, "type") {
            Some(b"\"thinking\"") => reasoning_parts.push(signed(part)),
            _ => {
                report.count_loss(Loss::Reasoning, 1);
                let names = ["encrypted_content", "thoughtSignature", "data", "signature"];
                let signed = names.iter().any(|name| json::member(part, name).is_some());
                report.count_loss(Loss::Signature, u64::from(signed));
            }
        }
    }
    let texts = match piece.string() {
        Some(b"\"\"") => Vec::new(),
        Some(text) => vec![draft::text_part(text)],
        None => {
            let parts = piece.parts().into_iter();
            parts.filter_map(|part| block(part, report)).collect()
        }
    };
    let calls = piece.calls().into_iter().map(|raw| call(raw, own, report));
    let calls: Vec<Vec<u8>> = calls.collect();
    array([reasoning_parts, texts, calls].concat())
}

fn signed(part: &[u8]) -> Vec<u8> {
    let mut block = ObjectBuilder::default();
    for (name, value) in extra_members(part, &[]) {
        let name = if name == "signature" {
            "thinkingSignature"
        } else {
            &name
        };
        block.raw(name, value);
    }
    block.finish()
}

fn call(raw: &[u8], own: bool, report: &mut Report) -> Vec<u8> {
    let function = json::member(raw, "function")
        .or_else(|| json::member(raw, "custom"))
        .unwrap_or(b"{}");
    let arguments = json::member(function, "arguments").or_else(|| json::member(function, "input"));
    let (arguments, wrapped) = match arguments.and_then(json::text) {
        // Keep the arguments as the original string.
        Some(text) if own || text.starts_with('{') => {
            match json::value_end(text.as_bytes(), 0, Dialect::Strict) {
                Ok(end) if end == text.len() => (text.as_bytes().to_vec(), false),
                _ => object_arguments(arguments),
            }
        }
        _ => object_arguments(arguments),
    };
    report.count_loss(Loss::Arguments, u64::from(wrapped));
    let member = |object, name| json::member(object, name).unwrap_or(b"\"\"").to_vec();
    let mut call = ObjectBuilder::default();
    call.text("type", "toolCall")
        .raw("id", member(raw, "id"))
        .raw("name", member(function, "name"))
        .raw("arguments", arguments);
    call.finish()
}
