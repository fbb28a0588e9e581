//! An object that carries a list of messages, as exports are: read element by element also where it is damaged or cut
//! off, and written back with the elements that nothing changed as the bytes they were.

use super::array::Scan;
use crate::model::json::{self, Dialect};
use std::borrow::Cow;
use std::ops::Range;

/// Where the list is in a document, and what stands beside it.
#[derive(Debug, Default)]
pub struct Listing<'a> {
    /// The members beside the list; none of an array that is the list itself.
    pub members: Vec<(Cow<'a, str>, &'a [u8])>,
    /// The elements.
    pub elements: Vec<Range<usize>>,
    /// Where the list begins behind its bracket, and where that is closed; none when there is no list.
    list: Option<Range<usize>>,
    /// What is wrong, and where, in the order of the places.
    pub faults: Vec<(usize, &'static str)>,
    /// Whether the document ends as it has to, so that it can be written anew.
    pub is_whole: bool,
}

/// An element of a list that is written.
pub enum Slot {
    /// One that was there, as it was.
    Kept(usize),
    /// One in the place of one that was there.
    Instead(usize, Vec<u8>),
    /// A new one.
    New(Vec<u8>),
}

impl<'a> Listing<'a> {
    /// Looks at the value of a document that stands there; its list is the member of this name, or the value itself.
    pub fn of(bytes: &'a [u8], value: Range<usize>, name: &str) -> Listing<'a> {
        let mut listing = Listing::default();
        let text = &bytes[..value.end];
        let end = match text.get(value.start) {
            Some(b'[') => listing.list(text, value.start),
            Some(b'{') => listing.object(text, value.start, name),
            _ => None,
        };
        listing.is_whole = end == Some(value.end);
        if !listing.is_whole && listing.faults.is_empty() {
            let (at, what) = match end {
                Some(end) => (end, "unexpected text after the value"),
                None => (value.end, "unexpected end"),
            };
            listing.faults.push((at, what));
        }
        listing
    }

    /// A member beside the list.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let found = self.members.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }

    /// Whether there is a list.
    pub fn has_list(&self) -> bool {
        self.list.is_some()
    }

    fn fault(&mut self, at: usize, what: &'static str) -> Option<usize> {
        self.faults.push((at, what));
        None
    }

    fn object(&mut self, text: &'a [u8], start: usize, name: &str) -> Option<usize> {
        let mut at = json::skip_space(text, start + 1);
        while text.get(at) == Some(&b'"') {
            let key = match json::value_end(text, at, Dialect::Strict) {
                Ok(end) => at..end,
                Err(fault) => return self.fault(fault.offset, fault.what),
            };
            let colon = json::skip_space(text, key.end);
            if text.get(colon) != Some(&b':') {
                return self.fault(colon, "missing colon");
            }
            let value = json::skip_space(text, colon + 1);
            let key = json::unescape(&text[key.start + 1..key.end - 1]);
            let end = if key == name && self.list.is_none() && text.get(value) == Some(&b'[') {
                self.list(text, value)?
            } else {
                let end = self.value(text, value)?;
                self.members.push((key, &text[value..end]));
                end
            };
            at = json::skip_space(text, end);
            match text.get(at) {
                Some(b',') => at = json::skip_space(text, at + 1),
                Some(b'}') => return Some(at + 1),
                _ => return self.fault(at, "unexpected end"),
            }
        }
        match text.get(at) {
            Some(b'}') => Some(at + 1),
            _ => self.fault(at, "missing member name"),
        }
    }

    /// The end of a value; one that is damaged inside ends with its bracket.
    fn value(&mut self, text: &[u8], at: usize) -> Option<usize> {
        match json::value_end(text, at, Dialect::Strict) {
            Ok(end) => Some(end),
            Err(fault) => {
                self.faults.push((fault.offset.min(text.len()), fault.what));
                match text.get(at) {
                    Some(b'{' | b'[' | b'"') => Scan::default().run(text, at),
                    _ => None,
                }
            }
        }
    }

    fn list(&mut self, text: &[u8], open: usize) -> Option<usize> {
        let mut at = json::skip_space(text, open + 1);
        self.list = Some(open + 1..text.len());
        if text.get(at) == Some(&b']') {
            self.list = Some(open + 1..at);
            return Some(at + 1);
        }
        while at < text.len() {
            let Some(end) = self.value(text, at) else {
                self.elements.push(at..text.len());
                return None;
            };
            self.elements.push(at..end);
            at = json::skip_space(text, end);
            match text.get(at) {
                Some(b',') => at = json::skip_space(text, at + 1),
                Some(b']') => {
                    self.list = Some(open + 1..at);
                    return Some(at + 1);
                }
                Some(_) => return self.fault(at, "expected a comma or the end of the list"),
                None => break,
            }
        }
        self.fault(text.len(), "unexpected end")
    }

    /// What stands between an element and the one before.
    fn lead<'b>(&self, bytes: &'b [u8], nth: usize) -> &'b [u8] {
        let open = self.list.as_ref().map_or(0, |list| list.start);
        let from = if nth == 0 {
            open
        } else {
            self.elements[nth - 1].end
        };
        &bytes[from..self.elements[nth].start]
    }

    /// The document with these elements in its list; everything else as it was. None when it has no list or is damaged.
    pub fn written(&self, bytes: &[u8], slots: &[Slot]) -> Option<Vec<u8>> {
        let list = self.list.clone().filter(|_| self.is_whole)?;
        let mut out = bytes[..list.start].to_vec();
        let first: &[u8] = if self.elements.is_empty() {
            b""
        } else {
            self.lead(bytes, 0)
        };
        let next = match self.elements.len() {
            0 | 1 => [b",", first].concat(),
            _ => self.lead(bytes, 1).to_vec(),
        };
        for (nth, slot) in slots.iter().enumerate() {
            let (place, element) = match slot {
                Slot::Kept(at) => (Some(*at), &bytes[self.elements[*at].clone()]),
                Slot::Instead(at, element) => (Some(*at), element.as_slice()),
                Slot::New(element) => (None, element.as_slice()),
            };
            out.extend_from_slice(match place {
                _ if nth == 0 => first,
                Some(at) if at > 0 => self.lead(bytes, at),
                _ => &next,
            });
            out.extend_from_slice(element);
        }
        let tail = self.elements.last().map_or(list.start, |last| last.end);
        out.extend_from_slice(&bytes[tail..]);
        Some(out)
    }
}

