//! Parses a document with a list of elements, even if damaged or truncated, and writes it back with the bytes of all
//! unchanged elements.

use crate::format::array::ArrayScan;
use crate::format::indent::laid_out;
use crate::model::json::{self, Dialect};
use std::borrow::Cow;
use std::ops::Range;

/// The position of the list in a document, and the members next to it.
#[derive(Debug, Default)]
pub struct Frame<'a> {
    document: &'a [u8],
    /// The members next to the list; empty if the document is the list itself.
    pub members: Vec<(Cow<'a, str>, &'a [u8])>,
    pub elements: Vec<Range<usize>>,
    /// The list between its brackets; `None` if there is no list.
    list: Option<Range<usize>>,
    /// Problems and their offsets, in order.
    pub faults: Vec<(usize, &'static str)>,
    /// Whether the document ends correctly.
    is_whole: bool,
    /// Whether it has numbers that only Python writes, such as NaN.
    pub is_python: bool,
    /// Nesting level of the elements.
    depth: usize,
}

/// An element of the list to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementEdit {
    /// An element of the source, unchanged.
    Keep(usize),
    /// A replacement for an element of the source.
    Replace(usize, Vec<u8>),
    /// A new element.
    Insert(Vec<u8>),
}

impl ElementEdit {
    /// The element after this edit.
    pub fn element<'e>(&'e self, source: &'e [Vec<u8>]) -> &'e [u8] {
        match self {
            ElementEdit::Keep(nth) => &source[*nth],
            ElementEdit::Replace(_, raw) | ElementEdit::Insert(raw) => raw,
        }
    }
}

