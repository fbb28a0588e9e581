//! Splits an input of lines into its logs, and reads their sessions one log at a time.

use super::lines::ByteLines;
use super::report::Report;
use super::sessions::{SessionInput, SessionReader};
use crate::error::{Error, Position, Result};
use crate::model::session::Session;
use crate::model::source_bytes::SourceBytes;
use std::io::Read;
use std::sync::Arc;

pub struct SessionLines {
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
    pub fn new(input: SessionInput) -> LogSplitter {
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

/// Decides for each line of a log whether it starts another log.
pub type StartRule = Box<dyn FnMut(&[u8]) -> bool>;

/// Reads the sessions of a log from the name of its file, its bytes and the position before its first line.
pub type ReadLog = fn(Option<&str>, &[u8], Position, &mut Report) -> Vec<Session>;

/// Opens an input with one or more concatenated logs, whose sessions share the bytes of their log.
pub fn open(input: SessionInput, begins: fn() -> StartRule, read: ReadLog) -> Result<Box<dyn SessionReader>> {
    Ok(Box::new(ConcatenatedReader {
        name: input.name.clone(),
        returns: input.returns,
        logs: LogSplitter::new(input),
        begins,
        read,
        sessions: Vec::new().into_iter(),
    }))
}

struct ConcatenatedReader {
    logs: LogSplitter,
    name: Option<String>,
    returns: bool,
    begins: fn() -> StartRule,
    read: ReadLog,
    /// The remaining sessions of the last log.
    sessions: std::vec::IntoIter<Session>,
}

impl SessionReader for ConcatenatedReader {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        loop {
            if let Some(session) = Iterator::next(&mut self.sessions) {
                return Ok(Some(session));
            }
            let Some(log) = self.logs.next((self.begins)())? else {
                return Ok(None);
            };
            let mut sessions = (self.read)(self.name.as_deref(), &log.bytes, log.start, report);
            if self.returns {
                let origin = Arc::new(SourceBytes {
                    bytes: log.bytes,
                    ..SourceBytes::default()
                });
                sessions
                    .iter_mut()
                    .for_each(|session| session.set_origin(origin.clone()));
            }
            self.sessions = sessions.into_iter();
        }
    }
}