/// The bytes with a part of them replaced, which is given as the slice that it is.
pub fn replaced(bytes: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let start = (part.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
    debug_assert!(start + part.len() <= bytes.len());
    [&bytes[..start], by, &bytes[start + part.len()..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(text: &str) -> Listing<'_> {
        Listing::of(text.as_bytes(), 0..text.len(), "list")
    }

    #[test]
    fn elements_are_found_and_written_where_they_stood() {
        let text = "{ \"a\": 1,\n \"list\": [\n  {\"b\":2},\n  {\"c\":3}\n ], \"d\": [] }";
        let found = listing(text);
        assert!(found.is_whole && found.faults.is_empty());
        assert_eq!(found.elements.len(), 2);
        assert_eq!(
            (found.get("a"), found.get("d")),
            (Some(&b"1"[..]), Some(&b"[]"[..]))
        );
        let same = found
            .written(text.as_bytes(), &[Slot::Kept(0), Slot::Kept(1)])
            .unwrap();
        assert_eq!(same, text.as_bytes());
        let slots = [Slot::Kept(1), Slot::New(b"{}".to_vec())];
        let other = found.written(text.as_bytes(), &slots).unwrap();
        assert_eq!(
            String::from_utf8(other).unwrap(),
            "{ \"a\": 1,\n \"list\": [\n  {\"c\":3},\n  {}\n ], \"d\": [] }"
        );
        let none = found.written(text.as_bytes(), &[]).unwrap();
        assert!(json::value_end(&none, 0, Dialect::Strict) == Ok(none.len()));
        let empty = listing("{\"list\":[]}");
        assert_eq!(
            empty
                .written(b"{\"list\":[]}", &[Slot::New(b"1".to_vec())])
                .unwrap(),
            b"{\"list\":[1]}"
        );
    }

    #[test]
    fn damage_keeps_no_other_element_back() {
        let text = r#"{"list":[{"a":1},{"b":nul},{"c":3}],"d":4}"#;
        let found = listing(text);
        assert_eq!(
            (found.elements.len(), found.faults.len(), found.is_whole),
            (3, 1, true)
        );
        assert_eq!(found.get("d"), Some(&b"4"[..]));
        for end in 0..text.len() {
            let cut = listing(&text[..end]);
            assert!(!cut.is_whole && !cut.faults.is_empty(), "{end}");
            assert!(cut.written(text.as_bytes(), &[]).is_none());
        }
        assert_eq!(listing(&text[..20]).elements.len(), 2);
    }
}
