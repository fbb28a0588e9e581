//! Detects the format of an input from its first 64 KiB, never from its name alone. The first match decides: magic
//! bytes, a header line, a vote of the lines, the document as a whole. Below the threshold, the result is unknown.

mod database;
mod document;
mod foreign;
mod lines;
mod order;
mod other_files;
pub(super) mod shape;
pub(super) mod signature;
#[cfg(test)]
mod tests;
mod verdict;
mod zip;

use super::Format;
use super::packed::is_packed;
use crate::model::json::{self, Dialect, JsonError};
use crate::model::record::without_mark;
pub use database::unread_database;
use document::document;
use lines::{header_line, vote};
pub(super) use shape::ObjectShape;
pub(super) use signature::{LineKind, Signature, has_content};
pub use verdict::{Detection, FormatCandidate};

/// Number of bytes examined.
pub const HEAD: usize = 64 * 1024;

/// Number of lines that vote.
const VOTERS: usize = 50;

/// Information other than the bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// File name without directory.
    pub name: Option<&'a str>,
    /// Whether `<stem>.meta.json` exists next to the file.
    pub sidecar: bool,
}

/// Names and descriptions of the formats that are recognized but not supported.
pub fn unread() -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for signature in order::all() {
        let known = found.iter().any(|(name, _)| *name == signature.name);
        if !known && Format::from_name(signature.name).is_none() {
            found.push((signature.name, signature.what));
        }
    }
    found
}

/// Detects the format from the first bytes of an input; `whole` if they are all of it.
pub fn detect(head: &[u8], whole: bool, hints: Hints<'_>) -> Detection {
    let log = hints.name.is_some_and(|name| name.ends_with(".jsonl"));
    if head.is_empty() {
        return match hints.sidecar && log {
            true => Detection::known(Format::Picoclaw, "an empty log with a .meta.json next to it"),
            false => Detection::unknown("empty input"),
        };
    }
    if let Some(verdict) = magic(head) {
        return verdict;
    }
    let text = without_mark(head);
    let start = json::skip_space(text, 0);
    let text = &text[start..];
    if text.is_empty() {
        return Detection::unknown("only white space");
    }
    if let (false, Some(signature)) = (matches!(text[0], b'{' | b'['), order::text(text)) {
        return Detection::named(signature);
    }
    let lines = whole_lines(text, whole);
    if let Some(verdict) = header_line(&lines) {
        return verdict;
    }
    // The lines of a single multi-line value are meaningless.
    if is_spread(text, whole) {
        return document(text, whole, hints);
    }
    // If the first line is a complete value, the input is JSON Lines; likewise if it is damaged and later lines are
    // complete.
    let objects = lines
        .iter()
        .filter(|line| json::members(line, Dialect::Python).is_some())
        .count();
    if objects > 0 && (objects > 1 || json::members(lines[0], Dialect::Python).is_some()) {
        let single = whole && lines.len() == 1 && json::member(lines[0], "role").is_none();
        return if single {
            document(text, whole, hints)
        } else {
            vote(&lines, hints)
        };
    }
    if hints.sidecar && log {
        return Detection::known(Format::Picoclaw, "a .meta.json is next to the input");
    }
    if text.split(|byte| *byte == b'\n').any(is_packed) {
        return Detection::known(Format::Native, "a packed session after damaged lines");
    }
    match text[0] {
        b'{' | b'[' => document(text, whole, hints),
        _ if text.contains(&0) => Detection::unknown("binary data"),
        _ => Detection::unknown(format!("not JSON, starts with {}", excerpt(text))),
    }
}

fn magic(head: &[u8]) -> Option<Detection> {
    let (what, hint) = match head {
        [0x1f, 0x8b, ..] => ("gzip data", "decompress it first: gunzip -c FILE | convo ..."),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => ("zstd data", "decompress it first: zstd -dc FILE | convo ..."),
        [b'P', b'K', 3, 4, ..] => return zip::archive(head),
        _ if head.starts_with(b"SQLite format 3\0") => {
            return Some(database::verdict(head));
        }
        _ => return None,
    };
    Some(Detection::unknown(what).hint(hint))
}

/// Whether a multi-line value starts here, as far as visible.
fn is_spread(text: &[u8], whole: bool) -> bool {
    let end = match json::value_end(text, 0, Dialect::Python) {
        Ok(end) => end,
        Err(fault) if is_cut(&fault, text, whole) => text.len(),
        Err(_) => return false,
    };
    matches!(text[0], b'{' | b'[') && memchr::memchr(b'\n', &text[..end]).is_some()
}

/// Whether a value is incomplete only because the head ends: the fault is an unterminated string or list, or at the end
/// of the head.
fn is_cut(fault: &JsonError, text: &[u8], whole: bool) -> bool {
    !whole && (fault.what.starts_with("unterminated") || fault.offset >= text.len())
}

/// The complete lines: one truncated by the end of the head does not vote.
fn whole_lines(text: &[u8], whole: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if !whole || lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let mut lines: Vec<&[u8]> = lines
        .into_iter()
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect();
    lines.retain(|line| !line.trim_ascii_start().is_empty());
    lines.truncate(VOTERS);
    lines
}

/// The start of a text, shortened for a message.
fn excerpt(text: &[u8]) -> String {
    let shown: String = String::from_utf8_lossy(&text[..text.len().min(160)])
        .chars()
        .take(40)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    format!("{shown:?}")
}
