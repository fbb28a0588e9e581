//! Detects the format of an input from its first 64 KiB, never from its name alone. The first match decides: magic
//! bytes, a header line, a vote of the lines, the document as a whole. Below the threshold, the result is unknown.

mod database;
mod document;
mod foreign;
mod head;
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
use crate::model::json::{self, Dialect};
use crate::model::record::without_mark;
pub use database::unread_database;
use document::document;
pub use head::{HEAD, Hints};
use head::{excerpt, is_spread, whole_lines};
use lines::{header_line, vote};
pub(super) use shape::ObjectShape;
pub(super) use signature::{LineKind, Signature, has_content};
pub use verdict::{Detection, FormatCandidate};

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
