//! PenguiFlow's digest of tool calls: tool names in order, and the start of each result.

use super::python;
use crate::model::json::{self, ArrayElements, Dialect, ObjectBuilder, quoted};
use crate::model::message::{Message, Role};
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum length of an observation, in code points.
const LONGEST: usize = 400;

/// The result of a tool.
pub struct Observation<'a> {
    /// The tool.
    pub tool: Cow<'a, str>,
    /// The result as JSON.
    pub value: Cow<'a, [u8]>,
}

/// The digest of a run; `None` if no call succeeded.
pub fn digest(observations: &[Observation<'_>], reasoning: Option<&str>) -> Option<Vec<u8>> {
    if observations.is_empty() {
        return None;
    }
    let mut lines = Vec::new();
    for Observation { tool, value } in observations {
        let text = String::from_utf8_lossy(&python::encode_value(value)).into_owned();
        let cut = text.char_indices().nth(LONGEST).map(|(at, _)| at);
        lines.push(match cut {
            Some(at) => format!("- {tool}: {}\u{2026}", &text[..at]),
            None => format!("- {tool}: {text}"),
        });
    }
    let tools = observations.iter().map(|observation| &observation.tool);
    let mut built = ObjectBuilder::default();
    built
        .raw("tools_invoked", json::texts(tools))
        .text("observations_summary", &lines.join("\n"));
    match reasoning {
        Some(reasoning) => built.text("reasoning_summary", reasoning),
        None => built.raw("reasoning_summary", "null"),
    };
    built.raw("artifacts_refs", "[]");
    Some(built.finish())
}

/// The members of a digest, and PenguiFlow's defaults.
const MEMBERS: [(&str, &[u8]); 4] = [
    ("tools_invoked", b"[]"),
    ("observations_summary", b"\"\""),
    ("reasoning_summary", b"null"),
    ("artifacts_refs", b"[]"),
];

/// A digest with all members in PenguiFlow's order, followed by unknown ones.
pub(super) fn filled(raw: &[u8]) -> Vec<u8> {
    let members = json::members(raw, Dialect::Python).unwrap_or_default();
    let mut built = ObjectBuilder::default();
    for (name, missing) in MEMBERS {
        let own = members.iter().find(|(known, _)| known == name);
        built.raw(
            name,
            own.map_or(missing.to_vec(), |(_, raw)| json::compact(raw).0),
        );
    }
    let is_known = |name: &str| MEMBERS.iter().any(|(known, _)| *known == name);
    for (name, raw) in members.iter().filter(|(name, _)| !is_known(name)) {
        built.raw(name, json::compact(raw).0);
    }
    built.finish()
}

/// Members of a digest that should be strings but are not.
pub(super) fn untexted(raw: &[u8]) -> impl Iterator<Item = &'static str> {
    let is_text = |name| {
        let value = json::member(raw, name).filter(|value| *value != b"null");
        value.is_none_or(|value| value.first() == Some(&b'"'))
    };
    [MEMBERS[1].0, MEMBERS[2].0]
        .into_iter()
        .filter(move |name| !is_text(name))
}

/// The digest of the calls among these messages that have results.
pub(super) fn of(messages: &[Message<'_>]) -> Option<Vec<u8>> {
    let calls = messages.iter().flat_map(Message::tool_calls);
    let names: HashMap<_, _> = calls.map(|call| (call.id, call.name)).collect();
    let results = messages.iter().filter(|message| message.role() == Role::Tool);
    let observations: Vec<Observation<'_>> = results
        .map(|message| {
            let id = message.tool_call_id().unwrap_or_default();
            let text = message.text().into_owned().into_bytes();
            Observation {
                tool: names.get(&id).cloned().unwrap_or_default(),
                value: Cow::Owned(match is_json(&text) {
                    true => text,
                    false => quoted(&message.text()),
                }),
            }
        })
        .collect();
    let reasoning = messages.iter().rev().find_map(reasoning_text);
    digest(&observations, reasoning.as_deref())
}

/// Whether a result is an object or array, which PenguiFlow then stores as such.
fn is_json(text: &[u8]) -> bool {
    match text.first() {
        Some(b'{') => json::members(text, Dialect::Python).is_some(),
        Some(b'[') => json::elements(text, Dialect::Python).is_some(),
        _ => false,
    }
}

/// The text of a message's reasoning.
fn reasoning_text(message: &Message<'_>) -> Option<String> {
    let mut parts = ArrayElements::new(message.reasoning?, Dialect::Strict).ok()?;
    let mut texts = Vec::new();
    while let Some((_, part)) = parts.next().ok()? {
        texts.extend(json::member_text(part, "text"));
    }
    let text = texts.join("\n");
    (!text.is_empty()).then_some(text)
}
