//! Encodes messages as items.

use super::decode::{self, output, text};
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::{AnnotatedMessage, extra_members};
use crate::format::request::{draft, part_losses};
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::message::Role;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// The items of messages, as an array. A result is stored in the state of its call, if present, otherwise as an item. A
/// `new` message has content, and each of its calls a state.
pub fn group(messages: &[AnnotatedMessage<'_>], is_new: bool, report: &mut Report) -> Option<Vec<u8>> {
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(annotated) = messages.get(at) {
        let calls: Vec<Vec<u8>> = annotated.calls().into_iter().map(call).collect();
        let ids: HashSet<&[u8]> = calls.iter().filter_map(|call| json::member(call, "id")).collect();
        let is_result = |result: &&AnnotatedMessage<'_>| {
            let id = result
                .message
                .tool_call_id
                .filter(|_| result.message.role() == Role::Tool);
            id.is_some_and(|id| ids.contains(id))
        };
        let after = &messages[at + 1..];
        let count = after.iter().take_while(is_result).count();
        items.extend(self::items(annotated, &calls, &after[..count], is_new, report));
        at += 1 + count;
    }
    (!items.is_empty()).then(|| array(items))
}

/// The items of a message, reasoning first.
fn items(
    annotated: &AnnotatedMessage<'_>,
    calls: &[Vec<u8>],
    results: &[AnnotatedMessage<'_>],
    is_new: bool,
    report: &mut Report,
) -> Vec<Vec<u8>> {
    let mut items = Vec::new();
    let body = annotated.body;
    let role = annotated.message.role_name();
    let (mut message, mut item) = (ObjectBuilder::default(), ObjectBuilder::default());
    let content = content(json::member(body, "content"), report);
    let is_shown = annotated.noted("shown").is_some();
    let reasoning_parts = annotated.reasoning();
    if role == "assistant" && !is_shown {
        items.extend(
            reasoning_parts
                .iter()
                .filter_map(|part| reasoning_item(part, report)),
        );
    }
    if content == b"null" && !items.is_empty() && calls.is_empty() {
        return items;
    }
    let role = match role.as_ref() {
        role @ ("assistant" | "tool" | "user" | "system") => role,
        "developer" => "system",
        _ => "user",
    };
    message.text("role", role).raw(
        "content",
        if is_new && content == b"null" {
            b"\"\""
        } else {
            content.as_slice()
        },
    );
    match role {
        "assistant" => {
            message.list("toolCalls", calls);
            if let Some(usage) = json::member(body, "usage") {
                match usage_of(usage) {
                    Some(usage) => drop(message.raw("usage", usage)),
                    None => report.count_loss(Loss::Usage, 1),
                }
            }
        }
        "tool" => {
            message.optional("toolCallId", annotated.message.tool_call_id);
        }
        _ => {}
    }
    item.raw("message", message.finish()).raw("contextItems", "[]");
    let texts: Vec<_> = reasoning_parts
        .iter()
        .filter_map(|part| text(part, "text"))
        .collect();
    if is_shown && !texts.is_empty() {
        item.raw("reasoning", wrapped("text", quoted(&texts.join("\n"))));
    }
    let mut answers: HashMap<&[u8], &AnnotatedMessage<'_>> = HashMap::new();
    for result in results {
        if let Some(id) = result.message.tool_call_id {
            // A state has the output of one result.
            match answers.entry(id) {
                Entry::Vacant(entry) => drop(entry.insert(result)),
                Entry::Occupied(_) => report.count_missing(Loss::Orphan, 1),
            }
        }
    }
    let states = calls.iter().filter_map(|call| {
        let result = json::member(call, "id").and_then(|id| answers.get(id));
        (is_new || result.is_some()).then(|| state(call, result.map(|result| result.body)))
    });
    let states: Vec<Vec<u8>> = states.collect();
    results
        .iter()
        .for_each(|result| report_media(result.body, report));
    item.list("toolCallStates", &states);
    items.push(item.finish());
    items
}

/// A group with this result in the state of its call; `None` if it has no such call or state.
pub fn with_result(group: &[u8], result: &AnnotatedMessage<'_>, report: &mut Report) -> Option<Vec<u8>> {
    let id = result.message.tool_call_id?;
    let of = |raw: &&[u8], name| json::member(raw, name) == Some(id);
    let mut items: Vec<Vec<u8>> = json::items(group).into_iter().map(<[u8]>::to_vec).collect();
    let nth = items.iter().position(|item| {
        let calls = json::list(decode::message_of(item), "toolCalls");
        let states = json::list(item, "toolCallStates");
        calls.iter().any(|call| of(call, "id")) || states.iter().any(|state| of(state, "toolCallId"))
    })?;
    let item = &items[nth];
    let mut states: Vec<Vec<u8>> = json::list(item, "toolCallStates")
        .into_iter()
        .map(<[u8]>::to_vec)
        .collect();
    match states
        .iter_mut()
        .find(|state| of(&state.as_slice(), "toolCallId"))
    {
        Some(state) => {
            if output(state).as_deref() == result.message.content {
                return Some(group.to_vec());
            }
            let content = content_text(result.message.content.unwrap_or(b"\"\""));
            let output = array([wrapped("content", quoted(&content))]);
            let changes = [("status", Some(&b"\"done\""[..])), ("output", Some(&output))];
            *state = json::with_members(state, &changes).ok()?;
        }
        None => {
            let calls = json::list(decode::message_of(item), "toolCalls");
            let call = calls.into_iter().find(|call| of(call, "id"))?;
            states.push(state(call, Some(result.body)));
        }
    }
    report_media(result.body, report);
    items[nth] = json::with_members(item, &[("toolCallStates", Some(&array(states)))]).ok()?;
    Some(array(items))
}

/// A call of any type, encoded as a function call.
fn call(raw: &[u8]) -> Vec<u8> {
    let Some(custom) = json::member(raw, "custom") else {
        return complete(raw);
    };
    draft::call(
        json::member(raw, "id").unwrap_or(b"\"\""),
        json::member(custom, "name").unwrap_or(b"\"\""),
        json::member(custom, "input").unwrap_or(b"\"\""),
    )
}

/// A call with the strings that the reader requires: id, name and arguments.
fn complete(raw: &[u8]) -> Vec<u8> {
    if decode::is_call(raw) {
        return raw.to_vec();
    }
    let text = |value: Option<&[u8]>| match value {
        Some(text) if text.starts_with(b"\"") => text.to_vec(),
        Some(value) => quoted(&String::from_utf8_lossy(value)),
        None => b"\"\"".to_vec(),
    };
    let function = json::member(raw, "function").unwrap_or(b"{}");
    let id = text(json::member(raw, "id"));
    let name = text(json::member(function, "name"));
    let arguments = text(json::member(function, "arguments"));
    draft::call(&id, &name, &arguments)
}

fn state(call: &[u8], result: Option<&[u8]>) -> Vec<u8> {
    let arguments = json::member(call, "function").and_then(|raw| json::member(raw, "arguments"));
    let parsed = arguments
        .and_then(json::text)
        .filter(|text| json::is_object(text.as_bytes()));
    let failed = result.is_some_and(|result| {
        json::member(result, "metadata").and_then(|raw| json::member(raw, "is_error")) == Some(b"true")
    });
    let status = match (result, failed) {
        (None, _) => "canceled",
        (_, true) => "errored",
        (_, false) => "done",
    };
    let mut state = ObjectBuilder::default();
    state
        .raw("toolCallId", json::member(call, "id").unwrap_or(b"\"\""))
        .raw("toolCall", call)
        .text("status", status)
        .raw(
            "parsedArgs",
            parsed.map_or_else(|| b"{}".to_vec(), |text| json::compact(text.as_bytes()).0),
        );
    if let Some(result) = result {
        state.raw("output", array(outputs(result)));
    }
    state.finish()
}

/// The outputs for a result, one per text.
fn outputs(result: &[u8]) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = json::list(result, "content")
        .into_iter()
        .filter_map(|part| json::member(part, "text").map(<[u8]>::to_vec))
        .collect();
    if texts.is_empty() {
        texts.push(quoted(&content_text(
            json::member(result, "content").unwrap_or(b"\"\""),
        )));
    }
    let output = |text: Vec<u8>| {
        let mut output = ObjectBuilder::default();
        output
            .text("name", "Tool result")
            .text("description", "Tool result")
            .raw("content", text);
        output.finish()
    };
    texts.into_iter().map(output).collect()
}

