//! Encodes a view as items of the API.

use super::part;
use crate::format::report::Loss;
use crate::format::request::call::CallMembers;
use crate::format::request::request_part::{AnnotatedMessage, RequestPart, WriteSettings, extra_members};
use crate::format::request::{Api, ProviderRequest, RequestElement, draft, part_losses};
use crate::model::json::{self, ObjectBuilder, array};
use crate::model::message::Role;
use crate::model::summary;
use std::borrow::Cow;
use std::collections::HashMap;

/// Item types of calls, by view item and call.
type ItemKinds<'a> = HashMap<(usize, usize), Cow<'a, str>>;

/// Encodes the pieces as elements of a request.
pub fn write(pieces: &[RequestPart<'_>], writing: &mut WriteSettings<'_>) -> ProviderRequest {
    let kinds = kinds(pieces);
    let mut request = ProviderRequest::default();
    for piece in pieces {
        let annotated = match piece {
            RequestPart::Message(..) => match piece.annotated(writing.api) {
                Some(annotated) => &{ annotated },
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
        writing.report_bookkeeping_losses(annotated);
        match annotated.message.role() {
            Role::System
                if is_instructions(annotated) && request.elements.is_empty() && request.system.is_none() =>
            {
                request.system = annotated.string().map(<[u8]>::to_vec);
                request.system_items.push(annotated.item);
            }
            Role::Assistant => {
                let items = assistant(annotated, writing).into_iter();
                request
                    .elements
                    .extend(items.map(|raw| element(annotated.item, raw)));
            }
            Role::Tool => {
                let raw = output(annotated, &kinds, writing);
                request.elements.push(element(annotated.item, raw));
            }
            role => {
                if role == Role::Other {
                    // The API has no such role, so the message becomes a user message.
                    writing.report.count_loss(Loss::Part, 1);
                }
                let role = if role == Role::Other { Role::User } else { role };
                if let Some(raw) = message(annotated, role.name(), false, writing) {
                    request.elements.push(element(annotated.item, raw));
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

fn is_instructions(annotated: &AnnotatedMessage<'_>) -> bool {
    annotated.metadata("from") == Some(b"\"instructions\"") && annotated.string().is_some()
}

/// The item types of all calls.
fn kinds<'a>(pieces: &[RequestPart<'a>]) -> ItemKinds<'a> {
    let mut kinds = HashMap::new();
    for piece in pieces {
        let Some(annotated) = piece.annotated(Api::OpenaiResponses) else {
            continue;
        };
        let calls = annotated.calls();
        let notes = annotated.call_notes(calls.len());
        for (nth, call) in calls.iter().enumerate() {
            kinds.insert((annotated.item, nth), kind_of(call, notes.get(nth).copied()));
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
    annotated: &AnnotatedMessage<'_>,
    role: &str,
    bare: bool,
    writing: &mut WriteSettings<'_>,
) -> Option<Vec<u8>> {
    let content = match annotated.string() {
        Some(text) => text.to_vec(),
        None => {
            let given = annotated.parts();
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
    add_annotated_members(&mut item, annotated.noted("item"), bare);
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

fn assistant(annotated: &AnnotatedMessage<'_>, writing: &mut WriteSettings<'_>) -> Vec<Vec<u8>> {
    let mut items = Vec::new();
    for part in annotated.reasoning() {
        if json::member(part, "type") == Some(b"\"reasoning\"") {
            items.push(part.to_vec());
        } else {
            part_losses::reasoning(part, writing.report);
        }
    }
    let bare = annotated.noted("reasoned").is_some() && items.is_empty();
    if annotated.noted("whole").is_some() {
        items.extend(annotated.parts().into_iter().map(<[u8]>::to_vec));
    } else {
        let calls = !annotated.calls().is_empty();
        // An empty text next to calls is redundant.
        if !(calls && annotated.string() == Some(b"\"\"") && annotated.noted("item").is_none()) {
            items.extend(message(annotated, "assistant", bare, writing));
        }
    }
    let calls = annotated.calls();
    let notes = annotated.call_notes(calls.len());
    for (nth, raw) in calls.iter().enumerate() {
        items.push(call(raw, notes.get(nth).copied(), bare));
    }
    items
}

fn call(raw: &[u8], note: Option<&[u8]>, bare: bool) -> Vec<u8> {
    let kind = kind_of(raw, note);
    let own = CallMembers::of(raw);
    let mut item = ObjectBuilder::default();
    item.text("type", &kind).raw("call_id", own.id);
    // Arguments must be a string.
    let text = draft::text_of(own.arguments.unwrap_or(b"\"\""));
    match kind.as_ref() {
        "function_call" => {
            item.raw("name", own.name).raw("arguments", text);
        }
        "custom_tool_call" => {
            item.raw("name", own.name).raw("input", text);
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

fn output(
    annotated: &AnnotatedMessage<'_>,
    kinds: &ItemKinds<'_>,
    writing: &mut WriteSettings<'_>,
) -> Vec<u8> {
    let note = annotated.noted("item");
    let mut item = ObjectBuilder::default();
    if note.is_none_or(|note| json::member(note, "type").is_none()) {
        let called = writing
            .calls
            .get(&annotated.item)
            .and_then(|call| kinds.get(call));
        item.text(
            "type",
            &format!("{}_output", called.map_or("function_call", Cow::as_ref)),
        );
    }
    item.raw("call_id", annotated.message.tool_call_id.unwrap_or(b"\"\""));
    let content = annotated.message.content.unwrap_or(b"null");
    let output = match content.first() {
        Some(b'"') => content.to_vec(),
        Some(b'[') => {
            let parts = json::items(content).into_iter();
            array(parts.filter_map(|raw| part::write(raw, false, writing)))
        }
        _ => b"\"\"".to_vec(),
    };
    item.raw("output", output);
    add_annotated_members(&mut item, note, false);
    item.finish()
}
