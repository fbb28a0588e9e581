//! Converts the lines of a stream: each message, call and result is a line.

use super::line::{add_members, time_of};
use crate::format::kit::{Decoded, Draft};
use crate::format::object::filled;
use crate::format::report::{Loss, Report};
use crate::format::request::contents::{RequestContent, content_parts};
use crate::format::request::draft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use crate::model::message::Role;
use std::collections::HashSet;

/// Whether a line belongs to a stream.
pub fn is_line(line: &[u8]) -> bool {
    let is_named = ["session_id", "sessionId"]
        .iter()
        .any(|name| filled(line, name).is_some());
    is_named && json::member(line, "message").is_none_or(|raw| !raw.starts_with(b"{"))
}

/// Completions that repeat the text of the model's last message.
pub fn repeated(lines: &[&[u8]]) -> HashSet<usize> {
    let (mut last, mut repeated) = (None, HashSet::new());
    for (nth, line) in lines.iter().enumerate().filter(|(_, line)| is_line(line)) {
        match filled(line, "type").as_deref() {
            Some("message") if json::member(line, "role") == Some(b"\"assistant\"") => {
                last = filled(line, "text")
            }
            Some("completion") if last.is_some() && last == filled(line, "finalText") => {
                repeated.insert(nth);
            }
            _ => {}
        }
    }
    repeated
}

pub fn decode(line: &[u8]) -> Decoded {
    let member = |name| json::member(line, name);
    let id = || member("toolCallId").or_else(|| member("id"));
    let draft = match filled(line, "type").as_deref() {
        Some("message") => message_draft(filled(line, "role").as_deref(), member("text")),
        Some("completion") => message_draft(Some("assistant"), member("finalText")),
        Some("tool_call") => id().map(|id| {
            let parameters = String::from_utf8_lossy(member("parameters").unwrap_or(b"{}"));
            let call = draft::call(id, member("toolName").unwrap_or(b"\"\""), &quoted(&parameters));
            let mut draft = draft::AnnotatedDraft::with_content("assistant", "null");
            draft.raw("tool_calls", array([call]));
            draft
        }),
        Some("tool_result") => id().map(|id| {
            let value = member("value").unwrap_or(b"\"\"");
            let mut draft = draft::AnnotatedDraft::new("tool");
            draft
                .raw("tool_call_id", id)
                .raw("content", draft::text_of(value));
            draft.metadata(
                "is_error",
                member("isError")
                    .filter(|raw| *raw == b"true")
                    .map(<[u8]>::to_vec),
            );
            draft
        }),
        Some(_) => return Decoded::Passthrough,
        None => None,
    };
    let Some(mut draft) = draft else {
        return Decoded::Unrecognized;
    };
    if let Some(time) = time_of(line) {
        draft.raw("timestamp", quoted(&time));
    }
    if let Some(usage) = member("usage").filter(|raw| raw.starts_with(b"{")) {
        draft.raw("usage", usage);
    }
    Decoded::Messages(vec![Draft::from(draft)])
}

fn message_draft(role: Option<&str>, text: Option<&[u8]>) -> Option<draft::AnnotatedDraft> {
    let text = text.filter(|text| text.starts_with(b"\""));
    Some(draft::AnnotatedDraft::with_content(role?, text?))
}

/// Encodes a message: one line for its text, and one per call.
pub fn lines(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let calls = annotated.calls();
    let text = text_of(annotated, report);
    report.count_loss(Loss::Reasoning, annotated.reasoning().len() as u64);
    let mut lines = Vec::new();
    let mut line = ObjectBuilder::default();
    match annotated.message.role() {
        Role::Tool => {
            line.text("type", "tool_result")
                .raw("toolCallId", annotated.message.tool_call_id.unwrap_or(b"\"\""))
                .text("value", &text);
            lines.push(line);
        }
        _ if text.is_empty() && !calls.is_empty() => {}
        _ => {
            line.text("type", "message")
                .text("role", &annotated.message.role_name())
                .text("text", &text);
            lines.push(line);
        }
    }
    lines.extend(calls.into_iter().map(call));
    if let Some(first) = lines.first_mut() {
        add_members(first, annotated.body);
    }
    lines.into_iter().map(ObjectBuilder::finish).collect()
}

fn call(call: &[u8]) -> ObjectBuilder {
    let function = json::member(call, "function").unwrap_or(b"{}");
    let arguments = json::member_text(function, "arguments");
    let arguments = arguments.unwrap_or_default();
    let mut line = ObjectBuilder::default();
    line.text("type", "tool_call")
        .raw("toolCallId", json::member(call, "id").unwrap_or(b"\"\""))
        .raw("toolName", json::member(function, "name").unwrap_or(b"\"\""));
    match json::members(arguments.as_bytes(), Dialect::Strict) {
        Some(_) => line.raw("parameters", arguments.as_bytes()),
        None => line.text("parameters", &arguments),
    };
    line
}

/// The texts of a content, separated by blank lines.
fn text_of(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> String {
    let mut texts = Vec::new();
    for piece in content_parts(annotated.message.content) {
        match piece {
            RequestContent::Text(text) => texts.extend(json::text(text)),
            RequestContent::Other(_) => report.count_loss(Loss::Part, 1),
        }
    }
    texts.join("\n\n")
}
