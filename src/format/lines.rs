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

/// Size of a block in bytes: many lines, and small beside a processor's cache.
const BLOCK_SIZE: usize = 512 * 1024;

/// Complete lines of an input; its memory is used again for the next ones.
#[derive(Default)]
pub struct Block {
    buffer: Vec<u8>,
    length: usize,
}

impl Block {
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
    /// The input has no more bytes now: its writer may be waiting for what was written so far.
    Pause,
    /// The end of the input.
    End,
}

/// An input that is read in blocks of lines.
pub trait BlockReader {
    /// Reads the next complete lines into `block`: about 512 KiB, or what the input has.
    ///
    /// # Errors
    /// Read errors.
    fn next_block(&mut self, block: &mut Block) -> io::Result<AfterBlock>;
}

impl<R: Read> BlockReader for ByteLines<R> {
    fn next_block(&mut self, block: &mut Block) -> io::Result<AfterBlock> {
        let buffer = &mut block.buffer;
        let open = self.window.bytes();
        let mut end = open.len();
        if buffer.len() < end.max(BLOCK_SIZE) {
            buffer.resize(end.max(BLOCK_SIZE), 0);
        }
        buffer[..end].copy_from_slice(open);
        self.window.take(end);
        let mut searched = 0;
        let mut has_line = false;
        let after = loop {
            let room = buffer.len() - end;
            let read = match self.window.is_ended() {
                true => 0,
                false => match self.window.read_past(&mut buffer[end..]) {
                    Ok(read) => read,
                    // First the lines before the error, which the next call meets again.
                    Err(_) if memchr::memchr(b'\n', &buffer[..end]).is_some() => break AfterBlock::Pause,
                    Err(error) => return Err(error),
                },
            };
            end += read;
            has_line |= memchr::memrchr(b'\n', &buffer[searched..end]).is_some();
            searched = end;
            match (read == 0 && room > 0, has_line) {
                (true, _) => break AfterBlock::End,
                (_, true) if read == room => break AfterBlock::More,
                (_, true) => break AfterBlock::Pause,
                _ if end == buffer.len() => buffer.resize(2 * end, 0),
                _ => {}
            }
        };
        block.length = match after {
            AfterBlock::End => end,
            _ => memchr::memrchr(b'\n', &buffer[..end]).map_or(0, |at| at + 1),
        };
        self.window.put_back(&buffer[block.length..end]);
        Ok(after)
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

    #[test]
    fn blocks_are_complete_lines_for_any_chunk_size() {
        let long = "x".repeat(3 * BLOCK_SIZE);
        let lines = "a line of some length\n".repeat(BLOCK_SIZE / 8);
        let text = format!("a\n\n{long}\n{lines}last");
        for step in [7777, BLOCK_SIZE - 1, BLOCK_SIZE, 10 * BLOCK_SIZE] {
            let mut input = ByteLines::new(b"head\n".to_vec(), Dribble(text.as_bytes(), step));
            let (mut all, mut block) = (Vec::new(), Block::default());
            loop {
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
        let mut block = Block::default();
        assert_eq!(input.next_block(&mut block).unwrap(), AfterBlock::Pause);
        assert_eq!(block.lines(), b"one\ntwo\n");
        assert!(input.next_block(&mut block).is_err());
    }
}
