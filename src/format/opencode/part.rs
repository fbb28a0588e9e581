//! What a part has beside what it says: noted on the record, so that the part can be made of both again.

use super::element::kind;
use crate::format::request::piece::rest;
use crate::model::json::{self, ObjectBuilder};

/// Members of each kind that its record tells.
pub fn told(kind: &str) -> &'static [&'static str] {
    match kind {
        "text" | "reasoning" => &["text"],
        "tool" => &["state"],
        "file" => &["url", "mime"],
        _ => &[],
    }
}

/// What stands in the state of a call beside its arguments and what came of it.
const STATE: [&str; 3] = ["input", "output", "error"];

/// The note on a part of the message that says this of itself.
pub fn note(part: &[u8], info: &[u8]) -> Vec<u8> {
    let kind = kind(part);
    let mut note = ObjectBuilder::default();
    for (name, value) in rest(part, told(&kind)) {
        let implied = match name.as_ref() {
            "sessionID" => json::member(info, "sessionID") == Some(value),
            "messageID" => json::member(info, "id") == Some(value),
            _ => false,
        };
        if !implied {
            note.raw(&name, value);
        }
    }
    if kind == "tool" {
        let state = json::member(part, "state").unwrap_or(b"{}");
        let mut left = ObjectBuilder::default();
        for (name, value) in rest(state, &[]) {
            // What came of a call is told where it is a text.
            let told = STATE.contains(&name.as_ref()) && (name == "input" || value.starts_with(b"\""));
            if !told {
                left.raw(&name, value);
            }
        }
        note.raw("state", left.finish());
    }
    note.finish()
}

/// Begins a part with what was noted; the ids of session and message are those of the message it goes to.
pub fn begun(note: &[u8], info: &[u8]) -> ObjectBuilder {
    let mut part = ObjectBuilder::default();
    for (name, value) in rest(note, &["state"]) {
        part.raw(&name, value);
    }
    ids(&mut part, note, info);
    part
}

/// Adds the ids of session and message where the part has none of its own.
pub fn ids(part: &mut ObjectBuilder, own: &[u8], info: &[u8]) {
    for (name, from) in [("sessionID", "sessionID"), ("messageID", "id")] {
        if let (None, Some(id)) = (json::member(own, name), json::member(info, from)) {
            part.raw(name, id);
        }
    }
}
