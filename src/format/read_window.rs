//! A buffered window over an input: bytes that were read and not yet consumed.

use std::io::{self, Read};

/// Read size in bytes: large enough to make system calls cheap, small enough for a processor cache.
pub(super) const BLOCK: usize = 256 * 1024;

/// Maximum number of bytes by which the buffer grows at once.
const STEP: usize = 4 << 20;

/// Initial buffer size.
const FIRST: usize = 16 * 1024;

/// The bytes that were read and not yet consumed.
pub(super) struct ReadWindow<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
}

impl<R: Read> ReadWindow<R> {
    /// Reads an input whose first bytes, `head`, were already read.
    pub fn new(head: Vec<u8>, input: R) -> Self {
        let end = head.len();
        ReadWindow {
            input,
            buffer: head,
            start: 0,
            end,
            ended: false,
        }
    }

    /// The unconsumed bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether the input has ended.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Consumes the first bytes.
    #[inline]
    pub fn take(&mut self, length: usize) -> &[u8] {
        let taken = &self.buffer[self.start..self.start + length];
        self.start += length;
        taken
    }

    /// The unconsumed bytes, and the rest of the input.
    pub fn into_parts(mut self) -> (Vec<u8>, R) {
        self.buffer.truncate(self.end);
        self.buffer.drain(..self.start);
        (self.buffer, self.input)
    }

    /// Moves the unconsumed bytes to the front and reads more.
    pub fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            // The memory of a very long line is not needed for the next one.
            if self.end <= BLOCK && self.buffer.len() > STEP * 2 {
                self.buffer.truncate(BLOCK);
                self.buffer.shrink_to_fit();
            }
        }
        // Start small, because most files are small and untouched memory is free. The buffer doubles up to a block, and
        // beyond it for long lines; for very long ones only its capacity doubles, because memory that is not cleared
        // takes no space.
        let size = self.buffer.len();
        if size < BLOCK || size - self.end < size.min(STEP) / 2 {
            let wanted = self.end + self.end.min(STEP);
            self.buffer.resize((size * 2).clamp(FIRST, BLOCK).max(wanted), 0);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.read_past(&mut buffer[self.end..]);
        self.buffer = buffer;
        self.end += read?;
        Ok(())
    }

    /// Reads the bytes after the window into another buffer; returns their number, 0 at the end of the input.
    pub fn read_past(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.input.read(buffer) {
                Ok(read) => {
                    self.ended = read == 0 && !buffer.is_empty();
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes bytes that were read past the window, which must be empty, its content.
    pub fn put_back(&mut self, bytes: &[u8]) {
        self.buffer.clear();
        self.buffer.extend_from_slice(bytes);
        (self.start, self.end) = (0, bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_very_long_line_takes_little_more_than_its_own_memory() {
        let input = [vec![b'x'; 20 << 20], b"\nnext\n".to_vec()].concat();
        let mut window = ReadWindow::new(Vec::new(), &input[..]);
        while !window.bytes().ends_with(b"\n") {
            window.fill().unwrap();
            assert!(window.buffer.len() <= window.end + STEP);
        }
        window.take((20 << 20) + 1);
        window.fill().unwrap();
        assert_eq!(window.bytes(), b"next\n");
        assert!(window.buffer.capacity() <= STEP);
    }
}
