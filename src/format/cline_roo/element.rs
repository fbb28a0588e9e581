//! Classifies the elements of a history.

pub use crate::model::json::member_text as text;
use crate::model::{json, time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    Message,
    /// A summary of earlier messages.
    Summary,
    /// The marker of a truncation.
    Marker,
    /// OpenAI-style reasoning, which is part of the next message.
    Reasoning,
    /// Anything else.
    Other,
}

impl ElementKind {
    pub fn of(element: &[u8]) -> ElementKind {
        let is = |name| json::member(element, name) == Some(b"true");
        let role = json::string_member(element, "role").is_some();
        match role {
            true if is("isSummary") => ElementKind::Summary,
            true if is("isTruncationMarker") => ElementKind::Marker,
            true => ElementKind::Message,
            false if json::member(element, "type") == Some(b"\"reasoning\"") => ElementKind::Reasoning,
            false => ElementKind::Other,
        }
    }
}

pub fn elements(group: &[u8]) -> Vec<&[u8]> {
    json::items(group)
}

/// The last element of a group: its message, if it has one.
pub fn last(group: &[u8]) -> &[u8] {
    elements(group).pop().unwrap_or_default()
}

/// Whether an element has Roo's tags.
pub fn is_tagged(element: &[u8]) -> bool {
    let tags = ["condenseId", "condenseParent", "truncationId", "truncationParent"];
    tags.iter().any(|name| json::member(element, name).is_some())
}

/// The time of an element, in milliseconds.
pub fn stamp(element: &[u8]) -> Option<f64> {
    let raw = json::member(element, "ts")?;
    json::number(raw)
}

/// The same in RFC 3339.
pub fn time(milliseconds: f64) -> Option<String> {
    time::from_epoch(milliseconds / 1000.0)
}

pub fn milliseconds(time: &[u8]) -> Option<String> {
    let time = json::text(time)?;
    time::milliseconds(&time).map(|milliseconds| milliseconds.to_string())
}

pub fn element_text(element: &[u8]) -> String {
    let content = json::member(element, "content").unwrap_or_default();
    if let Some(text) = json::text(content) {
        return text.into_owned();
    }
    let texts = elements(content)
        .into_iter()
        .filter_map(|block| text(block, "text"));
    texts.collect::<Vec<_>>().join("\n")
}

/// The working directory that the first `environment_details` name: `# Current Workspace Directory (PATH) Files`.
pub fn directory(element: &[u8]) -> Option<Vec<u8>> {
    let heads: [&[u8]; 2] = [
        b"# Current Workspace Directory (",
        b"# Current Working Directory (",
    ];
    let find = |bytes: &[u8], what: &[u8]| memchr::memmem::find(bytes, what);
    let (at, head) = heads
        .into_iter()
        .find_map(|head| Some((find(element, head)?, head)))?;
    let rest = &element[at + head.len()..];
    let path = &rest[..find(rest, b") Files")?];
    let quoted = [b"\"", path, b"\""].concat();
    json::is_value(&quoted).then_some(quoted)
}
