//! Converts a message of a thread to records: one for the message, and one for each result it contains.

use super::part::{self, ResolvedPart};
use super::turn::TurnMetadata;
use convo::model::json::{self, ObjectBuilder, array, quoted};
use convo::model::key;
use std::collections::VecDeque;

/// The name of the system, and of its annotations.
pub const NAME: &str = "llm";

/// A stored message, and the metadata of its turn.
pub struct StoredMessage {
    /// Its hash, which identifies it.
    pub hash: String,
    /// The role of its sender.
    pub role: String,
    /// Metadata of the provider: an object.
    pub provider: Option<Vec<u8>>,
    pub parts: Vec<ResolvedPart>,
    /// The turn that ended with this message.
    pub turn: Option<TurnMetadata>,
}

/// Generated ids of calls without an id, with the names of their tools, until their results are read.
#[derive(Default)]
pub struct OpenCallIds(VecDeque<(String, String)>);

impl OpenCallIds {
    /// Generates an id for a call of a tool; `place` is unique per call.
    pub fn call(&mut self, tool: &str, place: &str) -> String {
        let id = key::id_from("call_", place);
        self.0.push_back((tool.to_string(), id.clone()));
        id
    }

    /// Returns the id of the call that a result without an id answers.
    pub fn result(&mut self, tool: &str) -> Option<String> {
        let at = self.0.iter().position(|(name, _)| name == tool)?;
        self.0.remove(at).map(|(_, id)| id)
    }
}

/// Converts a message to records.
pub fn records(message: &StoredMessage, open: &mut OpenCallIds) -> Vec<Vec<u8>> {
    let results = message
        .parts
        .iter()
        .filter(|part| part.kind == "tool_result")
        .count();
    let reported = results < message.parts.len() || results == 0;
    // The result of a tool that the provider ran is in the message of its call, after the call; other results come
    // first.
    let after = message.role == "assistant";
    let mut records = Vec::new();
    let main = reported.then(|| without_results(message, open));
    let (first, last) = if after { (main, None) } else { (None, main) };
    records.extend(first);
    let before = records.len();
    let parts = message.parts.iter().filter(|part| part.kind == "tool_result");
    for (nth, part) in (usize::from(reported)..).zip(parts) {
        let id = match nth {
            0 => message.hash.clone(),
            nth => format!("{}.{nth}", message.hash),
        };
        let is_last = !reported && records.len() + 1 == before + results;
        let turn = message.turn.as_ref().filter(|_| is_last);
        records.push(result(message, part, &id, turn, open));
    }
    records.extend(last);
    records
}

