//! A window over an input: what has been read of it and is still looked at.

use std::io::{self, Read};

/// How much is read at once: large enough that a system call costs nothing beside the bytes, small enough for a
/// processor's cache.
pub(super) const BLOCK: usize = 256 * 1024;

/// How much is read at first.
const FIRST: usize = 16 * 1024;

/// Bytes between what has been given away and what has not been read yet.
pub(super) struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
}

impl<R: Read> Window<R> {
    /// Over an input, of which `head` has been read already.
    pub fn new(head: Vec<u8>, input: R) -> Self {
        let end = head.len();
        Window {
            input,
            buffer: head,
            start: 0,
            end,
            ended: false,
        }
    }

    /// What is in it.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether nothing follows what is in it.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Gives the first bytes of it away.
    #[inline]
    pub fn take(&mut self, length: usize) -> &[u8] {
        let taken = &self.buffer[self.start..self.start + length];
        self.start += length;
        taken
    }

    /// What is in it, and the rest of the input.
    pub fn into_parts(mut self) -> (Vec<u8>, R) {
        self.buffer.truncate(self.end);
        self.buffer.drain(..self.start);
        (self.buffer, self.input)
    }

    /// Moves what is left to the front and reads a block behind it.
    pub fn fill(&mut self) -> io::Result<()> {
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
