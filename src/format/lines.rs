//! Lines of any length from anything that can be read, without a copy of them.

use crate::error::Place;
use std::io::{self, Read};

/// How much is read at once: large enough that a system call costs nothing beside the bytes, small enough for a
/// processor's cache.
const BLOCK: usize = 256 * 1024;

/// How much is read at first.
const FIRST: usize = 16 * 1024;

/// A reader that hands out whole lines.
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    place: Place,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// Over an input, of which `head` has been read already.
    pub fn new(head: Vec<u8>, input: R) -> Self {
        let end = head.len();
        Lines {
            input,
            buffer: head,
            start: 0,
            end,
            place: Place { line: 0, offset: 0 },
            ended: false,
        }
    }

    /// The next line with its newline (the last one may have none), and where it stands.
    pub fn next_line(&mut self) -> io::Result<Option<(&[u8], Place)>> {
        let mut searched = self.start;
        let end = loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                break searched + at + 1;
            }
            if self.ended {
                break self.end;
            }
            searched = self.end - self.start;
            self.fill()?;
        };
        if self.start == end {
            return Ok(None);
        }
        let line = &self.buffer[self.start..end];
        let place = Place {
            line: self.place.line + 1,
            offset: self.place.offset,
        };
        self.place = Place {
            line: place.line,
            offset: place.offset + line.len() as u64,
        };
        self.start = end;
        Ok(Some((line, place)))
    }

    /// Moves what is left to the front and reads a block behind it.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        // Most files are small, and memory that is never touched costs nothing: the buffer begins small and doubles
        // up to a block. Behind a long line it goes on doubling, so that one of a gigabyte is copied a few times.
        let size = self.buffer.len();
        if size < BLOCK || size - self.end < size / 2 {
            self.buffer
                .resize((size * 2).clamp(FIRST, BLOCK).max(self.end * 2), 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn lines_come_whole_however_the_bytes_come() {
        let long = "x".repeat(3 * BLOCK);
        let text = format!("a\n\n{long}\nlast");
        for step in [1, 2, 7, 4096, BLOCK, 10 * BLOCK] {
            if step < 7 && text.len() > BLOCK {
                // One byte a call over the long line is only slow, not different.
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
        let mut lines = Lines::new(Vec::new(), Dribble(bytes, step));
        let (mut all, mut offset) = (Vec::new(), 0);
        while let Some((line, place)) = lines.next_line().unwrap() {
            assert_eq!((place.line, place.offset), (all.len() as u64 + 1, offset));
            offset += line.len() as u64;
            all.push(String::from_utf8(line.to_vec()).unwrap());
        }
        all
    }
}
