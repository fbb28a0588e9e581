//! Tests of reading and writing logs.

mod damage;
mod fixtures;
mod new_logs;
mod small;

use super::read;
use crate::error::Position;
use crate::format::report::Report;
use crate::format::tests::bed;
pub use crate::format::tests::bed::{cut, shown_with_category as shown, through_lines};
use crate::format::{Format, WritePurpose};
use crate::model::session::Session;

pub fn session(log: &[u8]) -> (Session, Report) {
    let mut report = Report::default();
    (
        read::read(None, log, Position { line: 0, offset: 0 }, &mut report),
        report,
    )
}

/// Writes a session as a log from its records alone.
pub fn written(session: &Session) -> Vec<u8> {
    bed::written(Format::Codex, session, WritePurpose::Return).0
}

/// Writes a session back to its log, marked as changed.
pub fn returned(session: &Session, bytes: &[u8]) -> Vec<u8> {
    bed::returned(
        Format::Codex,
        &bed::read_from(bytes, std::slice::from_ref(session)),
        |_| true,
    )
    .unwrap()
}

/// The lines of a log that are not empty, without their endings.
pub fn full_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty()).collect()
}
