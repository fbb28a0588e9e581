//! Converts steps to messages.

use crate::format::request::draft::{self, AnnotatedDraft};
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::time as times;

/// Members of metrics other than usage.
const TOKENS: [&str; 3] = ["prompt_token_ids", "completion_token_ids", "logprobs"];

pub fn id(step: &[u8]) -> Option<String> {
    let number = std::str::from_utf8(json::member(step, "step_id")?).ok()?;
    number.parse::<u64>().ok().map(|number| format!("step_{number}"))
}

/// The time of a step; without an offset it is in UTC.
pub fn time(step: &[u8]) -> Option<String> {
    let time = json::member_text(step, "timestamp")?.into_owned();
    match times::is_rfc3339(&time) {
        true => Some(time),
        false => Some(format!("{time}Z")).filter(|time| times::is_rfc3339(time)),
    }
}

fn results(step: &[u8]) -> Vec<&[u8]> {
    let list = json::member(step, "observation").and_then(|raw| json::member(raw, "results"));
    json::items(list)
}

/// Whether a result is a message: it has content or names a call.
fn is_message(result: &[u8]) -> bool {
    let has = |name| json::member(result, name).is_some_and(|raw| raw != b"null");
    has("source_call_id") || has("content")
}

/// The id of the message that refers to a trajectory.
pub fn referring_message(steps: &[&[u8]], trajectory: &str) -> Option<String> {
    steps.iter().find_map(|step| {
        let shown = results(step).into_iter().filter(|result| is_message(result));
        let nth = shown.enumerate().find_map(|(nth, result)| {
            let references = json::member(result, "subagent_trajectory_ref")?;
            let references = json::elements(references, Dialect::Strict)?;
            let is_named =
                |raw: &&[u8]| json::member_text(raw, "trajectory_id").as_deref() == Some(trajectory);
            references.iter().any(is_named).then_some(nth + 1)
        })?;
        Some(format!("{}_r{nth}", id(step)?))
    })
}

/// The messages of a step; `is_lead` if no user or agent step precedes it. `None` if it is not supported.
pub fn drafts(step: &[u8], is_lead: bool) -> Option<Vec<AnnotatedDraft>> {
    let member = |name| json::member(step, name).filter(|raw| *raw != b"null");
    let source = json::member_text(step, "source")?;
    let role = match source.as_ref() {
        "agent" => "assistant",
        source @ ("system" | "user") => source,
        _ => return None,
    };
    let content = content(member("message")?)?;
    let shown: Vec<&[u8]> = { results(step).into_iter() }
        .filter(|result| is_message(result))
        .collect();
    let mut drafts = Vec::new();
    // A step with results only.
    let is_only_results = role == "system" && content == b"\"\"" && !shown.is_empty();
    if !is_only_results {
        let mut draft = AnnotatedDraft::with_content(role, content);
        if role == "system" {
            draft.raw("category", if is_lead { "\"system\"" } else { "\"context\"" });
        }
        if role == "assistant" {
            add_reply(&mut draft, step)?;
        }
        for name in ["is_copied_context", "llm_call_count"] {
            draft.note(name, member(name).map(<[u8]>::to_vec));
        }
        drafts.push(draft);
    }
    for result in shown {
        drafts.push(self::result(result)?);
    }
    if let Some(time) = time(step) {
        for draft in &mut drafts {
            draft.raw("timestamp", quoted(&time));
        }
    }
    Some(drafts)
}

fn add_reply(draft: &mut AnnotatedDraft, step: &[u8]) -> Option<()> {
    let member = |name| json::member(step, name).filter(|raw| *raw != b"null");
    if let Some(reasoning) = member("reasoning_content").filter(|raw| raw.starts_with(b"\"") && raw.len() > 2)
    {
        let mut part = ObjectBuilder::default();
        part.text("type", "thinking").raw("text", reasoning);
        draft.raw("reasoning", array([part.finish()]));
    }
    if let Some(calls) = member("tool_calls") {
        let calls: Vec<Vec<u8>> = { json::elements(calls, Dialect::Strict)?.into_iter() }
            .map(call)
            .collect();
        draft.list("tool_calls", &calls);
    }
    draft.optional("model", member("model_name").filter(|raw| raw.starts_with(b"\"")));
    if let Some(metrics) = member("metrics").filter(|raw| raw.starts_with(b"{")) {
        let without = TOKENS.map(|name| (name, None));
        let usage = json::with_members(metrics, &without).unwrap_or_else(|_| metrics.to_vec());
        if usage.contains(&b':') {
            draft.raw("usage", usage);
        }
    }
    Some(())
}

fn call(call: &[u8]) -> Vec<u8> {
    let member = |name| json::member(call, name);
    let arguments = member("arguments").filter(|raw| *raw != b"null");
    draft::call_of(member("tool_call_id"), member("function_name"), arguments)
}

/// The message of a result: a tool message, or a user message if it names no call.
fn result(result: &[u8]) -> Option<AnnotatedDraft> {
    let member = |name| json::member(result, name).filter(|raw| *raw != b"null");
    let content = member("content").map_or(Some(b"\"\"".to_vec()), content)?;
    let call = member("source_call_id");
    let mut draft = AnnotatedDraft::with_content(if call.is_some() { "tool" } else { "user" }, content);
    match call {
        Some(call) => drop(draft.raw("tool_call_id", call)),
        None => {
            draft.raw("category", "\"system_output\"");
            draft.note("observation", Some(b"true".to_vec()));
        }
    }
    Some(draft)
}

/// Converts content: a string, or parts, whose images are file names.
fn content(raw: &[u8]) -> Option<Vec<u8>> {
    if raw.starts_with(b"\"") {
        return Some(raw.to_vec());
    }
    let parts = json::elements(raw, Dialect::Strict)?;
    let parts: Option<Vec<Vec<u8>>> = parts.into_iter().map(part).collect();
    Some(array(parts?))
}

fn part(part: &[u8]) -> Option<Vec<u8>> {
    let source = json::member(part, "source");
    let inner = |name| json::string_member(source?, name);
    match (json::member_text(part, "type")?.as_ref(), inner("path")) {
        ("text", _) => Some(draft::text_part(
            json::member(part, "text").filter(|raw| raw[0] == b'"')?,
        )),
        ("image", Some(path)) => {
            let mut file = ObjectBuilder::default();
            file.raw("filename", path);
            file.optional("media_type", inner("media_type"));
            let mut built = ObjectBuilder::default();
            built.text("type", "file").raw("file", file.finish());
            Some(built.finish())
        }
        _ => Some(wrapped_part(part)),
    }
}

/// A part of unknown type, unchanged.
fn wrapped_part(part: &[u8]) -> Vec<u8> {
    match part.starts_with(b"{") {
        true => part.to_vec(),
        false => wrapped("value", part),
    }
}
