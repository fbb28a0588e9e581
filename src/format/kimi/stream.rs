//! Converts the lines of a Kimi CLI display stream.

use super::message::{add_content, function_call, member, parts, reply_parts};
use crate::format::kit::{Assembly, Decoded};
use crate::format::report::Report;
use crate::format::request::draft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use crate::model::message::Role;
use crate::model::time;
use std::borrow::Cow;

/// The type and payload of a line.
pub fn event(line: &[u8]) -> Option<(Cow<'_, str>, &[u8])> {
    let message = json::member(line, "message").filter(|raw| raw.starts_with(b"{"))?;
    json::member(line, "timestamp")?;
    Some((
        json::member_text(message, "type")?,
        json::member(message, "payload")?,
    ))
}

/// The time of a line, in seconds.
pub fn time_of(line: &[u8]) -> Option<String> {
    time::from_digits(std::str::from_utf8(json::member(line, "timestamp")?).ok()?)
}

/// Assigns the lines of a stream to messages.
pub fn assemble(lines: &[&[u8]]) -> Assembly {
    let mut first: Vec<usize> = (0..lines.len()).collect();
    let mut step: Option<Vec<usize>> = None;
    let mut is_filled = false;
    let mut last = None;
    // A step without content belongs to the previous message.
    let close =
        |step: &mut Option<Vec<usize>>, is_filled: bool, last: &mut Option<usize>, first: &mut Vec<usize>| {
            let Some(own) = step.take() else { return };
            let head = if is_filled { Some(own[0]) } else { *last };
            if let Some(head) = head {
                own.iter().for_each(|nth| first[*nth] = head);
                *last = Some(head);
            }
        };
    for (nth, line) in lines.iter().enumerate() {
        let Some((kind, _)) = event(line) else { continue };
        match kind.as_ref() {
            "StepBegin" => {
                close(&mut step, is_filled, &mut last, &mut first);
                (step, is_filled) = (Some(vec![nth]), false);
            }
            "ContentPart" | "ToolCall" | "ToolCallPart" | "StatusUpdate" => {
                is_filled |= kind != "StatusUpdate";
                step.get_or_insert_default().push(nth);
            }
            "TurnBegin" => {
                close(&mut step, is_filled, &mut last, &mut first);
                (is_filled, last) = (false, Some(nth));
            }
            _ => {}
        }
    }
    close(&mut step, is_filled, &mut last, &mut first);
    Assembly {
        session: vec![0; lines.len()],
        first,
        others: Vec::new(),
    }
}

/// Decodes the lines of a message.
pub fn decode(lines: &[&[u8]]) -> Decoded {
    let Some((kind, payload)) = event(lines[0]) else {
        return match json::member(lines[0], "type") {
            Some(_) => Decoded::Passthrough,
            None => Decoded::Unrecognized,
        };
    };
    let draft = match kind.as_ref() {
        "TurnBegin" => {
            let mut draft = draft::AnnotatedDraft::new("user");
            let content = member(payload, "user_input");
            content
                .and_then(|content| add_content(&mut draft, content, b"\"\""))
                .map(|()| draft)
        }
        "StepBegin" | "ContentPart" | "ToolCall" | "ToolCallPart" => match step(lines) {
            Some(None) => return Decoded::Passthrough,
            draft => draft.flatten(),
        },
        "ToolResult" => result(payload),
        _ => return Decoded::Passthrough,
    };
    Decoded::timed(draft, time_of(lines[0]))
}

