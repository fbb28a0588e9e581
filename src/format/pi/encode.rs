//! Encodes messages as entries.

use crate::format::report::Report;
use crate::format::request::call::CallMembers;
use crate::format::request::request_part::{AnnotatedMessage, extra_members};
use crate::format::request::{draft, mcp, part_losses};
use crate::model::json::{self, ObjectBuilder, array};
use crate::model::message::{Message, MessagePart, Role};
use std::borrow::Cow;

/// Restores the entry of a message, without id and time.
pub fn entry(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    match annotated.noted("type") {
        Some(kind @ b"\"branch_summary\"") => {
            built.raw("type", kind).text("summary", &annotated.message.text());
        }
        Some(kind) => {
            built
                .raw("type", kind)
                .raw("content", content(&annotated.message, report));
        }
        None => {
            built
                .text("type", "message")
                .raw("message", message(annotated, true, report));
        }
    }
    built.finish()
}

/// Encodes the message of an entry; `own` if it was read from one.
pub fn message(annotated: &AnnotatedMessage<'_>, own: bool, report: &mut Report) -> Vec<u8> {
    let message = &annotated.message;
    let role = annotated.noted("role").and_then(json::text).filter(|_| own);
    let mut built = ObjectBuilder::default();
    match (message.role(), role.as_deref()) {
        (_, Some("bashExecution")) => {
            let parts = message.parts().into_iter();
            let mut texts = parts.map(|part| match part {
                MessagePart::Text(text) => text,
                MessagePart::Other(..) => Cow::Borrowed(""),
            });
            built
                .text("role", "bashExecution")
                .text("command", &texts.next().unwrap_or_default())
                .text("output", &texts.collect::<Vec<_>>().join("\n"));
        }
        (_, Some(role @ ("branchSummary" | "compactionSummary"))) => {
            built.text("role", role).text("summary", &message.text());
        }
        (_, Some(role @ ("custom" | "hookMessage"))) => {
            built.text("role", role).raw("content", content(message, report));
        }
        (Role::Assistant, _) => {
            let body = annotated.body;
            built
                .text("role", "assistant")
                .raw("content", blocks(annotated, own, report))
                .optional("model", json::member(body, "model"))
                .optional("usage", json::member(body, "usage"));
        }
        (Role::Tool, _) => {
            let content = match content(message, report) {
                // The content of a new result is a list of blocks.
                text if text.starts_with(b"\"") && !own => array([draft::text_part(&text)]),
                content => content,
            };
            built
                .text("role", "toolResult")
                .raw("toolCallId", message.tool_call_id.unwrap_or(b"\"\""))
                .optional("toolName", message.name)
                .raw("content", content);
        }
        _ => {
            built
                .text("role", "user")
                .raw("content", content(message, report));
        }
    }
    built.finish()
}

/// Encodes the content of a message that is not from the model.
pub fn content(message: &Message<'_>, report: &mut Report) -> Vec<u8> {
    match message.content {
        Some(raw) if raw.starts_with(b"[") => {
            let parts = json::items(raw).into_iter();
            array(parts.filter_map(|part| block(part, report)))
        }
        Some(raw) if raw.starts_with(b"\"") => raw.to_vec(),
        _ => b"[]".to_vec(),
    }
}

/// Encodes a part as a block; otherwise reports a loss.
fn block(raw: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    if raw.starts_with(b"\"") {
        return Some(draft::text_part(raw));
    }
    let kind = json::member_text(raw, "type").unwrap_or_default();
    if kind == "text" || (kind == "image" && json::member(raw, "mimeType").is_some()) {
        return Some(raw.to_vec());
    }
    let built = mcp::image(raw);
    if built.is_none() {
        part_losses::content(raw, report);
    }
    built
}

/// Encodes the blocks of a model message.
fn blocks(annotated: &AnnotatedMessage<'_>, own: bool, report: &mut Report) -> Vec<u8> {
    let mut blocks = Vec::new();
    for part in annotated.reasoning() {
        match json::member(part, "type") {
            Some(b"\"thinking\"") => blocks.push(signed(part)),
            _ => part_losses::reasoning(part, report),
        }
    }
    match annotated.string() {
        Some(b"\"\"") => {}
        Some(text) => blocks.push(draft::text_part(text)),
        None => blocks.extend(
            annotated
                .parts()
                .into_iter()
                .filter_map(|part| block(part, report)),
        ),
    }
    blocks.extend(annotated.calls().into_iter().map(|raw| call(raw, own, report)));
    array(blocks)
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
