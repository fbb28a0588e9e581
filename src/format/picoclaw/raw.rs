//! The raw lines of a log: those that PicoClaw counts.

use super::PLACEHOLDER;
use super::facts::{self, Whole};
use super::line::Line;
use super::member::Rules;
use crate::error::Place;
use crate::model::json;
use std::borrow::Cow;

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// How many bytes a byte order mark takes, and what is behind it.
pub(super) fn without_bom(bytes: &[u8]) -> (usize, &[u8]) {
    bytes
        .strip_prefix(BOM)
        .map_or((0, bytes), |rest| (BOM.len(), rest))
}

/// A line of a log that PicoClaw counts.
pub(super) struct RawLine<'a> {
    /// With its ending.
    pub full: &'a [u8],
    /// Without ending and byte order mark.
    pub text: &'a [u8],
    /// How long the mark is.
    pub bom: usize,
    /// Where `full` begins.
    pub place: Place,
}

/// The raw lines: split at newlines, one `\r` cut off each, empty ones left out.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = RawLine<'_>> {
    let (mut start, mut line) = (0, 0);
    std::iter::from_fn(move || {
        while start < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at + 1);
            let full = &bytes[start..end];
            let place = Place {
                line: line + 1,
                offset: start as u64,
            };
            (start, line) = (end, line + 1);
            let text = full.strip_suffix(b"\n").unwrap_or(full);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if !text.is_empty() {
                let (bom, text) = if place.offset == 0 {
                    without_bom(text)
                } else {
                    (0, text)
                };
                return Some(RawLine {
                    full,
                    text,
                    bom,
                    place,
                });
            }
        }
        None
    })
}

/// A raw line of a log, as whoever changes the log sees it.
#[derive(Clone, Copy, Debug)]
pub struct RawPiece {
    /// Number of its line in the file, blank ones counted.
    pub line: u64,
    /// Where it begins.
    pub start: usize,
    /// Behind its ending.
    pub end: usize,
    /// Whether it is a [`PLACEHOLDER`].
    pub placeholder: bool,
}

/// The raw lines of a log: those that PicoClaw counts.
pub fn raw_lines(bytes: &[u8]) -> impl Iterator<Item = RawPiece> + '_ {
    lines(bytes).map(|raw| {
        let start = usize::try_from(raw.place.offset).unwrap_or(bytes.len());
        RawPiece {
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
        let time = Line::read(raw.text, Rules::Log).ok()?.created_at?;
        json::text(time).map(Cow::into_owned)
    })
}

/// Whether these bytes are a log and no document that holds a whole history.
pub fn is_log(bytes: &[u8]) -> bool {
    !matches!(
        facts::whole(without_bom(bytes).1),
        Whole::Document(_) | Whole::Sidecar
    )
}

/// Whether these bytes are one document that holds a whole history.
pub fn is_document(bytes: &[u8]) -> bool {
    matches!(facts::whole(without_bom(bytes).1), Whole::Document(_))
}
