//! A message as records: the user's is one, the model's one for each of its steps, and the results behind it.

use super::NAME;
use super::content;
use super::element::{Element, Speaker, kind, milliseconds, rfc3339};
use super::part;
use super::spell;
use crate::format::report::Report;
use crate::format::request::Api;
use crate::format::request::contents;
use crate::format::request::draft::{self, Draft};
use crate::format::request::figures::Figures;
use crate::format::request::piece::{array, quoted, rest};
use crate::model::json::{self, ObjectBuilder};
use std::collections::HashMap;

/// What a model is sent instead of a result that was cleared. Source: opencode, session/message-v2.ts.
const CLEARED: &str = "[Old tool result content cleared]";

/// A record of a message.
#[derive(Clone, Debug)]
pub struct Step {
    draft: Draft,
    /// Notes on its parts.
    notes: Vec<Vec<u8>>,
    sent: Option<Option<Vec<u8>>>,
}

impl Step {
    fn new(role: &str) -> Step {
        Step {
            draft: Draft::new(role),
            notes: Vec::new(),
            sent: None,
        }
    }
}

/// How a message is kept on its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    Notes,
    Whole,
}

/// A record of a message as a line.
pub struct Line {
    /// Its id.
    pub id: String,
    /// The line.
    pub body: Vec<u8>,
    /// The content that a model is sent instead: nothing where the record is not sent at all.
    pub sent: Option<Option<Vec<u8>>>,
}

/// The lines of a message under this id, with what a model is sent of them.
pub fn records(element: &Element<'_>, id: &str) -> Vec<Line> {
    let steps = steps(element);
    let exact = {
        let bodies = bodies(element, &steps, id, Keeping::Notes);
        let back = spell::element(Some(element.info), &bodies, None, &mut Report::default());
        back.is_some_and(|back| json::same(&back, element.raw))
    };
    let keeping = if exact { Keeping::Notes } else { Keeping::Whole };
    let bodies = bodies(element, &steps, id, keeping);
    let named = bodies.into_iter().enumerate();
    named
        .zip(steps)
        .map(|((nth, body), step)| Line {
            id: name(id, nth),
            body,
            sent: step.sent,
        })
        .collect()
}

/// What is noted of a message on its records, by their ids, also where it is kept whole.
pub fn notes_of(element: &Element<'_>, id: &str) -> HashMap<String, Vec<u8>> {
    let bodies = bodies(element, &steps(element), id, Keeping::Notes);
    let noted = bodies.iter().enumerate();
    noted
        .filter_map(|(nth, body)| Some((name(id, nth), spell::note(body)?.to_vec())))
        .collect()
}

/// The id of the nth record of a message.
fn name(id: &str, nth: usize) -> String {
    match nth {
        0 => id.to_string(),
        nth => format!("{id}#{}", nth + 1),
    }
}

fn bodies(element: &Element<'_>, steps: &[Step], id: &str, keeping: Keeping) -> Vec<Vec<u8>> {
    let body = |(nth, step): (usize, &Step)| {
        let mut draft = step.draft.clone();
        draft.raw("id", quoted(&name(id, nth)));
        if let (0, Some(time)) = (nth, element.created().and_then(rfc3339)) {
            draft.raw("timestamp", quoted(&time));
        }
        let mut own = ObjectBuilder::default();
        match (nth, keeping) {
            (0, Keeping::Notes) => drop(own.raw("info", element.info)),
            (0, Keeping::Whole) => drop(own.raw("raw", element.raw)),
            _ => drop(own.text("of", id)),
        }
        if keeping == Keeping::Notes && !step.notes.is_empty() {
            own.raw("parts", array(&step.notes));
        }
        draft.metadata(NAME, Some(own.finish()));
        draft.body(Api::OpenaiChat)
    };
    steps.iter().enumerate().map(body).collect()
}

fn steps(element: &Element<'_>) -> Vec<Step> {
    let mut steps = match element.speaker {
        Speaker::User => vec![user(element)],
        Speaker::Assistant => cut(&element.parts)
            .into_iter()
            .flat_map(|parts| assistant(element, parts))
            .collect(),
    };
    let told = element.parts.iter().any(|part| tokens(part).is_some());
    if let (false, Some(last)) = (told, steps.first_mut()) {
        // Where no step tells what it used, the message does; one that was broken off tells nothing.
        let tokens = json::member(element.info, "tokens").filter(|raw| raw.starts_with(b"{"));
        let used = tokens.filter(|raw| Figures::of(raw).is_some_and(|figures| figures != Figures::default()));
        used.map(|raw| last.draft.raw("usage", raw));
    }
    if !element.is_sent() {
        steps.iter_mut().for_each(|step| step.sent = Some(None));
    }
    steps
}

