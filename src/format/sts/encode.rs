//! Encodes messages as elements with text content only.

use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::contents::{RequestContent, content_parts};
use crate::format::request::media::{MediaKind, RequestMedia};
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, ObjectBuilder, quoted};
use crate::model::message::Role;
use crate::model::time;
use std::borrow::Cow;

/// The line for a message.
pub fn element(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    let role = match annotated.message.role() {
        Role::Developer => Cow::Borrowed("system"),
        _ => annotated.message.role_name(),
    };
    let mut message = ObjectBuilder::default();
    message
        .text("role", &role)
        .raw("content", content(annotated.message.content, report));
    let reasoning_parts: Vec<_> = annotated
        .reasoning()
        .into_iter()
        .filter_map(|part| reasoning_text(part, report))
        .collect();
    if !reasoning_parts.is_empty() {
        message.text("reasoningContent", &reasoning_parts.join("\n\n"));
    }
    let calls: Vec<_> = annotated
        .calls()
        .into_iter()
        .map(|raw| call(raw, report))
        .collect();
    message.list("toolCalls", &calls);
    message.optional("toolCallId", annotated.message.tool_call_id);
    if let Some(time) = annotated.message.timestamp() {
        let milliseconds = time::milliseconds(&time);
        let written = milliseconds.and_then(time::from_milliseconds);
        let is_exact = written.is_some_and(|written| time::moment(&written) == time::moment(&time));
        report.count_loss(Loss::Timestamp, u64::from(!is_exact));
        if let Some(milliseconds) = milliseconds {
            message.raw("timestamp", milliseconds.to_string());
        }
    }
    message.optional("model", json::member(annotated.body, "model"));
    let mut element = ObjectBuilder::default();
    element.text("type", "message").raw("message", message.finish());
    element.finish()
}

/// The texts of a content, separated by blank lines.
fn content(raw: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
    let mut texts = Vec::new();
    for piece in content_parts(raw) {
        match piece {
            RequestContent::Text(text) if texts.is_empty() && raw == Some(text) => return text.to_vec(),
            RequestContent::Text(text) => texts.extend(json::text(text).map(Cow::into_owned)),
            RequestContent::Other(part) => {
                let media = RequestMedia::of(part);
                report.count_loss(
                    if media.is_some() {
                        Loss::Attachment
                    } else {
                        Loss::Part
                    },
                    1,
                );
                texts.extend(media.map(|media| placeholder(&media)));
            }
        }
    }
    quoted(&texts.join("\n\n"))
}

fn placeholder(media: &RequestMedia<'_>) -> String {
    match (media.kind, &media.name) {
        (MediaKind::Image, _) => "[image]".to_string(),
        (MediaKind::Audio, _) => "[audio]".to_string(),
        (MediaKind::File, Some(name)) => format!("[file {name}]"),
        (MediaKind::File, None) => "[file]".to_string(),
    }
}

/// The text of reasoning; `None` if it is encrypted.
fn reasoning_text<'t>(part: &'t [u8], report: &mut Report) -> Option<Cow<'t, str>> {
    let member = |name| json::member(part, name);
    let signs = ["signature", "encrypted_content", "thoughtSignature", "data"];
    let is_signed = signs.iter().any(|name| member(name).is_some());
    report.count_loss(Loss::Signature, u64::from(is_signed));
    let text = member("text").or(member("thinking")).and_then(json::text);
    let text = text.or_else(|| summary(part)).filter(|text| !text.is_empty());
    report.count_loss(Loss::Reasoning, u64::from(text.is_none()));
    text
}

/// The summary of encrypted reasoning.
fn summary(part: &[u8]) -> Option<Cow<'_, str>> {
    let texts = content_parts(json::member(part, "summary"))
        .into_iter()
        .filter_map(|piece| match piece {
            RequestContent::Text(raw) => json::text(raw),
            RequestContent::Other(raw) => json::member_text(raw, "text"),
        });
    Some(Cow::Owned(texts.collect::<Vec<_>>().join("\n\n")))
}

/// A call; arguments that are not a string become their JSON text.
fn call(raw: &[u8], report: &mut Report) -> Vec<u8> {
    let own = CallMembers::of_function(raw, report);
    let mut built = ObjectBuilder::default();
    built
        .raw("name", own.name)
        .raw("arguments", own.arguments.unwrap_or(b"\"\""));
    let mut call = ObjectBuilder::default();
    call.raw("id", own.id).raw("function", built.finish());
    call.finish()
}
