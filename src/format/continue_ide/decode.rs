//! Converts items to messages: user messages, and replies with reasoning and with the results in call states.

use crate::format::request::contents;
use crate::format::request::draft::AnnotatedDraft;
use crate::format::request::request_part::{extra_members, extra_object};
pub use crate::model::json::member_text as text;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use std::borrow::Cow;
use std::collections::HashSet;

/// The role of an item's message, if it has one.
pub fn role(item: &[u8]) -> Option<Cow<'_, str>> {
    json::member(item, "message").and_then(|message| text(message, "role"))
}

pub fn message_of(item: &[u8]) -> &[u8] {
    json::member(item, "message").unwrap_or(b"{}")
}

/// The messages of a group's items, reasoning first; `answered` are calls whose results are separate items.
pub fn messages(items: &[&[u8]], answered: &HashSet<String>) -> Vec<AnnotatedDraft> {
    let Some((reply, thoughts)) = items.split_last() else {
        return Vec::new();
    };
    let message = message_of(reply);
    let role = text(message, "role").unwrap_or_default();
    // Reasoning that no reply follows is an assistant message.
    let is_thought = role == "thinking";
    let role = if is_thought { "assistant" } else { role.as_ref() };
    let mut draft = AnnotatedDraft::new(role);
    draft.raw(
        "content",
        match is_thought {
            true => b"null".to_vec(),
            false => content(json::member(message, "content").unwrap_or(b"null")),
        },
    );
    let mut results = Vec::new();
    if role == "assistant" {
        let thoughts = if is_thought { items } else { thoughts };
        let mut reasoning: Vec<Vec<u8>> = thoughts.iter().map(|item| reasoning_part(item)).collect();
        let shown = json::member(reply, "reasoning").and_then(|raw| json::member(raw, "text"));
        let shown = shown.filter(|raw| raw.starts_with(b"\"") && *raw != b"\"\"");
        if let Some(shown) = shown.filter(|_| reasoning.is_empty()) {
            let mut part = ObjectBuilder::default();
            part.text("type", "thinking").raw("text", shown);
            reasoning.push(part.finish());
            draft.note("shown", Some(b"true".to_vec()));
        }
        draft.list("reasoning", &reasoning);
        let calls = json::list(message, "toolCalls").into_iter();
        let calls: Vec<&[u8]> = calls.filter(|call| !is_thought && is_call(call)).collect();
        draft.list("tool_calls", &calls);
        if let Some(usage) = json::member(message, "usage").filter(|raw| raw.starts_with(b"{")) {
            draft.raw("usage", usage);
        }
        results = self::results(reply, answered);
    } else if role == "tool"
        && let Some(call) = json::string_member(message, "toolCallId")
    {
        draft.raw("tool_call_id", call);
    }
    let mut messages = vec![draft];
    messages.extend(results);
    messages
}

/// Whether a call has the native form.
pub fn is_call(call: &[u8]) -> bool {
    let function = json::member(call, "function").unwrap_or_default();
    text(call, "id").is_some() && text(function, "name").is_some() && text(function, "arguments").is_some()
}

/// Converts reasoning; its text keeps its bytes.
fn reasoning_part(item: &[u8]) -> Vec<u8> {
    let message = json::member(item, "message").unwrap_or(b"{}");
    let mut part = ObjectBuilder::default();
    let content = json::member(message, "content").unwrap_or(b"\"\"");
    match json::member(message, "redactedThinking") {
        Some(data) if content == b"\"\"" => part.text("type", "redacted_thinking").raw("data", data),
        _ => part.text("type", "thinking").raw("text", content),
    };
    for (name, value) in extra_members(message, &["role", "content", "redactedThinking"]) {
        part.raw(&name, value);
    }
    part.finish()
}

/// Converts content: images become native, anything else is unchanged.
fn content(raw: &[u8]) -> Vec<u8> {
    let Some(parts) = json::elements(raw, Dialect::Strict) else {
        return raw.to_vec();
    };
    array(parts.into_iter().map(|part| {
        let image = json::member(part, "imageUrl").filter(|raw| text(raw, "url").is_some());
        match image {
            Some(image)
                if text(part, "type").as_deref() == Some("imageUrl")
                    && extra_object(part, &["type", "imageUrl"]).is_none() =>
            {
                let mut built = ObjectBuilder::default();
                built.text("type", "image_url").raw("image_url", image);
                built.finish()
            }
            _ => part.to_vec(),
        }
    }))
}

/// The results that only call states have.
fn results(item: &[u8], answered: &HashSet<String>) -> Vec<AnnotatedDraft> {
    let results = json::list(item, "toolCallStates")
        .into_iter()
        .filter_map(|state| {
            let call = text(state, "toolCallId").filter(|call| !answered.contains(call.as_ref()))?;
            let content = output(state)?;
            let failed = matches!(text(state, "status").as_deref(), Some("errored" | "canceled"));
            let mut result = AnnotatedDraft::new("tool");
            result
                .raw("tool_call_id", quoted(&call))
                .raw("content", content)
                .metadata("is_error", failed.then(|| b"true".to_vec()))
                .note("state", Some(b"true".to_vec()));
            Some(result)
        });
    results.collect()
}

/// The result in a call state: a string, or one part per item; `None` if there is none yet.
pub fn output(state: &[u8]) -> Option<Vec<u8>> {
    let items = json::list(state, "output");
    let texts = items.iter().filter_map(|item| json::member(item, "content"));
    let texts: Vec<&[u8]> = texts.filter(|raw| raw.starts_with(b"\"")).collect();
    (!items.is_empty()).then(|| contents::of_texts(&texts, b"\"\""))
}
