//! Reads the elements of a JSON array one at a time, using memory for the largest one. Exports can have hundreds of
//! megabytes on one line.
//!
//! The reader only scans brackets and strings: an element that is not valid JSON inside is returned unchanged, and
//! nesting depth is unlimited.

use super::read_window::ReadWindow;
use crate::error::{Error, Position, Result};
use crate::model::json;
use crate::model::record::mark_length;
use std::io::Read;

/// One element of an array.
#[derive(Debug)]
pub struct JsonElement<'a> {
    /// Bytes between the previous element and this one: white space, a comma, the opening bracket.
    pub before: &'a [u8],
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Its position.
    pub place: Position,
}

/// Reads the elements of one or more concatenated arrays.
pub struct ElementReader<R> {
    window: ReadWindow<R>,
    /// Position of the window: its line, counted from 0, and its offset.
    at: Position,
    state: ScanState,
    /// Length of the element returned last, including `before`. The element remains in the window until the next call.
    given: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanState {
    /// Before an opening bracket.
    Outside,
    /// After an opening bracket.
    First,
    /// After an element.
    Behind,
    /// At the end.
    Done,
}

impl<R: Read> ElementReader<R> {
    /// Reads an input whose first bytes, `head`, were already read.
    pub fn new(head: Vec<u8>, input: R) -> Self {
        ElementReader {
            window: ReadWindow::new(head, input),
            at: Position::default(),
            state: ScanState::Outside,
            given: 0,
        }
    }

    /// The bytes since the element before last, and the rest of the input; this is the complete input if at most one
    /// element was read.
    pub fn into_parts(self) -> (Vec<u8>, R) {
        self.window.into_parts()
    }

    /// The bytes after the last element, once all were returned, such as the closing bracket.
    pub fn tail(&self) -> &[u8] {
        self.window.bytes()
    }

    /// The next element.
    ///
    /// # Errors
    /// A data error if the rest is not an array, not an element, or truncated; no element follows.
    pub fn next_element(&mut self) -> Result<Option<JsonElement<'_>>> {
        self.pass(self.given);
        self.given = 0;
        let Some(start) = self.next_start()? else {
            return Ok(None);
        };
        let length = match self.element(start)? {
            Some(length) => length,
            None => return Err(self.broken(start, "the array ends inside an element")),
        };
        self.state = ScanState::Behind;
        self.given = start + length;
        let place = self.place(start);
        let (before, rest) = self.window.bytes().split_at(start);
        Ok(Some(JsonElement {
            before,
            bytes: &rest[..length],
            place,
        }))
    }

    /// Consumes bytes and updates the position.
    fn pass(&mut self, length: usize) {
        let taken = self.window.take(length);
        self.at.line += memchr::memchr_iter(b'\n', taken).count() as u64;
        self.at.offset += length as u64;
    }

    /// Position of a byte of the window.
    fn place(&self, offset: usize) -> Position {
        let before = &self.window.bytes()[..offset];
        Position {
            line: self.at.line + 1 + memchr::memchr_iter(b'\n', before).count() as u64,
            offset: self.at.offset + offset as u64,
        }
    }

    fn broken(&mut self, offset: usize, what: &str) -> Error {
        self.state = ScanState::Done;
        Error {
            at: Some((String::new(), self.place(offset))),
            ..Error::data(what)
        }
    }

    /// A byte of the window, reading more input if necessary.
    fn byte(&mut self, offset: usize) -> Result<Option<u8>> {
        while self.window.bytes().len() <= offset && !self.window.is_ended() {
            self.fill()?;
        }
        Ok(self.window.bytes().get(offset).copied())
    }

    fn fill(&mut self) -> Result<()> {
        self.window
            .fill()
            .map_err(|error| Error::io("cannot read", error))
    }

    /// Index of the first byte of the next element; `None` at the end.
    fn next_start(&mut self) -> Result<Option<usize>> {
        let mut at = 0;
        let mut comma = None;
        if self.state == ScanState::Done {
            return Ok(None);
        }
        loop {
            let bytes = self.window.bytes();
            at = json::skip_space(bytes, at);
            let Some(byte) = self.byte(at)? else {
                return match self.state {
                    ScanState::Outside => {
                        self.state = ScanState::Done;
                        Ok(None)
                    }
                    _ => Err(self.broken(at, "unterminated array")),
                };
            };
            match (self.state, byte) {
                // The byte read meanwhile may be white space.
                (_, b' ' | b'\t' | b'\r' | b'\n') => continue,
                (ScanState::Outside, 0xef) if self.at.offset == 0 && at == 0 && self.is_mark()? => at += 2,
                (ScanState::Outside, b'[') => self.state = ScanState::First,
                (ScanState::Outside, _) => return Err(self.broken(at, "expected an array")),
                (ScanState::First, b']') => self.state = ScanState::Outside,
                (ScanState::Behind, b']') if comma.is_none() => self.state = ScanState::Outside,
                (ScanState::Behind, b',') if comma.is_none() => comma = Some(at),
                (ScanState::First, b',' | b'}' | b':') | (ScanState::Behind, b']' | b',' | b'}' | b':') => {
                    return Err(self.broken(at, "expected an element"));
                }
                (ScanState::Behind, _) if comma.is_none() => {
                    return Err(self.broken(at, "expected a comma or the end of the array"));
                }
                _ => return Ok(Some(at)),
            }
            at += 1;
        }
    }

    /// Whether the input starts with a byte order mark.
    fn is_mark(&mut self) -> Result<bool> {
        self.byte(2)?;
        Ok(mark_length(self.window.bytes()) > 0)
    }

    /// Length of the element that starts at an index; `None` if the input ends inside it.
    fn element(&mut self, start: usize) -> Result<Option<usize>> {
        let mut scan = ArrayScan::default();
        let mut scanned = start;
        loop {
            let bytes = self.window.bytes();
            if let Some(end) = scan.run(bytes, scanned) {
                return Ok(Some(end - start));
            }
            scanned = bytes.len();
            if self.window.is_ended() {
                return Ok(None);
            }
            self.fill()?;
        }
    }
}

/// Finds the end of a value in bytes that arrive in chunks.
#[derive(Default)]
pub(super) struct ArrayScan {
    depth: usize,
    string: bool,
    escaped: bool,
    begun: bool,
}

impl ArrayScan {
    /// Index after the value, whose bytes before `at` were already scanned; `None` if the value continues.
    pub(super) fn run(&mut self, bytes: &[u8], mut at: usize) -> Option<usize> {
        while at < bytes.len() {
            if self.string {
                if self.escaped {
                    self.escaped = false;
                    at += 1;
                    continue;
                }
                let found = memchr::memchr2(b'"', b'\\', &bytes[at..])?;
                at += found + 1;
                match bytes[at - 1] {
                    b'\\' => self.escaped = true,
                    _ => {
                        self.string = false;
                        if self.depth == 0 {
                            return Some(at);
                        }
                    }
                }
                continue;
            }
            match bytes[at] {
                b'"' if self.begun && self.depth == 0 => return Some(at),
                b'"' => self.string = true,
                b'{' | b'[' if self.begun && self.depth == 0 => return Some(at),
                b'{' | b'[' => self.depth += 1,
                // A number ends at the closing bracket of the array.
                b'}' | b']' if self.depth == 0 => return Some(at),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                b',' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => return Some(at),
                _ => {}
            }
            self.begun = true;
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests;
