//! Encodes messages as entries.

use crate::format::report::Report;
use crate::format::request::call::CallMembers;
use crate::format::request::request_part::{AnnotatedMessage, extra_members};
use crate::format::request::{draft, mcp, part_losses};
use crate::model::json::{self, ObjectBuilder, array};
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
            built.optional("toolName", annotated.name);
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
        part_losses::content(raw, report);
    }
    built
}

/// Encodes the blocks of a model message.
fn blocks(piece: &AnnotatedMessage<'_>, own: bool, report: &mut Report) -> Vec<u8> {
    let mut reasoning_parts = Vec::new();
    for part in piece.reasoning() {
        match json::member(part, "type") {
            Some(b"\"thinking\"") => reasoning_parts.push(signed(part)),
            _ => part_losses::reasoning(part, report),
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
        let name = match name.as_ref() {
            "signature" => "thinkingSignature",
            "text" if json::member(part, "thinking").is_none() => "thinking",
            name => name,
        };
        block.raw(name, value);
    }
    block.finish()
}

fn call(raw: &[u8], own: bool, report: &mut Report) -> Vec<u8> {
    let native = CallMembers::of(raw);
    let text = native.arguments.and_then(json::text).filter(|_| own);
    let arguments = match text.filter(|text| json::is_value(text.as_bytes())) {
        // Keep the arguments as the original string.
        Some(text) => text.into_owned().into_bytes(),
        None => native.original_object(report),
    };
    let mut call = ObjectBuilder::default();
    call.text("type", "toolCall")
        .raw("id", native.id)
        .raw("name", native.name)
        .raw("arguments", arguments);
    call.finish()
}