/// Converts a message without its results.
fn without_results(message: &StoredMessage, open: &mut OpenCallIds) -> Vec<u8> {
    let (mut content, mut reasoning, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    let (mut notes, mut order, mut plain) = (Vec::new(), Vec::new(), true);
    for (nth, part) in message.parts.iter().enumerate() {
        let stage = match part.kind.as_str() {
            "tool_result" => continue,
            "reasoning" => {
                reasoning.push(part::reasoning_part(part.text.as_deref(), &part.members));
                0
            }
            "tool_call" => {
                let (call, note) = call(part, &format!("{}\n{nth}", message.hash), open);
                calls.push(call);
                notes.push(note);
                2
            }
            "attachment" => {
                content.extend(part.attached.iter().cloned());
                plain = false;
                1
            }
            kind => {
                plain &= kind == "text" && !part::is_filled(&part.members);
                content.push(part::encode_part(kind, part.text.as_deref(), &part.members));
                1
            }
        };
        order.push((stage, part.kind.as_str()));
    }
    let mut built = ObjectBuilder::default();
    // Results become separate records; the rest of their message is not from a tool.
    let role = if message.role == "tool" {
        "user"
    } else {
        &message.role
    };
    built.text("role", role);
    let texts: Vec<&ResolvedPart> = message.parts.iter().filter(|part| part.kind == "text").collect();
    match (content.as_slice(), texts.as_slice()) {
        ([], _) if role == "assistant" => built.raw("content", "null"),
        ([], _) => built.text("content", ""),
        ([_], [text]) if plain => built.text("content", text.text.as_deref().unwrap_or_default()),
        _ => built.raw("content", array(&content)),
    };
    built.text("id", &message.hash);
    if !calls.is_empty() {
        built.raw("tool_calls", array(&calls));
    }
    if !reasoning.is_empty() {
        built.raw("reasoning", array(&reasoning));
    }
    let mut own = ObjectBuilder::default();
    if let Some(turn) = &message.turn {
        turn.add_metadata(&mut built, &mut own);
    }
    if notes.iter().any(|note| part::is_filled(note)) {
        own.raw("calls", array(&notes));
    }
    if !order.is_sorted_by_key(|(stage, _)| *stage) {
        let kinds: Vec<Vec<u8>> = order.iter().map(|(_, kind)| quoted(kind)).collect();
        own.raw("order", array(&kinds));
    }
    if let Some(provider) = &message.provider {
        own.raw("provider_metadata", provider);
    }
    finished(built, own, false)
}

/// Completes a message with its metadata.
pub fn finished(mut message: ObjectBuilder, own: ObjectBuilder, failed: bool) -> Vec<u8> {
    let mut metadata = ObjectBuilder::default();
    if failed {
        metadata.raw("is_error", "true");
    }
    if !own.is_empty() {
        metadata.raw(NAME, own.finish());
    }
    if !metadata.is_empty() {
        message.raw("metadata", metadata.finish());
    }
    message.finish()
}

/// Converts a call; also returns its members other than id, name and arguments.
fn call(part: &ResolvedPart, place: &str, open: &mut OpenCallIds) -> (Vec<u8>, Vec<u8>) {
    let get = |name: &str| json::member(&part.members, name);
    let name = get("name").and_then(json::text).unwrap_or_default();
    let id = get("tool_call_id").and_then(json::text).map(|id| id.into_owned());
    let id = id.unwrap_or_else(|| open.call(&name, place));
    let arguments = match get("arguments") {
        Some(text) if text.starts_with(b"\"") => text.to_vec(),
        Some(other) => quoted(&String::from_utf8_lossy(other)),
        None => quoted("{}"),
    };
    let note = part::extra_members(&part.members, &["name", "arguments", "tool_call_id"]);
    (encode_call(&id, &name, &arguments), note)
}

/// Encodes a call for the record stream; `arguments` is a JSON string literal.
pub fn encode_call(id: &str, name: &str, arguments: &[u8]) -> Vec<u8> {
    let mut function = ObjectBuilder::default();
    function.text("name", name).raw("arguments", arguments);
    let mut call = ObjectBuilder::default();
    call.text("id", id)
        .text("type", "function")
        .raw("function", function.finish());
    call.finish()
}

/// Converts a result.
fn result(
    message: &StoredMessage,
    part: &ResolvedPart,
    id: &str,
    turn: Option<&TurnMetadata>,
    open: &mut OpenCallIds,
) -> Vec<u8> {
    let get = |name: &str| json::member(&part.members, name);
    let name = get("name").and_then(json::text).unwrap_or_default();
    let call = get("tool_call_id").and_then(json::text).map(|id| id.into_owned());
    let call = call.or_else(|| open.result(&name)).unwrap_or_default();
    let output = match get("output") {
        Some(text) if text.starts_with(b"\"") => text.to_vec(),
        Some(b"null") | None => b"\"\"".to_vec(),
        Some(other) => quoted(&String::from_utf8_lossy(other)),
    };
    let mut built = ObjectBuilder::default();
    built.text("role", "tool").text("tool_call_id", &call);
    if !name.is_empty() {
        built.text("name", &name);
    }
    built.raw("content", with_attachments(output, &part.attached));
    built.text("id", id);
    let mut own = ObjectBuilder::default();
    if let Some(turn) = turn {
        turn.add_metadata(&mut built, &mut own);
    }
    let rest = part::extra_members(&part.members, &["name", "output", "tool_call_id"]);
    for (name, value) in json::members(&rest, json::Dialect::Strict).unwrap_or_default() {
        own.raw(&name, value);
    }
    if let Some(provider) = message.provider.as_ref().filter(|_| id == message.hash) {
        own.raw("provider_metadata", provider);
    }
    let failed = get("exception").is_some_and(|raw| raw != b"null");
    finished(built, own, failed)
}

/// Builds content from a text and the attachments after it; `text` is a JSON string literal.
pub fn with_attachments(text: Vec<u8>, attached: &[Vec<u8>]) -> Vec<u8> {
    if attached.is_empty() {
        return text;
    }
    let mut parts = Vec::new();
    if text != b"\"\"" {
        let mut part = ObjectBuilder::default();
        part.text("type", "text").raw("text", text);
        parts.push(part.finish());
    }
    parts.extend(attached.iter().cloned());
    array(&parts)
}
