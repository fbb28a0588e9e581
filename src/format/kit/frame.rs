//! A document with a list of elements: read element by element, also if it is damaged or truncated, and written back with
//! the bytes of all elements that did not change.

use crate::format::array::Scan;
use crate::model::json::{self, Dialect};
use std::borrow::Cow;
use std::ops::Range;

/// The position of the list in a document, and the members next to it.
#[derive(Debug, Default)]
pub struct Frame<'a> {
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
pub enum Edit {
    /// An element of the source, unchanged.
    Keep(usize),
    /// Another element in the place of one of the source.
    Replace(usize, Vec<u8>),
    /// A new element.
    Insert(Vec<u8>),
}

impl<'a> Frame<'a> {
    /// Of the value at this position of a document; its list is the member of this name, or the value itself.
    pub fn parse(bytes: &'a [u8], value: Range<usize>, name: &str) -> Frame<'a> {
        let mut frame = Frame::default();
        let text = &bytes[..value.end];
        let end = match text.get(value.start) {
            Some(b'[') => frame.list(text, value.start),
            Some(b'{') => frame.object(text, value.start, name),
            _ => None,
        };
        frame.is_whole = end == Some(value.end);
        if !frame.is_whole && frame.faults.is_empty() {
            let (at, what) = match end {
                Some(end) => (end, "unexpected text after the value"),
                None => (value.end, "unexpected end"),
            };
            frame.faults.push((at, what));
        }
        frame
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
    pub fn splice(&self, bytes: &[u8], edits: &[Edit]) -> Option<Vec<u8>> {
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
        for (nth, edit) in edits.iter().enumerate() {
            let (place, element) = match edit {
                Edit::Keep(at) => (Some(*at), &bytes[self.elements[*at].clone()]),
                Edit::Replace(at, element) => (Some(*at), element.as_slice()),
                Edit::Insert(element) => (None, element.as_slice()),
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

    fn frame(text: &str) -> Frame<'_> {
        Frame::parse(text.as_bytes(), 0..text.len(), "list")
    }

    #[test]
    fn elements_are_found_and_written_where_they_stood() {
        let text = "{ \"a\": 1,\n \"list\": [\n  {\"b\":2},\n  {\"c\":3}\n ], \"d\": [] }";
        let found = frame(text);
        assert!(found.is_whole && found.faults.is_empty());
        assert_eq!(found.elements.len(), 2);
        assert_eq!(found.members, [("a".into(), &b"1"[..]), ("d".into(), b"[]")]);
        let same = found
            .splice(text.as_bytes(), &[Edit::Keep(0), Edit::Keep(1)])
            .unwrap();
        assert_eq!(same, text.as_bytes());
        let edits = [Edit::Keep(1), Edit::Insert(b"{}".to_vec())];
        let other = found.splice(text.as_bytes(), &edits).unwrap();
        assert_eq!(
            String::from_utf8(other).unwrap(),
            "{ \"a\": 1,\n \"list\": [\n  {\"c\":3},\n  {}\n ], \"d\": [] }"
        );
        let none = found.splice(text.as_bytes(), &[]).unwrap();
        assert!(json::value_end(&none, 0, Dialect::Strict) == Ok(none.len()));
        let empty = frame("{\"list\":[]}");
        assert_eq!(
            empty
                .splice(b"{\"list\":[]}", &[Edit::Insert(b"1".to_vec())])
                .unwrap(),
            b"{\"list\":[1]}"
        );
    }

    #[test]
    fn damage_keeps_no_other_element_back() {
        let text = r#"{"list":[{"a":1},{"b":nul},{"c":3}],"d":4}"#;
        let found = frame(text);
        assert_eq!(
            (found.elements.len(), found.faults.len(), found.is_whole),
            (3, 1, true)
        );
        assert_eq!(found.members, [("d".into(), &b"4"[..])]);
        for end in 0..text.len() {
            let cut = frame(&text[..end]);
            assert!(!cut.is_whole && !cut.faults.is_empty(), "{end}");
            assert!(cut.splice(text.as_bytes(), &[]).is_none());
        }
        assert_eq!(frame(&text[..20]).elements.len(), 2);
    }
}
