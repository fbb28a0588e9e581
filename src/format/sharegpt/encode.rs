//! Encodes messages as turns of a record.

use super::call;
use super::decode::{SENDERS, member_names};
use crate::format::object::Object;
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::{AnnotatedMessage, add_extra_members};
use crate::format::request::{draft, part_losses};
use crate::model::json::{self, ObjectBuilder, array, quoted};
use crate::model::message::{Role, ToolCall};
use std::collections::HashMap;

/// The sender names of a record by role.
pub type Names = HashMap<String, String>;

/// The turn for a message; `None` if it needs several.
pub fn turn(annotated: &AnnotatedMessage<'_>, has_parts: bool, report: &mut Report) -> Option<Vec<u8>> {
    if has_parts {
        return Some(with_parts(annotated, &Names::new(), report));
    }
    let calls = calls(annotated);
    let text = text_only(annotated, report);
    match (&calls[..], &text[..]) {
        ([], text) => Some(built(
            annotated,
            has_parts,
            &sender(annotated, has_parts, &Names::new()),
            text,
        )),
        ([call], b"\"\"") if !is_array(annotated) => Some(call_turn(annotated, call)),
        (calls, b"\"\"") => Some(call_turn(annotated, &listed(calls))),
        _ => None,
    }
}

/// The turns for a message and the results of its calls. Each of several calls is followed by its result.
pub fn turns(
    messages: &[AnnotatedMessage<'_>],
    has_parts: bool,
    names: &Names,
    report: &mut Report,
) -> Vec<Vec<u8>> {
    if has_parts {
        let turns = messages
            .iter()
            .map(|annotated| with_parts(annotated, names, report));
        return turns.collect();
    }
    let message_turn = |annotated: &AnnotatedMessage<'_>, report: &mut Report| {
        let text = text_only(annotated, report);
        (text != b"\"\"" || calls(annotated).is_empty())
            .then(|| built(annotated, has_parts, &sender(annotated, has_parts, names), &text))
    };
    let Some((first, results)) = messages.split_first() else {
        return Vec::new();
    };
    let mut results: Vec<&AnnotatedMessage<'_>> = results.iter().collect();
    let mut turns = Vec::from_iter(message_turn(first, report));
    let called = calls(first);
    if is_array(first) && !called.is_empty() {
        turns.push(call_turn(first, &listed(&called)));
    } else {
        for (raw, call) in first.calls().into_iter().zip(&called) {
            turns.push(call_turn(first, call));
            let id = ToolCall::read(raw).id;
            let has_id = |annotated: &&AnnotatedMessage<'_>, id: &str| {
                annotated.message.tool_call_id().unwrap_or_default() == id
            };
            let named = results.iter().position(|annotated| has_id(annotated, &id));
            let answer = named.or_else(|| results.iter().position(|annotated| has_id(annotated, "")));
            turns.extend(answer.and_then(|nth| message_turn(results.remove(nth), report)));
        }
    }
    turns.extend(
        results
            .into_iter()
            .filter_map(|annotated| message_turn(annotated, report)),
    );
    turns
}

fn sender(annotated: &AnnotatedMessage<'_>, has_parts: bool, names: &Names) -> String {
    // Annotations of older versions have the name.
    if let Some(from) = annotated.noted("from").and_then(json::text) {
        return from.into_owned();
    }
    let role = match annotated.message.role() {
        Role::Developer => "system".into(),
        _ => annotated.message.role_name(),
    };
    let usual = SENDERS.iter().find(|(_, known)| *known == role && !has_parts);
    let usual = || usual.map_or(role.to_string(), |(from, _)| from.to_string());
    names.get(role.as_ref()).cloned().unwrap_or_else(usual)
}

/// A turn with this content.
fn built(annotated: &AnnotatedMessage<'_>, has_parts: bool, from: &str, value: &[u8]) -> Vec<u8> {
    let [speaker, content] = member_names(has_parts);
    let mut turn = ObjectBuilder::default();
    turn.text(speaker, from).raw(content, value);
    // Annotations of older versions have further members.
    add_extra_members(&mut turn, annotated.noted("members").unwrap_or(b"{}"), &[]);
    turn.finish()
}

fn call_turn(annotated: &AnnotatedMessage<'_>, call: &str) -> Vec<u8> {
    built(annotated, false, "function_call", &quoted(call))
}

/// The calls of a message as text.
fn calls(annotated: &AnnotatedMessage<'_>) -> Vec<String> {
    let calls = annotated.calls().into_iter();
    calls.map(|raw| call::encode(&ToolCall::read(raw))).collect()
}

fn listed(calls: &[String]) -> String {
    format!("[{}]", calls.join(", "))
}

/// Whether the calls share a turn as an array.
fn is_array(annotated: &AnnotatedMessage<'_>) -> bool {
    annotated.noted("array").is_some()
}

/// The text of a message; reports its reasoning as lost.
fn text_only(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    for part in annotated.reasoning() {
        part_losses::reasoning(part, report);
    }
    text(annotated, report)
}

/// The text of a message as a JSON string; reports other parts as losses.
pub fn text(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    if let Some(text) = annotated.string() {
        return text.to_vec();
    }
    let mut texts = Vec::new();
    for raw in annotated.parts() {
        let part = Object::of(raw).unwrap_or_default();
        let kind = part.text("type").unwrap_or_default();
        match (part.text("text").filter(|_| kind == "text"), json::text(raw)) {
            (Some(text), _) | (None, Some(text)) => texts.push(text),
            (None, None) => report.count_loss(lost_part(&kind), 1),
        }
    }
    quoted(&texts.join("\n"))
}

/// The turn for a message whose content is parts.
fn with_parts(annotated: &AnnotatedMessage<'_>, names: &Names, report: &mut Report) -> Vec<u8> {
    let valued = |kind: &str, value: &[u8]| {
        let mut part = ObjectBuilder::default();
        part.text("type", kind).raw("value", value);
        part.finish()
    };
    let mut reasoning = Vec::new();
    for part in annotated.reasoning() {
        match json::string_member(part, "text") {
            Some(text) => reasoning.push(valued("reasoning", text)),
            None => report.count_loss(Loss::Reasoning, 1),
        }
        part_losses::signature(part, report);
    }
    let mut content = Vec::new();
    content.extend(annotated.string().map(|text| valued("text", text)));
    for raw in annotated.parts() {
        let part = Object::of(raw).unwrap_or_default();
        match part.text("type").unwrap_or_default().as_ref() {
            "text" => content.extend(part.string("text").map(|text| valued("text", text))),
            "image_url" => {
                let image = part.object("image_url").unwrap_or_default();
                content.extend(image.string("url").map(|url| valued("image", url)));
            }
            _ if part.get("value").is_some() => content.push(raw.to_vec()),
            kind => report.count_loss(lost_part(kind), 1),
        }
    }
    let calls = calls(annotated);
    let calls = calls.iter().map(|call| valued("tool_call", &quoted(call)));
    let parts = [reasoning, content, calls.collect()];
    let value = array(draft::in_order(annotated.noted("order"), parts));
    built(annotated, true, &sender(annotated, true, names), &value)
}

/// The loss for a content part of this type.
fn lost_part(kind: &str) -> Loss {
    match kind {
        "image_url" | "input_audio" | "file" | "image" | "document" => Loss::Attachment,
        _ => Loss::Part,
    }
}
