//! Encodes messages as an element.

use super::element::{kind, visibility};
use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::contents::{RequestContent, content_parts};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::request::{draft, mcp, part_losses};
use crate::model::json::{self, ObjectBuilder, array};
use crate::model::message::{Message, Role};
use crate::model::time;

/// Encodes tool results with a user message, or a model message, as an element.
pub fn element(messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
    let first = messages.first()?;
    let is_model = messages
        .iter()
        .any(|annotated| annotated.message.role() == Role::Assistant);
    let mut blocks = Vec::new();
    for annotated in messages {
        match annotated.message.role() {
            Role::Tool => blocks.push(result(annotated, report)),
            _ => blocks.extend(message(annotated, report)),
        }
    }
    let hidden = first.message.category == Some(b"\"context\"") || first.metadata("visibility").is_some();
    let mut element = ObjectBuilder::default();
    element
        .raw("id", first.message.id.unwrap_or(b"null"))
        .text("role", if is_model { "assistant" } else { "user" })
        .raw("created", created(&first.message).to_string())
        .raw("content", array(&blocks))
        .raw("metadata", visibility(!hidden, true));
    Some(element.finish())
}

/// The time of a message, in seconds.
pub fn created(message: &Message<'_>) -> i64 {
    let time = message.timestamp();
    time.and_then(|time| time::seconds(&time)).unwrap_or(0)
}

/// The blocks of a message that is not a tool result.
fn message(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let reasoning_parts = annotated.reasoning();
    let mut blocks: Vec<Vec<u8>> = reasoning_parts
        .iter()
        .filter_map(|raw| reasoning_block(raw, report))
        .collect();
    for content in content_parts(annotated.message.content) {
        match content {
            RequestContent::Text(b"\"\"") => {}
            content => blocks.extend(block(&content, report)),
        }
    }
    blocks.extend(annotated.calls().iter().map(|raw| request(raw, report)));
    blocks
}

/// Encodes content as a block; `None` if it has no equivalent, which is reported.
fn block(content: &RequestContent<'_>, report: &mut Report) -> Option<Vec<u8>> {
    let raw = match content {
        RequestContent::Text(text) => return Some(draft::text_part(text)),
        RequestContent::Other(raw) => raw,
    };
    let built = mcp::image(raw).or_else(|| is_native(raw).then(|| raw.to_vec()));
    if built.is_none() {
        part_losses::content(raw, report);
    }
    built
}

/// Whether a part is already a goose block.
fn is_native(raw: &[u8]) -> bool {
    let own = [
        "image", "toolResponse", "toolConfirmationRequest", "actionRequired", "frontendToolRequest",
        "systemNotification", "conversationCompacted", "resource",
    ];
    let kind = kind(raw);
    own.contains(&kind.as_ref()) && (kind != "image" || json::member(raw, "mimeType").is_some())
}

fn reasoning_block(raw: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let mut block = ObjectBuilder::default();
    let string = |name| json::string_member(raw, name);
    let text = string("text").or(string("thinking"));
    match (kind(raw).as_ref(), text, string("data")) {
        ("redacted_thinking", _, Some(data)) => {
            block.text("type", "redactedThinking").raw("data", data);
        }
        (_, Some(text), _) => {
            let signs = ["encrypted_content", "thoughtSignature", "data"];
            let signed = signs.iter().any(|name| json::member(raw, name).is_some());
            report.count_loss(Loss::Signature, u64::from(signed));
            block
                .text("type", "thinking")
                .raw("thinking", text)
                .raw("signature", string("signature").unwrap_or(b"\"\""));
        }
        _ => {
            report.count_loss(Loss::Reasoning, 1);
            let signed = json::member(raw, "encrypted_content").is_some();
            report.count_loss(Loss::Signature, u64::from(signed));
            return None;
        }
    }
    Some(block.finish())
}

fn request(call: &[u8], report: &mut Report) -> Vec<u8> {
    let call = CallMembers::of(call);
    let mut value = ObjectBuilder::default();
    value
        .raw("name", call.name)
        .raw("arguments", call.original_object(report));
    let mut block = ObjectBuilder::default();
    block
        .text("type", "toolRequest")
        .raw("id", call.id)
        .raw("toolCall", success(&value.finish()));
    block.finish()
}

fn success(value: &[u8]) -> Vec<u8> {
    let mut outcome = ObjectBuilder::default();
    outcome.text("status", "success").raw("value", value);
    outcome.finish()
}

fn result(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    let failed = annotated.metadata("is_error") == Some(b"true");
    let contents = content_parts(annotated.message.content);
    let blocks: Vec<_> = contents
        .iter()
        .filter_map(|content| block(content, report))
        .collect();
    let mut value = ObjectBuilder::default();
    value
        .raw("content", array(&blocks))
        .raw("isError", failed.to_string());
    let mut built = ObjectBuilder::default();
    built
        .text("type", "toolResponse")
        .raw("id", annotated.message.tool_call_id.unwrap_or(b"\"\""))
        .raw("toolResult", success(&value.finish()));
    built.finish()
}
