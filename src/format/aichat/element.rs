//! Converts messages to elements, and counts losses.

use super::message;
use crate::format::report::{Loss, Report};
use crate::format::request::part_losses;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, Dialect, ObjectBuilder, array, wrapped};
use crate::model::message::{Message, Role};

/// The element of a message and its results; reports losses.
pub fn element(messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
    if let Some(kept) = message::unchanged_element(messages) {
        return Some(kept);
    }
    let first = &messages.first()?.message;
    for message in messages {
        count_losses(&message.message, report);
    }
    if messages.len() > 1 {
        for call in first.tool_calls() {
            report.count_loss(
                Loss::Arguments,
                u64::from(message::is_reformatted(&call.arguments)),
            );
        }
        if let Some(encoded) = message::encode_element(messages, false) {
            return Some(encoded);
        }
    }
    let role = match first.role() {
        // A result without its call, which was already reported.
        Role::Tool => return None,
        Role::Assistant if first.calls_tools() && first.text().is_empty() => return None,
        Role::Developer => {
            report.count_loss(Loss::Category, 1);
            "system"
        }
        Role::Other => {
            report.count_loss(Loss::Part, 1);
            "user"
        }
        role => role.name(),
    };
    let mut element = ObjectBuilder::default();
    element.text("role", role).raw("content", content(first, report));
    Some(element.finish())
}

/// The content: a string, or its text and image parts.
fn content(message: &Message<'_>, report: &mut Report) -> Vec<u8> {
    let Some(raw) = message.content.filter(|raw| *raw != b"null") else {
        return b"\"\"".to_vec();
    };
    let Some(parts) = json::elements(raw, Dialect::Strict) else {
        return raw.to_vec();
    };
    let mut kept = Vec::new();
    for part in parts {
        let image = json::member(part, "image_url").and_then(|image| json::member(image, "url"));
        let mut built = ObjectBuilder::default();
        match (json::member(part, "text"), image) {
            (Some(text), _) if text.starts_with(b"\"") => built.text("type", "text").raw("text", text),
            (_, Some(url)) if url.starts_with(b"\"") => built
                .text("type", "image_url")
                .raw("image_url", wrapped("url", url)),
            _ => {
                part_losses::content(part, report);
                continue;
            }
        };
        kept.push(built.finish());
    }
    array(kept)
}

/// Counts the data of a message that an element cannot represent.
fn count_losses(message: &Message<'_>, report: &mut Report) {
    part_losses::reasoning_and_name(message, report);
    if message.role() == Role::Tool {
        let others = json::items(message.content)
            .into_iter()
            .filter(|part| json::member(part, "type") != Some(b"\"text\""));
        for part in others {
            part_losses::content(part, report);
        }
    }
}
