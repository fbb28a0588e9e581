//! Messages as elements, with all the members that the libraries write.

use super::read::class_of;
use super::{CONSTRUCTOR, KIND, block};
use crate::format::listed::Spelling;
use crate::format::report::Loss;
use crate::format::request::draft;
use crate::format::request::figures::Figures;
use crate::format::request::piece::{Said, array, quoted, rest};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::message::Role;
use std::borrow::Cow;

/// Writes messages: an element each.
pub fn elements(said: &[Said<'_>], spelling: &mut Spelling) -> Vec<Vec<u8>> {
    said.iter().map(|said| element(said, spelling)).collect()
}

/// An object whose members have an order, and values that may come again.
struct Object {
    members: Vec<(Cow<'static, str>, Vec<u8>)>,
}

impl Object {
    fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Vec<u8>>) {
        let (name, value) = (name.into(), value.into());
        match self.members.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => self.members.push((name, value)),
        }
    }

    fn finish(self) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        for (name, value) in &self.members {
            built.raw(name, value);
        }
        built.finish()
    }
}

fn element(said: &Said<'_>, spelling: &mut Spelling) -> Vec<u8> {
    spelling.tell_books(said, &KIND, &["timestamp", "category", "tokens"]);
    let role = said.message.role_name();
    let kind = match said.message.role() {
        Role::User => "human",
        Role::Assistant => "ai",
        Role::System | Role::Developer => "system",
        Role::Tool => "tool",
        Role::Other => "chat",
    };
    let full = spelling.form != CONSTRUCTOR;
    let mut members = Object { members: Vec::new() };
    members.set("content", content(said));
    let mut kwargs = ObjectBuilder::default();
    if said.message.role() == Role::Developer {
        kwargs.text("__openai_role__", "developer");
    }
    if let Some(refusal) = json::member(said.body, "refusal").filter(|raw| *raw != b"null") {
        kwargs.raw("refusal", refusal);
    }
    if full || !kwargs.is_empty() {
        members.set("additional_kwargs", kwargs.finish());
    }
    let mut told = ObjectBuilder::default();
    if let Some(model) = json::member(said.body, "model") {
        told.raw("model_name", model);
    }
    if full || !told.is_empty() {
        members.set("response_metadata", told.finish());
    }
    members.set("type", quoted(kind));
    for name in ["name", "id"] {
        match json::member(said.body, name) {
            Some(value) => members.set(name, value),
            None if full => members.set(name, "null"),
            None => {}
        }
    }
    match kind {
        "chat" => members.set("role", quoted(&role)),
        "ai" => {
            let (valid, invalid) = calls(said, spelling);
            members.set("tool_calls", array(valid));
            members.set("invalid_tool_calls", array(invalid));
            let usage = json::member(said.body, "usage").and_then(usage);
            let had = json::member(said.body, "usage").is_some();
            spelling
                .report
                .lose(Loss::Usage, u64::from(had && usage.is_none()));
            match usage {
                Some(usage) => members.set("usage_metadata", usage),
                None if full => members.set("usage_metadata", "null"),
                None => {}
            }
        }
        "tool" => {
            let id = said.message.tool_call_id.unwrap_or(b"\"\"");
            members.set("tool_call_id", id);
            let failed = said.metadata("is_error") == Some(b"true");
            if full {
                members.set("artifact", "null");
            }
            members.set("status", quoted(if failed { "error" } else { "success" }));
        }
        _ => {}
    }
    for (name, value) in said.noted("members").into_iter().flat_map(|raw| rest(raw, &[])) {
        members.set(name.into_owned(), value);
    }
    let noted = said.noted("type").and_then(json::text);
    let mut element = ObjectBuilder::default();
    if full {
        element
            .text("type", noted.as_deref().unwrap_or(kind))
            .raw("data", members.finish());
    } else {
        let path = ["langchain", "schema", "messages"].map(quoted).into_iter();
        let class = quoted(noted.as_deref().unwrap_or(class_of(kind)));
        element
            .raw("lc", "1")
            .text("type", "constructor")
            .raw("id", array(path.chain([class])))
            .raw("kwargs", members.finish());
    }
    element.finish()
}

