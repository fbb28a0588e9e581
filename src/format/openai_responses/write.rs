//! Encodes a view as items of the API.

use super::part;
use crate::format::report::Loss;
use crate::format::request::request_part::{
    AnnotatedMessage, RequestPart, WriteSettings, array, extra_members, quoted,
};
use crate::format::request::{Api, ProviderRequest, RequestElement};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::message::Role;
use crate::model::summary;
use std::borrow::Cow;
use std::collections::HashMap;

/// Item types of calls, by view item and call.
type Kinds<'a> = HashMap<(usize, usize), Cow<'a, str>>;

/// Encodes the pieces as elements of a request.
pub fn write(pieces: &[RequestPart<'_>], writing: &mut WriteSettings<'_>) -> ProviderRequest {
    let kinds = kinds(pieces);
    let mut request = ProviderRequest::default();
    for piece in pieces {
        let said = match piece {
            RequestPart::Message(..) => match piece.annotated(writing.api) {
                Some(said) => &{ said },
                None => continue,
            },
            RequestPart::Summary(item, text, role) => {
                let mut built = ObjectBuilder::default();
                built
                    .text("role", role.as_deref().unwrap_or("user"))
                    .text("content", &summary::quoted(text));
                request.elements.push(element(*item, built.finish()));
                continue;
            }
            RequestPart::Kept(items, elements) => {
                request.elements.extend(elements.iter().map(|raw| RequestElement {
                    raw: raw.to_vec(),
                    items: items.clone(),
                }));
                continue;
            }
        };
        writing.report_bookkeeping_losses(said);
        match said.message.role() {
            Role::System
                if is_instructions(said) && request.elements.is_empty() && request.system.is_none() =>
            {
                request.system = said.string().map(<[u8]>::to_vec);
                request.system_items.push(said.item);
            }
            Role::Assistant => {
                let items = assistant(said, writing).into_iter();
                request.elements.extend(items.map(|raw| element(said.item, raw)));
            }
            Role::Tool => {
                let raw = output(said, &kinds, writing);
                request.elements.push(element(said.item, raw));
            }
            role => {
                if role == Role::Other {
                    // The API has no such role, so the message becomes a user message.
                    writing.report.count_loss(Loss::Part, 1);
                }
                let role = if role == Role::Other { Role::User } else { role };
                if let Some(raw) = message(said, role.name(), false, writing) {
                    request.elements.push(element(said.item, raw));
                }
            }
        }
    }
    request
}

fn element(item: usize, raw: Vec<u8>) -> RequestElement {
    RequestElement {
        raw,
        items: vec![item],
    }
}

fn is_instructions(said: &AnnotatedMessage<'_>) -> bool {
    said.metadata("from") == Some(b"\"instructions\"") && said.string().is_some()
}

/// The item types of all calls.
fn kinds<'a>(pieces: &[RequestPart<'a>]) -> Kinds<'a> {
    let mut kinds = HashMap::new();
    for piece in pieces {
        let Some(said) = piece.annotated(Api::OpenaiResponses) else {
            continue;
        };
        let calls = said.calls();
        let notes = said.call_notes(calls.len());
        for (nth, call) in calls.iter().enumerate() {
            kinds.insert((said.item, nth), kind_of(call, notes.get(nth).copied()));
        }
    }
    kinds
}

fn kind_of<'a>(call: &'a [u8], note: Option<&'a [u8]>) -> Cow<'a, str> {
    let noted = note
        .and_then(|note| json::member(note, "type"))
        .and_then(json::text);
    let custom = json::member(call, "type") == Some(b"\"custom\"");
    noted.unwrap_or(Cow::Borrowed(if custom {
        "custom_tool_call"
    } else {
        "function_call"
    }))
}

/// Encodes a message as an item; `None` if it is empty.
fn message(
    said: &AnnotatedMessage<'_>,
    role: &str,
    bare: bool,
    writing: &mut WriteSettings<'_>,
) -> Option<Vec<u8>> {
    let content = match said.string() {
        Some(text) => text.to_vec(),
        None => {
            let given = said.parts();
            let model = role == "assistant";
            let parts: Vec<_> = given
                .into_iter()
                .filter_map(|raw| part::write(raw, model, writing))
                .collect();
            if parts.is_empty() {
                return None;
            }
            array(&parts)
        }
    };
    let mut item = ObjectBuilder::default();
    item.text("role", role).raw("content", content);
    add_annotated_members(&mut item, said.noted("item"), bare);
    Some(item.finish())
}

