//! Messages with Anthropic content blocks, for formats that wrap them in objects of their own.

use super::WritePurpose;
use super::report::Report;
use super::request::Api;
use super::request::draft::AnnotatedDraft;
use super::request::request_part::{AnnotatedMessage, RequestPart, WriteSettings};
use crate::model::json::{self, Dialect};
use crate::model::message::Role;
use std::borrow::Cow;
use std::collections::HashMap;

/// The native messages of an object with `role` and `content`; ignores its other members.
pub fn drafts(message: &[u8]) -> Vec<AnnotatedDraft> {
    let mut drafts = Api::Anthropic.interface().decoder().drafts(&[message]);
    for draft in &mut drafts {
        draft.move_notes(Api::Anthropic);
    }
    drafts
}

/// Whether all text of a content is inside a tag of this name.
pub fn is_within(content: &[u8], tag: &str) -> bool {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let is_tagged = |raw: &[u8]| {
        let text = json::text(raw);
        text.is_some_and(|text| text.trim().starts_with(&open) && text.trim().ends_with(&close))
    };
    match json::elements(content, Dialect::Strict) {
        Some(parts) => {
            let is_tagged = |part: &&[u8]| json::member(part, "text").is_some_and(is_tagged);
            !parts.is_empty() && parts.iter().all(is_tagged)
        }
        None => is_tagged(content),
    }
}

/// The body, with any role other than user, assistant or tool replaced by user.
pub fn with_known_role<'b>(annotated: &AnnotatedMessage<'b>) -> Cow<'b, [u8]> {
    if matches!(
        annotated.message.role(),
        Role::User | Role::Assistant | Role::Tool
    ) {
        return Cow::Borrowed(annotated.body);
    }
    let user = json::with_members(annotated.body, &[("role", Some(b"\"user\""))]);
    user.map_or(Cow::Borrowed(annotated.body), Cow::Owned)
}

/// Encodes messages as objects with `role` and `content`. Unsigned reasoning is kept only in messages that were read
/// from a file.
pub fn encoded(bodies: &[Cow<'_, [u8]>], is_new: bool, report: &mut Report) -> Vec<Vec<u8>> {
    let pieces = bodies.iter().enumerate();
    let pieces: Vec<RequestPart<'_>> = pieces
        .map(|(nth, body)| RequestPart::Message(nth, body))
        .collect();
    let mut writing = WriteSettings {
        api: Api::Anthropic,
        purpose: if is_new {
            WritePurpose::Context
        } else {
            WritePurpose::Return
        },
        own: !is_new,
        keeps_thoughts: !is_new,
        calls: &HashMap::new(),
        report,
    };
    let built = Api::Anthropic.interface().write(&pieces, &mut writing);
    writing.report_dropped(&pieces, &built);
    built.elements.into_iter().map(|built| built.raw).collect()
}
