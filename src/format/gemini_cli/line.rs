//! What a line of a log does.

use crate::format::object::members;
use crate::model::json;
use std::borrow::Cow;

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// An empty line.
    Blank,
    /// No object.
    Unreadable,
    /// Takes the message of this id and all behind it away.
    Rewind(Cow<'a, str>),
    /// Puts the message of this id in.
    Message(Cow<'a, str>),
    /// Changes what is told of the session; with messages, sets these anew.
    Set(&'a [u8]),
    /// Tells of the session.
    Session,
    /// An object that is none of these.
    Strange,
}

impl<'a> Line<'a> {
    /// What a line does, in the order in which the program asks.
    pub fn of(body: &'a [u8]) -> Line<'a> {
        if body.trim_ascii().is_empty() {
            return Line::Blank;
        }
        let members = match members(body) {
            Ok(members) => members,
            Err(_) => return Line::Unreadable,
        };
        let get = |name: &str| {
            members
                .iter()
                .rev()
                .find(|(known, _)| known == name)
                .map(|(_, raw)| *raw)
        };
        let text = |name| get(name).and_then(json::text);
        match (text("$rewindTo"), text("id"), get("$set")) {
            (Some(id), ..) => Line::Rewind(id),
            (_, Some(id), _) => Line::Message(id),
            (.., Some(set)) if set.starts_with(b"{") => Line::Set(set),
            _ if text("sessionId").is_some() && text("projectHash").is_some() => Line::Session,
            _ => Line::Strange,
        }
    }
}
