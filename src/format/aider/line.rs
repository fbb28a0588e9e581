//! Classifies the lines of a history.

use super::BEGINS;
use crate::model::time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AiderLineKind<'a> {
    /// The start of a session, with its local time.
    Begins(&'a str),
    /// A line of a user message, without its prefix.
    User(&'a str),
    /// Console output.
    Console,
    /// A line of a model message.
    Reply,
    /// White space.
    Empty,
    /// Not UTF-8.
    Unreadable,
}

/// The start time of a session, if this line contains it.
pub fn start_time(line: &[u8]) -> Option<&str> {
    let time = std::str::from_utf8(line).ok()?.strip_prefix(BEGINS)?.trim_end();
    let shaped = time.len() == "YYYY-MM-DD HH:MM:SS".len() && time.as_bytes()[10] == b' ';
    (shaped && time::read(time).is_some()).then_some(time)
}

/// Classifies a line without its ending.
pub fn kind(line: &[u8]) -> AiderLineKind<'_> {
    let Ok(text) = std::str::from_utf8(line) else {
        return AiderLineKind::Unreadable;
    };
    if text.trim().is_empty() {
        return AiderLineKind::Empty;
    }
    if let Some(time) = start_time(line) {
        return AiderLineKind::Begins(time);
    }
    if let Some(text) = text.strip_prefix("#### ") {
        let text = text.strip_suffix('\r').unwrap_or(text);
        return AiderLineKind::User(text.strip_suffix("  ").unwrap_or(text));
    }
    match text.starts_with("> ") || text.trim_end_matches('\r') == ">" {
        true => AiderLineKind::Console,
        false => AiderLineKind::Reply,
    }
}
