//! Splits an input into JSON objects, one per line or spread over many lines.

use convo::error::{Error, Position, Result};
use convo::model::json::{self, Dialect};
use convo::model::record::mark_length;
use std::io::{BufRead, BufReader, Read};

/// Bytes per read.
const BLOCK: usize = 64 * 1024;

/// The objects of an input. Reads line by line; an object that spans lines makes it read the whole input.
pub struct Objects {
    input: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    /// Position of the next object.
    place: Position,
    rest: Option<RemainingObjects>,
    begun: bool,
}

/// The unread objects of an input that was read to its end.
struct RemainingObjects {
    bytes: Vec<u8>,
    at: usize,
    /// Whether every line is one object, because an earlier one was not JSON.
    lines: bool,
}

impl Objects {
    pub fn new(input: Box<dyn Read>) -> Objects {
        Objects {
            input: BufReader::with_capacity(BLOCK, input),
            line: Vec::new(),
            place: Position::default(),
            rest: None,
            begun: false,
        }
    }

    /// Whether input is buffered, so that the next read does not block.
    pub fn has_more(&self) -> bool {
        self.rest.is_some() || !self.input.buffer().is_empty()
    }

    /// Returns the next object, or a line that is not JSON, and its position.
    pub fn next(&mut self) -> Result<Option<(&[u8], Position)>> {
        while self.rest.is_none() {
            self.place.offset += self.line.len() as u64;
            self.line.clear();
            let read = self.input.read_until(b'\n', &mut self.line);
            if read.map_err(|error| Error::io("cannot read", error))? == 0 {
                return Ok(None);
            }
            self.place.line += 1;
            if self.place.line == 1 {
                let mark = mark_length(&self.line);
                self.line.drain(..mark);
                self.place.offset += mark as u64;
            }
            let start = json::skip_space(&self.line, 0);
            if start == self.line.len() {
                continue;
            }
            let whole = self.begun || json::value_end(&self.line, start, Dialect::Strict).is_ok();
            self.begun = true;
            if whole {
                return Ok(Some((self.line.trim_ascii(), self.place)));
            }
            let mut bytes = std::mem::take(&mut self.line);
            let read = self.input.read_to_end(&mut bytes);
            read.map_err(|error| Error::io("cannot read", error))?;
            self.rest = Some(RemainingObjects {
                bytes,
                at: 0,
                lines: false,
            });
        }
        let place = &mut self.place;
        Ok(self.rest.as_mut().and_then(|rest| rest.next(place)))
    }
}

impl RemainingObjects {
    fn next(&mut self, place: &mut Position) -> Option<(&[u8], Position)> {
        let start = json::skip_space(&self.bytes, self.at);
        self.pass(start, place);
        if start == self.bytes.len() {
            return None;
        }
        // After a damaged line, take single lines: searching for the end of each object would be quadratic.
        let whole = match self.lines {
            true => None,
            false => json::value_end(&self.bytes, start, Dialect::Strict).ok(),
        };
        let end = match whole {
            Some(end) => end,
            None => {
                self.lines = true;
                memchr::memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |length| start + length)
            }
        };
        let begun = *place;
        self.pass(end, place);
        Some((self.bytes[start..end].trim_ascii(), begun))
    }

    fn pass(&mut self, to: usize, place: &mut Position) {
        place.line += memchr::memchr_iter(b'\n', &self.bytes[self.at..to]).count() as u64;
        place.offset += (to - self.at) as u64;
        self.at = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &str) -> Vec<(String, u64, u64)> {
        let mut objects = Objects::new(Box::new(std::io::Cursor::new(input.as_bytes().to_vec())));
        let mut all = Vec::new();
        while let Some((object, place)) = objects.next().unwrap() {
            all.push((
                String::from_utf8(object.to_vec()).unwrap(),
                place.line,
                place.offset,
            ));
        }
        all
    }

    fn own(object: &str, line: u64, offset: u64) -> (String, u64, u64) {
        (object.to_string(), line, offset)
    }

    #[test]
    fn one_a_line() {
        assert_eq!(
            all("\n{\"a\":1}\r\n \n{\"b\"\n{}"),
            [own("{\"a\":1}", 2, 1), own("{\"b\"", 4, 12), own("{}", 5, 17)]
        );
        assert_eq!(all(""), []);
    }

    #[test]
    fn spread_over_lines() {
        assert_eq!(
            all("\u{feff}{\n\"a\": 1\n}\n{\n}{}\n"),
            [own("{\n\"a\": 1\n}", 1, 3), own("{\n}", 4, 14), own("{}", 5, 17)]
        );
    }

    #[test]
    fn lines_after_a_damaged_line_are_parsed_one_by_one() {
        assert_eq!(
            all("{\"a\"\n{}\n[\n]"),
            [
                own("{\"a\"", 1, 0),
                own("{}", 2, 5),
                own("[", 3, 8),
                own("]", 4, 10)
            ]
        );
        // Each line is scanned once, so many damaged lines take linear time.
        assert_eq!(all(&"[\n".repeat(100_000)).len(), 100_000);
    }
}
