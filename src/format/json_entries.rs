//! Iterates over the values of an input: array elements, one value per line, or concatenated values. At most one value
//! is in memory, unless values span several lines.

use super::array::ElementReader;
use super::lines::ByteLines;
use super::read_window::ReadWindow;
use super::report::{Loss, Report};
use crate::error::{Error, Position, Result};
use crate::model::json::{self, Dialect};
use crate::model::record::mark_length;
use std::borrow::Cow;
use std::io::Read;

/// The unread rest of an input.
type Rest = Box<dyn Read>;

/// A value with its original bytes; a damaged one extends as far as can be determined.
#[derive(Debug)]
pub struct JsonEntry<'v> {
    /// Bytes between the previous value and this one.
    pub before: &'v [u8],
    /// The value; empty on an empty line.
    pub bytes: &'v [u8],
    pub place: Position,
    /// The rest of its line.
    pub ending: &'v [u8],
}

/// An iterator over the values of an input.
pub enum Entries {
    Array(ElementReader<Rest>),
    /// One value per line.
    Lines(ByteLines<Rest>),
    /// Values that span lines, all in memory.
    Whole(InMemoryInput),
}

impl Entries {
    /// Iterates over the elements of one or more arrays.
    pub fn array(head: Vec<u8>, rest: Rest) -> Entries {
        Entries::Array(ElementReader::new(head, rest))
    }

    /// Iterates over one value per line.
    pub fn lines(head: Vec<u8>, rest: Rest) -> Entries {
        Entries::Lines(ByteLines::new(head, rest))
    }

    /// Detects which of these an input is.
    pub fn open(head: Vec<u8>, rest: Rest) -> Result<Entries> {
        let mut window = ReadWindow::new(head, rest);
        let broken = |error| Error::io("cannot read", error);
        let mut searched = 0;
        let first = loop {
            let start = start(window.bytes());
            if window.bytes().get(start) == Some(&b'[') {
                let (head, rest) = window.into_parts();
                return Ok(Entries::array(head, rest));
            }
            let from = searched.max(start);
            let bytes = &window.bytes()[from.min(window.bytes().len())..];
            match memchr::memchr(b'\n', bytes) {
                Some(end) => break from + end,
                None if window.is_ended() => break window.bytes().len(),
                None => {
                    searched = window.bytes().len();
                    window.fill().map_err(broken)?;
                }
            }
        };
        let line = &window.bytes()[start(window.bytes()).min(first)..first];
        let is_line = is_object(line);
        let (mut head, mut rest) = window.into_parts();
        if is_line {
            return Ok(Entries::lines(head, rest));
        }
        rest.read_to_end(&mut head).map_err(broken)?;
        // If the first line is damaged, check the others.
        let at = start(&head);
        let whole = json::value_end(&head, at, Dialect::Python).is_ok();
        if !whole && head.split(|byte| *byte == b'\n').any(is_object) {
            return Ok(Entries::lines(head, Box::new(std::io::empty())));
        }
        Ok(Entries::Whole(InMemoryInput {
            bytes: head,
            at: 0,
            line: 0,
        }))
    }

    /// The next value.
    ///
    /// # Errors
    /// Read errors, and [`crate::error::ErrorKind::Data`] if the rest cannot be split into values, as after the end of an
    /// array.
    pub fn next(&mut self) -> Result<Option<JsonEntry<'_>>> {
        Ok(match self {
            Entries::Array(elements) => elements.next_element()?.map(|element| JsonEntry {
                before: element.before,
                bytes: element.bytes,
                place: element.place,
                ending: b"",
            }),
            Entries::Lines(lines) => {
                let line = lines.next_line();
                let line = line.map_err(|error| Error::io("cannot read", error))?;
                line.map(|(line, place)| on_line(line, place))
            }
            Entries::Whole(whole) => whole.next(),
        })
    }

    /// The bytes after the last value, once all values were returned: the closing bracket of an array, or the rest that
    /// could not be split into values.
    pub fn tail(&self) -> &[u8] {
        match self {
            Entries::Array(elements) => elements.tail(),
            Entries::Lines(_) => &[],
            Entries::Whole(whole) => &whole.bytes[whole.at..],
        }
    }
}

/// The value of a line.
fn on_line(line: &[u8], place: Position) -> JsonEntry<'_> {
    let mark = mark_length(line) * usize::from(place.offset == 0);
    let start = mark + json::skip_space(&line[mark..], 0);
    let end = line.trim_ascii_end().len().max(start);
    JsonEntry {
        before: &line[..start],
        bytes: &line[start..end],
        place: Position {
            offset: place.offset + start as u64,
            ..place
        },
        ending: &line[end..],
    }
}

/// Offset of the first value.
fn start(bytes: &[u8]) -> usize {
    let mark = mark_length(bytes);
    mark + json::skip_space(&bytes[mark..], 0)
}

fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"{") && json::value_end(line, 0, Dialect::Python) == Ok(line.len())
}

/// An input that is completely in memory.
pub struct InMemoryInput {
    bytes: Vec<u8>,
    at: usize,
    line: u64,
}

