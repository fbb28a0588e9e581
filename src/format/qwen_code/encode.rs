//! Encodes messages as records.

use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::{gemini, gemini_cli};
use crate::model::json::{self, ObjectBuilder, array};
use crate::model::message::Role;

/// The type of a message's record.
pub fn kind(role: Role) -> &'static str {
    match role {
        Role::Assistant => "assistant",
        Role::Tool => "tool_result",
        _ => "user",
    }
}

/// A content with these parts.
pub fn content(role: Role, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut content = ObjectBuilder::default();
    let role = if role == Role::Assistant { "model" } else { "user" };
    content.text("role", role).raw("parts", array(parts));
    content.finish()
}

/// Encodes messages that were read from one element as a record, or as an array of the original number of records.
pub fn records(messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
    let first = messages.first()?;
    let role = first.message.role();
    let parts = messages
        .iter()
        .flat_map(|annotated| gemini::parts(annotated, true, true, report));
    let mut parts: Vec<Vec<u8>> = parts.collect();
    let counts = json::items(first.noted("lines")).into_iter();
    let counts: Vec<usize> = counts.filter_map(json::number).collect();
    let mut records = Vec::new();
    for nth in 0..counts.len().max(1) {
        let is_last = nth + 1 >= counts.len();
        let count = if is_last {
            parts.len()
        } else {
            counts[nth].min(parts.len())
        };
        let own: Vec<Vec<u8>> = parts.drain(..count).collect();
        let mut record = ObjectBuilder::default();
        for (name, own) in [("uuid", "id"), ("timestamp", "timestamp")] {
            record.optional(name, json::member(first.body, own));
        }
        record
            .text("type", kind(role))
            .raw("message", content(role, &own));
        if is_last {
            add_figures(&mut record, first, report);
        }
        records.push(record.finish());
    }
    match records.len() {
        1 => records.pop(),
        _ => Some(array(records)),
    }
}

/// Adds the model and usage of a reply.
pub fn add_figures(record: &mut ObjectBuilder, annotated: &AnnotatedMessage<'_>, report: &mut Report) {
    record.optional("model", json::member(annotated.body, "model"));
    let Some(usage) = json::member(annotated.body, "usage") else {
        return;
    };
    match metadata(usage) {
        Some(usage) => drop(record.raw("usageMetadata", usage)),
        None => report.count_loss(Loss::Usage, 1),
    }
}

/// Converts usage to the members of the Gemini API.
fn metadata(usage: &[u8]) -> Option<Vec<u8>> {
    if json::member(usage, "promptTokenCount").is_some() {
        return Some(usage.to_vec());
    }
    let tokens = gemini_cli::tokens(usage)?;
    let mut metadata = ObjectBuilder::default();
    for (own, name) in [
        ("input", "promptTokenCount"),
        ("output", "candidatesTokenCount"),
        ("cached", "cachedContentTokenCount"),
        ("thoughts", "thoughtsTokenCount"),
        ("total", "totalTokenCount"),
    ] {
        metadata.optional(name, json::member(&tokens, own));
    }
    Some(metadata.finish())
}
