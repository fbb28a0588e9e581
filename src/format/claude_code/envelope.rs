//! The shell of a line: the line with a marker in place of its content. It is stored with the message, so that the line
//! can be restored.

use super::attachment;
use super::line::{LineMembers, LineMessage};
use crate::model::json::{self, Dialect, array};

/// The content that a marker replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerContent {
    /// This many blocks.
    Blocks(usize),
    /// A string.
    Text,
    /// None: the content is in the shell, or there is none.
    Nothing,
}

/// The shell of a line, and the content that its marker replaces.
pub fn of(body: &[u8], facts: &LineMembers<'_>) -> (Vec<u8>, MarkerContent) {
    let (Some(message), None) = (&facts.message, &facts.attachment) else {
        return (body.to_vec(), MarkerContent::Nothing);
    };
    let replaced = marker_content(message);
    let mark = match replaced {
        MarkerContent::Blocks(count) => count.to_string(),
        MarkerContent::Text => "\"\"".to_string(),
        MarkerContent::Nothing => return (body.to_vec(), replaced),
    };
    match with_content(body, mark.as_bytes()) {
        Some(shell) => (shell, replaced),
        None => (body.to_vec(), MarkerContent::Nothing),
    }
}

fn marker_content(message: &LineMessage<'_>) -> MarkerContent {
    match message.content {
        Some(raw) if raw.starts_with(b"\"") => MarkerContent::Text,
        Some(raw) => match json::elements(raw, Dialect::Strict) {
            Some(blocks) => MarkerContent::Blocks(blocks.len()),
            None => MarkerContent::Nothing,
        },
        None => MarkerContent::Nothing,
    }
}

/// The content that the marker of a shell replaces.
pub fn mark(shell: &[u8]) -> MarkerContent {
    let content = json::member(shell, "message").and_then(|message| json::member(message, "content"));
    match content {
        Some(b"\"\"") => MarkerContent::Text,
        Some(raw) => match std::str::from_utf8(raw).ok().and_then(|text| text.parse().ok()) {
            Some(count) => MarkerContent::Blocks(count),
            None => MarkerContent::Nothing,
        },
        None => MarkerContent::Nothing,
    }
}

/// A line with its content replaced.
pub fn with_content(line: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    let Some(message) = json::member(line, "message") else {
        return attachment::with_content(line, content);
    };
    let message = json::with_members(message, &[("content", Some(content))]).ok()?;
    json::with_members(line, &[("message", Some(&message))]).ok()
}

/// Restores lines from shells and the content of a message; `None` if the number of blocks differs.
pub fn fill(shells: &[&[u8]], content: Option<&[u8]>) -> Option<Vec<Vec<u8>>> {
    let blocks = content.and_then(|raw| json::elements(raw, Dialect::Strict));
    let mut rest = blocks.iter().flatten();
    let mut lines = Vec::with_capacity(shells.len());
    for shell in shells {
        lines.push(match mark(shell) {
            MarkerContent::Nothing => shell.to_vec(),
            MarkerContent::Text => match (content, &blocks) {
                (Some(text), None) if shells.len() == 1 => with_content(shell, text)?,
                // A string is one of the blocks.
                _ => with_content(shell, json::member(rest.next()?, "text")?)?,
            },
            MarkerContent::Blocks(count) => {
                let own: Vec<_> = rest.by_ref().take(count).collect();
                (own.len() == count).then_some(())?;
                with_content(shell, &array(own))?
            }
        });
    }
    rest.next().is_none().then_some(lines)
}
