//! Tests of reading and writing documents.

mod arbitrary;
mod fixtures;
mod small;

use crate::format::report::Report;
use crate::format::tests::bed;
pub use crate::format::tests::bed::{shown_messages as shown, through_lines, with};
use crate::format::{Format, WritePurpose};
use crate::model::session::Session;

/// A document with all kinds of data: an inline file, steps, signed reasoning, a cleared result, a compaction, a failed
/// one, a call without a result.
pub const DOCUMENT: &str = include_str!("document.json");

/// The sessions of an input with their source bytes.
pub fn sessions(bytes: &[u8]) -> (Vec<Session>, Report) {
    let (sessions, report, _) = sessions_and_tail(bytes);
    (sessions, report)
}

/// As [`sessions`], with the bytes after the last one.
pub fn sessions_and_tail(bytes: &[u8]) -> (Vec<Session>, Report, Vec<u8>) {
    let (sessions, report, tail) = bed::read(Format::Opencode, "tray.json", bytes);
    (sessions.unwrap_or_default(), report, tail)
}

/// Writes a session in its original form from its records alone.
pub fn written(session: &Session, purpose: WritePurpose) -> (Vec<u8>, Report) {
    bed::written(Format::Opencode, session, purpose)
}

/// Writes sessions back to their input.
pub fn returned(sessions: &[Session], changed: bool) -> crate::error::Result<Vec<u8>> {
    bed::returned(Format::Opencode, sessions, |_| changed)
}
