//! Reads lines of any length without copying them.

use super::read_window::ReadWindow;
use crate::error::Position;
use std::io::{self, Read};

/// A reader of complete lines.
pub struct ByteLines<R> {
    window: ReadWindow<R>,
    place: Position,
}

impl<R: Read> ByteLines<R> {
    /// Reads an input whose first bytes, `head`, were already read.
    pub fn new(head: Vec<u8>, input: R) -> Self {
        ByteLines {
            window: ReadWindow::new(head, input),
            place: Position { line: 0, offset: 0 },
        }
    }

    /// Reads an input from the end of a line, whose number and end offset are `place`.
    pub fn after(place: Position, input: R) -> Self {
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

/// Size of a block in bytes: many lines, and smaller than a processor's cache.
pub const BLOCK_SIZE: usize = 512 * 1024;

/// Complete lines of an input; its memory is used again for the next ones.
#[derive(Default)]
pub struct LineBlock {
    buffer: Vec<u8>,
    length: usize,
}

impl LineBlock {
    /// The lines. Only the last line of an input may lack its newline.
    pub fn lines(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// What follows a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterBlock {
    /// More lines can be read at once.
    More,
    /// The input has no more bytes now. Its writer may wait for output before it sends more.
    Pause,
    /// The end of the input.
    End,
}

/// The lines of some bytes, each with its newline, which the last one may lack.
pub fn each_line(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let open = bytes
        .last()
        .is_some_and(|last| *last != b'\n')
        .then_some(bytes.len());
    let ends = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1);
    let mut begin = 0;
    ends.chain(open).map(move |end| {
        let line = &bytes[begin..end];
        begin = end;
        line
    })
}

impl<R: Read> ByteLines<R> {
    /// Reads the next complete lines into `block`: about [`BLOCK_SIZE`] bytes, or what the input has. Their positions are the
    /// caller's to count.
    ///
    /// # Errors
    /// Read errors.
    pub fn next_block(&mut self, block: &mut LineBlock) -> io::Result<AfterBlock> {
        let buffer = &mut block.buffer;
        let open = self.window.bytes();
        let mut end = open.len();
        let least = BLOCK_SIZE.max(end + end / 2);
        if buffer.len() < least {
            buffer.resize(least, 0);
        }
        buffer[..end].copy_from_slice(open);
        self.window.take(end);
        // What was read to detect the format is passed on before this waits for more.
        let mut has_line = memchr::memchr(b'\n', &buffer[..end]).is_some();
        let mut after = AfterBlock::Pause;
        while !has_line && after != AfterBlock::End {
            if end == buffer.len() {
                buffer.resize(end + end / 2, 0);
            }
            let room = buffer.len() - end;
            let read = match self.window.is_ended() {
                true => 0,
                false => self.window.read_past(&mut buffer[end..])?,
            };
            has_line = memchr::memchr(b'\n', &buffer[end..end + read]).is_some();
            end += read;
            after = match read {
                0 => AfterBlock::End,
                _ if read == room => AfterBlock::More,
                _ => AfterBlock::Pause,
            };
        }
        block.length = match after {
            AfterBlock::End => end,
            _ => memchr::memrchr(b'\n', &buffer[..end]).map_or(0, |at| at + 1),
        };
        self.window.put_back(&buffer[block.length..end]);
        Ok(after)
    }
}

/// The lines of these bytes, each with its newline and its position; `start` is the position before the first one.
pub fn placed_lines(bytes: &[u8], start: Position) -> impl Iterator<Item = (&[u8], Position)> {
    let mut next = start;
    each_line(bytes).map(move |line| {
        next.line += 1;
        let place = next;
        next.offset += line.len() as u64;
        (line, place)
    })
}

#[cfg(test)]
mod tests {
    use super::super::read_window::BLOCK;
    use super::*;
    use crate::format::tests::bed::SlowReader;

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
        let mut lines = ByteLines::new(Vec::new(), SlowReader(bytes, step));
        let (mut all, mut offset) = (Vec::new(), 0);
        while let Some((line, place)) = lines.next_line().unwrap() {
            assert_eq!((place.line, place.offset), (all.len() as u64 + 1, offset));
            offset += line.len() as u64;
            all.push(String::from_utf8(line.to_vec()).unwrap());
        }
        all
    }

    #[test]
    fn blocks_are_complete_lines_for_any_chunk_size() {
        let long = "x".repeat(3 * BLOCK_SIZE);
        let lines = "a line of some length\n".repeat(BLOCK_SIZE / 8);
        let text = format!("a\n\n{long}\n{long}{long}\n{lines}last");
        for step in [7777, BLOCK_SIZE - 1, BLOCK_SIZE, 10 * BLOCK_SIZE] {
            let mut input = ByteLines::new(b"head\n".to_vec(), SlowReader(text.as_bytes(), step));
            let mut all = Vec::new();
            loop {
                // New ones, as when the earlier ones are still being checked.
                let mut block = LineBlock::default();
                let after = input.next_block(&mut block).unwrap();
                all.extend_from_slice(block.lines());
                if after == AfterBlock::End {
                    break;
                }
                assert!(block.lines().ends_with(b"\n"));
            }
            assert_eq!(all, [b"head\n", text.as_bytes()].concat());
        }
    }

    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }

    #[test]
    fn lines_before_a_read_error_are_a_block() {
        let mut input = ByteLines::new(b"one\ntwo\nthr".to_vec(), Broken);
        let mut block = LineBlock::default();
        assert_eq!(input.next_block(&mut block).unwrap(), AfterBlock::Pause);
        assert_eq!(block.lines(), b"one\ntwo\n");
        assert!(input.next_block(&mut block).is_err());
    }
}
