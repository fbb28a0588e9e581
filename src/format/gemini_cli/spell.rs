//! Messages as a record: what the model said together with what its tools gave.

use super::{NAME, content, usage};
use crate::format::Purpose;
use crate::format::gemini;
use crate::format::kit::losses;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::piece::{Piece, Writing, array, object_arguments, quoted, rest, wrapped};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::message::{Message, Role};
use std::collections::{HashMap, VecDeque};

/// What a message notes of the record that it was.
pub fn note(body: &[u8]) -> Option<&[u8]> {
    json::member(json::member(body, "metadata")?, NAME)
}

/// What it notes of it under a name.
pub fn noted<'b>(body: &'b [u8], name: &str) -> Option<&'b [u8]> {
    json::member(note(body)?, name)
}

/// The record that messages were, made of what was noted on them.
pub fn again(bodies: &[Vec<u8>]) -> Option<Vec<u8>> {
    let (first, others) = bodies.split_first()?;
    let calls = json::member(first, "tool_calls").and_then(|raw| json::elements(raw, Dialect::Strict));
    let calls = calls.unwrap_or_default();
    let mut results: Vec<Option<&[u8]>> = vec![None; calls.len()];
    let mut open: HashMap<Option<&[u8]>, VecDeque<usize>> = HashMap::new();
    for (nth, call) in calls.iter().enumerate() {
        open.entry(json::member(call, "id")).or_default().push_back(nth);
    }
    for body in others {
        let of_id = open.get_mut(&json::member(body, "tool_call_id"));
        results[of_id?.pop_front()?] = Some(body);
    }
    let own = |name| json::member(first, name).unwrap_or(b"\"\"");
    match own("role") {
        b"\"tool\"" => None,
        _ => Some(record(
            first,
            &results,
            own("id"),
            own("timestamp"),
            &mut Report::default(),
        )),
    }
}

/// A message as a record under an id; `results` are the messages of its calls' results.
pub fn record(
    body: &[u8],
    results: &[Option<&[u8]>],
    id: &[u8],
    time: &[u8],
    report: &mut Report,
) -> Vec<u8> {
    let model = json::member(body, "role") == Some(b"\"assistant\"");
    let beside = noted(body, "record").unwrap_or(b"{}");
    let mut made = ObjectBuilder::default();
    let mut put = |name: &str, value: Vec<u8>| {
        if json::member(beside, name).is_none() {
            made.raw(name, value);
        }
    };
    put("id", id.to_vec());
    put("timestamp", time.to_vec());
    put("type", quoted(if model { "gemini" } else { "user" }));
    if model {
        let inline = is_inline(body);
        put("content", spoken(body, inline, report));
        if !inline && let Some(thoughts) = thoughts(body, time, report) {
            put("thoughts", thoughts);
        }
        if let Some(told) = json::member(body, "usage") {
            match usage::tokens(told).or_else(|| note(body).map(|_| told.to_vec())) {
                Some(tokens) => put("tokens", tokens),
                None => report.lose(Loss::Usage, 1),
            }
        }
        if let Some(model) = json::member(body, "model") {
            put("model", model.to_vec());
        }
        if let Some(tools) = tools(body, results, time, report) {
            put("toolCalls", tools);
        }
    } else {
        put("content", spoken(body, false, report));
    }
    for (name, value) in rest(beside, &[]) {
        made.raw(&name, value);
    }
    made.finish()
}

/// Whether calls and thoughts stand in the content: where signatures hang on them.
fn is_inline(body: &[u8]) -> bool {
    if note(body).is_some() {
        return noted(body, "inline").is_some();
    }
    let list = |raw: Option<&'_ [u8]>| -> Vec<Vec<u8>> {
        let found = raw
            .and_then(|raw| json::elements(raw, Dialect::Strict))
            .unwrap_or_default();
        found.into_iter().map(<[u8]>::to_vec).collect()
    };
    let thoughts = list(json::member(body, "reasoning"));
    let calls = json::member(body, "metadata")
        .and_then(|raw| json::member(raw, Api::Gemini.name()))
        .and_then(|raw| json::member(raw, "calls"));
    thoughts
        .iter()
        .any(|part| json::member(part, "type") == Some(b"\"thought\""))
        || list(calls)
            .iter()
            .any(|note| json::member(note, "part").is_some())
}

