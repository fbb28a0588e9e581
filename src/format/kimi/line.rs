//! Parses lines of a Kimi Code log.

use crate::format::object::text;
use crate::model::{json, time};
use std::borrow::Cow;

/// The type of a line.
pub fn kind(line: &[u8]) -> Option<Cow<'_, str>> {
    json::member_text(line, "type")
}

/// The loop event in a line.
pub fn event(line: &[u8]) -> Option<&[u8]> {
    let is_event = kind(line).as_deref() == Some("context.append_loop_event");
    json::member(line, "event").filter(|_| is_event)
}

/// The message that a line adds.
pub fn appended(line: &[u8]) -> Option<&[u8]> {
    let is_message = kind(line).as_deref() == Some("context.append_message");
    json::member(line, "message").filter(|_| is_message)
}

/// The origin of the message that a line adds.
pub fn origin(line: &[u8]) -> Option<String> {
    text(json::member(appended(line)?, "origin")?, "kind")
}

/// Whether a line adds a message that the user typed.
pub fn is_typed(line: &[u8]) -> bool {
    let is_user = appended(line).is_some_and(|message| text(message, "role").as_deref() == Some("user"));
    is_user && origin(line).is_none_or(|origin| origin == "user")
}

/// The time of a line, in milliseconds.
pub fn time_of(line: &[u8]) -> Option<String> {
    time::from_milliseconds(json::number(json::member(line, "time")?)?)
}

/// The step that a line belongs to.
pub fn step_of(line: &[u8]) -> Option<String> {
    let event = event(line)?;
    match kind(event)?.as_ref() {
        "step.begin" | "step.end" => text(event, "uuid"),
        "content.part" | "tool.call" => text(event, "stepUuid"),
        _ => None,
    }
}

pub fn is_result(line: &[u8]) -> bool {
    event(line).is_some_and(|event| kind(event).as_deref() == Some("tool.result"))
}

/// The id of the message of a line.
pub fn id(line: &[u8]) -> Option<String> {
    step_of(line).or_else(|| text(appended(line)?, "id"))
}

/// The system prompt of a line.
pub fn prompt(line: &[u8]) -> Option<&[u8]> {
    let is_config = matches!(kind(line).as_deref(), Some("config.update" | "profile.bind"));
    let prompt = json::member(line, "systemPrompt").filter(|_| is_config)?;
    (prompt.starts_with(b"\"") && prompt.len() > 2).then_some(prompt)
}
