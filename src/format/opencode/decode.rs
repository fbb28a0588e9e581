//! Converts elements to messages: a user message, or a model message per step with the results of its calls.

use super::element::{OpencodeMessage, Sender, kind, milliseconds, rfc3339};
use super::{content, new_messages};
use crate::format::kit::{Draft, Visible};
use crate::format::request::request_part::extra_members;
use crate::format::request::token_figures::Figures;
use crate::format::request::{contents, draft};
use crate::model::json::{self, ObjectBuilder, quoted};

/// The text that a model receives in place of a cleared result. Source: opencode, session/message-v2.ts.
const CLEARED: &str = "[Old tool result content cleared]";

fn draft(role: &str) -> Draft {
    Draft {
        message: draft::AnnotatedDraft::new(role),
        visible: Visible::Whole,
    }
}

pub fn messages(element: &OpencodeMessage<'_>) -> Vec<Draft> {
    let mut drafts = match element.speaker {
        Sender::User => vec![user(element)],
        Sender::Assistant => steps(&element.parts)
            .into_iter()
            .flat_map(|parts| assistant(element, parts))
            .collect(),
    };
    let in_parts = element.parts.iter().any(|part| tokens(part).is_some());
    if let Some(first) = drafts.first_mut() {
        if let Some(time) = element.created().and_then(rfc3339) {
            first.message.raw("timestamp", quoted(&time));
        }
        // If no step has usage, use that of the message; an aborted one has none.
        let tokens = json::member(element.info, "tokens").filter(|raw| raw.starts_with(b"{") && !in_parts);
        let used = tokens.filter(|raw| Figures::of(raw).is_some_and(|figures| figures != Figures::default()));
        used.map(|raw| first.message.raw("usage", raw));
    }
    if !element.is_sent() {
        drafts
            .iter_mut()
            .for_each(|draft| draft.visible = Visible::Hidden);
    }
    drafts
}

fn user(element: &OpencodeMessage<'_>) -> Draft {
    let mut step = draft("user");
    let is_flag = |part: &[u8], name| json::member(part, name) == Some(b"true");
    let contents: Vec<&[u8]> = element
        .parts
        .iter()
        .copied()
        .filter(|part| matches!(kind(part).as_ref(), "text" | "file"))
        .collect();
    let content = |parts: &[&[u8]]| {
        contents::joined(
            &parts
                .iter()
                .filter_map(|part| content::read(part))
                .collect::<Vec<_>>(),
            b"[]",
        )
    };
    step.message.raw("content", content(&contents));
    if !contents.is_empty() && contents.iter().all(|part| is_flag(part, "synthetic")) {
        step.message.raw("category", b"\"context\"".as_slice());
    }
    let sent: Vec<&[u8]> = contents
        .iter()
        .copied()
        .filter(|part| !is_flag(part, "ignored"))
        .collect();
    if sent.len() < contents.len() {
        step.visible = match sent.is_empty() {
            true => Visible::Hidden,
            false => Visible::Content(content(&sent)),
        };
    }
    step
}

/// The parts of each step. A step without content belongs to the previous one.
fn steps<'a>(parts: &[&'a [u8]]) -> Vec<Vec<&'a [u8]>> {
    let has_content = |part: &&[u8]| matches!(kind(part).as_ref(), "text" | "reasoning" | "tool" | "file");
    let mut steps: Vec<Vec<&[u8]>> = Vec::new();
    for part in parts {
        match steps.last_mut() {
            Some(last) if kind(part) != "step-start" => last.push(part),
            _ => steps.push(vec![part]),
        }
    }
    let mut joined: Vec<Vec<&[u8]>> = Vec::new();
    for step in steps {
        match joined.last_mut() {
            Some(last) if !step.iter().any(has_content) || !last.iter().any(has_content) => last.extend(step),
            _ => joined.push(step),
        }
    }
    if joined.is_empty() {
        joined.push(Vec::new());
    }
    joined
}

