//! Items as messages of the record stream: what the user said, or what the model thought and said and what the states of
//! its calls tell of results.

use super::{NAME, spell};
use crate::format::request::piece::{array, rest, rest_object, wrapped};
use crate::model::json::{self, Dialect, ObjectBuilder};
use std::borrow::Cow;
use std::collections::HashSet;

/// A member that is a text.
pub fn text<'e>(object: &'e [u8], name: &str) -> Option<Cow<'e, str>> {
    json::member(object, name).and_then(json::text)
}

/// The role of an item's message; none of what has no message.
pub fn role(item: &[u8]) -> Option<Cow<'_, str>> {
    json::member(item, "message").and_then(|message| text(message, "role"))
}

/// The elements of a member.
fn list<'e>(object: &'e [u8], name: &str) -> Vec<&'e [u8]> {
    let found = json::member(object, name).and_then(|raw| json::elements(raw, Dialect::Strict));
    found.unwrap_or_default()
}

/// The lines of the messages that items are which belong together, thoughts first; `answered` are the calls whose results
/// are items of their own. The first has an id of this name.
pub fn bodies(items: &[&[u8]], answered: &HashSet<String>, id: &str) -> Vec<Vec<u8>> {
    let Some((said, thoughts)) = items.split_last() else {
        return Vec::new();
    };
    let message = json::member(said, "message").unwrap_or(b"{}");
    let role = text(message, "role").unwrap_or_default();
    let mut known = vec!["role", "content"];
    let mut note = ObjectBuilder::default();
    let mut built = ObjectBuilder::default();
    // Thoughts that nothing follows are said by nobody else.
    let thought_only = role == "thinking";
    let name = if thought_only { "assistant" } else { role.as_ref() };
    built.text("role", name);
    let content = match thought_only {
        true => b"null".to_vec(),
        false => content(json::member(message, "content").unwrap_or(b"null")),
    };
    built.raw("content", content);
    let mut results = Vec::new();
    if name == "assistant" {
        let thoughts = match thought_only {
            true => items,
            false => thoughts,
        };
        let mut reasoning: Vec<Vec<u8>> = thoughts.iter().map(|item| thought(item)).collect();
        if reasoning.is_empty()
            && let Some(shown) = json::member(said, "reasoning").and_then(|raw| json::member(raw, "text"))
            && shown.starts_with(b"\"")
            && shown != b"\"\""
        {
            let mut part = ObjectBuilder::default();
            part.text("type", "thinking").raw("text", shown);
            reasoning.push(part.finish());
            note.raw("shown", "true");
        }
        if !reasoning.is_empty() {
            built.raw("reasoning", array(reasoning));
        }
        let calls = list(message, "toolCalls");
        if !thought_only && !calls.is_empty() && calls.iter().all(|call| is_call(call)) {
            built.raw("tool_calls", array(&calls));
            known.push("toolCalls");
        }
        if let Some(usage) = json::member(message, "usage").filter(|raw| raw.starts_with(b"{")) {
            built.raw("usage", usage);
            known.push("usage");
        }
        results = self::results(said, answered, id);
    } else if name == "tool"
        && let Some(call) = json::member(message, "toolCallId").filter(|raw| raw.starts_with(b"\""))
    {
        built.raw("tool_call_id", call);
        known.push("toolCallId");
    }
    built.text("id", id);
    if let Some(context) = json::member(said, "contextItems").filter(|raw| *raw != b"[]") {
        note.raw("context", context);
    }
    if let Some(rest) = rest_object(said, &["message", "contextItems"]) {
        note.raw("item", rest);
    }
    if let Some(rest) = rest_object(message, &known) {
        note.raw("message", rest);
    }
    let body = with_note(&built.finish(), note.finish());
    let mut bodies = vec![body];
    bodies.extend(results);
    let lines: Vec<&[u8]> = bodies.iter().map(Vec::as_slice).collect();
    let made = spell::items(&lines, &mut Default::default());
    if json::same(&array(&made), &array(items)) {
        return bodies;
    }
    bodies[0] = with_note(&bodies[0], wrapped("raw", &array(items)));
    bodies
}

fn with_note(body: &[u8], note: Vec<u8>) -> Vec<u8> {
    let metadata = wrapped(NAME, &note);
    json::with_members(body, &[("metadata", Some(&metadata))]).unwrap_or_else(|_| body.to_vec())
}

/// Whether a call is one as the record stream has it.
fn is_call(call: &[u8]) -> bool {
    let function = json::member(call, "function").unwrap_or_default();
    text(call, "id").is_some() && text(function, "name").is_some() && text(function, "arguments").is_some()
}

/// A thought; what it says keeps its bytes.
fn thought(item: &[u8]) -> Vec<u8> {
    let message = json::member(item, "message").unwrap_or(b"{}");
    let mut part = ObjectBuilder::default();
    let content = json::member(message, "content").unwrap_or(b"\"\"");
    match json::member(message, "redactedThinking") {
        Some(data) if content == b"\"\"" => part.text("type", "redacted_thinking").raw("data", data),
        _ => part.text("type", "thinking").raw("text", content),
    };
    for (name, value) in rest(message, &["role", "content", "redactedThinking"]) {
        part.raw(&name, value);
    }
    part.finish()
}

/// Content as the record stream has it: images in its spelling, everything else as it is.
fn content(raw: &[u8]) -> Vec<u8> {
    let Some(parts) = json::elements(raw, Dialect::Strict) else {
        return raw.to_vec();
    };
    array(parts.into_iter().map(|part| {
        let image = json::member(part, "imageUrl").filter(|raw| text(raw, "url").is_some());
        match image {
            Some(image)
                if text(part, "type").as_deref() == Some("imageUrl")
                    && rest_object(part, &["type", "imageUrl"]).is_none() =>
            {
                let mut made = ObjectBuilder::default();
                made.text("type", "image_url").raw("image_url", image);
                made.finish()
            }
            _ => part.to_vec(),
        }
    }))
}

/// What the states of calls tell of results that are no items.
fn results(item: &[u8], answered: &HashSet<String>, id: &str) -> Vec<Vec<u8>> {
    let states = list(item, "toolCallStates");
    let results = states.into_iter().enumerate().filter_map(|(nth, state)| {
        let call = text(state, "toolCallId").filter(|call| !answered.contains(call.as_ref()))?;
        let content = spell::output(state)?;
        let failed = matches!(text(state, "status").as_deref(), Some("errored" | "canceled"));
        let mut result = ObjectBuilder::default();
        result
            .text("role", "tool")
            .text("tool_call_id", &call)
            .raw("content", content)
            .text("id", &format!("{id}.{nth}"));
        let mut metadata = ObjectBuilder::default();
        if failed {
            metadata.raw("is_error", "true");
        }
        metadata.raw(NAME, wrapped("state", b"true"));
        result.raw("metadata", metadata.finish());
        Some(result.finish())
    });
    results.collect()
}