fn user(element: &Element<'_>) -> Step {
    let mut step = Step::new("user");
    let is_flag = |part: &[u8], name| json::member(part, name) == Some(b"true");
    let said: Vec<&[u8]> = element
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
    step.draft.raw("content", content(&said));
    if !said.is_empty() && said.iter().all(|part| is_flag(part, "synthetic")) {
        step.draft.raw("category", b"\"context\"".as_slice());
    }
    step.notes = notes(&element.parts, element);
    let sent: Vec<&[u8]> = said
        .iter()
        .copied()
        .filter(|part| !is_flag(part, "ignored"))
        .collect();
    if sent.len() < said.len() {
        step.sent = Some((!sent.is_empty()).then(|| content(&sent)));
    }
    step
}

fn notes(parts: &[&[u8]], element: &Element<'_>) -> Vec<Vec<u8>> {
    parts.iter().map(|part| part::note(part, element.info)).collect()
}

/// The parts of each step. One in which nothing is said belongs to the step before it.
fn cut<'a>(parts: &[&'a [u8]]) -> Vec<Vec<&'a [u8]>> {
    let says = |part: &&[u8]| matches!(kind(part).as_ref(), "text" | "reasoning" | "tool" | "file");
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
            Some(last) if !step.iter().any(says) || !last.iter().any(says) => last.extend(step),
            _ => joined.push(step),
        }
    }
    if joined.is_empty() {
        joined.push(Vec::new());
    }
    joined
}

/// The records of a step: what the model says, and what came of its calls.
fn assistant(element: &Element<'_>, parts: Vec<&[u8]>) -> Vec<Step> {
    let mut step = Step::new("assistant");
    let (mut said, mut reasoning, mut calls, mut results) = (vec![], vec![], vec![], vec![]);
    let mut used: Vec<&[u8]> = Vec::new();
    for part in &parts {
        match kind(part).as_ref() {
            "text" | "file" => said.extend(content::read(part)),
            "reasoning" => reasoning.push(thought(part)),
            "tool" => {
                let (call, result) = tool(part);
                calls.push(call);
                results.extend(result);
            }
            _ => used.extend(tokens(part)),
        }
    }
    step.draft.raw("content", contents::joined(&said, b"null"));
    if !calls.is_empty() {
        step.draft.raw("tool_calls", array(&calls));
    }
    if !reasoning.is_empty() {
        step.draft.raw("reasoning", array(&reasoning));
    }
    if let Some(model) = json::member(element.info, "modelID").filter(|raw| raw.starts_with(b"\"")) {
        step.draft.raw("model", model);
    }
    match used.as_slice() {
        [] => {}
        [one] => drop(step.draft.raw("usage", *one)),
        several => {
            let mut sum = Figures::default();
            several
                .iter()
                .filter_map(|raw| Figures::of(raw))
                .for_each(|used| sum += used);
            step.draft.raw("usage", super::make::tokens(&sum));
        }
    }
    step.notes = notes(&parts, element);
    std::iter::once(step).chain(results).collect()
}

/// What a step has used, where a part tells it.
pub fn tokens(part: &[u8]) -> Option<&[u8]> {
    let tokens = json::member(part, "tokens").filter(|raw| raw.starts_with(b"{"))?;
    (kind(part) == "step-finish").then_some(tokens)
}

/// A thought, with the signature that some provider has put on it.
fn thought(part: &[u8]) -> Vec<u8> {
    let mut thought = ObjectBuilder::default();
    thought
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
        .flat_map(|raw| rest(raw, &[]));
    for (_, provider) in providers {
        for (name, own) in signs {
            if let Some(sign) = json::member(provider, name).filter(|raw| raw.starts_with(b"\"")) {
                thought.raw(own, sign);
            }
        }
    }
    thought.finish()
}

/// A call, and what came of it.
fn tool(part: &[u8]) -> (Vec<u8>, Option<Step>) {
    let text = |name| json::member(part, name).filter(|raw| raw.starts_with(b"\""));
    // The oldest parts have no other id than their own.
    let id = text("callID").or(text("id")).unwrap_or(b"\"\"");
    let tool = text("tool").unwrap_or(b"\"\"");
    let state = json::member(part, "state").unwrap_or(b"{}");
    let input = json::member(state, "input").unwrap_or(b"");
    let call = draft::call(id, tool, &quoted(&String::from_utf8_lossy(input)));
    let (came, failed) = match json::member(state, "status").and_then(json::text).as_deref() {
        Some("completed") => (json::member(state, "output").unwrap_or(b"\"\""), false),
        Some("error") => (json::member(state, "error").unwrap_or(b"\"\""), true),
        _ => return (call, None),
    };
    let mut step = Step::new("tool");
    let content = match came.first() {
        Some(b'"') => came.to_vec(),
        _ => quoted(&String::from_utf8_lossy(came)),
    };
    step.draft
        .raw("tool_call_id", id)
        .raw("content", content)
        .raw("name", tool);
    let times = json::member(state, "time").unwrap_or(b"{}");
    if let Some(time) = milliseconds(times, "end").and_then(rfc3339) {
        step.draft.raw("timestamp", quoted(&time));
    }
    step.draft.metadata("is_error", failed.then(|| b"true".to_vec()));
    let cleared = milliseconds(times, "compacted").is_some();
    step.sent = cleared.then(|| Some(quoted(CLEARED)));
    (call, Some(step))
}
