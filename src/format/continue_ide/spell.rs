//! Messages as items.

use super::NAME;
use crate::format::report::{Loss, Report};
use crate::format::request::draft;
use crate::format::request::media::Media;
use crate::format::request::piece::{array, quoted, rest, wrapped};
use crate::model::json::{self, Dialect, ObjectBuilder};
use std::collections::{HashMap, HashSet};

/// What a message notes of its item.
pub fn note(body: &[u8]) -> Option<&[u8]> {
    json::member(json::member(body, "metadata")?, NAME)
}

fn noted<'b>(body: &'b [u8], name: &str) -> Option<&'b [u8]> {
    json::member(note(body)?, name)
}

/// Whether a result stands in the state of its call alone.
pub fn is_state(body: &[u8]) -> bool {
    noted(body, "state").is_some()
}

fn list<'e>(object: &'e [u8], name: &str) -> Vec<&'e [u8]> {
    let found = json::member(object, name).and_then(|raw| json::elements(raw, Dialect::Strict));
    found.unwrap_or_default()
}

/// The items that a message is, after it those of its results that were items: `bodies` are its line and theirs.
pub fn items(bodies: &[&[u8]], report: &mut Report) -> Vec<Vec<u8>> {
    let Some((body, results)) = bodies.split_first() else {
        return Vec::new();
    };
    let mut items = Vec::new();
    let role = json::member(body, "role")
        .and_then(json::text)
        .unwrap_or_default();
    let mut message = ObjectBuilder::default();
    let kept = noted(body, "message").unwrap_or(b"{}");
    let beside = noted(body, "item").unwrap_or(b"{}");
    let content = content(json::member(body, "content"), note(body).is_some(), report);
    let mut states = None;
    match role.as_ref() {
        "assistant" => {
            if noted(body, "shown").is_none() {
                items.extend(
                    list(body, "reasoning")
                        .into_iter()
                        .filter_map(|part| thought(part, report)),
                );
            }
            message.text("role", "assistant").raw("content", &content);
            let calls: Vec<Vec<u8>> = list(body, "tool_calls").into_iter().map(call).collect();
            if !calls.is_empty() {
                message.raw("toolCalls", array(&calls));
            }
            if let Some(usage) = json::member(body, "usage") {
                match usage_of(usage) {
                    Some(usage) => drop(message.raw("usage", usage)),
                    None => report.lose(Loss::Usage, 1),
                }
            }
            states = self::states(
                &calls,
                results,
                list(beside, "toolCallStates"),
                note(body).is_some(),
            );
        }
        "tool" => {
            message.text("role", "tool").raw("content", &content);
            if let Some(id) = json::member(body, "tool_call_id") {
                message.raw("toolCallId", id);
            }
        }
        "user" | "system" => drop(message.text("role", &role).raw("content", &content)),
        "developer" => drop(message.text("role", "system").raw("content", &content)),
        _ => drop(message.text("role", "user").raw("content", &content)),
    }
    let thought_only = content == b"null" && !items.is_empty() && json::member(body, "tool_calls").is_none();
    for (name, value) in rest(kept, &[]) {
        message.raw(&name, value);
    }
    let mut item = ObjectBuilder::default();
    let message = match note(body).is_some() {
        true => message.finish(),
        // There is no message without content.
        false => json::with_members(
            &message.finish(),
            &[(
                "content",
                Some(if content == b"null" { b"\"\"" } else { &content }),
            )],
        )
        .unwrap_or_default(),
    };
    item.raw("message", message)
        .raw("contextItems", noted(body, "context").unwrap_or(b"[]"));
    for (name, value) in rest(beside, &["toolCallStates"]) {
        item.raw(&name, value);
    }
    match (states, json::member(beside, "toolCallStates")) {
        (Some(states), _) => drop(item.raw("toolCallStates", states)),
        (None, Some(states)) => drop(item.raw("toolCallStates", states)),
        (None, None) => {}
    }
    if !thought_only {
        items.push(item.finish());
    }
    // The program sends what the states of calls say: a result that was no item becomes none.
    for result in results.iter().filter(|result| !is_state(result)) {
        match note(result) {
            Some(_) => items.extend(self::items(&[result], report)),
            None => report_media(result, report),
        }
    }
    items
}

/// A call; of whatever kind, it is a function here.
fn call(raw: &[u8]) -> Vec<u8> {
    let Some(custom) = json::member(raw, "custom") else {
        return raw.to_vec();
    };
    draft::call(
        json::member(raw, "id").unwrap_or(b"\"\""),
        json::member(custom, "name").unwrap_or(b"\"\""),
        json::member(custom, "input").unwrap_or(b"\"\""),
    )
}

/// The states of calls: those that were, with what results say now, and new ones for results that have none; none when they
/// stay what they were.
fn states(calls: &[Vec<u8>], results: &[&[u8]], kept: Vec<&[u8]>, own: bool) -> Option<Vec<u8>> {
    let mut by_id: HashMap<Option<&[u8]>, &[u8]> = HashMap::new();
    for result in results {
        by_id
            .entry(json::member(result, "tool_call_id"))
            .or_insert(*result);
    }
    let known: HashSet<_> = kept
        .iter()
        .map(|state| json::member(state, "toolCallId"))
        .collect();
    let mut changed = false;
    let mut states: Vec<Vec<u8>> = Vec::new();
    for state in &kept {
        let result = by_id.get(&json::member(state, "toolCallId"));
        let now = result.and_then(|result| json::member(result, "content"));
        match now {
            Some(now) if output(state).as_deref() != Some(now) => {
                changed = true;
                let output = array([wrapped("content", &quoted(&said(now)))]);
                let told = [
                    ("status", Some(&b"\"done\""[..])),
                    ("output", Some(output.as_slice())),
                ];
                states.push(json::with_members(state, &told).unwrap_or_else(|_| state.to_vec()));
            }
            _ => states.push(state.to_vec()),
        }
    }
    for call in calls {
        let id = json::member(call, "id");
        let result = by_id.get(&id);
        // What was read keeps what it has not.
        if known.contains(&id) || (own && result.is_none()) {
            continue;
        }
        changed = true;
        states.push(state(call, result.copied()));
    }
    changed.then(|| array(states))
}

