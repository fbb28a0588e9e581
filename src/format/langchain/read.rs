//! Converts an element to a native message.

use super::block::{self, ConvertedBlock};
use crate::format::request::draft::{self, AnnotatedDraft};
use crate::model::json::{self, Dialect, array, quoted};

/// An element: its type and its members.
pub struct DictElement<'a> {
    /// Its type as written: `ai`, `AIMessageChunk`, or the last name of a constructor's id.
    pub written: String,
    pub members: &'a [u8],
}

/// Types with their classes and roles.
const TYPES: [(&str, &str, &str); 7] = [
    ("human", "HumanMessage", "user"),
    ("ai", "AIMessage", "assistant"),
    ("system", "SystemMessage", "system"),
    ("tool", "ToolMessage", "tool"),
    ("function", "FunctionMessage", "tool"),
    ("chat", "ChatMessage", ""),
    ("remove", "RemoveMessage", ""),
];

/// The class of a type.
pub fn class_of(kind: &str) -> &'static str {
    let known = TYPES.iter().find(|(known, _, _)| *known == kind);
    known.map_or("ChatMessage", |(_, class, _)| class)
}

impl<'a> DictElement<'a> {
    /// Parses an element.
    pub fn of(object: &'a [u8]) -> Option<DictElement<'a>> {
        if let Some(members) = json::member(object, "kwargs").filter(|raw| raw.starts_with(b"{")) {
            let id = json::elements(json::member(object, "id")?, Dialect::Strict)?;
            let written = id.last().copied().and_then(json::text)?.into_owned();
            return Some(DictElement { written, members });
        }
        let members = json::member(object, "data").filter(|raw| raw.starts_with(b"{"))?;
        let written = json::member_text(object, "type")?.into_owned();
        Some(DictElement { written, members })
    }

    /// The type, with chunks and class names mapped to it.
    pub fn kind(&self) -> Option<&'static str> {
        kind_of(&self.written)
    }
}

/// The type for a written name; `None` if it is not a message.
pub fn kind_of(written: &str) -> Option<&'static str> {
    let written = written.strip_suffix("Chunk").unwrap_or(written);
    let known = TYPES
        .iter()
        .find(|(kind, class, _)| *kind == written || *class == written);
    known.map(|(kind, _, _)| *kind)
}

/// The native message of an element; `None` if it is not a message.
pub fn message(raw: &[u8]) -> Option<AnnotatedDraft> {
    let element = DictElement::of(raw)?;
    let kind = element.kind()?;
    let members = element.members;
    let get = |name: &str| json::member(members, name);
    let text = |name: &str| get(name).filter(|raw| raw.starts_with(b"\"") && *raw != b"\"\"");
    let kwargs = get("additional_kwargs").unwrap_or(b"{}");
    let developer = json::member(kwargs, "__openai_role__") == Some(b"\"developer\"");
    let role = match kind {
        "remove" => return None,
        "chat" => json::text(text("role")?)?.into_owned(),
        "system" if developer => "developer".to_string(),
        kind => TYPES.iter().find(|(known, _, _)| *known == kind)?.2.to_string(),
    };
    let mut draft = AnnotatedDraft::new(&role);
    content(get("content"), &mut draft);
    calls(members, kwargs, &mut draft);
    for name in ["name", "tool_call_id"] {
        draft.optional(name, text(name));
    }
    let reported = get("response_metadata").unwrap_or(b"{}");
    let names = ["model_name", "model"].iter();
    let mut models = names.filter_map(|name| json::member(reported, name));
    draft.optional("model", models.find(|raw| raw.starts_with(b"\"")));
    if let Some(usage) = get("usage_metadata").filter(|raw| raw.starts_with(b"{")) {
        draft.raw("usage", usage);
    }
    if get("status") == Some(b"\"error\"") {
        draft.metadata("is_error", Some(b"true".to_vec()));
    }
    Some(draft)
}

fn content(raw: Option<&[u8]>, draft: &mut AnnotatedDraft) {
    let Some(raw) = raw else {
        draft.raw("content", "null");
        return;
    };
    let Some(blocks) = json::elements(raw, Dialect::Strict) else {
        match raw.first() {
            Some(b'"' | b'n') => draft.raw("content", raw),
            // The native format has no such content.
            _ => draft.raw("content", array([raw])),
        };
        return;
    };
    let (mut parts, mut reasoning_parts) = (Vec::new(), Vec::new());
    let mut calls = None;
    for block in blocks {
        match block::read(block) {
            ConvertedBlock::Part(part) => parts.push(part),
            ConvertedBlock::Thought(part) => reasoning_parts.push(part),
            ConvertedBlock::Call(kind) => calls = calls.or(Some(kind)),
        }
    }
    draft.note("blocks", calls.map(|kind| quoted(&kind)));
    draft.raw("content", array(&parts));
    draft.list("reasoning", &reasoning_parts);
}

/// The calls, followed by those that could not be parsed.
fn calls(members: &[u8], kwargs: &[u8], draft: &mut AnnotatedDraft) {
    let (valid, invalid) = (
        json::list(members, "tool_calls"),
        json::list(members, "invalid_tool_calls"),
    );
    let mut calls = Vec::new();
    for (nth, raw) in valid.iter().chain(&invalid).enumerate() {
        let own = |name| json::member(raw, name).unwrap_or(b"null");
        let args = own("args");
        let arguments = match args.first() {
            Some(b'"' | b'n') if nth >= valid.len() => args.to_vec(),
            _ => quoted(&String::from_utf8_lossy(args)),
        };
        calls.push(draft::call(own("id"), own("name"), &arguments));
    }
    if calls.is_empty() {
        let old = json::member(kwargs, "tool_calls").filter(|raw| {
            let calls = json::elements(raw, Dialect::Strict);
            calls.is_some_and(|calls| {
                !calls.is_empty() && calls.iter().all(|call| json::member(call, "function").is_some())
            })
        });
        draft.optional("tool_calls", old);
        return;
    }
    draft.raw("tool_calls", array(&calls));
    if !invalid.is_empty() {
        let ids = invalid
            .iter()
            .map(|raw| json::member(raw, "id").unwrap_or(b"null"));
        draft.metadata("invalid", Some(array(ids)));
    }
}
