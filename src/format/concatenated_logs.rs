//! Splits an input of lines into the logs of its sessions, one log at a time.

use super::lines::ByteLines;
use super::sessions::Input;
use crate::error::{Error, Position, Result};
use std::io::Read;

/// The lines of one session.
pub struct SessionLines {
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// Position before its first line: the number of preceding lines, and the offset.
    pub start: Position,
}

/// Splits an input into logs.
pub struct LogSplitter {
    lines: ByteLines<Box<dyn Read>>,
    /// The first line of the next log.
    next: Option<SessionLines>,
    begun: bool,
}

impl LogSplitter {
    /// Splits an input.
    pub fn new(input: Input) -> LogSplitter {
        LogSplitter {
            lines: ByteLines::new(input.head, input.rest),
            next: None,
            begun: false,
        }
    }

    /// Whether the log returned last is the final one.
    pub fn is_last(&self) -> bool {
        self.next.is_none()
    }

    /// The next log. `begins` decides for each line whether it starts another log; its result for the first line is
    /// ignored. An input without lines is one empty log.
    pub fn next(&mut self, mut begins: impl FnMut(&[u8]) -> bool) -> Result<Option<SessionLines>> {
        let mut piece = match self.next.take() {
            Some(piece) => piece,
            None if self.begun => return Ok(None),
            None => SessionLines {
                bytes: Vec::new(),
                start: Position { line: 0, offset: 0 },
            },
        };
        if !piece.bytes.is_empty() {
            begins(&piece.bytes);
        }
        self.begun = true;
        loop {
            let line = self.lines.next_line();
            let Some((line, place)) = line.map_err(|error| Error::io("cannot read", error))? else {
                return Ok(Some(piece));
            };
            if begins(line) && !piece.bytes.is_empty() {
                self.next = Some(SessionLines {
                    bytes: line.to_vec(),
                    start: Position {
                        line: place.line - 1,
                        ..place
                    },
                });
                return Ok(Some(piece));
            }
            piece.bytes.extend_from_slice(line);
        }
    }
}