/// The state of a call.
fn state(call: &[u8], result: Option<&[u8]>) -> Vec<u8> {
    let arguments = json::member(call, "function").and_then(|raw| json::member(raw, "arguments"));
    let parsed = arguments.and_then(json::text).filter(|text| {
        text.starts_with('{') && json::value_end(text.as_bytes(), 0, Dialect::Strict) == Ok(text.len())
    });
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

/// The outputs that a result is, one for each of its texts.
fn outputs(result: &[u8]) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = list(result, "content")
        .into_iter()
        .filter_map(|part| json::member(part, "text").map(<[u8]>::to_vec))
        .collect();
    if texts.is_empty() {
        texts.push(quoted(&said(json::member(result, "content").unwrap_or(b"\"\""))));
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

/// Reports the parts of a result that are no text.
fn report_media(result: &[u8], report: &mut Report) {
    for part in list(result, "content") {
        if json::member(part, "text").is_none() {
            let attached = Media::of(part).is_some();
            report.lose(if attached { Loss::Attachment } else { Loss::Part }, 1);
        }
    }
}

/// The text of content.
fn said(content: &[u8]) -> String {
    if let Some(text) = json::text(content) {
        return text.into_owned();
    }
    let parts = json::elements(content, Dialect::Strict).unwrap_or_default();
    let texts = parts
        .into_iter()
        .filter_map(|part| json::member(part, "text").and_then(json::text));
    texts.collect::<Vec<_>>().join("\n")
}

/// A thought as an item.
fn thought(part: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let mut message = ObjectBuilder::default();
    message.text("role", "thinking");
    let kind = json::member(part, "type").and_then(json::text);
    let text = json::member(part, "text").or_else(|| json::member(part, "thinking"));
    match (kind.as_deref(), text, json::member(part, "data")) {
        (Some("redacted_thinking"), _, Some(data)) => {
            message.raw("content", "\"\"").raw("redactedThinking", data);
        }
        (Some("thinking"), Some(text), _) => {
            message.raw("content", text);
        }
        _ => {
            report.lose(Loss::Reasoning, 1);
            let signed = ["signature", "encrypted_content", "thoughtSignature", "data"];
            let signed = signed.iter().any(|name| json::member(part, name).is_some());
            report.lose(Loss::Signature, u64::from(signed));
            return None;
        }
    }
    for (name, value) in rest(part, &["type", "text", "thinking", "data"]) {
        message.raw(&name, value);
    }
    let mut item = ObjectBuilder::default();
    item.raw("message", message.finish()).raw("contextItems", "[]");
    Some(item.finish())
}

/// Content as an item has it; `own` content was one.
fn content(raw: Option<&[u8]>, own: bool, report: &mut Report) -> Vec<u8> {
    let Some(parts) = raw.and_then(|raw| json::elements(raw, Dialect::Strict)) else {
        return raw.map_or_else(|| b"null".to_vec(), <[u8]>::to_vec);
    };
    array(parts.into_iter().filter_map(|part| {
        let kind = json::member(part, "type").and_then(json::text);
        match (kind.as_deref(), json::member(part, "image_url")) {
            _ if part.starts_with(b"\"") => Some(draft::text_part(part)),
            (Some("text"), _) => Some(part.to_vec()),
            (Some("image_url"), Some(image)) => {
                let mut made = ObjectBuilder::default();
                made.text("type", "imageUrl").raw("imageUrl", image);
                Some(made.finish())
            }
            _ if own => Some(part.to_vec()),
            _ => {
                let attached = Media::of(part).is_some();
                report.lose(if attached { Loss::Attachment } else { Loss::Part }, 1);
                None
            }
        }
    }))
}

/// What was used, in the words of this format; none when it is told in words that are not known.
fn usage_of(usage: &[u8]) -> Option<Vec<u8>> {
    if json::member(usage, "promptTokens").is_some() {
        return Some(usage.to_vec());
    }
    let number = |names: &[&str]| names.iter().find_map(|name| json::member(usage, name));
    let prompt = number(&["prompt_tokens", "input_tokens", "promptTokenCount", "input"])?;
    let completion = number(&[
        "completion_tokens",
        "output_tokens",
        "candidatesTokenCount",
        "output",
    ]);
    let mut made = ObjectBuilder::default();
    made.raw("promptTokens", prompt)
        .raw("completionTokens", completion.unwrap_or(b"0"));
    Some(made.finish())
}

/// What a state tells of the result: a text, or one part for each of its items; none when there is none yet.
pub fn output(state: &[u8]) -> Option<Vec<u8>> {
    let items = list(state, "output");
    let text = |item: &&[u8]| {
        json::member(item, "content")
            .filter(|raw| raw.starts_with(b"\""))
            .map(<[u8]>::to_vec)
    };
    let texts: Vec<Vec<u8>> = items.iter().filter_map(text).collect();
    match texts.as_slice() {
        [] if items.is_empty() => None,
        [] => Some(quoted("")),
        [text] => Some(text.clone()),
        texts => Some(array(texts.iter().map(|text| draft::text_part(text)))),
    }
}
