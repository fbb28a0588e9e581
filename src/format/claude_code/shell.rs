//! What a line has beside what is said in it, kept on the message so that the line can be made again: the line itself
//! with a mark in the place of its content.

use super::attachment;
use super::line::{Facts, Said};
use crate::format::request::piece::array;
use crate::model::json::{self, Dialect};

/// What stands in the place of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// This many blocks.
    Blocks(usize),
    /// A text.
    Text,
    /// Nothing: the content stands in the line, or there is none.
    Nothing,
}

/// A line without what is said in it. The second value is what stands in its place.
pub fn of(body: &[u8], facts: &Facts<'_>) -> (Vec<u8>, Held) {
    let (Some(said), None) = (&facts.message, &facts.attachment) else {
        return (body.to_vec(), Held::Nothing);
    };
    let held = held(said);
    let mark = match held {
        Held::Blocks(count) => count.to_string(),
        Held::Text => "\"\"".to_string(),
        Held::Nothing => return (body.to_vec(), held),
    };
    match with_content(body, mark.as_bytes()) {
        Some(shell) => (shell, held),
        None => (body.to_vec(), Held::Nothing),
    }
}

fn held(said: &Said<'_>) -> Held {
    match said.content {
        Some(raw) if raw.starts_with(b"\"") => Held::Text,
        Some(raw) => match json::elements(raw, Dialect::Strict) {
            Some(blocks) => Held::Blocks(blocks.len()),
            None => Held::Nothing,
        },
        None => Held::Nothing,
    }
}

/// What stands in a shell for its content.
pub fn mark(shell: &[u8]) -> Held {
    let content = json::member(shell, "message").and_then(|message| json::member(message, "content"));
    match content {
        Some(b"\"\"") => Held::Text,
        Some(raw) => match std::str::from_utf8(raw).ok().and_then(|text| text.parse().ok()) {
            Some(count) => Held::Blocks(count),
            None => Held::Nothing,
        },
        None => Held::Nothing,
    }
}

/// A line with this content.
pub fn with_content(line: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    let Some(message) = json::member(line, "message") else {
        return attachment::with_content(line, content);
    };
    let message = json::with_members(message, &[("content", Some(content))]).ok()?;
    json::with_members(line, &[("message", Some(&message))]).ok()
}

/// The lines that shells were made of, out of all that is said in them; none when that is not as much as they held.
pub fn fill(shells: &[&[u8]], content: Option<&[u8]>) -> Option<Vec<Vec<u8>>> {
    let blocks = content.and_then(|raw| json::elements(raw, Dialect::Strict));
    let mut rest = blocks.iter().flatten();
    let mut lines = Vec::with_capacity(shells.len());
    for shell in shells {
        lines.push(match mark(shell) {
            Held::Nothing => shell.to_vec(),
            Held::Text => match (content, &blocks) {
                (Some(text), None) if shells.len() == 1 => with_content(shell, text)?,
                // Among blocks a text is one of them.
                _ => with_content(shell, json::member(rest.next()?, "text")?)?,
            },
            Held::Blocks(count) => {
                let own: Vec<_> = rest.by_ref().take(count).collect();
                (own.len() == count).then_some(())?;
                with_content(shell, &array(own))?
            }
        });
    }
    rest.next().is_none().then_some(lines)
}
