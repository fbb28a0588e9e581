//! Tests of reading and writing documents.

mod arbitrary;
mod fixtures;
mod small;

use super::FORM;
use super::codec::Opencode;
use crate::format::Purpose;
use crate::format::kit;
use crate::format::report::Report;
use crate::format::sessions::Input;
pub use crate::format::tests::bed::{shown_messages as shown, through_lines, with};
use crate::format::tests::{bed, truth};
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
    let mut report = Report::default();
    let mut reader = kit::open(
        &Opencode,
        Input {
            name: Some("tray.json".to_string()),
            head: Vec::new(),
            rest: Box::new(std::io::Cursor::new(bytes.to_vec())),
            returns: true,
            neighbor: None,
        },
    )
    .unwrap();
    let sessions = truth::all(reader.as_mut(), &mut report).unwrap_or_default();
    (sessions, report, reader.tail().to_vec())
}

/// Writes a session as a document from its records alone.
pub fn written(session: &Session, purpose: Purpose) -> (Vec<u8>, Report) {
    bed::written(FORM.write.unwrap(), session, purpose)
}

/// Writes sessions back to their input.
pub fn returned(sessions: &[Session], changed: bool) -> crate::error::Result<Vec<u8>> {
    bed::returned(FORM.back.unwrap(), sessions, changed)
}
