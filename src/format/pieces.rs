//! An input of lines cut into its sessions: each is read as a whole, and no more than one at a time.

use super::lines::Lines;
use super::sessions::Input;
use crate::error::{Error, Place, Result};
use std::io::Read;

/// The lines of one session.
pub struct Piece {
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// Where the first of them stands: the number of lines before it, and its offset.
    pub start: Place,
}

/// Cuts an input into pieces.
pub struct Pieces {
    lines: Lines<Box<dyn Read>>,
    /// The line that begins the next piece.
    next: Option<Piece>,
    begun: bool,
}

impl Pieces {
    /// Over an input.
    pub fn new(input: Input) -> Pieces {
        Pieces {
            lines: Lines::new(input.head, input.rest),
            next: None,
            begun: false,
        }
    }

    /// Whether no piece stands behind the one that was given out last.
    pub fn is_last(&self) -> bool {
        self.next.is_none()
    }

    /// The next piece; `begins` is asked of every line but the first whether it begins another, and sees the first as well.
    /// An input without lines is one piece.
    pub fn next(&mut self, mut begins: impl FnMut(&[u8]) -> bool) -> Result<Option<Piece>> {
        let mut piece = match self.next.take() {
            Some(piece) => piece,
            None if self.begun => return Ok(None),
            None => Piece {
                bytes: Vec::new(),
                start: Place { line: 0, offset: 0 },
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
                self.next = Some(Piece {
                    bytes: line.to_vec(),
                    start: Place {
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
