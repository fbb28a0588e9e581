//! An element of a history, as messages of the record stream.

use super::NAME;
use crate::format::request::piece::{rest_object, wrapped};
use crate::format::request::{self, Api};
use crate::model::json::{self, Dialect};
use crate::model::time;
use std::borrow::Cow;

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message.
    Message,
    /// The text that stands for what was said before.
    Summary,
    /// The mark of a cut.
    Marker,
    /// What the model thought, in the spelling of OpenAI: a part of the message behind it.
    Reasoning,
    /// Anything else.
    Other,
}

impl Kind {
    /// Of an element.
    pub fn of(element: &[u8]) -> Kind {
        let is = |name| json::member(element, name) == Some(b"true");
        let role = json::member(element, "role").is_some_and(|raw| raw.starts_with(b"\""));
        match role {
            true if is("isSummary") => Kind::Summary,
            true if is("isTruncationMarker") => Kind::Marker,
            true => Kind::Message,
            false if json::member(element, "type") == Some(b"\"reasoning\"") => Kind::Reasoning,
            false => Kind::Other,
        }
    }
}

/// A member that is a text.
pub fn text<'e>(element: &'e [u8], name: &str) -> Option<Cow<'e, str>> {
    json::member(element, name).and_then(json::text)
}

/// When an element was written, in milliseconds.
pub fn stamp(element: &[u8]) -> Option<f64> {
    let raw = json::member(element, "ts")?;
    std::str::from_utf8(raw).ok()?.parse().ok()
}

/// The same as a time.
pub fn time(milliseconds: f64) -> Option<String> {
    time::from_epoch(milliseconds / 1000.0)
}

/// The texts of an element.
pub fn said(element: &[u8]) -> String {
    let content = json::member(element, "content").unwrap_or_default();
    if let Some(text) = json::text(content) {
        return text.into_owned();
    }
    let blocks = json::elements(content, Dialect::Strict).unwrap_or_default();
    let texts: Vec<Cow<'_, str>> = blocks
        .into_iter()
        .filter_map(|block| text(block, "text"))
        .collect();
    texts.join("\n")
}

/// The lines of the messages that an element is; `id` tells that its id is no other's, `thoughts` stood ahead of it.
pub fn bodies(element: &[u8], thoughts: &[&[u8]], id: bool) -> Vec<Vec<u8>> {
    let mut bodies = request::records(Api::Anthropic, element);
    for (nth, body) in bodies.iter_mut().enumerate() {
        let mut changes: Vec<(&str, Vec<u8>)> = Vec::new();
        if is_context(body) {
            changes.push(("category", b"\"context\"".to_vec()));
        }
        if let Some(time) = stamp(element).and_then(time) {
            changes.push(("timestamp", request::piece::quoted(&time)));
        }
        if nth == 0 {
            first(element, body, thoughts, id, &mut changes);
        } else {
            let metadata = json::member(body, "metadata").unwrap_or(b"{}");
            let metadata = json::with_members(metadata, &[(NAME, Some(br#"{"more":true}"#))]);
            changes.extend(metadata.ok().map(|metadata| ("metadata", metadata)));
        }
        let changes: Vec<(&str, Option<&[u8]>)> = changes
            .iter()
            .map(|(name, value)| (*name, Some(value.as_slice())))
            .collect();
        if let Ok(changed) = json::with_members(body, &changes) {
            *body = changed;
        }
    }
    bodies
}

/// What is told of the first message of an element.
fn first(element: &[u8], body: &[u8], thoughts: &[&[u8]], id: bool, changes: &mut Vec<(&str, Vec<u8>)>) {
    let filled = |raw: &&[u8]| raw.starts_with(b"\"") && *raw != b"\"\"";
    if let Some(id) = json::member(element, "id").filter(|_| id).filter(filled) {
        changes.push(("id", id.to_vec()));
    }
    let inside = |name: &str, inner| json::member(element, name).and_then(|raw| json::member(raw, inner));
    if let Some(model) = inside("modelInfo", "modelId").filter(filled) {
        changes.push(("model", model.to_vec()));
    }
    if let Some(tokens) = inside("metrics", "tokens").filter(|raw| raw.starts_with(b"{")) {
        changes.push(("usage", tokens.to_vec()));
    }
    if !thoughts.is_empty() {
        let own = json::member(body, "reasoning").and_then(|raw| json::elements(raw, Dialect::Strict));
        let all = thoughts.iter().copied().chain(own.unwrap_or_default());
        changes.push(("reasoning", request::piece::array(all)));
    }
    changes.push(("metadata", with_note(body, element)));
}

/// The metadata of a message, with the members of its element under the name of this format.
fn with_note(body: &[u8], element: &[u8]) -> Vec<u8> {
    let metadata = json::member(body, "metadata").unwrap_or(b"{}");
    let interface = json::member(metadata, Api::Anthropic.name());
    let interface = interface.and_then(|raw| rest_object(raw, &["members"]));
    let members = rest_object(element, &["role", "content"]).unwrap_or_else(|| b"{}".to_vec());
    let note = wrapped("members", &members);
    let changes = [
        (Api::Anthropic.name(), interface.as_deref()),
        (NAME, Some(note.as_slice())),
    ];
    json::with_members(metadata, &changes).unwrap_or_else(|_| metadata.to_vec())
}

/// Whether a message of the user's is what the program tells of the surroundings, and nothing else.
pub fn is_context(body: &[u8]) -> bool {
    let parts = json::member(body, "content").and_then(|raw| json::elements(raw, Dialect::Strict));
    let told = |part: &[u8]| {
        text(part, "text").is_some_and(|text| {
            let text = text.trim();
            text.starts_with("<environment_details>") && text.ends_with("</environment_details>")
        })
    };
    let user = json::member(body, "role") == Some(b"\"user\"");
    user && parts.is_some_and(|parts| !parts.is_empty() && parts.into_iter().all(told))
}
