//! A record as messages of the record stream: what the user said, or what the model said with what its tools gave.

use super::content::{of_parts, parts, said, timestamp};
use super::{NAME, spell};
use crate::format::content;
use crate::format::request::Api;
use crate::format::request::draft::{self, Draft};
use crate::format::request::piece::{array, quoted, rest, rest_object, wrapped};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::key;

/// The messages that a record on one line is; none of one that is no message. `own` tells that its id is no other's.
pub fn read(record: &[u8], own: bool) -> Option<Vec<Draft>> {
    let kind = json::member(record, "type").and_then(json::text)?;
    let mut drafts = match kind.as_ref() {
        "user" => user(record),
        "gemini" => gemini(record),
        _ => return None,
    };
    let first = drafts.first_mut()?;
    if let Some(id) =
        json::member(record, "id").filter(|raw| own && raw.starts_with(b"\"") && *raw != b"\"\"")
    {
        first.raw("id", id);
    }
    if let Some(time) = timestamp(record) {
        first.raw("timestamp", time);
    }
    Some(drafts)
}

/// What is wrong with a record of an unknown type, or a message whose content is not known.
pub fn fault(record: &[u8]) -> Option<String> {
    let kind = json::member(record, "type").and_then(json::text);
    match kind.as_deref() {
        Some("user" | "gemini") => content::fault(record, &["toolCalls", "thoughts"]),
        Some("info" | "error" | "warning") => None,
        Some(kind) => Some(format!("unknown record type '{kind}'")),
        None => Some("record without type".to_string()),
    }
}

/// The lines of the messages, with what it takes to make the record of them again.
pub fn bodies(record: &[u8], own: bool) -> Option<Vec<Vec<u8>>> {
    let drafts = read(record, own)?;
    let bodies: Vec<Vec<u8>> = drafts.iter().map(|draft| draft.body(Api::Gemini)).collect();
    if spell::again(&bodies).is_some_and(|made| json::same(&made, record)) {
        return Some(bodies);
    }
    let mut bodies = bodies;
    let first = bodies.first_mut()?;
    let metadata = json::member(first, "metadata").unwrap_or(b"{}");
    let note = wrapped("raw", record);
    let metadata = json::with_members(metadata, &[(NAME, Some(&note))]).ok()?;
    *first = json::with_members(first, &[("metadata", Some(&metadata))]).ok()?;
    Some(bodies)
}

/// What is to be kept of a record.
struct Note {
    known: Vec<&'static str>,
    built: ObjectBuilder,
}

impl Note {
    fn new(record: &[u8]) -> Note {
        let mut known = vec!["id", "type", "content"];
        known.extend(timestamp(record).map(|_| "timestamp"));
        Note {
            known,
            built: ObjectBuilder::default(),
        }
    }

    fn on(mut self, draft: &mut Draft, record: &[u8]) {
        if let Some(rest) = rest_object(record, &self.known) {
            self.built.raw("record", rest);
        }
        if !self.built.is_empty() {
            draft.metadata(NAME, Some(self.built.finish()));
        }
    }
}

fn user(record: &[u8]) -> Vec<Draft> {
    let content = json::member(record, "content").unwrap_or(b"null");
    let mut note = Note::new(record);
    let mut drafts = match parts(content) {
        Some(parts) => {
            note.built.raw("parts", "true");
            of_parts("user", &parts)
        }
        None => {
            let mut draft = Draft::new("user");
            draft.raw("content", content);
            vec![draft]
        }
    };
    if let Some(first) = drafts.first_mut() {
        note.on(first, record);
    }
    drafts
}

/// Whether content holds the calls and thoughts itself.
fn is_inline(parts: &[u8]) -> bool {
    let parts = json::elements(parts, Dialect::Strict).unwrap_or_default();
    parts.into_iter().any(|part| {
        json::member(part, "functionCall").is_some() || json::member(part, "thought") == Some(b"true")
    })
}