/// The content: text as it is, or a list of blocks, thoughts ahead of the others.
fn content(said: &Said<'_>) -> Vec<u8> {
    let thoughts: Vec<_> = said.reasoning().into_iter().map(block::thought).collect();
    match said.message.content {
        Some(raw) if raw.starts_with(b"[") => {
            let parts = said.parts().into_iter().map(<[u8]>::to_vec);
            array(thoughts.into_iter().chain(parts))
        }
        Some(raw) if raw.starts_with(b"\"") => match thoughts.is_empty() {
            true => raw.to_vec(),
            false if raw == b"\"\"" => array(thoughts),
            false => array(thoughts.into_iter().chain([draft::text_part(raw)])),
        },
        _ if thoughts.is_empty() => b"\"\"".to_vec(),
        _ => array(thoughts),
    }
}

/// The calls whose arguments are an object, and all others.
fn calls(said: &Said<'_>, spelling: &mut Spelling) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let calls = said.calls();
    let notes = said.call_notes(calls.len());
    let (mut valid, mut invalid) = (Vec::new(), Vec::new());
    for (nth, call) in calls.into_iter().enumerate() {
        let function = json::member(call, "function")
            .or_else(|| json::member(call, "custom"))
            .unwrap_or(b"{}");
        let custom =
            json::member(function, "arguments").is_none() && json::member(function, "input").is_some();
        spelling.report.lose(Loss::Arguments, u64::from(custom));
        let raw = json::member(function, "arguments").or_else(|| json::member(function, "input"));
        let text = raw.and_then(json::text);
        let object = text.as_deref().map(|text| text.trim().as_bytes()).filter(|text| {
            text.starts_with(b"{") && json::value_end(text, 0, Dialect::Strict) == Ok(text.len())
        });
        let note = notes.get(nth).copied().unwrap_or(b"{}");
        let mut built = ObjectBuilder::default();
        built.raw("name", json::member(function, "name").unwrap_or(b"\"\""));
        match object {
            // On one line; but for that it is what it was.
            Some(object) if memchr::memchr2(b'\n', b'\r', object).is_some() => {
                built.raw("args", json::compact(object).0)
            }
            Some(object) => built.raw("args", object),
            None => built.raw("args", raw.unwrap_or(b"\"\"")),
        };
        built.raw("id", json::member(call, "id").unwrap_or(b"null"));
        if object.is_none() && json::member(note, "error").is_none() {
            built.raw("error", "null");
        }
        built.text(
            "type",
            if object.is_some() {
                "tool_call"
            } else {
                "invalid_tool_call"
            },
        );
        for (name, value) in rest(note, &[]) {
            built.raw(&name, value);
        }
        match object {
            Some(_) => valid.push(built.finish()),
            None => invalid.push(built.finish()),
        }
    }
    (valid, invalid)
}

/// What was used, in the words of LangChain: what is cached counts within the input.
fn usage(told: &[u8]) -> Option<Vec<u8>> {
    if ["input_tokens", "output_tokens", "total_tokens"]
        .iter()
        .all(|name| json::member(told, name).is_some())
        && json::member(told, "input_tokens_details").is_none()
    {
        return Some(told.to_vec());
    }
    let figures = Figures::of(told)?;
    let mut usage = ObjectBuilder::default();
    usage
        .raw("input_tokens", figures.sent().to_string())
        .raw("output_tokens", figures.output.to_string())
        .raw("total_tokens", (figures.sent() + figures.output).to_string());
    if figures.read + figures.written > 0 {
        let mut details = ObjectBuilder::default();
        details
            .raw("cache_read", figures.read.to_string())
            .raw("cache_creation", figures.written.to_string());
        usage.raw("input_token_details", details.finish());
    }
    if figures.reasoning > 0 {
        let mut details = ObjectBuilder::default();
        details.raw("reasoning", figures.reasoning.to_string());
        usage.raw("output_token_details", details.finish());
    }
    Some(usage.finish())
}
