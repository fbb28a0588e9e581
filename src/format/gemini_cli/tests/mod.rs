//! Tests of reading and writing recordings.

mod damage;
mod fixtures;
mod small;

use crate::format::report::Report;
use crate::format::tests::bed;
pub use crate::format::tests::bed::{cut, shown, through_lines, with};
use crate::format::{Format, WritePurpose};
use crate::model::session::Session;
use crate::model::view::View;

/// The sessions of an input, and the report.
pub fn sessions(bytes: &[u8]) -> (Vec<Session>, Report) {
    let (all, report, _) = bed::read(Format::GeminiCli, "session.json", bytes);
    (all.unwrap(), report)
}

/// Writes a session as a log from its records alone.
pub fn written(session: &Session, purpose: WritePurpose) -> (Vec<u8>, Report) {
    bed::written(Format::GeminiCli, session, purpose)
}

/// Writes sessions back to their input; those with additional lines count as changed.
pub fn returned(sessions: &[Session], changed: bool) -> Vec<u8> {
    bed::returned(Format::GeminiCli, sessions, |_| changed).unwrap()
}

/// The texts of visible messages.
pub fn texts(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    view.messages(session)
        .map(|message| message.text().into_owned())
        .collect()
}
