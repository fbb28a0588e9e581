//! Parses and edits raw elements.

use crate::model::json::{self, Dialect, Members, ObjectBuilder, array, quoted};
use std::collections::HashSet;

/// Calls `found` for each member of an object; does nothing for other values.
pub(super) fn each<'a>(object: &'a [u8], mut found: impl FnMut(&str, &'a [u8])) {
    let Ok(mut members) = Members::new(object, Dialect::Python) else {
        return;
    };
    while let Ok(Some(member)) = members.next() {
        found(&member.name(), member.value);
    }
}

/// The elements of an array; empty for any other value.
pub(super) fn elements(array: &[u8]) -> Vec<&[u8]> {
    json::elements(array, Dialect::Python).unwrap_or_default()
}

/// Whether the value is an array without elements.
pub(super) fn is_empty_array(raw: &[u8]) -> bool {
    raw.first() == Some(&b'[') && raw.get(json::skip_space(raw, 1)) == Some(&b']')
}

/// The text of a string; empty for any other value.
pub(super) fn string(raw: &[u8]) -> String {
    json::text(raw).unwrap_or_default().into_owned()
}

/// Whether the value is a string that is not blank.
pub(super) fn is_filled(raw: Option<&[u8]>) -> bool {
    raw.is_some_and(|raw| raw.len() > 2 && raw[0] == b'"')
}

/// Whether the value is a string of white space only.
pub(super) fn is_blank(raw: &[u8]) -> bool {
    json::text(raw).is_some_and(|text| text.trim().is_empty())
}

pub(super) fn text_member(object: &[u8], name: &str) -> Option<String> {
    json::member_string(object, name)
}

/// The object with members changed; any other value unchanged.
pub(super) fn set(object: &[u8], changes: &[(&str, Option<&[u8]>)]) -> Vec<u8> {
    json::with_members(object, changes).unwrap_or_else(|_| object.to_vec())
}

/// A text part of this type.
pub(super) fn text_part(kind: &str, text: &[u8]) -> Vec<u8> {
    let mut part = ObjectBuilder::default();
    part.text("type", kind).raw("text", text);
    part.finish()
}

/// A result as text: its texts, with a placeholder for every other part.
pub(super) fn result_text(content: &[u8]) -> String {
    let mut text = String::from("[tool result]");
    let mut push = |piece: &str| {
        text.push(if text.len() == "[tool result]".len() {
            ' '
        } else {
            '\n'
        });
        text.push_str(piece);
    };
    match content.first() {
        Some(b'"') => push(&string(content)),
        Some(b'[') => {
            for part in elements(content) {
                match (json::text(part), text_member(part, "text")) {
                    (Some(own), _) => push(&own),
                    (None, Some(own)) => push(&own),
                    (None, None) => push(&mark(part)),
                }
            }
        }
        None | Some(b'n') => {}
        Some(_) => push(&String::from_utf8_lossy(content)),
    }
    text
}

/// The placeholder for a part that must be removed.
pub(super) fn mark(part: &[u8]) -> String {
    let kind = text_member(part, "type").unwrap_or_else(|| "part".to_string());
    format!("[convo: {kind} left out]")
}

/// An id for messages, truncated to fit on a line.
pub(super) fn short_id(id: &str) -> String {
    match id.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &id[..at]),
        None if id.is_empty() => "without an id".to_string(),
        None => id.to_string(),
    }
}

/// Merges messages of one role: strings are joined, other contents are concatenated as lists of parts. Other members
/// are those of the first message.
pub(super) fn merged(raws: &[&[u8]], name: &str, text_type: &str) -> Vec<u8> {
    let contents: Vec<&[u8]> = raws
        .iter()
        .filter_map(|raw| json::member(raw, name))
        .filter(|raw| *raw != b"null")
        .collect();
    let content = match contents.as_slice() {
        [] => None,
        [one] => Some(one.to_vec()),
        all if all.iter().all(|raw| raw[0] == b'"') => {
            let texts: Vec<String> = all.iter().map(|raw| string(raw)).collect();
            Some(quoted(&texts.join("\n\n")))
        }
        all => {
            let mut parts = Vec::new();
            for raw in all {
                match raw.first() {
                    Some(b'[') => parts.extend(elements(raw).into_iter().map(<[u8]>::to_vec)),
                    Some(b'"') => parts.push(text_part(text_type, raw)),
                    _ => parts.push(raw.to_vec()),
                }
            }
            Some(array(parts))
        }
    };
    let mut known: HashSet<String> = HashSet::new();
    let mut built = ObjectBuilder::default();
    let content = content.unwrap_or_else(|| b"null".to_vec());
    for raw in raws {
        each(raw, |member, value| {
            if known.insert(member.to_string()) {
                built.raw(member, if member == name { &content } else { value });
            }
        });
    }
    built.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_merged() {
        let one = br#"{"role":"user","content":"a","x":1}"#;
        let two = br#"{"role":"user","content":"b","x":2,"name":"n"}"#;
        assert_eq!(
            merged(&[one, two], "content", "text"),
            br#"{"role":"user","content":"a\n\nb","x":1,"name":"n"}"#
        );
        let parts = br#"{"role":"user","content":[{"type":"image_url"}]}"#;
        assert_eq!(
            merged(&[one, parts], "content", "text"),
            br#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"}],"x":1}"#
        );
        let null = br#"{"role":"user","content":null}"#;
        assert_eq!(
            merged(&[null, two], "content", "text"),
            br#"{"role":"user","content":"b","x":2,"name":"n"}"#
        );
    }

    #[test]
    fn results_become_text() {
        assert_eq!(result_text(b"\"r\""), "[tool result] r");
        assert_eq!(result_text(b"null"), "[tool result]");
        assert_eq!(
            result_text(br#"[{"type":"text","text":"a"},{"type":"image"}]"#),
            "[tool result] a\n[convo: image left out]"
        );
        assert_eq!(result_text(br#"{"ok":1}"#), "[tool result] {\"ok\":1}");
    }
}
