//! Tests of reading and writing files.

mod damage;
mod fixtures;
mod small;

use super::read;
use crate::error::Position;
use crate::format::report::Report;
use crate::format::tests::bed;
pub use crate::format::tests::bed::{cut, shown_messages as shown, with};
use crate::format::{Format, WritePurpose};
use crate::model::session::Session;

pub fn sessions(file: &[u8]) -> (Vec<Session>, Report) {
    let mut report = Report::default();
    (
        read::read(None, file, Position { line: 0, offset: 0 }, false, &mut report),
        report,
    )
}

/// Writes a session as a file from its records alone.
pub fn written(session: &Session) -> Vec<u8> {
    bed::written(Format::Pi, session, WritePurpose::Return).0
}

/// Writes sessions back to their file, with the first marked as changed.
pub fn returned(sessions: &[Session], bytes: &[u8]) -> crate::error::Result<Vec<u8>> {
    bed::returned(Format::Pi, &bed::read_from(bytes, sessions), |nth| nth == 0)
}
