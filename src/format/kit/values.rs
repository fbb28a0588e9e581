//! Reads concatenated JSON values, such as exports of several sessions, one at a time.

use crate::error::{Error, Position, Result};
use crate::format::array::ArrayScan;
use crate::format::read_window::ReadWindow;
use crate::format::sessions::SessionInput;
use crate::model::json;
use crate::model::record::mark_length;
use std::io::Read;
use std::ops::Range;

/// A value with the bytes since the previous value, and for the last value with the rest of the input.
pub struct SplitValue {
    pub bytes: Vec<u8>,
    /// Range of the value in them; empty if there is none.
    pub value: Range<usize>,
    /// Their position: the number of lines before, and the offset.
    pub start: Position,
    /// Offset of bytes before the value that are not a value, if any.
    pub unrecognized: Option<usize>,
}

/// Splits an input into values.
pub struct Values {
    window: ReadWindow<Box<dyn Read>>,
    at: Position,
}

impl Values {
    /// Reads an input.
    pub fn new(input: SessionInput) -> Values {
        Values {
            window: ReadWindow::new(input.head, input.rest),
            at: Position::default(),
        }
    }

    /// The next value; the last one may be truncated. Text that is neither an object nor an array is skipped to the end
    /// of its line.
    pub fn next(&mut self) -> Result<Option<SplitValue>> {
        let (mut at, mut unrecognized) = (0, None);
        if self.at.offset == 0 && self.has(2)? {
            at = mark_length(self.window.bytes());
        }
        loop {
            at = self.skip_space(at)?;
            if !self.has(at)? {
                break;
            }
            if matches!(self.window.bytes()[at], b'{' | b'[') {
                break;
            }
            unrecognized = unrecognized.or(Some(at));
            while self.has(at)? && self.window.bytes()[at] != b'\n' {
                at += 1;
            }
        }
        let start = at;
        let mut scan = ArrayScan::default();
        while self.has(at)? {
            if let Some(end) = scan.run(self.window.bytes(), at) {
                at = end;
                break;
            }
            at = self.window.bytes().len();
        }
        let behind = self.skip_space(at)?;
        let length = if self.has(behind)? { at } else { behind };
        if length == 0 {
            return Ok(None);
        }
        let bytes = self.window.take(length).to_vec();
        let value = SplitValue {
            value: start..at,
            start: self.at,
            unrecognized,
            bytes,
        };
        self.at.line += memchr::memchr_iter(b'\n', &value.bytes).count() as u64;
        self.at.offset += length as u64;
        Ok(Some(value))
    }

    /// Whether there is a byte at this index of the window; reads more input if necessary.
    fn has(&mut self, index: usize) -> Result<bool> {
        while self.window.bytes().len() <= index && !self.window.is_ended() {
            let filled = self.window.fill();
            filled.map_err(|error| Error::io("cannot read", error))?;
        }
        Ok(self.window.bytes().len() > index)
    }

    fn skip_space(&mut self, mut at: usize) -> Result<usize> {
        loop {
            at = json::skip_space(self.window.bytes(), at.min(self.window.bytes().len()));
            if at < self.window.bytes().len() || !self.has(at)? {
                return Ok(at);
            }
        }
    }
}

impl SplitValue {
    /// Positions in these bytes, to be queried in ascending order.
    pub fn places(&self) -> ValuePositions<'_> {
        ValuePositions {
            bytes: &self.bytes,
            start: self.start,
            line: 0,
            at: 0,
        }
    }
}

/// Computes positions by counting lines, in ascending order.
pub struct ValuePositions<'a> {
    bytes: &'a [u8],
    start: Position,
    line: u64,
    at: usize,
}

impl ValuePositions<'_> {
    /// The position of an offset, which must not precede the previous one.
    pub fn at(&mut self, offset: usize) -> Position {
        let offset = offset.min(self.bytes.len()).max(self.at);
        self.line += memchr::memchr_iter(b'\n', &self.bytes[self.at..offset]).count() as u64;
        self.at = offset;
        Position {
            line: self.start.line + 1 + self.line,
            offset: self.start.offset + offset as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(String, String, Option<usize>)> {
        let mut values = Values::new(SessionInput {
            name: None,
            head: Vec::new(),
            rest: Box::new(std::io::Cursor::new(text.as_bytes().to_vec())),
            returns: false,
            neighbor: None,
        });
        let (mut all, mut joined) = (Vec::new(), Vec::new());
        while let Some(value) = values.next().unwrap() {
            joined.extend_from_slice(&value.bytes);
            let own = String::from_utf8(value.bytes[value.value.clone()].to_vec()).unwrap();
            let whole = String::from_utf8(value.bytes).unwrap();
            all.push((own, whole, value.unrecognized));
        }
        assert_eq!(joined, text.as_bytes());
        all
    }

    #[test]
    fn concatenated_values_are_split_at_any_separator() {
        for (text, wanted) in [
            ("", vec![]),
            ("{}", vec!["{}"]),
            (
                "\u{feff} {\"a\":\"}\"}\n\n[1]{}\n ",
                vec!["{\"a\":\"}\"}", "[1]", "{}"],
            ),
            ("{\"cut\": [", vec!["{\"cut\": ["]),
            ("  \n", vec![""]),
        ] {
            let found = values(text);
            let own: Vec<_> = found.iter().map(|(own, ..)| own.as_str()).collect();
            assert_eq!(own, wanted, "{text:?}");
        }
        let found = values("{}\nwhat is this {\n{\"b\":1}");
        assert_eq!(found.len(), 2);
        assert_eq!((found[1].0.as_str(), found[1].2), ("{\"b\":1}", Some(1)));
    }
}
