//! Parses the operation of a log line.

use crate::format::object::Object;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogOperation<'a> {
    /// An empty line.
    Blank,
    /// Not an object.
    Unreadable,
    /// Removes the message with this id and all after it.
    Rewind(Cow<'a, str>),
    /// Adds or replaces the message with this id.
    Message(Cow<'a, str>),
    /// Changes the description of the session; with messages, replaces all messages.
    Set(&'a [u8]),
    /// Describes the session.
    Session,
    /// Any other object.
    Unrecognized,
}

impl<'a> LogOperation<'a> {
    /// Parses a line, testing in the same order as Gemini CLI.
    pub fn of(body: &'a [u8]) -> LogOperation<'a> {
        if body.trim_ascii().is_empty() {
            return LogOperation::Blank;
        }
        let Ok(line) = Object::parse(body) else {
            return LogOperation::Unreadable;
        };
        match (line.text("$rewindTo"), line.text("id"), line.get("$set")) {
            (Some(id), ..) => LogOperation::Rewind(id),
            (_, Some(id), _) => LogOperation::Message(id),
            (.., Some(set)) if set.starts_with(b"{") => LogOperation::Set(set),
            _ if line.text("sessionId").is_some() && line.text("projectHash").is_some() => {
                LogOperation::Session
            }
            _ => LogOperation::Unrecognized,
        }
    }
}
