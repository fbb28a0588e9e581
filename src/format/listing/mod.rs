//! A document that holds a list of elements, as many programs keep a session: what stands in it is written back as it
//! came, and what is new stands between in the document's own manner.

#[cfg(test)]
mod tests;
mod weave;

pub use weave::{Made, Piece, Unit, weave};

use super::indent::laid_out;
use crate::error::{Error, Kind, Place, Result};
use crate::model::json::{self, Dialect, Elements, Members};
use std::ops::Range;

/// Where the value of a document begins, behind a byte order mark. The errors name the place of what is wrong: it is no
/// JSON, no UTF-8, or something follows it, as `what` calls it.
///
/// # Errors
/// [`Kind::Data`].
pub fn whole(bytes: &[u8], what: &str) -> Result<usize> {
    let mark = usize::from(bytes.starts_with(b"\xef\xbb\xbf")) * 3;
    let start = json::skip_space(bytes, mark);
    let end = json::value_end(bytes, start, Dialect::Strict).map_err(|fault| {
        refused(
            bytes,
            fault.offset.min(bytes.len()),
            format!("not valid JSON: {}", fault.what),
        )
    })?;
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(refused(bytes, error.valid_up_to(), "not UTF-8"));
    }
    if !bytes[end..].trim_ascii().is_empty() {
        return Err(refused(bytes, end, format!("unexpected text after the {what}")));
    }
    Ok(start)
}

/// What is wrong with a document, at its place.
pub fn refused(bytes: &[u8], offset: usize, what: impl Into<String>) -> Error {
    let line = 1 + memchr::memchr_iter(b'\n', &bytes[..offset.min(bytes.len())]).count() as u64;
    let place = Place {
        line,
        offset: offset as u64,
    };
    Error::new(Kind::Data, what).at("", place)
}

/// A list in a document: where its elements stand.
pub struct Listing<'d> {
    document: &'d [u8],
    /// Where each element stands.
    pub elements: Vec<Range<usize>>,
    /// Behind the opening bracket.
    open: usize,
    /// The closing bracket.
    close: usize,
    /// How deep the elements stand.
    depth: usize,
}

impl<'d> Listing<'d> {
    /// The list that a document is, or that is a member of it; none when there is no such list.
    pub fn of(document: &'d [u8], member: Option<&str>) -> Option<Listing<'d>> {
        let list = match member {
            None => {
                let start = json::skip_space(document, 0);
                start..document.trim_ascii_end().len().max(start)
            }
            Some(name) => {
                let mut members = Members::new(document, Dialect::Strict).ok()?;
                let mut found = None;
                while let Some(member) = members.next().ok()? {
                    if member.name() == name {
                        found = Some(member.end - member.value.len()..member.end);
                    }
                }
                found?
            }
        };
        let mut scan = Elements::new(&document[list.clone()], Dialect::Strict).ok()?;
        let mut elements = Vec::new();
        while let Some((at, element)) = scan.next().ok()? {
            let at = list.start + at;
            elements.push(at..at + element.len());
        }
        Some(Listing {
            document,
            elements,
            open: list.start + 1,
            close: list.end - 1,
            depth: 1 + usize::from(member.is_some()),
        })
    }

    /// An element's bytes.
    pub fn element(&self, nth: usize) -> &'d [u8] {
        &self.document[self.elements[nth].clone()]
    }

    /// The document with these elements instead: numbers of those that stay, and new ones.
    pub fn with(&self, elements: &[Element]) -> Vec<u8> {
        let (lead, between, tail, unit) = self.manner();
        let mut out = self.document[..self.open].to_vec();
        let mut before = None;
        for (nth, element) in elements.iter().enumerate() {
            match (nth, element) {
                (0, _) => out.extend_from_slice(&lead),
                (_, Element::Old(own) | Element::Changed(own, _))
                    if before.is_some_and(|before| before + 1 == *own) =>
                {
                    let gap = self.elements[own - 1].end..self.elements[*own].start;
                    out.extend_from_slice(&self.document[gap]);
                }
                _ => {
                    out.push(b',');
                    out.extend_from_slice(&between);
                }
            }
            before = match element {
                Element::Old(own) => {
                    out.extend_from_slice(self.element(*own));
                    Some(*own)
                }
                Element::Changed(own, raw) => {
                    out.extend_from_slice(raw);
                    Some(*own)
                }
                Element::New(raw) if unit.is_empty() => {
                    out.extend_from_slice(&json::compact(raw).0);
                    None
                }
                Element::New(raw) => {
                    out.extend_from_slice(&laid_out(raw, self.depth, &unit));
                    None
                }
            };
        }
        if !elements.is_empty() {
            out.extend_from_slice(&tail);
        }
        out.extend_from_slice(&self.document[self.close..]);
        out
    }

    /// What stands ahead of the first element, behind the comma between two, and behind the last; and the indent of a
    /// level, empty where all stands on one line.
    fn manner(&self) -> (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>) {
        let spaced = memchr::memchr(b'\n', self.document.trim_ascii()).is_some();
        let (Some(first), Some(last)) = (self.elements.first(), self.elements.last()) else {
            let unit: &[u8] = if spaced { b"  " } else { b"" };
            let line = |depth: usize| match spaced {
                true => [b"\n".as_slice(), &unit.repeat(depth)].concat(),
                false => Vec::new(),
            };
            return (
                line(self.depth),
                line(self.depth),
                line(self.depth - 1),
                unit.to_vec(),
            );
        };
        let lead = self.document[self.open..first.start].to_vec();
        let tail = self.document[last.end..self.close].to_vec();
        let between = match self.elements.get(1) {
            Some(second) => {
                let gap = &self.document[first.end..second.start];
                let comma = memchr::memchr(b',', gap).map_or(0, |at| at + 1);
                gap[comma..].to_vec()
            }
            None => lead.clone(),
        };
        // What is on a line of its own tells how deep a level is.
        let inside = memchr::memchr(b'\n', self.element(0)).is_some();
        let indent = memchr::memrchr(b'\n', &lead).map_or(&b""[..], |at| &lead[at + 1..]);
        let unit = match inside {
            true if indent.is_empty() => b"  ".to_vec(),
            true => indent[..indent.len().div_ceil(self.depth)].to_vec(),
            false => Vec::new(),
        };
        (lead, between, tail, unit)
    }
}

/// An element of the list to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// One that stands in the document.
    Old(usize),
    /// One that stands in the document, with a change that is laid out already.
    Changed(usize, Vec<u8>),
    /// A new one.
    New(Vec<u8>),
}
