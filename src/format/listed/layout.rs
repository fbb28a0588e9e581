//! Where the elements of a list stand: in an array, in a member of an object, or one a line.

use crate::error::{Kind, Place};
use crate::format::array::ElementReader;
use crate::format::kit::{Edit, Frame};
use crate::model::json::{self, Dialect};

/// The name of the member that holds the list in an object.
pub const LIST: &str = "messages";

/// A list as it lies in its input.
#[derive(Debug, Default)]
pub struct Layout<'a> {
    /// All of it.
    bytes: &'a [u8],
    /// What stands ahead of the elements, the opening bracket included.
    pub open: &'a [u8],
    /// The elements.
    pub elements: Vec<Slot<'a>>,
    /// What stands behind them.
    pub close: &'a [u8],
    /// Whether there is one a line.
    pub lines: bool,
    /// What is wrong with it, and where.
    pub broken: Option<(usize, String)>,
}

/// An element of a list.
#[derive(Debug)]
pub struct Slot<'a> {
    /// What stands between it and the element before.
    pub lead: &'a [u8],
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Where they begin.
    pub offset: usize,
}

/// Whether an object holds a list, and is no element of one.
pub fn holds(object: &[u8]) -> bool {
    let list = json::member(object, LIST).is_some_and(|list| list.starts_with(b"["));
    list && json::member(object, "role").is_none()
}

impl<'a> Layout<'a> {
    /// Of a piece of an input.
    pub fn of(bytes: &'a [u8]) -> Layout<'a> {
        Layout {
            bytes,
            ..Layout::found(bytes)
        }
    }

    fn found(bytes: &'a [u8]) -> Layout<'a> {
        let start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let start = json::skip_space(bytes, start);
        match bytes.get(start) {
            Some(b'[') => Layout::array(bytes, start, bytes.len()),
            Some(b'{') => match json::value_end(bytes, start, Dialect::Python) {
                Ok(end) if json::skip_space(bytes, end) == bytes.len() => Layout::object(bytes, start, end),
                _ => Layout::lines(bytes, start),
            },
            _ => Layout::lines(bytes, start),
        }
    }

    fn object(bytes: &'a [u8], start: usize, end: usize) -> Layout<'a> {
        let object = &bytes[start..end];
        match json::member(object, LIST).filter(|_| holds(object)) {
            Some(list) => {
                let at = list.as_ptr() as usize - bytes.as_ptr() as usize;
                Layout::array(bytes, at, at + list.len())
            }
            None => Layout {
                open: &bytes[..start],
                elements: vec![Slot {
                    lead: b"",
                    bytes: object,
                    offset: start,
                }],
                close: &bytes[end..],
                lines: true,
                ..Layout::default()
            },
        }
    }

    /// The array that begins and ends there.
    fn array(bytes: &'a [u8], start: usize, end: usize) -> Layout<'a> {
        let mut reader = ElementReader::new(Vec::new(), &bytes[start..end]);
        let mut layout = Layout {
            open: &bytes[..start + 1],
            ..Layout::default()
        };
        let mut behind = start + 1;
        loop {
            match reader.next_element() {
                Ok(Some(element)) => {
                    let offset = start + element.place.offset as usize;
                    let length = element.bytes.len();
                    layout.elements.push(Slot {
                        lead: &bytes[behind..offset],
                        bytes: &bytes[offset..offset + length],
                        offset,
                    });
                    behind = offset + length;
                }
                Ok(None) => break,
                Err(error) => {
                    let at = error
                        .at
                        .map_or(behind, |(_, place)| start + place.offset as usize);
                    debug_assert!(error.kind == Kind::Data);
                    layout.broken = Some((at, error.message));
                    break;
                }
            }
        }
        layout.close = &bytes[behind..];
        layout
    }

    fn lines(bytes: &'a [u8], start: usize) -> Layout<'a> {
        let mut layout = Layout {
            open: &bytes[..start],
            lines: true,
            ..Layout::default()
        };
        let (mut at, mut behind) = (start, start);
        for line in bytes[start..].split_inclusive(|byte| *byte == b'\n') {
            let first = at + json::skip_space(line, 0);
            let last = at + line.trim_ascii_end().len();
            at += line.len();
            if first < last {
                layout.elements.push(Slot {
                    lead: &bytes[behind..first],
                    bytes: &bytes[first..last],
                    offset: first,
                });
                behind = last;
            }
        }
        layout.close = &bytes[behind..];
        layout
    }

    /// What stands between two elements of it.
    fn between(&self) -> &[u8] {
        let lead = self.elements.get(1).map(|second| second.lead);
        lead.unwrap_or(if self.lines { b"\n" } else { b",\n" })
    }

    /// The list with other elements: those that stay by their number, all others as they are.
    pub fn with(&self, elements: &[Placed]) -> Vec<u8> {
        // Of a document that is whole, what is new gets its manner.
        let member = (self.bytes.trim_ascii_start().first() == Some(&b'{')).then_some(LIST);
        let listing = Frame::of(self.bytes, member).filter(|_| !self.lines && self.broken.is_none());
        if let Some(listing) = listing {
            let elements: Vec<Edit> = elements
                .iter()
                .map(|element| match element {
                    Placed::Stays(at) => Edit::Keep(*at),
                    Placed::Made(raw) => Edit::Insert(raw.clone()),
                })
                .collect();
            return listing.splice_laid_out(&elements);
        }
        let mut out = self.open.to_vec();
        let first = self.elements.first().map_or(&b""[..], |first| first.lead);
        for (nth, element) in elements.iter().enumerate() {
            let lead = match (nth, element) {
                (0, _) => first,
                (_, Placed::Stays(at)) if *at > 0 => self.elements[*at].lead,
                _ => self.between(),
            };
            out.extend_from_slice(lead);
            out.extend_from_slice(match element {
                Placed::Stays(at) => self.elements[*at].bytes,
                Placed::Made(bytes) => bytes,
            });
        }
        if elements.is_empty() && self.lines {
            return out;
        }
        out.extend_from_slice(self.close);
        out
    }
}

/// An element of the list that is written.
#[derive(Debug)]
pub enum Placed {
    /// One that was there.
    Stays(usize),
    /// One that is made.
    Made(Vec<u8>),
}

/// Counts lines up to an offset, going forward only.
pub struct Places<'a> {
    bytes: &'a [u8],
    base: Place,
    offset: usize,
    lines: u64,
}

impl<'a> Places<'a> {
    /// In these bytes, which begin there.
    pub fn of(bytes: &'a [u8], base: Place) -> Places<'a> {
        Places {
            bytes,
            base,
            offset: 0,
            lines: 0,
        }
    }

    /// The place at this offset, which is not ahead of the one before.
    pub fn at(&mut self, offset: usize) -> Place {
        let offset = offset.clamp(self.offset, self.bytes.len());
        self.lines += memchr::memchr_iter(b'\n', &self.bytes[self.offset..offset]).count() as u64;
        self.offset = offset;
        Place {
            line: self.base.line.max(1) + self.lines,
            offset: self.base.offset + offset as u64,
        }
    }
}
