//! The values of an input one after another: the elements of arrays, a value a line, or values one behind the other. No
//! more than one of them is held.

use super::array::ElementReader;
use super::lines::Lines;
use super::window::Window;
use crate::error::{Error, Place, Result};
use crate::model::json::{self, Dialect};
use std::borrow::Cow;
use std::io::Read;

/// The bytes of an input that are still to come.
type Rest = Box<dyn Read>;

/// A value as it stands in the input; a damaged one reaches as far as can be told.
#[derive(Debug)]
pub struct Entry<'v> {
    /// What stands between it and the value before.
    pub lead: &'v [u8],
    /// Its bytes; none on an empty line.
    pub bytes: &'v [u8],
    /// Where it begins.
    pub place: Place,
    /// What stands behind it on its line.
    pub ending: &'v [u8],
}

/// Reads values.
pub enum Entries {
    /// Elements of arrays.
    Array(ElementReader<Rest>),
    /// A value a line.
    Lines(Lines<Rest>),
    /// Entries of several lines, which are all there.
    Whole(Whole),
}

impl Entries {
    /// The elements of an array, or of several.
    pub fn array(head: Vec<u8>, rest: Rest) -> Entries {
        Entries::Array(ElementReader::new(head, rest))
    }

    /// A value on each line.
    pub fn lines(head: Vec<u8>, rest: Rest) -> Entries {
        Entries::Lines(Lines::new(head, rest))
    }

    /// Whichever of them an input is.
    pub fn open(head: Vec<u8>, rest: Rest) -> Result<Entries> {
        let mut window = Window::new(head, rest);
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
        // Where the first line is damaged, the others tell.
        let at = start(&head);
        let whole = json::value_end(&head, at, Dialect::Python).is_ok();
        if !whole && head.split(|byte| *byte == b'\n').any(is_object) {
            return Ok(Entries::lines(head, Box::new(std::io::empty())));
        }
        Ok(Entries::Whole(Whole {
            bytes: head,
            at: 0,
            line: 0,
        }))
    }

    /// The next value.
    ///
    /// # Errors
    /// That of reading; and [`crate::error::Kind::Data`] where nothing follows that can be told apart, as behind the end of an array.
    pub fn next(&mut self) -> Result<Option<Entry<'_>>> {
        Ok(match self {
            Entries::Array(elements) => elements.next_element()?.map(|element| Entry {
                lead: element.lead,
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

    /// What stands behind the last value, once there is no further one: the closing bracket of an array, or all that could
    /// not be told apart.
    pub fn tail(&self) -> &[u8] {
        match self {
            Entries::Array(elements) => elements.tail(),
            Entries::Lines(_) => &[],
            Entries::Whole(whole) => &whole.bytes[whole.at..],
        }
    }
}

/// The value of a line.
fn on_line(line: &[u8], place: Place) -> Entry<'_> {
    let mark = mark(line) * usize::from(place.offset == 0);
    let start = mark + json::skip_space(&line[mark..], 0);
    let end = line.trim_ascii_end().len().max(start);
    Entry {
        lead: &line[..start],
        bytes: &line[start..end],
        place: Place {
            offset: place.offset + start as u64,
            ..place
        },
        ending: &line[end..],
    }
}

/// Length of a byte order mark.
fn mark(bytes: &[u8]) -> usize {
    usize::from(bytes.starts_with(b"\xef\xbb\xbf")) * 3
}

/// Where the first value begins.
fn start(bytes: &[u8]) -> usize {
    let mark = mark(bytes);
    mark + json::skip_space(&bytes[mark..], 0)
}

fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"{") && json::value_end(line, 0, Dialect::Python) == Ok(line.len())
}

/// An input that is there as a whole.
pub struct Whole {
    bytes: Vec<u8>,
    at: usize,
    line: u64,
}

impl Whole {
    fn next(&mut self) -> Option<Entry<'_>> {
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
        let place = Place {
            line: self.line + 1 + count(&self.bytes[from..start]),
            offset: start as u64,
        };
        self.line += count(&self.bytes[from..end]);
        self.at = end;
        Some(Entry {
            lead: &self.bytes[from..start],
            bytes: &self.bytes[start..end],
            place,
            ending: b"",
        })
    }
}

/// A value as it may stand in a line of the record stream.
#[derive(Debug)]
pub struct Line<'v> {
    /// On one line, UTF-8, without numbers that JSON does not have.
    pub bytes: Cow<'v, [u8]>,
    /// How many such numbers became null.
    pub numbers: u64,
    /// Whether bytes that are no UTF-8 became U+FFFD.
    pub repaired: bool,
}

impl<'v> Line<'v> {
    /// Of a value that is whole; one that is on a line already is not copied.
    pub fn of(value: &'v [u8]) -> Line<'v> {
        let strict = json::value_end(value, 0, Dialect::Strict).is_ok();
        let (bytes, numbers) = match strict && memchr::memchr(b'\n', value).is_none() {
            true => (Cow::Borrowed(value), 0),
            false => {
                let (bytes, numbers) = json::compact(value);
                (Cow::Owned(bytes), numbers)
            }
        };
        let repaired = std::str::from_utf8(&bytes).is_err();
        Line {
            bytes: match repaired {
                true => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned().into_bytes()),
                false => bytes,
            },
            numbers,
            repaired,
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
            bytes.extend([value.lead, value.bytes, value.ending].concat());
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
    fn values_come_however_they_stand() {
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
    fn what_is_damaged_reaches_as_far_as_can_be_told() {
        let texts = |text: &str| all(text).into_iter().map(|(text, ..)| text).collect::<Vec<_>>();
        assert_eq!(texts("{\"a\":\n{\"b\":1}\n"), [r#"{"a":"#, r#"{"b":1}"#]);
        assert_eq!(texts("{\"a\":1}\nx\n{}"), [r#"{"a":1}"#, "x", "{}"]);
        assert_eq!(texts("{\"a\":[\n1,\n"), ["{\"a\":[\n1,\n"]);
    }

    #[test]
    fn a_line_of_the_stream_is_one_line_of_utf_8() {
        let line = Line::of(b"{\"a\":\n[NaN, \"\xff\"]}");
        assert_eq!(&*line.bytes, "{\"a\":[null,\"\u{fffd}\"]}".as_bytes());
        assert_eq!((line.numbers, line.repaired), (1, true));
        assert!(matches!(Line::of(br#"{"a": 1}"#).bytes, Cow::Borrowed(_)));
    }
}
