//! Splits a file into top-level members and list elements by line ranges, so that damage in one of them does not affect
//! the others.

use crate::error::Position;
use crate::model::record::mark_length;
use std::ops::Range;

/// The lists of compressed and of live messages.
pub const COMPRESSED: &str = "compressed_messages";
pub const LIVE: &str = "messages";

/// A top-level member, or the lines before the first one.
#[derive(Debug)]
pub struct Section<'a> {
    /// Its name; `None` for the lines before the first member.
    pub name: Option<&'a str>,
    pub bytes: Range<usize>,
    pub place: Position,
    /// The text after the colon.
    pub rest: &'a [u8],
    pub elements: Vec<ListElement>,
}

#[derive(Clone, Debug)]
pub struct ListElement {
    pub bytes: Range<usize>,
    pub place: Position,
}

impl Section<'_> {
    /// The lines before the first element, or all lines if there is none.
    pub fn head<'f>(&self, file: &'f [u8]) -> &'f [u8] {
        let first = self.elements.first().map(|first| first.bytes.start);
        &file[self.bytes.start..first.unwrap_or(self.bytes.end)]
    }

    /// Where text other than comments is before the elements of a list, or in their place.
    pub fn stray_text(&self, file: &[u8]) -> Option<Position> {
        if !matches!(self.rest, b"" | b"[]" | b"null" | b"~") {
            return Some(self.place);
        }
        let mut place = self.place;
        for line in self.head(file).split_inclusive(|byte| *byte == b'\n') {
            let text = line.trim_ascii();
            if place.line > self.place.line && !text.is_empty() && !text.starts_with(b"#") {
                return Some(place);
            }
            place.line += 1;
            place.offset += line.len() as u64;
        }
        None
    }
}

/// The members of a file, in order; they do not overlap and cover the whole file after its byte order mark.
pub fn sections(bytes: &[u8]) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mark = mark_length(bytes);
    let mut place = Position {
        line: 0,
        offset: mark as u64,
    };
    // Indentation of the list's dashes.
    let mut dashes = None;
    for full in bytes[mark..].split_inclusive(|byte| *byte == b'\n') {
        place.line += 1;
        let start = place.offset as usize;
        let end = start + full.len();
        let line = full.trim_ascii_end();
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        let text = &line[indent..];
        let is_dash = text == b"-" || text.starts_with(b"- ");
        let named = (indent == 0 && !is_dash).then(|| name(text)).flatten();
        if let (None, Some(section)) = (named, sections.last_mut()) {
            section.bytes.end = end;
            let begins = is_dash && section.rest.is_empty() && *dashes.get_or_insert(indent) == indent;
            match section.elements.last_mut() {
                _ if begins => section.elements.push(ListElement {
                    bytes: start..end,
                    place,
                }),
                Some(element) => element.bytes.end = end,
                None => {}
            }
        } else {
            dashes = None;
            sections.push(Section {
                name: named.map(|(name, _)| name),
                bytes: start..end,
                place,
                rest: named.map_or(&[], |(_, rest)| rest),
                elements: Vec::new(),
            });
        }
        place.offset = end as u64;
    }
    sections
}

/// The elements of the members with this name.
pub fn elements<'s>(sections: &'s [Section<'_>], name: &str) -> Vec<&'s ListElement> {
    let named = sections.iter().filter(|section| section.name == Some(name));
    named.flat_map(|section| &section.elements).collect()
}

/// The name of a member and the text after its colon; `None` for any other line.
fn name(text: &[u8]) -> Option<(&str, &[u8])> {
    let colon = text.iter().position(|byte| *byte == b':')?;
    let (name, rest) = (&text[..colon], &text[colon + 1..]);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || !name.iter().all(plain) || !(rest.is_empty() || rest.starts_with(b" ")) {
        return None;
    }
    let rest = rest.trim_ascii();
    let rest = if rest.starts_with(b"#") { &[] } else { rest };
    Some((std::str::from_utf8(name).ok()?, rest))
}