/// The messages of a step: that of the model, and the results of its calls.
fn assistant(element: &OpencodeMessage<'_>, parts: Vec<&[u8]>) -> Vec<Draft> {
    let mut step = draft("assistant");
    let (mut contents, mut reasoning, mut calls, mut results) = (vec![], vec![], vec![], vec![]);
    let mut used: Vec<&[u8]> = Vec::new();
    for part in &parts {
        match kind(part).as_ref() {
            "text" | "file" => contents.extend(content::read(part)),
            "reasoning" => reasoning.push(reasoning_part(part)),
            "tool" => {
                let (call, result) = tool(part);
                calls.push(call);
                results.extend(result);
            }
            _ => used.extend(tokens(part)),
        }
    }
    step.message.raw("content", contents::joined(&contents, b"null"));
    step.message.list("tool_calls", &calls);
    step.message.list("reasoning", &reasoning);
    // Older versions name it as a message of the user does.
    let model = || json::member(json::member(element.info, "model")?, "modelID");
    let model = json::member(element.info, "modelID").or_else(model);
    step.message
        .optional("model", model.filter(|raw| raw.starts_with(b"\"")));
    match used.as_slice() {
        [] => {}
        [one] => drop(step.message.raw("usage", *one)),
        several => {
            let mut sum = Figures::default();
            several
                .iter()
                .filter_map(|raw| Figures::of(raw))
                .for_each(|used| sum += used);
            step.message.raw("usage", new_messages::tokens(&sum));
        }
    }
    std::iter::once(step).chain(results).collect()
}

/// The usage of a step, if the part has it.
pub fn tokens(part: &[u8]) -> Option<&[u8]> {
    let tokens = json::member(part, "tokens").filter(|raw| raw.starts_with(b"{"))?;
    (kind(part) == "step-finish").then_some(tokens)
}

/// Reasoning, with the provider's signature.
fn reasoning_part(part: &[u8]) -> Vec<u8> {
    let mut reasoning = ObjectBuilder::default();
    reasoning
        .text("type", "thinking")
        .raw("text", json::member(part, "text").unwrap_or(b"\"\""));
    let signs = [
        ("signature", "signature"),
        ("redactedData", "data"),
        ("reasoningEncryptedContent", "encrypted_content"),
        ("thoughtSignature", "thoughtSignature"),
    ];
    let providers = json::member(part, "metadata")
        .into_iter()
        .flat_map(|raw| extra_members(raw, &[]));
    for (_, provider) in providers {
        for (name, own) in signs {
            reasoning.optional(own, json::string_member(provider, name));
        }
    }
    reasoning.finish()
}

/// A call and its result.
fn tool(part: &[u8]) -> (Vec<u8>, Option<Draft>) {
    let text = |name| json::string_member(part, name);
    // Parts of older versions have no call id.
    let id = text("callID").or(text("id")).unwrap_or(b"\"\"");
    let tool = text("tool").unwrap_or(b"\"\"");
    let state = json::member(part, "state").unwrap_or(b"{}");
    let input = json::member(state, "input").unwrap_or(b"");
    let call = draft::call(id, tool, &quoted(&String::from_utf8_lossy(input)));
    let (came, failed) = match json::member_text(state, "status").as_deref() {
        Some("completed") => (json::member(state, "output").unwrap_or(b"\"\""), false),
        Some("error") => (json::member(state, "error").unwrap_or(b"\"\""), true),
        _ => return (call, None),
    };
    let mut step = draft("tool");
    step.message
        .raw("tool_call_id", id)
        .raw("content", draft::text_of(came))
        .raw("name", tool);
    let times = json::member(state, "time").unwrap_or(b"{}");
    if let Some(time) = milliseconds(times, "end").and_then(rfc3339) {
        step.message.raw("timestamp", quoted(&time));
    }
    step.message
        .metadata("is_error", failed.then(|| b"true".to_vec()));
    if milliseconds(times, "compacted").is_some() {
        step.visible = Visible::Content(quoted(CLEARED));
    }
    (call, Some(step))
}