fn gemini(record: &[u8]) -> Vec<Draft> {
    let content = json::member(record, "content").unwrap_or(b"\"\"");
    let mut note = Note::new(record);
    let parts = parts(content);
    let inline = parts.as_deref().is_some_and(is_inline);
    let mut draft = match &parts {
        Some(parts) => of_parts("model", parts).into_iter().next().unwrap_or_default(),
        None => {
            let mut draft = Draft::new("assistant");
            draft.raw("content", content);
            draft
        }
    };
    let list = |name| json::member(record, name).and_then(|raw| json::elements(raw, Dialect::Strict));
    let tools = list("toolCalls").unwrap_or_default();
    let mut notes = Vec::new();
    let mut results = Vec::new();
    if inline {
        note.built.raw("inline", "true");
        // What was called is in the content: here is what came of it.
        let body = draft.body(Api::Gemini);
        let calls = json::member(&body, "tool_calls").and_then(|raw| json::elements(raw, Dialect::Strict));
        let mut waiting: Vec<Option<&[u8]>> = tools.iter().copied().map(Some).collect();
        for call in calls.unwrap_or_default() {
            let id = json::member(call, "id").unwrap_or_default();
            let name = json::member(call, "function").and_then(|raw| json::member(raw, "name"));
            let is = |tool: &Option<&[u8]>, member, value: Option<&[u8]>| {
                tool.is_some_and(|tool| value.is_some() && json::member(tool, member) == value)
            };
            let at = waiting.iter().position(|tool| is(tool, "id", Some(id)));
            let at = at.or_else(|| waiting.iter().position(|tool| is(tool, "name", name)));
            let tool = at.and_then(|at| waiting[at].take());
            notes.push(draft::noted(tool.and_then(call_note)));
            results.extend(tool.and_then(|tool| result(tool, id)));
        }
        if waiting.iter().all(Option::is_none) {
            note.known.push("toolCalls");
        }
    } else {
        if !tools.is_empty() && tools.iter().all(|tool| json::member(tool, "name").is_some()) {
            let mut calls = Vec::new();
            for tool in &tools {
                let id = match json::member(tool, "id").filter(|raw| raw.starts_with(b"\"")) {
                    Some(id) => id.to_vec(),
                    None => quoted(&format!("call_{}", &key::sha256(tool)[..12])),
                };
                let args = json::member(tool, "args").unwrap_or(b"{}");
                let args = quoted(&String::from_utf8_lossy(args));
                calls.push(draft::call(
                    &id,
                    json::member(tool, "name").unwrap_or(b"\"\""),
                    &args,
                ));
                notes.push(draft::noted(call_note(tool)));
                results.extend(result(tool, &id));
            }
            draft.raw("tool_calls", array(&calls));
            note.known.push("toolCalls");
        }
        if parts.is_some() {
            note.built.raw("parts", "true");
        }
        let thoughts = list("thoughts").unwrap_or_default();
        let thoughts: Option<Vec<Vec<u8>>> = thoughts.into_iter().map(thought).collect();
        if let Some(thoughts) = thoughts.filter(|thoughts| !thoughts.is_empty()) {
            draft.raw("reasoning", array(&thoughts));
            note.known.push("thoughts");
        }
    }
    if let Some(notes) = draft::call_notes(&notes) {
        note.built.raw("calls", notes);
    }
    for (from, name, begins) in [("model", "model", b'"'), ("tokens", "usage", b'{')] {
        if let Some(raw) = json::member(record, from).filter(|raw| raw.first() == Some(&begins)) {
            draft.raw(name, raw);
            note.known.push(from);
        }
    }
    note.on(&mut draft, record);
    [vec![draft], results].concat()
}

/// A thought, its subject apart; none of what is no text.
fn thought(raw: &[u8]) -> Option<Vec<u8>> {
    let text = json::member(raw, "description").filter(|raw| raw.starts_with(b"\""))?;
    let mut part = ObjectBuilder::default();
    part.text("type", "thinking").raw("text", text);
    for (name, value) in rest(raw, &["description"]) {
        part.raw(&name, value);
    }
    Some(part.finish())
}

/// What a call has beside what is told of it otherwise.
fn call_note(tool: &[u8]) -> Option<Vec<u8>> {
    let mut known = vec!["id", "name", "args"];
    known.extend(is_answered(tool).then_some("result"));
    rest_object(tool, &known)
}

fn is_answered(tool: &[u8]) -> bool {
    json::member(tool, "result").is_some_and(|raw| !matches!(raw, b"null" | b"[]"))
}

/// What a tool gave, for the call of this id.
fn result(tool: &[u8], id: &[u8]) -> Option<Draft> {
    let raw = json::member(tool, "result").filter(|_| is_answered(tool))?;
    let name = json::member(tool, "name").unwrap_or(b"\"\"");
    let status = json::member(tool, "status").and_then(json::text);
    let failed = matches!(status.as_deref(), Some("error" | "cancelled"));
    let plain = answer(raw, id, name, failed, timestamp(tool), None);
    let body = plain.body(Api::Gemini);
    let same = spell::result(&body, id, name).is_some_and(|made| json::same(&made, raw));
    Some(match same {
        true => plain,
        false => answer(
            raw,
            id,
            name,
            failed,
            timestamp(tool),
            Some(wrapped("result", raw)),
        ),
    })
}

fn answer(
    raw: &[u8],
    id: &[u8],
    name: &[u8],
    failed: bool,
    time: Option<&[u8]>,
    note: Option<Vec<u8>>,
) -> Draft {
    let (content, error) = said(raw);
    let mut draft = Draft::new("tool");
    draft
        .raw("tool_call_id", id)
        .raw("name", name)
        .raw("content", content);
    if let Some(time) = time {
        draft.raw("timestamp", time);
    }
    draft
        .metadata("is_error", (failed || error).then(|| b"true".to_vec()))
        .metadata(NAME, note);
    draft
}
