//! Splits and joins the content of a message.

use super::draft;
use crate::model::json::{self, array, quoted};
use std::borrow::Cow;
use std::collections::VecDeque;

/// A part of a content.
pub enum RequestContent<'a> {
    /// A text as a JSON string.
    Text(&'a [u8]),
    /// Any other part.
    Other(&'a [u8]),
}

pub fn content_parts(content: Option<&[u8]>) -> VecDeque<RequestContent<'_>> {
    match content {
        Some(raw) if raw.starts_with(b"\"") => VecDeque::from([RequestContent::Text(raw)]),
        Some(raw) => {
            let parts = json::items(raw);
            parts.into_iter().map(content_part).collect()
        }
        None => VecDeque::new(),
    }
}

fn content_part(part: &[u8]) -> RequestContent<'_> {
    if part.starts_with(b"\"") {
        return RequestContent::Text(part);
    }
    let kind = json::member_text(part, "type");
    let text = match kind.as_deref() {
        Some("text" | "input_text" | "output_text") => json::member(part, "text"),
        Some("refusal") => json::member(part, "refusal"),
        _ => None,
    };
    match text.filter(|raw| raw.starts_with(b"\"")) {
        Some(text) => RequestContent::Text(text),
        None => RequestContent::Other(part),
    }
}

/// Joins parts into a content: a string if there is only text, and `silent` if there are no parts.
pub fn joined(parts: &[Vec<u8>], silent: &[u8]) -> Vec<u8> {
    match parts {
        [] => silent.to_vec(),
        [one] if json::member(one, "type") == Some(b"\"text\"") => {
            let text = json::member(one, "text").filter(|text| *one == draft::text_part(text));
            text.map_or_else(|| array(parts), <[u8]>::to_vec)
        }
        several => array(several),
    }
}

/// The content of parts that are texts as JSON strings, or any other values; `silent` if there are none.
pub fn of_texts<V: AsRef<[u8]>>(parts: &[V], silent: &[u8]) -> Vec<u8> {
    let is_text = |part: &V| part.as_ref().starts_with(b"\"");
    match parts {
        [] => silent.to_vec(),
        [text] if is_text(text) => text.as_ref().to_vec(),
        parts => array(parts.iter().map(|part| match is_text(part) {
            true => draft::text_part(part.as_ref()),
            false => part.as_ref().to_vec(),
        })),
    }
}

/// Joins texts with newlines into a JSON string.
pub fn texts<'a>(texts: impl Iterator<Item = Cow<'a, str>>) -> Vec<u8> {
    quoted(&texts.collect::<Vec<_>>().join("\n"))
}
