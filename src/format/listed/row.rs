//! Rows of a table of messages: the id of a session, and a message as JSON or as its text.

use crate::format::request::piece::quoted;
use crate::model::json::{self, Dialect};
use std::borrow::Cow;

/// A row.
pub struct Row<'a> {
    /// The session that it is of.
    pub session: Cow<'a, str>,
    /// The message.
    pub message: Cow<'a, [u8]>,
}

/// The row that an object is.
pub fn of(object: &[u8]) -> Option<Row<'_>> {
    let session = json::member(object, "session_id")?;
    let session = match json::text(session) {
        Some(text) => text,
        None if session.iter().all(u8::is_ascii_digit) => String::from_utf8_lossy(session),
        None => return None,
    };
    let raw = json::member(object, "message")?;
    let message = match json::text(raw) {
        Some(text) => Cow::Owned(text.into_owned().into_bytes()),
        None => Cow::Borrowed(raw),
    };
    let whole = json::value_end(&message, 0, Dialect::Python) == Ok(message.len());
    (message.starts_with(b"{") && whole).then_some(Row { session, message })
}

/// A row like another one, with this message in it.
pub fn like(row: &[u8], message: &[u8]) -> Vec<u8> {
    let text = json::member(row, "message").is_some_and(|raw| raw.starts_with(b"\""));
    let mut built = json::ObjectBuilder::default();
    built.raw("session_id", json::member(row, "session_id").unwrap_or(b"null"));
    match text {
        true => built.raw("message", quoted(&String::from_utf8_lossy(message))),
        false => built.raw("message", message),
    };
    built.finish()
}
