//! Converts a message of the API to native messages: results become tool messages, followed by the rest.

use super::block;
use crate::format::request::draft::{self, AnnotatedDraft, MemberSlot};
use crate::format::request::request_part::extra_object;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use std::borrow::Cow;

fn kind(block: &[u8]) -> Cow<'_, str> {
    json::member_text(block, "type").unwrap_or_default()
}

/// The native messages of an API message; empty if it has no role.
pub fn read(element: &[u8]) -> Vec<AnnotatedDraft> {
    let Some(role) = json::member_text(element, "role") else {
        return Vec::new();
    };
    let mut drafts = message(&role, json::member(element, "content"));
    if let Some(first) = drafts.first_mut() {
        first.note("members", extra_object(element, &["role", "content"]));
        for name in ["model", "usage"] {
            first.optional(name, json::member(element, name));
        }
    }
    drafts
}

/// The native messages of this role and content.
pub fn message(role: &str, content: Option<&[u8]>) -> Vec<AnnotatedDraft> {
    let blocks = content.and_then(|raw| json::elements(raw, Dialect::Strict));
    match (role, blocks, content) {
        ("assistant", Some(blocks), _) => vec![assistant(&blocks)],
        ("user", Some(blocks), Some(raw)) => user(&blocks, raw),
        (role, _, content) => {
            let mut draft = AnnotatedDraft::new(role);
            match content {
                Some(raw) if raw.starts_with(b"\"") || raw == b"null" => draft.raw("content", raw),
                Some(raw) if raw.starts_with(b"[") => draft.raw("content", block::read_content(raw)),
                // The native format has no such content.
                Some(raw) => draft.raw("content", array([raw])),
                None => &mut draft,
            };
            vec![draft]
        }
    }
}

/// The instructions next to the messages.
pub fn system(raw: &[u8]) -> AnnotatedDraft {
    let mut draft = AnnotatedDraft::new("system");
    match raw.first() {
        Some(b'"' | b'[') => draft.raw("content", raw),
        _ => draft.raw("content", array([raw])),
    };
    draft
}

fn assistant(blocks: &[&[u8]]) -> AnnotatedDraft {
    let (mut reasoning, mut parts, mut calls, mut notes) = (vec![], vec![], vec![], vec![]);
    let mut order = Vec::new();
    for raw in blocks {
        let slot = match kind(raw).as_ref() {
            "thinking" => {
                let mut part = ObjectBuilder::default();
                for (name, value) in crate::format::request::request_part::extra_members(raw, &[]) {
                    part.raw(if name == "thinking" { "text" } else { &name }, value);
                }
                reasoning.push(Cow::Owned(part.finish()));
                MemberSlot::Reasoning
            }
            "redacted_thinking" => {
                reasoning.push(Cow::Borrowed(*raw));
                MemberSlot::Reasoning
            }
            "tool_use" => {
                let input = json::member(raw, "input").unwrap_or(b"");
                let arguments = quoted(&String::from_utf8_lossy(input));
                let own = |name| json::member(raw, name).unwrap_or(b"null");
                calls.push(draft::call(own("id"), own("name"), &arguments));
                notes.push(draft::noted(extra_object(raw, &["type", "id", "name", "input"])));
                MemberSlot::Call
            }
            _ => {
                parts.push(block::read(raw));
                MemberSlot::Content
            }
        };
        order.push(slot);
    }
    let mut draft = AnnotatedDraft::new("assistant");
    let plain = parts.first().and_then(|part| plain_text(part));
    match (plain, parts.len(), parts.len() < blocks.len()) {
        (_, 0, true) => draft.raw("content", "null"),
        (Some(text), 1, true) => draft.raw("content", text.to_vec()),
        _ => draft.raw("content", array(&parts)),
    };
    draft.reply((&calls, &notes), &reasoning, &order);
    draft
}

/// The text of a part without other members.
fn plain_text(part: &[u8]) -> Option<&[u8]> {
    let text = json::member(part, "text")?;
    (kind(part) == "text" && text.starts_with(b"\"") && extra_object(part, &["type", "text"]).is_none())
        .then_some(text)
}

fn user(blocks: &[&[u8]], raw: &[u8]) -> Vec<AnnotatedDraft> {
    let is_result = |block: &&&[u8]| kind(block) == "tool_result";
    let mut drafts: Vec<AnnotatedDraft> = blocks.iter().filter(is_result).map(|raw| result(raw)).collect();
    if drafts.is_empty() {
        return vec![AnnotatedDraft::with_content("user", block::read_content(raw))];
    }
    let rest: Vec<_> = blocks.iter().filter(|block| !is_result(block)).collect();
    if !rest.is_empty() {
        let content = array(rest.into_iter().map(|raw| block::read(raw)));
        drafts.push(AnnotatedDraft::with_content("user", content));
    }
    drafts
}

fn result(raw: &[u8]) -> AnnotatedDraft {
    let mut draft = AnnotatedDraft::new("tool");
    draft.optional("tool_call_id", json::member(raw, "tool_use_id"));
    match json::member(raw, "content") {
        Some(content) if content.starts_with(b"\"") => draft.raw("content", content),
        Some(content) if content.starts_with(b"[") => draft.raw("content", block::read_content(content)),
        None | Some(b"null") => draft.raw("content", "null"),
        Some(other) => draft.raw("content", array([other])),
    };
    draft
        .metadata("is_error", json::member(raw, "is_error").map(<[u8]>::to_vec))
        .note(
            "part",
            extra_object(raw, &["type", "tool_use_id", "content", "is_error"]),
        );
    draft
}
