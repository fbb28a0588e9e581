//! Classifies the lines of a history.

use crate::model::time;

/// The name of the format, and of its annotations.
pub const NAME: &str = "aider";

/// Prefix of the line that starts a session.
pub const BEGINS: &str = "# aider chat started at ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AiderLineKind<'a> {
    /// The start of a session.
    Begins,
    /// A line of a user message, without its prefix.
    User(&'a str),
    /// Console output.
    Console(&'a str),
    /// A line of a model message.
    Reply(&'a str),
    /// White space.
    Empty(&'a str),
    /// Not UTF-8 after this many bytes.
    Unreadable(usize),
}

/// The start time of a session, if this line contains it.
pub fn start_time(line: &[u8]) -> Option<&str> {
    let time = std::str::from_utf8(line).ok()?.strip_prefix(BEGINS)?.trim_end();
    let shaped = time.len() == "YYYY-MM-DD HH:MM:SS".len() && time.as_bytes()[10] == b' ';
    (shaped && time::read(time).is_some()).then_some(time)
}

/// Classifies a line without its ending.
pub fn kind(line: &[u8]) -> AiderLineKind<'_> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return AiderLineKind::Unreadable(error.valid_up_to()),
    };
    if text.trim().is_empty() {
        return AiderLineKind::Empty(text);
    }
    if start_time(line).is_some() {
        return AiderLineKind::Begins;
    }
    if let Some(text) = text.strip_prefix("#### ") {
        let text = text.strip_suffix('\r').unwrap_or(text);
        return AiderLineKind::User(text.strip_suffix("  ").unwrap_or(text));
    }
    match text.starts_with("> ") || text.trim_end_matches('\r') == ">" {
        true => AiderLineKind::Console(text),
        false => AiderLineKind::Reply(text),
    }
}

/// A text without the empty lines around it.
pub fn without_outer(text: &str) -> &str {
    let is_empty = |line: &str| line.trim().is_empty();
    let mut inner = text;
    while let Some((line, rest)) = inner.split_once('\n')
        && is_empty(line)
    {
        inner = rest;
    }
    while let Some((rest, line)) = inner.rsplit_once('\n')
        && is_empty(line)
    {
        inner = rest;
    }
    inner
}