/// The content: a text, or parts as the interface has them.
fn spoken(body: &[u8], inline: bool, report: &mut Report) -> Vec<u8> {
    let content = json::member(body, "content").unwrap_or(b"null");
    let listed = noted(body, "parts").is_some() || inline;
    match content.first() {
        Some(b'"') if !listed => content.to_vec(),
        Some(b'[' | b'"') | None => parts(body, inline, report),
        _ if listed => parts(body, inline, report),
        _ => b"\"\"".to_vec(),
    }
}

/// What a message says as parts; calls and thoughts are among them when they are to stand there.
fn parts(body: &[u8], inline: bool, report: &mut Report) -> Vec<u8> {
    let model = json::member(body, "role") == Some(b"\"assistant\"");
    let mut changes: Vec<(&str, Option<&[u8]>)> = vec![("name", None)];
    if !model {
        // Whoever else speaks has no other place.
        changes.push(("role", Some(b"\"user\"")));
    }
    if !inline {
        changes.extend([("tool_calls", None), ("reasoning", None)]);
    }
    let body = json::with_members(body, &changes).unwrap_or_else(|_| body.to_vec());
    let element = interface(&body, note(&body).is_some(), report);
    let parts = element.as_deref().and_then(|raw| json::member(raw, "parts"));
    parts.map_or_else(|| b"[]".to_vec(), <[u8]>::to_vec)
}

/// A message as the interface has it.
fn interface(body: &[u8], own: bool, report: &mut Report) -> Option<Vec<u8>> {
    let mut writing = Writing {
        api: Api::Gemini,
        purpose: Purpose::Return,
        own,
        calls: &HashMap::new(),
        report,
    };
    let request = gemini::write(&[Piece::Message(0, body)], &mut writing);
    request.elements.into_iter().next().map(|element| element.raw)
}

/// The thoughts; none when there are none.
fn thoughts(body: &[u8], time: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let parts = json::member(body, "reasoning").and_then(|raw| json::elements(raw, Dialect::Strict))?;
    let signed = ["signature", "encrypted_content", "data", "thoughtSignature"];
    let mut thoughts = Vec::new();
    for part in parts {
        let signs = signed.iter().any(|name| json::member(part, name).is_some());
        report.lose(Loss::Signature, u64::from(signs));
        let text = ["text", "thinking"]
            .iter()
            .find_map(|name| json::member(part, name));
        let Some(text) = text.filter(|text| text.starts_with(b"\"")) else {
            report.lose(Loss::Reasoning, 1);
            continue;
        };
        let mut thought = ObjectBuilder::default();
        if note(body).is_some() {
            thought.raw("description", text);
            for (name, value) in rest(part, &["type", "text"]) {
                thought.raw(&name, value);
            }
        } else {
            thought
                .raw("subject", json::member(part, "subject").unwrap_or(b"\"\""))
                .raw("description", text)
                .raw("timestamp", time);
        }
        thoughts.push(thought.finish());
    }
    (!thoughts.is_empty()).then(|| array(thoughts))
}