/// Adds annotated members; `bare` omits the id, which is only valid with its reasoning.
fn add_annotated_members(item: &mut ObjectBuilder, note: Option<&[u8]>, bare: bool) {
    for (name, value) in note.into_iter().flat_map(|note| extra_members(note, &[])) {
        if !(bare && name == "id") {
            item.raw(&name, value);
        }
    }
}

fn assistant(said: &AnnotatedMessage<'_>, writing: &mut WriteSettings<'_>) -> Vec<Vec<u8>> {
    let mut items = Vec::new();
    for part in said.reasoning() {
        if json::member(part, "type") == Some(b"\"reasoning\"") {
            items.push(part.to_vec());
        } else {
            writing.report_lost_reasoning(part);
        }
    }
    let bare = said.noted("reasoned").is_some() && items.is_empty();
    if said.noted("whole").is_some() {
        items.extend(said.parts().into_iter().map(<[u8]>::to_vec));
    } else {
        let calls = !said.calls().is_empty();
        // An empty text next to calls is redundant.
        if !(calls && said.string() == Some(b"\"\"") && said.noted("item").is_none()) {
            items.extend(message(said, "assistant", bare, writing));
        }
    }
    let calls = said.calls();
    let notes = said.call_notes(calls.len());
    for (nth, raw) in calls.iter().enumerate() {
        items.push(call(raw, notes.get(nth).copied(), bare));
    }
    items
}

fn call(raw: &[u8], note: Option<&[u8]>, bare: bool) -> Vec<u8> {
    let kind = kind_of(raw, note);
    let mut item = ObjectBuilder::default();
    item.text("type", &kind)
        .raw("call_id", json::member(raw, "id").unwrap_or(b"\"\""));
    let function = json::member(raw, "function")
        .or_else(|| json::member(raw, "custom"))
        .unwrap_or(b"{}");
    let name = json::member(function, "name").unwrap_or(b"\"\"");
    let arguments = json::member(function, "arguments").or_else(|| json::member(function, "input"));
    // Arguments must be a string.
    let text = match arguments {
        Some(text) if text.starts_with(b"\"") => text.to_vec(),
        Some(other) => quoted(&String::from_utf8_lossy(other)),
        None => b"\"\"".to_vec(),
    };
    match kind.as_ref() {
        "function_call" => {
            item.raw("name", name).raw("arguments", text);
        }
        "custom_tool_call" => {
            item.raw("name", name).raw("input", text);
        }
        _ => {
            let given = json::text(&text).unwrap_or_default();
            extra_members(given.as_bytes(), &["type", "call_id"]).for_each(|(name, value)| {
                item.raw(&name, value);
            });
        }
    }
    let rest = note.into_iter().flat_map(|note| extra_members(note, &["type"]));
    for (name, value) in rest {
        if !(bare && name == "id") {
            item.raw(&name, value);
        }
    }
    item.finish()
}

fn output(said: &AnnotatedMessage<'_>, kinds: &Kinds<'_>, writing: &mut WriteSettings<'_>) -> Vec<u8> {
    let note = said.noted("item");
    let mut item = ObjectBuilder::default();
    if note.is_none_or(|note| json::member(note, "type").is_none()) {
        let called = writing.calls.get(&said.item).and_then(|call| kinds.get(call));
        item.text(
            "type",
            &format!("{}_output", called.map_or("function_call", Cow::as_ref)),
        );
    }
    item.raw("call_id", said.message.tool_call_id.unwrap_or(b"\"\""));
    let content = said.message.content.unwrap_or(b"null");
    let output = match content.first() {
        Some(b'"') => content.to_vec(),
        Some(b'[') => {
            let parts = json::elements(content, Dialect::Strict).unwrap_or_default();
            let parts = parts.into_iter();
            array(parts.filter_map(|raw| part::write(raw, false, writing)))
        }
        _ => b"\"\"".to_vec(),
    };
    item.raw("output", output);
    add_annotated_members(&mut item, note, false);
    item.finish()
}
