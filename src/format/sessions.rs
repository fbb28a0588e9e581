//! Streams of sessions: read from an input one at a time, and converted to a record stream.

use super::lines::{AfterBlock, LineBlock};
use super::report::Report;
use crate::error::{Error, Result};
use crate::model::record::{Record, RecordKind};
use crate::model::session::Session;
use std::io::{self, Read};

/// An input that is read once from the beginning.
pub struct SessionInput {
    /// File name without directory; `None` for a pipe.
    pub name: Option<String>,
    /// The first bytes, which were already read.
    pub head: Vec<u8>,
    /// The rest.
    pub rest: Box<dyn Read>,
    /// Whether sessions may be written back to the input's format and must keep their source bytes.
    pub returns: bool,
    /// Reads a file in the same directory.
    pub neighbor: Option<Neighbor>,
}

/// Reads a file of a directory; `None` if it does not exist.
pub type Neighbor = Box<dyn Fn(&str) -> io::Result<Option<Vec<u8>>>>;

impl SessionInput {
    /// An input with these bytes, which is not written back.
    pub fn of(bytes: Vec<u8>) -> SessionInput {
        SessionInput {
            name: None,
            head: bytes,
            rest: Box::new(io::empty()),
            returns: false,
            neighbor: None,
        }
    }

    /// Reads the complete input.
    pub fn whole(mut self) -> Result<Vec<u8>> {
        let rest = self.rest.read_to_end(&mut self.head);
        rest.map_err(|error| Error::io("cannot read", error))?;
        Ok(self.head)
    }
}

/// Reads sessions one at a time.
pub trait SessionReader {
    /// The next session. Problems go to the report; a part that is not a session is reported and skipped. An error ends
    /// the input.
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>>;

    /// Reports the losses that are not reported yet. Called if the input is not read to its end.
    fn end_early(&mut self, _: &mut Report) {}

    /// After the last session: the bytes after its source section, such as a closing bracket.
    fn tail(&self) -> &[u8] {
        &[]
    }
}

/// The sessions of a document that was read completely.
impl SessionReader for std::vec::IntoIter<Session> {
    fn next(&mut self, _: &mut Report) -> Result<Option<Session>> {
        Ok(Iterator::next(self))
    }
}

/// Converted sessions as a stream of records.
pub struct Converted {
    sessions: Box<dyn SessionReader>,
    session: Option<Session>,
    line: usize,
}

impl Converted {
    /// Reads from sessions.
    pub fn new(sessions: Box<dyn SessionReader>) -> Converted {
        Converted {
            sessions,
            session: None,
            line: 0,
        }
    }
}

impl From<Vec<Session>> for Converted {
    fn from(sessions: Vec<Session>) -> Self {
        Converted::new(Box::new(sessions.into_iter()))
    }
}

impl Reader for Converted {
    fn next(&mut self, report: &mut Report) -> Result<Option<Record<'_>>> {
        while self
            .session
            .as_ref()
            .is_none_or(|session| self.line == session.len())
        {
            self.line = 0;
            self.session = self.sessions.next(report)?;
            if self.session.is_none() {
                return Ok(None);
            }
        }
        self.line += 1;
        Ok(self.session.as_ref().map(|session| session.record(self.line - 1)))
    }
}

/// The records or sessions of an input.
pub enum Stream<'r> {
    /// Records.
    Records(Box<dyn Reader + 'r>),
    /// Converted sessions.
    Sessions(Box<dyn SessionReader + 'r>),
}

impl From<Vec<Session>> for Stream<'_> {
    fn from(sessions: Vec<Session>) -> Self {
        Stream::Sessions(Box::new(sessions.into_iter()))
    }
}

/// The sessions of a stream; in a record stream, each header starts one.
pub struct Sessions<'r> {
    stream: Stream<'r>,
    next: Option<Session>,
    done: bool,
}

impl<'r> Sessions<'r> {
    /// Reads from a stream.
    pub fn new(stream: Stream<'r>) -> Self {
        Sessions {
            stream,
            next: None,
            done: false,
        }
    }

    /// Reports the losses that are not reported yet, for a caller that does not read to the end.
    pub fn end_early(&mut self, report: &mut Report) {
        if let Stream::Sessions(sessions) = &mut self.stream {
            sessions.end_early(report);
        }
    }

    /// The bytes after the last session, once all were returned.
    pub fn tail(&self) -> &[u8] {
        match &self.stream {
            Stream::Records(_) => &[],
            Stream::Sessions(sessions) => sessions.tail(),
        }
    }

    /// The next session; a stream of blank lines has none.
    pub fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        let reader = match &mut self.stream {
            Stream::Records(reader) => reader,
            Stream::Sessions(sessions) => return sessions.next(report),
        };
        let mut session = self.next.take().unwrap_or_default();
        let mut begun = !session.is_empty();
        while !self.done {
            let Some(record) = reader.next(report)? else {
                self.done = true;
                break;
            };
            if begun && record.event().is_some_and(|event| event.is_header()) {
                let mut next = Session::default();
                next.push(&record);
                self.next = Some(next);
                return Ok(Some(session));
            }
            // Blank lines before a header do not start a session.
            begun |= !matches!(record.kind, RecordKind::Blank);
            session.push_read(&record);
        }
        Ok(begun.then_some(session))
    }
}

/// Reads records one at a time.
pub trait Reader {
    /// The next record, which borrows the reader's buffer. Problems go to the report.
    fn next(&mut self, report: &mut Report) -> Result<Option<Record<'_>>>;

    /// Reads the next lines into `block`, if the lines of the input are its records; otherwise returns `None`.
    ///
    /// # Errors
    /// Read errors.
    fn next_block(&mut self, _: &mut LineBlock) -> io::Result<Option<AfterBlock>> {
        Ok(None)
    }
}