/// Reports the parts of a result that are not text as losses.
fn report_media(result: &[u8], report: &mut Report) {
    for part in json::list(result, "content") {
        if json::member(part, "text").is_none() {
            part_losses::content(part, report);
        }
    }
}

fn content_text(content: &[u8]) -> String {
    if let Some(text) = json::text(content) {
        return text.into_owned();
    }
    let texts = json::items(content)
        .into_iter()
        .filter_map(|part| json::member_text(part, "text"));
    texts.collect::<Vec<_>>().join("\n")
}

fn reasoning_item(part: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let mut message = ObjectBuilder::default();
    message.text("role", "thinking");
    let kind = json::member_text(part, "type");
    let text = json::member(part, "text").or_else(|| json::member(part, "thinking"));
    match (kind.as_deref(), text, json::member(part, "data")) {
        (Some("redacted_thinking"), _, Some(data)) => {
            message.raw("content", "\"\"").raw("redactedThinking", data);
        }
        (Some("thinking"), Some(text), _) => {
            message.raw("content", text);
        }
        _ => {
            part_losses::reasoning(part, report);
            return None;
        }
    }
    for (name, value) in extra_members(part, &["type", "text", "thinking", "data"]) {
        message.raw(&name, value);
    }
    let mut item = ObjectBuilder::default();
    item.raw("message", message.finish()).raw("contextItems", "[]");
    Some(item.finish())
}

