//! Converts between elements of a file and records.

use super::NAME;
use crate::error::Position;
use crate::format::request::draft;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::key;
use crate::model::message::Message;
use crate::model::record::Record;

/// The records of an element; `None` if it is not a message. The ids of calls without one are derived from their
/// content and position.
pub fn records(element: &[u8], place: &str) -> Option<Vec<Vec<u8>>> {
    let role = json::member_text(element, "role")?;
    let content = json::member(element, "content")?;
    let mut records = match content.first() {
        Some(b'{') if role == "tool" => exchange(content, place)?,
        Some(b'"') => vec![plain(&role, content)],
        Some(b'[')
            if json::elements(content, Dialect::Strict)?
                .iter()
                .all(|part| is_part(part)) =>
        {
            vec![plain(&role, content)]
        }
        _ => return None,
    };
    let bodies: Vec<Vec<u8>> = records.iter().map(|record| record.clone().finish()).collect();
    let parsed: Vec<Record<'_>> = bodies.iter().map(|body| parse(body)).collect();
    let messages: Vec<Message<'_>> = parsed
        .iter()
        .filter_map(|record| record.message().copied())
        .collect();
    let again = encode_element(&messages, true);
    if !again.is_some_and(|again| json::same(&again, element)) {
        records[0].raw("metadata", wrapped(NAME, wrapped("raw", element)));
    }
    Some(records.into_iter().map(RecordDraft::finish).collect())
}

/// A record under construction.
#[derive(Clone, Default)]
struct RecordDraft(Vec<(&'static str, Vec<u8>)>);

impl RecordDraft {
    fn raw(&mut self, name: &'static str, value: impl Into<Vec<u8>>) -> &mut RecordDraft {
        self.0.push((name, value.into()));
        self
    }

    fn finish(self) -> Vec<u8> {
        json::object(self.0)
    }
}

fn parse(body: &[u8]) -> Record<'_> {
    Record::parse(body, Position { line: 0, offset: 1 })
}

fn plain(role: &str, content: &[u8]) -> RecordDraft {
    let mut message = RecordDraft::default();
    message.raw("role", quoted(role)).raw("content", content);
    message
}

fn is_part(part: &[u8]) -> bool {
    json::member(part, "type").is_some_and(|kind| kind.starts_with(b"\""))
}

/// Converts calls and their results.
fn exchange(content: &[u8], place: &str) -> Option<Vec<RecordDraft>> {
    let both = json::elements(json::member(content, "tool_results")?, Dialect::Strict)?;
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for (nth, one) in both.into_iter().enumerate() {
        let call = json::member(one, "call")?;
        let name = json::member(call, "name").filter(|raw| raw.starts_with(b"\""))?;
        let id = json::member(call, "id").filter(|raw| raw.starts_with(b"\""));
        let built = || quoted(&key::id_from("call_", format!("{place}\n{nth}")));
        let id = id.map_or_else(built, <[u8]>::to_vec);
        let arguments = draft::text_of(json::member(call, "arguments").unwrap_or(b"{}"));
        calls.push(draft::call(&id, name, &arguments));
        let mut result = RecordDraft::default();
        result
            .raw("role", "\"tool\"")
            .raw("tool_call_id", id)
            .raw("name", name)
            .raw(
                "content",
                draft::text_of(json::member(one, "output").unwrap_or(b"\"\"")),
            );
        results.push(result);
    }
    if calls.is_empty() {
        return None;
    }
    let text = json::member(content, "text").filter(|raw| raw.starts_with(b"\"") && *raw != b"\"\"");
    let mut message = RecordDraft::default();
    message
        .raw("role", "\"assistant\"")
        .raw("content", text.unwrap_or(b"null"))
        .raw("tool_calls", array(&calls));
    Some([vec![message], results].concat())
}

/// Encodes a message, or a message with calls and their results, as an element; `None` if the format cannot represent
/// it. With `exact`, only arguments in compact JSON are encoded as objects.
pub fn encode_element(messages: &[Message<'_>], exact: bool) -> Option<Vec<u8>> {
    let (first, results) = messages.split_first()?;
    let mut element = ObjectBuilder::default();
    if results.is_empty() {
        let content = match first.content {
            Some(raw) if raw.starts_with(b"\"") || raw.starts_with(b"[") => raw,
            _ => b"\"\"",
        };
        element.raw("role", first.role).raw("content", content);
        return Some(element.finish());
    }
    let calls = first.tool_calls();
    let mut both = Vec::new();
    for result in results {
        let id = result.tool_call_id()?;
        let call = calls.iter().find(|call| call.id == id)?;
        let arguments = value(&call.arguments, exact);
        let mut reported = ObjectBuilder::default();
        reported
            .text("name", &call.name)
            .raw("arguments", arguments)
            .text("id", &id);
        let mut one = ObjectBuilder::default();
        one.raw("call", reported.finish()).raw(
            "output",
            match result.content {
                Some(raw) if raw.starts_with(b"\"") => raw.to_vec(),
                _ => quoted(&result.text()),
            },
        );
        both.push(one.finish());
    }
    let mut content = ObjectBuilder::default();
    content
        .raw("tool_results", array(&both))
        .text("text", &first.text())
        .raw("sequence", "false");
    element.text("role", "tool").raw("content", content.finish());
    Some(element.finish())
}

/// Arguments as an object if possible, else as a string.
fn value(arguments: &str, exact: bool) -> Vec<u8> {
    let bytes = arguments.as_bytes();
    let short = json::compact(bytes).0;
    match json::is_object(bytes) && (!exact || short == bytes) {
        true => short,
        false => quoted(arguments),
    }
}

/// Whether encoding changes the formatting of the arguments.
pub fn is_respelled(arguments: &str) -> bool {
    let value = value(arguments, false);
    !value.starts_with(b"\"") && value != arguments.as_bytes()
}

/// The original element of a record, if all of its records are unchanged.
pub fn unchanged_element(messages: &[Message<'_>]) -> Option<Vec<u8>> {
    let raw = json::member(json::member(messages.first()?.metadata?, NAME)?, "raw")?;
    let then = records(raw, "")?;
    let same = then.len() == messages.len()
        && then.iter().zip(messages).all(|(then, now)| {
            let record = parse(then);
            record.message().is_some_and(|then| {
                let calls = |message: &Message<'_>| -> Vec<(String, String)> {
                    let calls = message.tool_calls().into_iter();
                    calls
                        .map(|call| (call.name.into_owned(), call.arguments.into_owned()))
                        .collect()
                };
                then.role == now.role && then.content == now.content && calls(then) == calls(now)
            })
        });
    same.then(|| raw.to_vec())
}
