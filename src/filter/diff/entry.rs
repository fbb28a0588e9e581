//! The items of a view, prepared for comparison.

use super::earlier::event_id;
use crate::model::json;
use crate::model::key::sha256;
use crate::model::message::{Message, MessagePart, ToolCall};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A message of a view, or its summary.
#[derive(Clone, Debug)]
pub struct DiffEntry<'v> {
    /// Its id, stored or derived.
    pub id: Option<String>,
    /// The line in the input; none for records that a compaction inserted.
    pub line: Option<u64>,
    /// Its role as written; `summary` for a summary.
    pub role: Cow<'v, str>,
    /// The tool that produced a result.
    pub tool: Option<Cow<'v, str>>,
    /// Its time, as written.
    pub timestamp: Option<Cow<'v, str>>,
    message: Option<Message<'v>>,
    summary: Cow<'v, str>,
}

/// The compared fields of a message.
pub const FIELDS: [&str; 4] = ["role", "content", "tool_calls", "reasoning"];

/// The role of a summary.
pub const SUMMARY: &str = "summary";

impl<'v> DiffEntry<'v> {
    /// Prepares each item of the view.
    pub fn all(session: &'v Session, view: &'v View) -> Vec<DiffEntry<'v>> {
        let derived: HashMap<usize, String> = session.derived_ids().collect();
        let mut tools: HashMap<String, Cow<'v, str>> = HashMap::new();
        let entry = |item: &'v Item| {
            let line = item.line();
            let place = line
                .map(|index| session.place(index).line)
                .filter(|line| *line > 0);
            let Some(message) = item.message(session) else {
                let of_summary = match item {
                    Item::Summary(index) => Some(*index),
                    _ => line,
                };
                return DiffEntry {
                    id: of_summary.and_then(|index| event_id(session, index)),
                    line: of_summary.map(|index| session.place(index).line),
                    role: Cow::Borrowed(SUMMARY),
                    tool: None,
                    timestamp: None,
                    message: None,
                    summary: item.summary(session).unwrap_or_default(),
                };
            };
            for call in message.tool_calls() {
                tools.insert(call.id.into_owned(), call.name);
            }
            let of_call = || tools.get(message.tool_call_id()?.as_ref()).cloned();
            let own = message.id().map(Cow::into_owned);
            DiffEntry {
                id: own.or_else(|| derived.get(&line?).cloned()),
                line: place,
                role: message.role_name(),
                tool: message.name.and_then(json::text).or_else(of_call),
                timestamp: message.timestamp(),
                message: Some(message),
                summary: Cow::Borrowed(""),
            }
        };
        view.items.iter().map(entry).collect()
    }

    /// The message; none for a summary.
    pub fn message(&self) -> Option<&Message<'v>> {
        self.message.as_ref()
    }

    /// The text of the content.
    pub fn text(&self) -> Cow<'v, str> {
        match &self.message {
            Some(message) => message.text(),
            None => self.summary.clone(),
        }
    }

    /// One of the [`FIELDS`] as text for comparison: arguments without white space, calls without ids.
    pub fn field(&self, name: &str) -> Cow<'v, str> {
        let Some(message) = &self.message else {
            return match name {
                "role" => self.role.clone(),
                "content" => self.summary.clone(),
                _ => Cow::Borrowed(""),
            };
        };
        match name {
            "role" => self.role.clone(),
            "content" => content(message),
            "tool_calls" => Cow::Owned(calls(message)),
            _ => message.reasoning.map(reasoning).unwrap_or_default(),
        }
    }

    /// A hash of role, content and calls.
    pub fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for name in &FIELDS[..3] {
            self.field(name).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The same key as a SHA-256, stable across versions.
    pub fn sha256(&self) -> String {
        let mut bytes = Vec::new();
        for name in &FIELDS[..3] {
            let field = self.field(name);
            bytes.extend_from_slice(&(field.len() as u64).to_le_bytes());
            bytes.extend_from_slice(field.as_bytes());
        }
        sha256(&bytes)
    }

    /// Bytes of text and calls.
    pub fn bytes(&self) -> usize {
        FIELDS[1..].iter().map(|name| self.field(name).len()).sum()
    }

    /// Hashes of the words in content and calls, sorted.
    pub fn words(&self) -> Vec<u64> {
        let (content, calls) = (self.field("content"), self.field("tool_calls"));
        let words = [content.as_ref(), calls.as_ref()].into_iter().flat_map(|text| {
            text.split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
        });
        let mut hashes: Vec<u64> = words
            .map(|word| {
                let mut hasher = DefaultHasher::new();
                word.hash(&mut hasher);
                hasher.finish()
            })
            .collect();
        hashes.sort_unstable();
        hashes
    }
}

/// The text, each other part as written, and a refusal.
fn content<'v>(message: &Message<'v>) -> Cow<'v, str> {
    let mut parts = message.parts();
    let refusal = message.refusal();
    if refusal.is_none() && parts.iter().all(|part| matches!(part, MessagePart::Text(_))) {
        return message.text();
    }
    parts.extend(refusal.map(MessagePart::Text));
    let part = |part: &MessagePart<'v>| match part {
        MessagePart::Text(text) => text.to_string(),
        MessagePart::Other(kind, raw) => {
            format!("[{kind}: {}]", without_layout(&String::from_utf8_lossy(raw)))
        }
    };
    Cow::Owned(parts.iter().map(part).collect::<Vec<_>>().join("\n"))
}

/// One line per call.
fn calls(message: &Message<'_>) -> String {
    let call = |call: ToolCall<'_>| format!("{}({})", call.name, without_layout(&call.arguments));
    message
        .tool_calls()
        .into_iter()
        .map(call)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The text of the reasoning; if it has other parts, all of it as written.
fn reasoning(raw: &[u8]) -> Cow<'_, str> {
    json::text(raw).unwrap_or_else(|| {
        let parts = json::items(raw);
        let texts: Option<Vec<Cow<'_, str>>> =
            parts.iter().map(|part| json::member_text(part, "text")).collect();
        match texts.filter(|texts| !texts.is_empty()) {
            Some(texts) => Cow::Owned(texts.join("\n")),
            None => String::from_utf8_lossy(raw),
        }
    })
}

/// Normalizes JSON: no white space, sorted members. Other text is unchanged.
fn without_layout(text: &str) -> Cow<'_, str> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => Cow::Owned(value.to_string()),
        Err(_) => Cow::Borrowed(text),
    }
}
