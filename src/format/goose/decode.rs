//! Converts an element to messages: tool results first, then one message with everything else.

use super::element::{GooseMessage, kind};
use crate::format::kit::{Draft, Visible};
use crate::format::request::contents::joined;
use crate::format::request::{draft, mcp};
use crate::model::json::{self, ObjectBuilder, quoted};

pub fn messages(element: &GooseMessage<'_>) -> Vec<Draft> {
    let (mut all, mut others) = (Vec::new(), Vec::new());
    for raw in &element.blocks {
        match result(raw).filter(|_| !element.is_model) {
            Some(result) => all.push(result),
            None => others.push(*raw),
        }
    }
    if !others.is_empty() || all.is_empty() {
        all.push(message(element.is_model, &others));
    }
    all.into_iter().map(|message| visible(element, message)).collect()
}

/// A message with its time and visibility.
fn visible(element: &GooseMessage<'_>, mut message: draft::AnnotatedDraft) -> Draft {
    let (shown, sent) = (element.is_shown(), element.is_sent());
    if let Some(time) = element.time() {
        message.raw("timestamp", quoted(&time));
    }
    if !shown && sent && message.role() != "tool" {
        message.raw("category", b"\"context\"".as_slice());
    }
    if !shown {
        message.metadata("visibility", Some(quoted(if sent { "agent" } else { "none" })));
    }
    let visible = if sent { Visible::Whole } else { Visible::Hidden };
    Draft { message, visible }
}

/// The message for blocks other than results.
fn message(is_model: bool, blocks: &[&[u8]]) -> draft::AnnotatedDraft {
    let (mut parts, mut reasoning_parts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        let mut reasoning = ObjectBuilder::default();
        match kind(block).as_ref() {
            "text" if json::string_member(block, "text").is_some() => {
                parts.extend(json::string_member(block, "text").map(draft::text_part));
            }
            "thinking" if json::string_member(block, "thinking").is_some() => {
                reasoning.text("type", "thinking");
                for (name, own) in [("text", "thinking"), ("signature", "signature")] {
                    reasoning.optional(name, json::string_member(block, own));
                }
                reasoning_parts.push(reasoning.finish());
            }
            "redactedThinking" if json::string_member(block, "data").is_some() => {
                reasoning.text("type", "redacted_thinking");
                reasoning.raw("data", json::string_member(block, "data").unwrap_or(b"\"\""));
                reasoning_parts.push(reasoning.finish());
            }
            "toolRequest" if json::string_member(block, "id").is_some() => calls.push(call(block)),
            _ => parts.push(mcp::part(block)),
        }
    }
    let mut message = draft::AnnotatedDraft::with_content(
        if is_model { "assistant" } else { "user" },
        joined(&parts, if is_model { b"null" } else { b"[]" }),
    );
    message.list("tool_calls", &calls);
    message.list("reasoning", &reasoning_parts);
    message
}

/// A call. One that goose could not parse has neither name nor arguments.
fn call(block: &[u8]) -> Vec<u8> {
    let id = json::string_member(block, "id").unwrap_or(b"\"\"");
    let call = json::member(block, "toolCall").unwrap_or(b"{}");
    let value = json::member(call, "value").filter(|raw| raw.starts_with(b"{"));
    let name = value.and_then(|value| json::string_member(value, "name"));
    let arguments = value
        .and_then(|value| json::member(value, "arguments"))
        .unwrap_or(b"");
    let arguments = quoted(&String::from_utf8_lossy(arguments));
    draft::call(id, name.unwrap_or(b"\"\""), &arguments)
}

/// The result in a block; `None` for any other block.
fn result(block: &[u8]) -> Option<draft::AnnotatedDraft> {
    if kind(block) != "toolResponse" {
        return None;
    }
    let id = json::string_member(block, "id")?;
    let result = json::member(block, "toolResult").unwrap_or(b"{}");
    let value = json::member(result, "value");
    let (content, failed) = match value {
        // In older files, the result is the list of blocks itself.
        Some(list) if list.starts_with(b"[") => (blocks(list), false),
        Some(value) if value.starts_with(b"{") => (
            blocks(json::member(value, "content").unwrap_or(b"[]")),
            json::member(value, "isError") == Some(b"true"),
        ),
        _ => (
            json::string_member(result, "error").unwrap_or(b"\"\"").to_vec(),
            json::member(result, "status") == Some(b"\"error\""),
        ),
    };
    let mut message = draft::AnnotatedDraft::new("tool");
    message
        .raw("tool_call_id", id)
        .raw("content", content)
        .metadata("is_error", failed.then(|| b"true".to_vec()));
    Some(message)
}

/// The content for the blocks of a result.
fn blocks(list: &[u8]) -> Vec<u8> {
    let blocks = json::items(list).into_iter();
    let parts =
        blocks.map(
            |block| match json::string_member(block, "text").filter(|_| kind(block) == "text") {
                Some(text) => draft::text_part(text),
                None => mcp::part(block),
            },
        );
    joined(&parts.collect::<Vec<_>>(), b"[]")
}
