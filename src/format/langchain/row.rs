//! Rows of a message table: a session id, and a message as JSON or as a JSON string.

use crate::model::json::{self, Dialect, quoted};

/// The session id and the message of a row.
pub fn of(object: &[u8]) -> Option<(String, Vec<u8>)> {
    let session = json::member(object, "session_id")?;
    let session = match json::text(session) {
        Some(text) => text.into_owned(),
        None if session.iter().all(u8::is_ascii_digit) => String::from_utf8_lossy(session).into_owned(),
        None => return None,
    };
    let raw = json::member(object, "message")?;
    let message = json::text(raw).map_or_else(|| raw.to_vec(), |text| text.into_owned().into_bytes());
    let is_whole = json::value_end(&message, 0, Dialect::Python) == Ok(message.len());
    (message.starts_with(b"{") && is_whole).then(|| (session, json::compact(&message).0))
}

/// A row with another message; a new one only has the session id.
pub fn with(row: &[u8], message: &[u8], is_new: bool) -> Vec<u8> {
    let is_text = json::string_member(row, "message").is_some();
    let message = match is_text {
        true => quoted(&String::from_utf8_lossy(message)),
        false => message.to_vec(),
    };
    if !is_new {
        return json::with_members(row, &[("message", Some(&message))]).unwrap_or_else(|_| row.to_vec());
    }
    let mut built = json::ObjectBuilder::default();
    built
        .raw("session_id", json::member(row, "session_id").unwrap_or(b"null"))
        .raw("message", message);
    built.finish()
}