impl<'a> Frame<'a> {
    /// Parses the value at this position of a document. The list is the member with this name, or the value itself.
    pub fn parse(bytes: &'a [u8], value: Range<usize>, name: &str) -> Frame<'a> {
        let mut frame = Frame {
            document: bytes,
            depth: 1 + usize::from(bytes.get(value.start) == Some(&b'{')),
            ..Frame::default()
        };
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
            if key == name {
                // The last member of a name is effective.
                (self.list, self.elements) = (None, Vec::new());
            }
            let end = if key == name && text.get(value) == Some(&b'[') {
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

    /// The end of a value; one with damage inside ends at its closing bracket.
    fn value(&mut self, text: &[u8], at: usize) -> Option<usize> {
        match json::value_end(text, at, Dialect::Strict) {
            Ok(end) => Some(end),
            Err(fault) => {
                if let Ok(end) = json::value_end(text, at, Dialect::Python) {
                    self.is_python = true;
                    return Some(end);
                }
                self.faults.push((fault.offset.min(text.len()), fault.what));
                match text.get(at) {
                    Some(b'{' | b'[' | b'"') => ArrayScan::default().run(text, at),
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

    /// Joins adjacent elements into groups of these sizes.
    pub fn join(&mut self, sizes: &[usize]) {
        let mut elements = std::mem::take(&mut self.elements).into_iter();
        let groups = sizes.iter().filter_map(|size| {
            let mut group = elements.by_ref().take(*size);
            let first = group.next()?;
            Some(first.start..group.last().map_or(first.end, |last| last.end))
        });
        self.elements = groups.collect();
    }

    /// The bytes of an element.
    pub fn element(&self, nth: usize) -> &'a [u8] {
        &self.document[self.elements[nth].clone()]
    }

    /// Whether there is a list, and the document ends correctly.
    pub fn can_splice(&self) -> bool {
        self.is_whole && self.has_list()
    }

    /// The document with these elements in its list and all other bytes unchanged.
    pub fn splice(&self, edits: &[ElementEdit]) -> Vec<u8> {
        self.spliced(edits, |raw, _| raw.to_vec())
    }

    /// As [`Frame::splice`], with new and changed single-line elements formatted like the others. This changes white
    /// space in arguments that are not text.
    pub fn splice_laid_out(&self, edits: &[ElementEdit]) -> Vec<u8> {
        self.spliced(edits, |raw, indent| match indent.is_empty() {
            true => json::compact(raw).0,
            false => laid_out(raw, self.depth, indent),
        })
    }

    fn spliced(&self, edits: &[ElementEdit], lay_out: impl Fn(&[u8], &[u8]) -> Vec<u8>) -> Vec<u8> {
        let Some(list) = self.list.clone() else {
            return self.document.to_vec();
        };
        let formatting = self.formatting(&list);
        let mut out = self.document[..list.start].to_vec();
        let mut before: Option<usize> = None;
        for (nth, edit) in edits.iter().enumerate() {
            let (place, element) = match edit {
                ElementEdit::Keep(at) => (Some(*at), Cow::Borrowed(self.element(*at))),
                ElementEdit::Replace(at, raw) if formatting.indent.is_empty() || raw.contains(&b'\n') => {
                    (Some(*at), Cow::Borrowed(raw.as_slice()))
                }
                ElementEdit::Replace(at, raw) => (Some(*at), Cow::Owned(lay_out(raw, &formatting.indent))),
                ElementEdit::Insert(raw) => (None, Cow::Owned(lay_out(raw, &formatting.indent))),
            };
            match place {
                _ if nth == 0 => out.extend_from_slice(&formatting.first),
                Some(at) if before.is_some_and(|before| before + 1 == at) => {
                    out.extend_from_slice(&self.document[self.elements[at - 1].end..self.elements[at].start]);
                }
                _ => {
                    out.push(b',');
                    out.extend_from_slice(&formatting.between);
                }
            }
            before = place;
            out.extend_from_slice(&element);
        }
        if !edits.is_empty() {
            out.extend_from_slice(&formatting.last);
        }
        out.extend_from_slice(&self.document[list.end..]);
        out
    }

    /// The formatting of the elements.
    fn formatting(&self, list: &Range<usize>) -> ListFormatting {
        let is_spaced = memchr::memchr(b'\n', self.document.trim_ascii()).is_some();
        let (Some(first), Some(last)) = (self.elements.first(), self.elements.last()) else {
            let indent: &[u8] = if is_spaced { b"  " } else { b"" };
            let line = |depth: usize| match is_spaced {
                true => [b"\n".as_slice(), &indent.repeat(depth)].concat(),
                false => Vec::new(),
            };
            return ListFormatting {
                first: line(self.depth),
                between: line(self.depth),
                last: line(self.depth - 1),
                indent: indent.to_vec(),
            };
        };
        let lead = self.document[list.start..first.start].to_vec();
        let between = match self.elements.get(1) {
            Some(second) => {
                let gap = &self.document[first.end..second.start];
                let comma = memchr::memchr(b',', gap).map_or(0, |at| at + 1);
                gap[comma..].to_vec()
            }
            None => lead.clone(),
        };
        // A multi-line element shows the indentation per level.
        let is_long = memchr::memchr(b'\n', self.element(0)).is_some();
        let indent = memchr::memrchr(b'\n', &lead).map_or(&b""[..], |at| &lead[at + 1..]);
        let indent = match is_long {
            true if indent.is_empty() => b"  ".to_vec(),
            true => indent[..indent.len().div_ceil(self.depth)].to_vec(),
            false => Vec::new(),
        };
        ListFormatting {
            first: lead,
            between,
            last: self.document[last.end..list.end].to_vec(),
            indent,
        }
    }
}

/// The formatting of list elements.
struct ListFormatting {
    /// Before the first element.
    first: Vec<u8>,
    /// After a comma.
    between: Vec<u8>,
    /// After the last element.
    last: Vec<u8>,
    /// The indentation per level; empty if an element is on one line.
    indent: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> Frame<'_> {
        Frame::parse(text.as_bytes(), 0..text.len(), "list")
    }

    #[test]
    fn elements_are_found_and_spliced_in_place() {
        let text = "{ \"a\": 1,\n \"list\": [\n  {\"b\":2},\n  {\"c\":3}\n ], \"d\": [] }";
        let found = frame(text);
        assert!(found.is_whole && found.faults.is_empty());
        assert_eq!(found.elements.len(), 2);
        assert_eq!(found.members, [("a".into(), &b"1"[..]), ("d".into(), b"[]")]);
        let same = found.splice(&[ElementEdit::Keep(0), ElementEdit::Keep(1)]);
        assert_eq!(same, text.as_bytes());
        let edits = [ElementEdit::Keep(1), ElementEdit::Insert(b"{}".to_vec())];
        let other = found.splice(&edits);
        assert_eq!(
            String::from_utf8(other).unwrap(),
            "{ \"a\": 1,\n \"list\": [\n  {\"c\":3},\n  {}\n ], \"d\": [] }"
        );
        let none = found.splice(&[]);
        assert!(json::is_value(&none));
        let empty = frame("{\"list\":[]}");
        assert_eq!(
            empty.splice(&[ElementEdit::Insert(b"1".to_vec())]),
            b"{\"list\":[1]}"
        );
    }

    #[test]
    fn damage_hides_no_other_element() {
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
            assert!(!cut.can_splice());
        }
        assert_eq!(frame(&text[..20]).elements.len(), 2);
    }

    fn spliced(document: &str, member: Option<&str>, edits: &[ElementEdit]) -> String {
        let end = document.trim_end().len();
        let frame = Frame::parse(document.as_bytes(), 0..end, member.unwrap_or_default());
        assert!(frame.can_splice() && frame.faults.is_empty());
        String::from_utf8(frame.splice_laid_out(edits)).unwrap()
    }

    fn new(raw: &str) -> ElementEdit {
        ElementEdit::Insert(raw.as_bytes().to_vec())
    }

    #[test]
    fn new_elements_are_laid_out_like_the_others() {
        use ElementEdit::Keep;
        let cases = [
            ("[1, 2,  3]", None, vec![Keep(0), Keep(1), Keep(2)], "[1, 2,  3]"),
            (
                "[1, 2,  3]\n",
                None,
                vec![Keep(1), Keep(2), new("{\"a\": 4}")],
                "[2,  3, {\"a\":4}]\n",
            ),
            ("[1]", None, vec![], "[]"),
            ("[ ]", None, vec![new("1"), new("2")], "[1,2]"),
            (
                "{\"l\":[],\"x\":5e-06}",
                Some("l"),
                vec![new("1")],
                "{\"l\":[1],\"x\":5e-06}",
            ),
            (
                "{\n \"l\": [\n  {\n   \"a\": 1\n  }\n ],\n \"x\": 2\n}",
                Some("l"),
                vec![Keep(0), new("{\"b\":[3,{}]}")],
                "{\n \"l\": [\n  {\n   \"a\": 1\n  },\n  {\n   \"b\": [\n    3,\n    {}\n   ]\n  }\n ],\n \"x\": 2\n}",
            ),
            (
                "{\n  \"l\": []\n}",
                Some("l"),
                vec![new("{\"b\":3}")],
                "{\n  \"l\": [\n    {\n      \"b\": 3\n    }\n  ]\n}",
            ),
            // One element per line.
            (
                "[\n{\"a\":1},\n{\"a\":2}\n]\n",
                None,
                vec![Keep(0), new("{\"b\": 3}")],
                "[\n{\"a\":1},\n{\"b\":3}\n]\n",
            ),
            // The last member of a name is effective.
            (
                "{\"l\":[1],\"l\":[2]}",
                Some("l"),
                vec![Keep(0), Keep(0)],
                "{\"l\":[1],\"l\":[2,2]}",
            ),
        ];
        for (document, member, elements, wanted) in cases {
            assert_eq!(spliced(document, member, &elements), wanted);
        }
    }
}
