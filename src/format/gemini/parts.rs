//! Encodes the parts of a message, for formats whose records contain Gemini contents.

use super::write::write;
use crate::format::WritePurpose;
use crate::format::report::Report;
use crate::format::request::Api;
use crate::format::request::request_part::{AnnotatedMessage, RequestPart, WriteSettings};
use crate::model::json;
use crate::model::message::Role;
use std::collections::HashMap;

/// The parts of a message for the API, including calls and reasoning if `inline`.
pub fn parts(annotated: &AnnotatedMessage<'_>, inline: bool, own: bool, report: &mut Report) -> Vec<Vec<u8>> {
    let mut changes: Vec<(&str, Option<&[u8]>)> = Vec::new();
    match annotated.message.role() {
        Role::Tool if annotated.message.name.is_some() => {}
        Role::Tool => changes.push(("name", Some(b"\"unknown\""))),
        Role::Assistant => changes.push(("name", None)),
        // The format has no other roles.
        _ => changes.extend([("name", None), ("role", Some(&b"\"user\""[..]))]),
    }
    if !inline {
        changes.extend([("tool_calls", None), ("reasoning", None)]);
    }
    let body = json::with_members(annotated.body, &changes).unwrap_or_else(|_| annotated.body.to_vec());
    let mut writing = WriteSettings {
        api: Api::Gemini,
        purpose: WritePurpose::Return,
        own: own && annotated.message.role() != Role::Tool,
        keeps_thoughts: false,
        calls: &HashMap::new(),
        report,
    };
    let request = write(&[RequestPart::Message(0, &body)], &mut writing);
    let parts = request
        .elements
        .iter()
        .filter_map(|element| json::member(&element.raw, "parts"));
    let parts = parts.flat_map(json::items);
    parts.map(<[u8]>::to_vec).collect()
}