impl InMemoryInput {
    fn next(&mut self) -> Option<JsonEntry<'_>> {
        let from = self.at;
        let start = match from {
            0 => start(&self.bytes),
            from => json::skip_space(&self.bytes, from),
        };
        if start == self.bytes.len() {
            return None;
        }
        let end = json::value_end(&self.bytes, start, Dialect::Python).unwrap_or(self.bytes.len());
        let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
        let place = Position {
            line: self.line + 1 + count(&self.bytes[from..start]),
            offset: start as u64,
        };
        self.line += count(&self.bytes[from..end]);
        self.at = end;
        Some(JsonEntry {
            before: &self.bytes[from..start],
            bytes: &self.bytes[start..end],
            place,
            ending: b"",
        })
    }
}

/// A value encoded for a line of the record stream.
#[derive(Debug)]
pub struct EntryLine<'v> {
    /// The value on one line, in UTF-8, without numbers that are invalid in JSON.
    pub bytes: Cow<'v, [u8]>,
    /// Number of invalid numbers that became null.
    pub numbers: u64,
    /// Whether invalid UTF-8 became U+FFFD.
    pub repaired: bool,
}

impl<'v> EntryLine<'v> {
    /// From a complete value; borrows one that is already on one line.
    pub fn of(value: &'v [u8]) -> EntryLine<'v> {
        let strict = json::value_end(value, 0, Dialect::Strict).is_ok();
        let (bytes, numbers) = match strict && memchr::memchr(b'\n', value).is_none() {
            true => (Cow::Borrowed(value), 0),
            false => {
                let (bytes, numbers) = json::compact(value);
                (Cow::Owned(bytes), numbers)
            }
        };
        let repaired = std::str::from_utf8(&bytes).is_err();
        EntryLine {
            bytes: match repaired {
                true => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned().into_bytes()),
                false => bytes,
            },
            numbers,
            repaired,
        }
    }

    /// Reports the values that the line replaces.
    pub fn report(&self, place: Position, report: &mut Report) {
        report.count_loss(Loss::Number, self.numbers);
        if self.numbers > 0 {
            report.damage(
                place,
                "NaN or Infinity, which JSON does not allow, replaced by null",
            );
        }
        if self.repaired {
            report.damage(place, "bytes that are not UTF-8 replaced by U+FFFD");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn all(text: &str) -> Vec<(String, u64, u64)> {
        let mut values = Entries::open(Vec::new(), Box::new(Cursor::new(text.as_bytes().to_vec()))).unwrap();
        let (mut found, mut bytes) = (Vec::new(), Vec::new());
        while let Some(value) = values.next().unwrap() {
            bytes.extend([value.before, value.bytes, value.ending].concat());
            if !value.bytes.is_empty() {
                let text = String::from_utf8(value.bytes.to_vec()).unwrap();
                found.push((text, value.place.line, value.place.offset));
            }
        }
        bytes.extend(values.tail());
        assert_eq!(String::from_utf8(bytes).unwrap(), text);
        found
    }

    #[test]
    fn values_are_split_in_any_layout() {
        let wanted = |places: [(u64, u64); 2]| {
            let text = [r#"{"a":1}"#, r#"{"b":[]}"#];
            let found = text.iter().zip(places);
            found
                .map(|(text, (line, offset))| (text.to_string(), line, offset))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(r#"[{"a":1},{"b":[]}]"#), wanted([(1, 1), (1, 9)]));
        assert_eq!(all("\n [{\"a\":1}]\n[\n{\"b\":[]}]\n"), wanted([(2, 3), (4, 14)]));
        assert_eq!(all("{\"a\":1}\r\n\n{\"b\":[]}"), wanted([(1, 0), (3, 10)]));
        let spread = all("{\n\"a\":\n1}\n{\n\"b\":2}\n");
        assert_eq!((spread.len(), spread[1].1, spread[1].2), (2, 4, 10));
        assert_eq!(all("\u{feff}{\"a\":1}\n").len(), 1);
        assert_eq!(all(" \n"), []);
    }

    #[test]
    fn a_damaged_value_ends_at_the_next_recognizable_one() {
        let texts = |text: &str| all(text).into_iter().map(|(text, ..)| text).collect::<Vec<_>>();
        assert_eq!(texts("{\"a\":\n{\"b\":1}\n"), [r#"{"a":"#, r#"{"b":1}"#]);
        assert_eq!(texts("{\"a\":1}\nx\n{}"), [r#"{"a":1}"#, "x", "{}"]);
        assert_eq!(texts("{\"a\":[\n1,\n"), ["{\"a\":[\n1,\n"]);
    }

    #[test]
    fn a_line_of_the_stream_is_one_line_of_utf_8() {
        let line = EntryLine::of(b"{\"a\":\n[NaN, \"\xff\"]}");
        assert_eq!(&*line.bytes, "{\"a\":[null,\"\u{fffd}\"]}".as_bytes());
        assert_eq!((line.numbers, line.repaired), (1, true));
        assert!(matches!(EntryLine::of(br#"{"a": 1}"#).bytes, Cow::Borrowed(_)));
    }
}