/// The message of a step; `None` if unsupported, `Some(None)` if it has no content.
fn step(lines: &[&[u8]]) -> Option<Option<draft::AnnotatedDraft>> {
    let mut chunks: Vec<(String, String, Option<&[u8]>)> = Vec::new();
    let (mut others, mut calls, mut usage) = (Vec::new(), Vec::new(), None);
    for line in lines {
        let (kind, payload) = event(line)?;
        match kind.as_ref() {
            "ContentPart" => {
                let kind = json::member_text(payload, "type")?.into_owned();
                let name = if kind == "think" { "think" } else { "text" };
                let Some(text) = json::member_text(payload, name) else {
                    others.push(payload.to_vec());
                    continue;
                };
                match chunks.last_mut().filter(|(before, ..)| *before == kind) {
                    Some((_, before, encrypted)) => {
                        before.push_str(&text);
                        *encrypted = member(payload, "encrypted").or(*encrypted);
                    }
                    None => chunks.push((kind, text.into_owned(), member(payload, "encrypted"))),
                }
            }
            "ToolCall" => {
                let function = json::member(payload, "function").unwrap_or(b"{}");
                let arguments = json::member_text(function, "arguments").unwrap_or_default();
                calls.push((
                    member(payload, "id"),
                    member(function, "name"),
                    arguments.into_owned(),
                ));
            }
            "ToolCallPart" => {
                let part = json::member_text(payload, "arguments_part").unwrap_or_default();
                calls.last_mut()?.2.push_str(&part);
            }
            "StatusUpdate" => usage = member(payload, "token_usage").or(usage),
            _ => {}
        }
    }
    if chunks.is_empty() && others.is_empty() && calls.is_empty() {
        return Some(None);
    }
    let parts = chunks.iter().map(|(kind, text, encrypted)| {
        let mut part = ObjectBuilder::default();
        part.text("type", kind)
            .text(if kind == "think" { "think" } else { "text" }, text);
        part.optional("encrypted", *encrypted);
        part.finish()
    });
    let mut draft = draft::AnnotatedDraft::new("assistant");
    add_content(
        &mut draft,
        &array(parts.chain(others).collect::<Vec<_>>()),
        b"\"\"",
    )?;
    if !calls.is_empty() {
        let calls = calls.into_iter().map(|(id, name, arguments)| {
            let arguments = if arguments.is_empty() { "{}" } else { &arguments };
            draft::call_of(id, name, Some(&quoted(arguments)))
        });
        draft.raw("tool_calls", array(calls.collect::<Vec<_>>()));
    }
    draft.optional("usage", usage);
    Some(Some(draft))
}

fn result(payload: &[u8]) -> Option<draft::AnnotatedDraft> {
    let id = member(payload, "tool_call_id")?;
    let value = json::member(payload, "return_value")?;
    let mut draft = draft::AnnotatedDraft::new("tool");
    let content = member(value, "output").or(member(value, "message"));
    add_content(&mut draft, content.unwrap_or(b"\"\""), b"\"\"")?;
    draft.raw("tool_call_id", id);
    let is_failed = json::member(value, "is_error") == Some(b"true");
    draft.metadata("is_error", is_failed.then(|| b"true".to_vec()));
    Some(draft)
}

/// Encodes a message as lines, without times.
pub fn encode(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let content = |report: &mut Report| match annotated.message.content {
        Some(raw) if raw.starts_with(b"\"") => raw.to_vec(),
        _ => array(parts(annotated, report)),
    };
    let mut events = Vec::new();
    match annotated.message.role() {
        Role::Assistant => {
            events.push(("StepBegin", b"{}".to_vec()));
            let parts = reply_parts(annotated, report).into_iter();
            events.extend(parts.map(|part| ("ContentPart", part)));
            for call in annotated.calls() {
                events.push(("ToolCall", function_call(call, report)));
            }
            if let Some(usage) = json::member(annotated.body, "usage") {
                events.push(("StatusUpdate", wrapped("token_usage", usage)));
            }
        }
        Role::Tool => {
            let is_failed = annotated.metadata("is_error") == Some(b"true");
            let mut value = ObjectBuilder::default();
            value
                .raw("is_error", is_failed.to_string())
                .raw("output", content(report));
            let mut payload = ObjectBuilder::default();
            payload
                .raw("tool_call_id", annotated.message.tool_call_id.unwrap_or(b"\"\""))
                .raw("return_value", value.finish());
            events.push(("ToolResult", payload.finish()));
        }
        _ => events.push(("TurnBegin", wrapped("user_input", content(report)))),
    }
    let line = |(kind, payload): (&str, Vec<u8>)| {
        let mut message = ObjectBuilder::default();
        message.text("type", kind).raw("payload", payload);
        wrapped("message", message.finish())
    };
    events.into_iter().map(line).collect()
}

/// The times of calls and their results in a stream.
pub fn times(bytes: &[u8]) -> Vec<(String, String)> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let times = lines.filter_map(|line| {
        let (kind, payload) = event(line)?;
        let id = match kind.as_ref() {
            "ToolCall" => format!("call {}", json::member_text(payload, "id")?),
            "ToolResult" => format!("result {}", json::member_text(payload, "tool_call_id")?),
            _ => return None,
        };
        Some((id, time_of(line)?))
    });
    times.collect()
}

/// Whether lines belong to a stream.
pub fn is_stream(lines: &[&[u8]]) -> bool {
    lines.iter().any(|line| event(line).is_some())
}
