//! Sessions one after another: out of an input as they are read, and back into the stream of records.

use super::Reader;
use super::report::Report;
use crate::error::{Error, Result};
use crate::model::record::{Kind, Record};
use crate::model::session::Session;
use std::io::Read;

/// An input that is read from its beginning, without looking back.
pub struct Input {
    /// Name of the file without its folder; none for a pipe.
    pub name: Option<String>,
    /// What has been read of it already: its first bytes.
    pub head: Vec<u8>,
    /// The rest.
    pub rest: Box<dyn Read>,
}

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

/// Splits a stream into sessions: each header begins one.
pub struct Sessions<'r> {
    reader: Box<dyn Reader + 'r>,
    next: Option<Session>,
    done: bool,
}

impl<'r> Sessions<'r> {
    /// Over a reader.
    pub fn new(reader: Box<dyn Reader + 'r>) -> Self {
        Sessions {
            reader,
            next: None,
            done: false,
        }
    }

    /// The next session; a stream without any line has none.
    pub fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        let mut session = self.next.take().unwrap_or_default();
        let mut begun = !session.is_empty();
        while !self.done {
            let Some(record) = self.reader.next(report)? else {
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
            session.push(&record);
        }
        Ok((!session.is_empty()).then_some(session))
    }
}
