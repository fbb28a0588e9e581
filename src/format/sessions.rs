//! Sessions one after another: out of an input as they are read, and back into the stream of records.

use super::report::Report;
use crate::error::{Error, Result};
use crate::model::record::{Kind, Record};
use crate::model::session::Session;
use std::io::{self, Read};

/// An input that is read from its beginning, without looking back.
pub struct Input {
    /// Name of the file without its folder; none for a pipe.
    pub name: Option<String>,
    /// What has been read of it already: its first bytes.
    pub head: Vec<u8>,
    /// The rest.
    pub rest: Box<dyn Read>,
    /// Whether what is read may be written back into its own format, so that sessions are to keep their origin.
    pub returns: bool,
    /// Reads a file next to it.
    pub beside: Option<Neighbor>,
}

/// Reads a file of a folder; none if there is no such file.
pub type Neighbor = Box<dyn Fn(&str) -> io::Result<Option<Vec<u8>>>>;

impl Input {
    /// The whole of it.
    pub fn whole(mut self) -> Result<Vec<u8>> {
        let rest = self.rest.read_to_end(&mut self.head);
        rest.map_err(|error| Error::io("cannot read", error))?;
        Ok(self.head)
    }
}

/// Reads sessions one after another.
pub trait SessionReader {
    /// The next session. What is wrong with it goes to the report; what cannot be read as a session at all does too, and
    /// the next one follows. An error ends the input.
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>>;

    /// Once there is no further session: what stands behind the origin of the last one, as a closing bracket.
    fn tail(&self) -> &[u8] {
        &[]
    }
}

/// Those of a document that was read as a whole.
impl SessionReader for std::vec::IntoIter<Session> {
    fn next(&mut self, _: &mut Report) -> Result<Option<Session>> {
        Ok(Iterator::next(self))
    }
}

/// Records of sessions that were converted, read as a stream.
pub struct Converted {
    sessions: Box<dyn SessionReader>,
    session: Option<Session>,
    line: usize,
}

impl Converted {
    /// Over sessions.
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

/// What is read of an input.
pub enum Stream<'r> {
    /// Lines of the record stream.
    Records(Box<dyn Reader + 'r>),
    /// Sessions that were converted.
    Sessions(Box<dyn SessionReader + 'r>),
}

impl From<Vec<Session>> for Stream<'_> {
    fn from(sessions: Vec<Session>) -> Self {
        Stream::Sessions(Box::new(sessions.into_iter()))
    }
}

/// The sessions of a stream: among records, each header begins one.
pub struct Sessions<'r> {
    stream: Stream<'r>,
    next: Option<Session>,
    done: bool,
}

impl<'r> Sessions<'r> {
    /// Over what is read.
    pub fn new(stream: Stream<'r>) -> Self {
        Sessions {
            stream,
            next: None,
            done: false,
        }
    }

    /// What stands behind the last session, once there is no further one.
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
            // Blank lines ahead of a header begin no session of their own.
            begun |= !matches!(record.kind, Kind::Blank);
            session.push_read(&record);
        }
        Ok(begun.then_some(session))
    }
}

/// Reads records one after another.
pub trait Reader {
    /// The next record; it borrows the reader's memory. What is wrong with it goes to the report.
    fn next(&mut self, report: &mut Report) -> Result<Option<Record<'_>>>;
}
