//! The shell of a line: the line with a marker in place of its content. It is stored with the message, so that the line
//! can be restored.

use super::attachment;
use super::line::{LineMembers, LineMessage};
use crate::model::json::{self, Dialect, array};

/// The shell of a line. The marker of blocks is their number, that of a string is an empty string; other content
/// remains.
pub fn of(body: &[u8], facts: &LineMembers<'_>) -> Vec<u8> {
    let marker = |message: &LineMessage<'_>| match message.is_string() {
        true => Some("\"\"".to_string()),
        false => Some(message.blocks()?.len().to_string()),
    };
    let message = facts.message.as_ref().filter(|_| facts.attachment.is_none());
    let marker = message.and_then(marker);
    let shell = marker.and_then(|marker| with_content(body, marker.as_bytes()));
    shell.unwrap_or_else(|| body.to_vec())
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
pub fn fill<S: AsRef<[u8]>>(shells: &[S], content: Option<&[u8]>) -> Option<Vec<Vec<u8>>> {
    let blocks = content.and_then(|raw| json::elements(raw, Dialect::Strict));
    let mut rest = blocks.iter().flatten();
    let mut lines = Vec::with_capacity(shells.len());
    for shell in shells.iter().map(AsRef::as_ref) {
        let marker = json::member(shell, "message").and_then(|message| json::member(message, "content"));
        let count = marker.and_then(json::number::<usize>);
        lines.push(match (marker, count) {
            (Some(b"\"\""), _) => match (content, &blocks) {
                (Some(text), None) if shells.len() == 1 => with_content(shell, text)?,
                // A string is one of the blocks.
                _ => with_content(shell, json::member(rest.next()?, "text")?)?,
            },
            (_, Some(count)) => {
                let own: Vec<_> = rest.by_ref().take(count).collect();
                (own.len() == count).then_some(())?;
                with_content(shell, &array(own))?
            }
            _ => shell.to_vec(),
        });
    }
    rest.next().is_none().then_some(lines)
}
