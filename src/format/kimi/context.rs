//! Converts the lines of a Kimi CLI context, which are messages in OpenAI form.

use super::message::{add_content, function_call, member, parts};
use crate::format::blocks;
use crate::format::kit::{Decoded, Draft};
use crate::format::report::Report;
use crate::format::request::draft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, ObjectBuilder, array};
use crate::model::message::Role;

pub fn decode(line: &[u8]) -> Decoded {
    match json::member_text(line, "role").as_deref() {
        Some("_system_prompt") => message(line, "system"),
        Some(role) if role.starts_with('_') => Decoded::Passthrough,
        Some(role) => message(line, role),
        None => Decoded::Unrecognized,
    }
}

fn message(line: &[u8], role: &str) -> Decoded {
    match draft(line, role) {
        Some(draft) => Decoded::Messages(vec![Draft::from(draft)]),
        None => Decoded::Unrecognized,
    }
}

/// The message of an object with a content and calls.
fn draft(line: &[u8], role: &str) -> Option<draft::AnnotatedDraft> {
    let calls = json::items(member(line, "tool_calls"));
    let mut draft = draft::AnnotatedDraft::new(role);
    match member(line, "content") {
        Some(content) => add_content(&mut draft, content, b"\"\"")?,
        None if calls.is_empty() => return None,
        None => drop(draft.raw("content", "null")),
    }
    let is_checkpoint = |content| {
        let text = json::text(content).unwrap_or_default();
        text.starts_with("<system>CHECKPOINT ") && blocks::is_within(content, "system")
    };
    if role == "user" && draft.get("content").is_some_and(is_checkpoint) {
        draft.raw("category", "\"context\"");
    }
    if !calls.is_empty() {
        let calls = calls.into_iter().map(|raw| {
            let function = json::member(raw, "function").unwrap_or(b"{}");
            let name = member(function, "name");
            draft::call_of(member(raw, "id"), name, member(function, "arguments"))
        });
        draft.raw("tool_calls", array(calls));
    }
    for name in ["tool_call_id", "name"] {
        draft.optional(name, member(line, name));
    }
    Some(draft)
}

/// Encodes a message as a line.
pub fn encode(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    let role = match annotated.message.role() {
        Role::System | Role::Developer => "_system_prompt".into(),
        _ => annotated.message.role_name(),
    };
    let mut line = ObjectBuilder::default();
    line.text("role", &role);
    match annotated.message.content {
        Some(raw) if raw.starts_with(b"\"") && annotated.reasoning().is_empty() => {
            line.raw("content", raw);
        }
        None | Some(b"null") if annotated.reasoning().is_empty() => drop(line.text("content", "")),
        _ => drop(line.raw("content", array(parts(annotated, report)))),
    }
    let calls = annotated.calls();
    if !calls.is_empty() {
        let calls = calls.into_iter().map(|call| function_call(call, report));
        line.raw("tool_calls", array(calls.collect::<Vec<_>>()));
    }
    line.optional("tool_call_id", annotated.message.tool_call_id);
    line.optional("name", json::member(annotated.body, "name"));
    line.finish()
}