/// Encodes content for an item.
fn content(raw: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
    let Some(parts) = raw.and_then(|raw| json::elements(raw, Dialect::Strict)) else {
        return raw.map_or_else(|| b"null".to_vec(), <[u8]>::to_vec);
    };
    array(parts.into_iter().filter_map(|part| {
        let kind = json::member_text(part, "type");
        match (kind.as_deref(), json::member(part, "image_url")) {
            _ if part.starts_with(b"\"") => Some(draft::text_part(part)),
            (Some("text"), _) => Some(part.to_vec()),
            (Some("image_url"), Some(image)) => {
                let mut built = ObjectBuilder::default();
                built.text("type", "imageUrl").raw("imageUrl", image);
                Some(built.finish())
            }
            (Some("imageUrl"), _) => Some(part.to_vec()),
            _ => {
                part_losses::content(part, report);
                None
            }
        }
    }))
}

/// Converts usage to the format's members; `None` if its form is unknown.
fn usage_of(usage: &[u8]) -> Option<Vec<u8>> {
    if json::member(usage, "promptTokens").is_some() {
        return Some(usage.to_vec());
    }
    let number = |names: &[&str]| names.iter().find_map(|name| json::member(usage, name));
    let prompt = number(&["prompt_tokens", "input_tokens", "promptTokenCount", "input"])?;
    let completion = number(&[
        "completion_tokens", "output_tokens", "candidatesTokenCount", "output",
    ]);
    let mut built = ObjectBuilder::default();
    built
        .raw("promptTokens", prompt)
        .raw("completionTokens", completion.unwrap_or(b"0"));
    Some(built.finish())
}
