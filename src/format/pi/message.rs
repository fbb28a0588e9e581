//! Converts the message of an entry to a native one.

use crate::format::request::draft::{self, AnnotatedDraft};
use crate::format::request::{mcp, request_part};
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use std::borrow::Cow;

/// A context message: it has the user role, but the user did not write it.
pub fn context(content: Vec<u8>) -> AnnotatedDraft {
    let mut draft = AnnotatedDraft::new("user");
    draft
        .raw("content", content)
        .raw("category", b"\"context\"".as_slice());
    draft
}

/// Converts a message; `None` if its role is unknown.
pub fn of_message(message: &[u8]) -> Option<AnnotatedDraft> {
    let members = json::members(message, Dialect::Strict)?;
    let get = |name: &str| {
        let found = members.iter().find(|(known, _)| known == name);
        found.map(|(_, raw)| *raw)
    };
    let role = get("role").and_then(json::text)?;
    if role == "assistant" {
        return Some(assistant(message));
    }
    let mut draft = match role.as_ref() {
        "user" => {
            let mut draft = AnnotatedDraft::new("user");
            draft.raw("content", content(get("content")?));
            draft
        }
        "toolResult" => {
            let mut draft = AnnotatedDraft::new("tool");
            draft
                .raw(
                    "tool_call_id",
                    get("toolCallId").filter(|raw| raw.starts_with(b"\""))?,
                )
                .raw("content", content(get("content").unwrap_or(b"null")));
            draft.optional("name", get("toolName").filter(|raw| raw.starts_with(b"\"")));
            let failed = get("isError").filter(|raw| *raw == b"true");
            draft.metadata("is_error", failed.map(<[u8]>::to_vec));
            draft
        }
        "bashExecution" => {
            let text = |name| get(name).filter(|raw| raw.starts_with(b"\""));
            let parts = [text("command")?, text("output").unwrap_or(b"\"\"")];
            let mut draft = AnnotatedDraft::new("user");
            draft
                .raw("content", array(parts.map(draft::text_part)))
                .raw("category", b"\"system_output\"".as_slice());
            draft
        }
        "custom" | "hookMessage" => context(content(get("content")?)),
        "branchSummary" | "compactionSummary" => {
            context(get("summary").filter(|raw| raw.starts_with(b"\""))?.to_vec())
        }
        _ => return None,
    };
    if !matches!(role.as_ref(), "user" | "toolResult") {
        draft.note("role", Some(quoted(&role)));
    }
    Some(draft)
}

/// The content of a message: images become native if the conversion is lossless, other parts are unchanged.
pub fn content(raw: &[u8]) -> Vec<u8> {
    match json::elements(raw, Dialect::Strict) {
        Some(blocks) => array(blocks.into_iter().map(mcp::part)),
        None => raw.to_vec(),
    }
}

fn assistant(message: &[u8]) -> AnnotatedDraft {
    let mut draft = AnnotatedDraft::new("assistant");
    let blocks = json::list(message, "content");
    let claude = json::member(message, "api") == Some(b"\"anthropic-messages\"");
    let (mut reasoning, mut contents, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for raw in blocks {
        let kind = json::member_text(raw, "type").unwrap_or(Cow::Borrowed(""));
        match kind.as_ref() {
            "thinking" => {
                reasoning.push(reasoning_part(raw, claude));
            }
            "toolCall" if json::member(raw, "id").is_some_and(|id| id.starts_with(b"\"")) => {
                let arguments = json::member(raw, "arguments").unwrap_or(b"{}");
                let arguments = quoted(&String::from_utf8_lossy(arguments));
                let own = |name| json::member(raw, name).unwrap_or(b"\"\"");
                calls.push(draft::call(own("id"), own("name"), &arguments));
            }
            _ => {
                contents.push(mcp::part(raw));
            }
        }
    }
    draft.raw(
        "content",
        if contents.is_empty() {
            b"null".to_vec()
        } else {
            array(&contents)
        },
    );
    draft.list("tool_calls", &calls);
    draft.list("reasoning", &reasoning);
    for (name, begins) in [("model", b'"'), ("usage", b'{')] {
        draft.optional(
            name,
            json::member(message, name).filter(|raw| raw.first() == Some(&begins)),
        );
    }
    draft
}

/// Converts reasoning; an Anthropic signature gets Anthropic's member name.
fn reasoning_part(raw: &[u8], claude: bool) -> Vec<u8> {
    let mut part = ObjectBuilder::default();
    for (name, value) in request_part::extra_members(raw, &[]) {
        let name = match name.as_ref() {
            "thinkingSignature" if claude => "signature",
            "thinking" if json::member(raw, "text").is_none() => "text",
            name => name,
        };
        part.raw(name, value);
    }
    part.finish()
}
