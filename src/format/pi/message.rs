//! Converts the message of an entry to a native one.

use crate::format::object::Object;
use crate::format::request::draft::{self, AnnotatedDraft};
use crate::format::request::mcp;
use crate::format::request::request_part::extra_members;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};

/// A context message: it has the user role, but the user did not write it.
pub fn context(content: Vec<u8>) -> AnnotatedDraft {
    user(content, Some("context"))
}

fn user(content: Vec<u8>, category: Option<&str>) -> AnnotatedDraft {
    let mut draft = AnnotatedDraft::with_content("user", content);
    draft.optional("category", category.map(quoted));
    draft
}

/// Converts a message; `None` if its role is unknown.
pub fn of_message(message: &[u8]) -> Option<AnnotatedDraft> {
    let message = Object::of(message)?;
    let role = message.text("role")?;
    let mut draft = match role.as_ref() {
        "assistant" => return Some(assistant(&message)),
        "user" => return Some(user(content(message.get("content")?), None)),
        "toolResult" => {
            let failed = message.get("isError").filter(|raw| *raw == b"true");
            let mut draft = AnnotatedDraft::new("tool");
            draft
                .raw("tool_call_id", message.string("toolCallId")?)
                .raw("content", content(message.get("content").unwrap_or(b"null")))
                .optional("name", message.string("toolName"))
                .metadata("is_error", failed.map(<[u8]>::to_vec));
            return Some(draft);
        }
        "bashExecution" => {
            let output = message.string("output").unwrap_or(b"\"\"");
            let parts = [message.string("command")?, output].map(draft::text_part);
            user(array(parts), Some("system_output"))
        }
        "custom" | "hookMessage" => context(content(message.get("content")?)),
        "branchSummary" | "compactionSummary" => context(message.string("summary")?.to_vec()),
        _ => return None,
    };
    draft.note("role", Some(quoted(&role)));
    Some(draft)
}

/// The content of a message: images become native if the conversion is lossless, other parts are unchanged.
pub fn content(raw: &[u8]) -> Vec<u8> {
    match json::elements(raw, Dialect::Strict) {
        Some(blocks) => array(blocks.into_iter().map(mcp::part)),
        None => raw.to_vec(),
    }
}

fn assistant(message: &Object<'_>) -> AnnotatedDraft {
    let is_claude = message.get("api") == Some(b"\"anthropic-messages\"");
    let (mut reasoning, mut contents, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for raw in message.list("content").unwrap_or_default() {
        let own = |name| json::member(raw, name);
        match json::member_text(raw, "type").as_deref() {
            Some("thinking") => reasoning.push(reasoning_part(raw, is_claude)),
            Some("toolCall") if own("id").is_some_and(|id| id.starts_with(b"\"")) => {
                let arguments = String::from_utf8_lossy(own("arguments").unwrap_or(b"{}"));
                calls.push(draft::call_of(own("id"), own("name"), Some(&quoted(&arguments))));
            }
            _ => contents.push(mcp::part(raw)),
        }
    }
    let mut draft = AnnotatedDraft::new("assistant");
    let content = (!contents.is_empty()).then(|| array(&contents));
    draft.raw("content", content.unwrap_or_else(|| b"null".to_vec()));
    draft.list("tool_calls", &calls).list("reasoning", &reasoning);
    draft.optional("model", message.string("model"));
    draft.optional("usage", message.get("usage").filter(|raw| raw.starts_with(b"{")));
    draft
}

/// Converts reasoning; an Anthropic signature gets Anthropic's member name.
fn reasoning_part(raw: &[u8], is_claude: bool) -> Vec<u8> {
    let mut part = ObjectBuilder::default();
    for (name, value) in extra_members(raw, &[]) {
        let name = match name.as_ref() {
            "thinkingSignature" if is_claude => "signature",
            "thinking" if json::member(raw, "text").is_none() => "text",
            name => name,
        };
        part.raw(name, value);
    }
    part.finish()
}