/// The calls with what came of them; none when there are none.
fn tools(body: &[u8], results: &[Option<&[u8]>], time: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let calls = json::member(body, "tool_calls").and_then(|raw| json::elements(raw, Dialect::Strict))?;
    let notes = noted(body, "calls").and_then(|raw| json::elements(raw, Dialect::Strict));
    let notes = notes.filter(|notes| notes.len() == calls.len());
    let own = note(body).is_some();
    let mut tools = Vec::new();
    for (nth, call) in calls.iter().enumerate() {
        let function = json::member(call, "function").or_else(|| json::member(call, "custom"));
        let function = function.unwrap_or(b"{}");
        let arguments = json::member(function, "arguments").or_else(|| json::member(function, "input"));
        let (args, changed) = object_arguments(arguments);
        report.lose(Loss::Arguments, u64::from(changed));
        let id = json::member(call, "id").unwrap_or(b"\"\"");
        let name = json::member(function, "name").unwrap_or(b"\"\"");
        let answer = results.get(nth).copied().flatten();
        let note = notes
            .as_ref()
            .and_then(|notes| notes.get(nth))
            .copied()
            .unwrap_or(b"{}");
        let mut tool = ObjectBuilder::default();
        tool.raw("id", id).raw("name", name).raw("args", args);
        if let Some(answer) = answer {
            let kept = noted(answer, "result").filter(|raw| {
                let (content, _) = content::said(raw);
                Some(content.as_slice()) == json::member(answer, "content")
            });
            let made = kept
                .map(<[u8]>::to_vec)
                .or_else(|| self::answer(answer, id, name, report));
            if let Some(made) = made {
                tool.raw("result", made);
            }
        }
        if !own {
            let failed = answer.is_some_and(is_failed);
            let status = match (answer, failed) {
                (None, _) => "cancelled",
                (_, true) => "error",
                (_, false) => "success",
            };
            let time = answer.and_then(content::timestamp).unwrap_or(time);
            tool.text("status", status).raw("timestamp", time);
        }
        for (name, value) in rest(note, &[]) {
            tool.raw(&name, value);
        }
        tools.push(tool.finish());
    }
    Some(array(tools))
}

/// Whether a message tells of a failure.
fn is_failed(body: &[u8]) -> bool {
    json::member(body, "metadata").and_then(|raw| json::member(raw, "is_error")) == Some(b"true")
}

/// The result of a call, as it is made of a message without anything noted on it.
pub fn result(body: &[u8], id: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    answer(body, id, name, &mut Report::default())
}

fn answer(body: &[u8], id: &[u8], name: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let body = json::with_members(body, &[("tool_call_id", Some(id)), ("name", Some(name))]).ok()?;
    let element = interface(&body, false, report)?;
    json::member(&element, "parts").map(<[u8]>::to_vec)
}

/// A result whose call is not there: something that the user said.
pub fn orphan(body: &[u8], id: &[u8], time: &[u8], report: &mut Report) -> Vec<u8> {
    let call = json::member(body, "tool_call_id").unwrap_or(b"\"\"");
    let name = json::member(body, "name").unwrap_or(b"\"unknown\"");
    let mut made = ObjectBuilder::default();
    made.raw("id", id)
        .raw("timestamp", time)
        .text("type", "user")
        .raw(
            "content",
            answer(body, call, name, report).unwrap_or_else(|| b"[]".to_vec()),
        );
    made.finish()
}

/// A text of the user's.
pub fn text(text: &str, id: &[u8], time: &[u8]) -> Vec<u8> {
    let mut made = ObjectBuilder::default();
    made.raw("id", id)
        .raw("timestamp", time)
        .text("type", "user")
        .raw("content", array([wrapped("text", &quoted(text))]));
    made.finish()
}

/// Counts what a message has that a record has no place for.
pub fn tell(message: &Message<'_>, body: &[u8], report: &mut Report) {
    let known = [NAME, "is_error", Api::Gemini.name()];
    let is_tool = message.role() == Role::Tool;
    let lost = if is_tool { [Loss::Id] } else { [Loss::Name] };
    losses::members(message, body, &lost, &known, report);
    let is_turn = is_tool || matches!(message.role(), Role::User | Role::Assistant);
    report.lose(Loss::Category, u64::from(!is_turn || message.category.is_some()));
}
