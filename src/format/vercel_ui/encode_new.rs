//! Encodes messages for version 5: an exchange is one message, with a separator before each step.

use super::part;
use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::draft::text_part;
use crate::format::request::media::RequestMedia;
use crate::format::request::part_losses;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use crate::model::message::{MessagePart, Role};
use std::collections::HashMap;

/// Encodes an exchange, or a single message of any other role, as an element.
pub fn element(annotated: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut waiting = WaitingCalls::default();
    for annotated in annotated {
        match annotated.message.role() {
            Role::Tool => match waiting.take(annotated, report) {
                Some(at) => parts[at] = answered(&parts[at], annotated, report),
                None => continue,
            },
            Role::Assistant => {
                parts.push(br#"{"type":"step-start"}"#.to_vec());
                parts.extend(encode_message_parts(annotated, report));
                for raw in annotated.calls() {
                    waiting.add(raw, parts.len());
                    parts.push(call(raw, report));
                }
            }
            _ => parts.extend(encode_message_parts(annotated, report)),
        }
    }
    let first = first(annotated)?;
    let mut built = ObjectBuilder::default();
    built.optional("id", json::member(first.body, "id"));
    built.text("role", role(first)).raw("parts", array(&parts));
    Some(built.finish())
}

/// The message that determines the id of its element.
pub fn first<'s, 'b>(annotated: &'s [AnnotatedMessage<'b>]) -> Option<&'s AnnotatedMessage<'b>> {
    annotated
        .iter()
        .find(|annotated| annotated.message.role() != Role::Tool)
}

/// The role of an element; other senders become user.
pub fn role(annotated: &AnnotatedMessage<'_>) -> &'static str {
    match annotated.message.role() {
        Role::Assistant | Role::Tool => "assistant",
        Role::System | Role::Developer => "system",
        Role::User | Role::Other => "user",
    }
}

/// Indexes of call parts without a result so far, by call id.
#[derive(Default)]
pub struct WaitingCalls(HashMap<String, Vec<usize>>);

impl WaitingCalls {
    /// Adds a call at this part.
    pub fn add(&mut self, call: &[u8], part: usize) {
        let id = json::member_text(call, "id").unwrap_or_default();
        self.0.entry(id.into_owned()).or_default().push(part);
    }

    /// The part with a result's call; reports a missing one.
    pub fn take(&mut self, result: &AnnotatedMessage<'_>, report: &mut Report) -> Option<usize> {
        let id = result.message.tool_call_id().unwrap_or_default();
        let part = self.0.get_mut(id.as_ref()).and_then(Vec::pop);
        report.count_missing(Loss::Orphan, u64::from(part.is_none()));
        part
    }
}

/// Encodes reasoning and content.
fn encode_message_parts(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    for part in annotated.reasoning() {
        let (text, reported) = (part::reasoning_text(part), part::signed(part));
        if text.is_empty() && reported.is_none() {
            part_losses::reasoning(part, report);
            continue;
        }
        if reported.is_none() {
            part_losses::signature(part, report);
        }
        let mut built = ObjectBuilder::default();
        built
            .text("type", "reasoning")
            .text("text", &text)
            .text("state", "done");
        built.optional("providerMetadata", reported);
        parts.push(built.finish());
    }
    if let Some(text) = annotated.string() {
        if text != b"\"\"" {
            parts.push(text_part(text));
        }
        return parts;
    }
    parts.extend(
        annotated
            .parts()
            .into_iter()
            .filter_map(|part| content(part, report)),
    );
    parts
}

fn content(raw: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    if raw.starts_with(b"\"") {
        return Some(text_part(raw));
    }
    let kind = part::text(raw, "type").unwrap_or_default();
    let own = (kind == "file" && json::member(raw, "mediaType").is_some())
        || kind.starts_with("tool-")
        || kind == "dynamic-tool";
    match kind.as_ref() {
        "text" => return json::member(raw, "text").map(text_part),
        _ if own => return Some(raw.to_vec()),
        _ => {}
    }
    let Some(media) = RequestMedia::of(raw) else {
        report.count_loss(Loss::Part, 1);
        return None;
    };
    let Some(file) = part::attachment(media) else {
        report.count_loss(Loss::Attachment, 1);
        return None;
    };
    let mut built = ObjectBuilder::default();
    built.text("type", "file").text("mediaType", &file.mime);
    if let Some(name) = &file.name {
        built.text("filename", name);
    }
    built.text("url", &file.url);
    Some(built.finish())
}

fn call(raw: &[u8], report: &mut Report) -> Vec<u8> {
    let call = CallMembers::of_function(raw, report);
    let mut built = ObjectBuilder::default();
    built
        .text(
            "type",
            &format!("tool-{}", json::text(call.name).unwrap_or_default()),
        )
        .raw("toolCallId", call.id)
        .text("state", "input-available");
    if let Some(text) = call
        .arguments
        .and_then(json::text)
        .filter(|text| !text.is_empty())
    {
        match part::value(&text) {
            Some(value) => built.raw("input", value),
            None => built.text("input", &text),
        };
    }
    built.finish()
}

/// The text of a result; reports other parts as losses.
pub fn result_text(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> String {
    for part in annotated.message.parts() {
        if let MessagePart::Other(_, raw) = part {
            part_losses::content(raw, report);
        }
    }
    annotated.message.text().into_owned()
}

/// The part of a call with its result.
fn answered(part: &[u8], annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    let text = result_text(annotated, report);
    let string = quoted(&text);
    let is = |name: &str| annotated.metadata(name) == Some(b"true");
    let changes: Vec<(&str, Option<Vec<u8>>)> = if is("is_error") {
        vec![
            ("state", Some(quoted("output-error"))),
            ("errorText", Some(string)),
        ]
    } else if is("denied") {
        let mut approval = ObjectBuilder::default();
        approval
            .raw("id", json::member(part, "toolCallId").unwrap_or(b"\"\""))
            .raw("approved", "false")
            .raw("reason", string);
        vec![
            ("state", Some(quoted("output-denied"))),
            ("approval", Some(approval.finish())),
        ]
    } else {
        let output = part::value(&text).map_or(string, <[u8]>::to_vec);
        vec![
            ("state", Some(quoted("output-available"))),
            ("output", Some(output)),
        ]
    };
    json::with_owned_members(part, &changes).unwrap_or_else(|_| part.to_vec())
}
