//! The raw lines of a log, as PicoClaw counts them.

use super::facts::{self, InputKind};
use super::line::MessageLine;
use super::member::ParseRules;
use crate::error::Position;
use crate::model::json;
use crate::model::record::{mark_length, without_mark};
use std::borrow::Cow;

/// A message that no reader shows. It replaces a line to be removed, so that the skip count remains correct.
pub const PLACEHOLDER: &[u8] = br#"{"role":"assistant","content":"","reasoning_content":"-"}"#;

/// A line of a log that PicoClaw counts.
pub(super) struct RawLine<'a> {
    /// The line with its ending.
    pub full: &'a [u8],
    /// The line without its ending and byte order mark.
    pub text: &'a [u8],
    /// Length of the byte order mark.
    pub bom: usize,
    /// Position of `full`.
    pub place: Position,
}

/// The raw lines: split at newlines, without one trailing `\r` each, and without empty lines.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = RawLine<'_>> {
    let (mut start, mut line) = (0, 0);
    std::iter::from_fn(move || {
        while start < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at + 1);
            let full = &bytes[start..end];
            let place = Position {
                line: line + 1,
                offset: start as u64,
            };
            (start, line) = (end, line + 1);
            let text = full.strip_suffix(b"\n").unwrap_or(full);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if !text.is_empty() {
                let bom = if place.offset == 0 { mark_length(text) } else { 0 };
                return Some(RawLine {
                    full,
                    text: &text[bom..],
                    bom,
                    place,
                });
            }
        }
        None
    })
}

/// The range of a raw line, for changing a log.
#[derive(Clone, Copy, Debug)]
pub struct RawRange {
    /// Line number in the file, including blank lines.
    pub line: u64,
    /// Start offset.
    pub start: usize,
    /// Offset after its ending.
    pub end: usize,
    /// Whether it is a [`PLACEHOLDER`].
    pub placeholder: bool,
}

/// The raw lines of a log: those that PicoClaw counts.
pub fn raw_lines(bytes: &[u8]) -> impl Iterator<Item = RawRange> + '_ {
    lines(bytes).map(|raw| {
        let start = usize::try_from(raw.place.offset).unwrap_or(bytes.len());
        RawRange {
            line: raw.place.line,
            start,
            end: start + raw.full.len(),
            placeholder: raw.text == PLACEHOLDER,
        }
    })
}

/// The time of the first message of a log that has one.
pub fn first_time(bytes: &[u8]) -> Option<String> {
    lines(bytes).find_map(|raw| {
        let time = MessageLine::read(raw.text, ParseRules::Log).ok()?.created_at?;
        json::text(time).map(Cow::into_owned)
    })
}

/// Whether these bytes are a log, not a document with a complete history.
pub fn is_log(bytes: &[u8]) -> bool {
    !matches!(
        facts::input_kind(without_mark(bytes)),
        InputKind::Document(_) | InputKind::Sidecar
    )
}

/// Whether these bytes are a document with a complete history.
pub fn is_document(bytes: &[u8]) -> bool {
    matches!(facts::input_kind(without_mark(bytes)), InputKind::Document(_))
}
