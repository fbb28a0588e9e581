//! Reads lines of any length without copying them.

use super::read_window::Window;
use crate::error::Position;
use std::io::{self, Read};

/// A reader of complete lines.
pub struct ByteLines<R> {
    window: Window<R>,
    place: Position,
}

impl<R: Read> ByteLines<R> {
    /// Reads an input whose first bytes, `head`, were already read.
    pub fn new(head: Vec<u8>, input: R) -> Self {
        ByteLines {
            window: Window::new(head, input),
            place: Position { line: 0, offset: 0 },
        }
    }

    /// Reads an input from the end of a line, whose number and end offset are `place`.
    pub fn behind(place: Position, input: R) -> Self {
        ByteLines {
            place,
            ..ByteLines::new(Vec::new(), input)
        }
    }

    /// The next line with its newline (which the last one may lack), and its position.
    pub fn next_line(&mut self) -> io::Result<Option<(&[u8], Position)>> {
        let mut searched = 0;
        let length = loop {
            let bytes = self.window.bytes();
            if let Some(at) = memchr::memchr(b'\n', &bytes[searched..]) {
                break searched + at + 1;
            }
            searched = bytes.len();
            if self.window.is_ended() {
                break searched;
            }
            self.window.fill()?;
        };
        if length == 0 {
            return Ok(None);
        }
        let place = Position {
            line: self.place.line + 1,
            offset: self.place.offset,
        };
        self.place = Position {
            line: place.line,
            offset: place.offset + length as u64,
        };
        Ok(Some((self.window.take(length), place)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_window::BLOCK;
    use super::*;

    struct Dribble<'a>(&'a [u8], usize);
    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let take = self.1.min(self.0.len()).min(buffer.len());
            buffer[..take].copy_from_slice(&self.0[..take]);
            self.0 = &self.0[take..];
            Ok(take)
        }
    }

    #[test]
    fn lines_are_complete_for_any_chunk_size() {
        let long = "x".repeat(3 * BLOCK);
        let text = format!("a\n\n{long}\nlast");
        for step in [1, 2, 7, 4096, BLOCK, 10 * BLOCK] {
            if step < 7 && text.len() > BLOCK {
                // Reading one byte at a time would only be slower for the long line.
                let short = "a\n\nb\r\nlast";
                assert_eq!(collect(short.as_bytes(), step).concat(), short);
                continue;
            }
            let lines = collect(text.as_bytes(), step);
            assert_eq!(lines.len(), 4);
            assert_eq!(lines.concat(), text);
        }
    }

    fn collect(bytes: &[u8], step: usize) -> Vec<String> {
        let mut lines = ByteLines::new(Vec::new(), Dribble(bytes, step));
        let (mut all, mut offset) = (Vec::new(), 0);
        while let Some((line, place)) = lines.next_line().unwrap() {
            assert_eq!((place.line, place.offset), (all.len() as u64 + 1, offset));
            offset += line.len() as u64;
            all.push(String::from_utf8(line.to_vec()).unwrap());
        }
        all
    }
}
