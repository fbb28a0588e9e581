//! Converts between elements of a file and records.

use crate::format::kit::records::annotated_messages;
use crate::format::request::draft::{self, AnnotatedDraft};
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use crate::model::key;
use crate::model::message::Message;
use std::borrow::Cow;

/// The name of the format, and of its annotations.
pub const NAME: &str = "aichat";

/// The records of an element; `None` if it is not a message. The ids of calls without one are derived from their
/// content and position.
pub fn records(element: &[u8], place: &str) -> Option<Vec<Vec<u8>>> {
    let role = json::member_text(element, "role")?;
    let content = json::member(element, "content")?;
    let is_part = |part: &&[u8]| json::member(part, "type").is_some_and(|kind| kind.starts_with(b"\""));
    let has_parts = || json::elements(content, Dialect::Strict).is_some_and(|all| all.iter().all(is_part));
    let mut drafts = match content.first() {
        Some(b'{') if role == "tool" => exchange(content, place)?,
        Some(b'"') => vec![plain(&role, content)],
        Some(b'[') if has_parts() => vec![plain(&role, content)],
        _ => return None,
    };
    let mut bodies: Vec<Vec<u8>> = drafts.iter().map(|draft| draft.body_of(NAME)).collect();
    let encoded = encode_element(&annotated_messages(&bodies, NAME), true);
    if !encoded.is_some_and(|encoded| json::same(&encoded, element)) {
        bodies[0] = drafts[0].note("raw", Some(element.to_vec())).body_of(NAME);
    }
    Some(bodies)
}

fn plain(role: &str, content: &[u8]) -> AnnotatedDraft {
    let mut message = AnnotatedDraft::new(role);
    message.raw("content", content);
    message
}

/// Converts calls and their results.
fn exchange(content: &[u8], place: &str) -> Option<Vec<AnnotatedDraft>> {
    let both = json::elements(json::member(content, "tool_results")?, Dialect::Strict)?;
    let string = |object, name| json::member(object, name).filter(|raw| raw.starts_with(b"\""));
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for (nth, one) in both.into_iter().enumerate() {
        let call = json::member(one, "call")?;
        let name = string(call, "name")?;
        let built = || quoted(&key::id_from("call_", format!("{place}\n{nth}")));
        let id = string(call, "id").map_or_else(built, <[u8]>::to_vec);
        let arguments = draft::text_of(json::member(call, "arguments").unwrap_or(b"{}"));
        calls.push(draft::call(&id, name, &arguments));
        let output = json::member(one, "output").unwrap_or(b"\"\"");
        let mut result = AnnotatedDraft::new("tool");
        result
            .raw("tool_call_id", id)
            .raw("name", name)
            .raw("content", draft::text_of(output));
        results.push(result);
    }
    if calls.is_empty() {
        return None;
    }
    let text = string(content, "text").filter(|raw| *raw != b"\"\"");
    let mut message = plain("assistant", text.unwrap_or(b"null"));
    message.raw("tool_calls", array(&calls));
    Some([vec![message], results].concat())
}

/// Encodes a message, or a message with calls and their results, as an element; `None` if the format cannot represent
/// it. With `exact`, only arguments in compact JSON are encoded as objects.
pub fn encode_element(messages: &[AnnotatedMessage<'_>], exact: bool) -> Option<Vec<u8>> {
    let (first, results) = messages.split_first()?;
    let first = &first.message;
    let is_string = |raw: &&[u8]| raw.starts_with(b"\"");
    let mut element = ObjectBuilder::default();
    if results.is_empty() {
        let content = first.content;
        let content = content.filter(|raw| is_string(raw) || raw.starts_with(b"["));
        element
            .raw("role", first.role)
            .raw("content", content.unwrap_or(b"\"\""));
        return Some(element.finish());
    }
    let calls = first.tool_calls();
    let mut both = Vec::new();
    for AnnotatedMessage { message: result, .. } in results {
        let id = result.tool_call_id()?;
        let call = calls.iter().find(|call| call.id == id)?;
        let output = result.content.filter(is_string);
        let mut one = ObjectBuilder::default();
        one.object("call", |built| {
            built
                .text("name", &call.name)
                .raw("arguments", value(&call.arguments, exact))
                .text("id", &id);
        });
        one.raw(
            "output",
            output.map_or_else(|| quoted(&result.text()), <[u8]>::to_vec),
        );
        both.push(one.finish());
    }
    element.text("role", "tool").object("content", |content| {
        content
            .raw("tool_results", array(&both))
            .text("text", &first.text())
            .raw("sequence", "false");
    });
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
pub fn is_reformatted(arguments: &str) -> bool {
    let value = value(arguments, false);
    !value.starts_with(b"\"") && value != arguments.as_bytes()
}

/// The original element of a record, if all of its records are unchanged.
pub fn unchanged_element(messages: &[AnnotatedMessage<'_>]) -> Option<Vec<u8>> {
    let raw = messages.first()?.noted("raw")?;
    let bodies = records(raw, "")?;
    let then = annotated_messages(&bodies, NAME);
    let is_same = then.iter().zip(messages).all(|(then, now)| {
        let (then, now) = (&then.message, &now.message);
        then.role == now.role && then.content == now.content && calls(then) == calls(now)
    });
    (is_same && then.len() == messages.len()).then(|| raw.to_vec())
}

/// Names and arguments of the calls of a message.
fn calls<'a>(message: &Message<'a>) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
    let calls = message.tool_calls().into_iter();
    calls.map(|call| (call.name, call.arguments)).collect()
}
