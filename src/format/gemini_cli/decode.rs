//! Converts a record to messages: a user message, or a model message with its tool results.

use super::content::{of_parts, parts, result_content};
use crate::format::object::timestamp;
use crate::format::request::draft::{self, AnnotatedDraft};
use crate::format::request::request_part::extra_members;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use crate::model::key;

/// The messages of a record; `None` if it is not a message.
pub fn messages(record: &[u8]) -> Option<Vec<AnnotatedDraft>> {
    let kind = json::member_text(record, "type")?;
    let mut drafts = match kind.as_ref() {
        "user" => user(record),
        "gemini" => gemini(record),
        _ => return None,
    };
    let first = drafts.first_mut()?;
    first.optional("timestamp", timestamp(record));
    Some(drafts)
}

fn user(record: &[u8]) -> Vec<AnnotatedDraft> {
    let content = json::member(record, "content").unwrap_or(b"null");
    let Some(parts) = parts(content) else {
        return vec![AnnotatedDraft::with_content("user", content)];
    };
    let mut drafts = of_parts("user", &parts);
    if let Some(first) = drafts.first_mut() {
        first.note("parts", Some(b"true".to_vec()));
    }
    drafts
}

/// Whether content contains calls and reasoning.
fn is_inline(parts: &[u8]) -> bool {
    let parts = json::items(parts);
    parts.into_iter().any(|part| {
        json::member(part, "functionCall").is_some() || json::member(part, "thought") == Some(b"true")
    })
}

fn gemini(record: &[u8]) -> Vec<AnnotatedDraft> {
    let content = json::member(record, "content").unwrap_or(b"\"\"");
    let parts = parts(content);
    let is_inline = parts.as_deref().is_some_and(is_inline);
    let mut draft = match &parts {
        Some(parts) => of_parts("model", parts).into_iter().next().unwrap_or_default(),
        None => AnnotatedDraft::with_content("assistant", content),
    };
    let list = |name| json::member(record, name).and_then(|raw| json::elements(raw, Dialect::Strict));
    let tools = list("toolCalls").unwrap_or_default();
    let mut results = Vec::new();
    if is_inline {
        draft.note("inline", Some(b"true".to_vec()));
        // The calls are in the content, and their results here.
        let calls = json::items(draft.get("tool_calls"));
        let mut waiting: Vec<Option<&[u8]>> = tools.iter().copied().map(Some).collect();
        for call in calls {
            let id = json::member(call, "id").unwrap_or_default();
            let name = json::member(call, "function").and_then(|raw| json::member(raw, "name"));
            let is = |tool: &Option<&[u8]>, member, value: Option<&[u8]>| {
                tool.is_some_and(|tool| value.is_some() && json::member(tool, member) == value)
            };
            let at = waiting.iter().position(|tool| is(tool, "id", Some(id)));
            let at = at.or_else(|| waiting.iter().position(|tool| is(tool, "name", name)));
            let tool = at.and_then(|at| waiting[at].take());
            results.extend(tool.and_then(|tool| result(tool, id)));
        }
    } else {
        if !tools.is_empty() && tools.iter().all(|tool| json::member(tool, "name").is_some()) {
            let mut calls = Vec::new();
            for tool in &tools {
                let id = match json::string_member(tool, "id") {
                    Some(id) => id.to_vec(),
                    None => quoted(&format!("call_{}", &key::sha256(tool)[..12])),
                };
                let args = json::member(tool, "args").unwrap_or(b"{}");
                let args = quoted(&String::from_utf8_lossy(&json::compact(args).0));
                calls.push(draft::call(
                    &id,
                    json::member(tool, "name").unwrap_or(b"\"\""),
                    &args,
                ));
                results.extend(result(tool, &id));
            }
            draft.raw("tool_calls", array(&calls));
        }
        draft.note("parts", parts.map(|_| b"true".to_vec()));
        let reasoning_parts = list("thoughts").unwrap_or_default();
        let reasoning_parts: Option<Vec<Vec<u8>>> = reasoning_parts.into_iter().map(reasoning_part).collect();
        if let Some(reasoning_parts) = reasoning_parts.filter(|reasoning_parts| !reasoning_parts.is_empty()) {
            draft.raw("reasoning", array(&reasoning_parts));
        }
    }
    for (from, name, begins) in [("model", "model", b'"'), ("tokens", "usage", b'{')] {
        draft.optional(
            name,
            json::member(record, from).filter(|raw| raw.first() == Some(&begins)),
        );
    }
    [vec![draft], results].concat()
}

/// Converts reasoning, with the subject separate; `None` if it is not text.
fn reasoning_part(raw: &[u8]) -> Option<Vec<u8>> {
    let text = json::string_member(raw, "description")?;
    let mut part = ObjectBuilder::default();
    part.text("type", "thinking").raw("text", text);
    for (name, value) in extra_members(raw, &["description"]) {
        part.raw(&name, value);
    }
    Some(part.finish())
}

/// The result of the call with this id.
fn result(tool: &[u8], id: &[u8]) -> Option<AnnotatedDraft> {
    let raw = json::member(tool, "result").filter(|raw| !matches!(*raw, b"null" | b"[]"))?;
    let status = json::member_text(tool, "status");
    let is_failed = matches!(status.as_deref(), Some("error" | "cancelled"));
    let (content, is_error) = result_content(raw);
    let mut draft = AnnotatedDraft::new("tool");
    draft
        .raw("tool_call_id", id)
        .raw("name", json::member(tool, "name").unwrap_or(b"\"\""))
        .raw("content", content);
    draft.optional("timestamp", timestamp(tool));
    draft.metadata("is_error", (is_failed || is_error).then(|| b"true".to_vec()));
    Some(draft)
}
