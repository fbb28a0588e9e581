//! Logs read and written.

mod fixtures;

use super::*;
use crate::format::Source;
use crate::format::report::Report;
use crate::model::session::Session;

/// The session of a log, and what is told of it.
pub fn session(log: &[u8]) -> (Session, Report) {
    let mut report = Report::default();
    let mut sessions = read::read(&Source::alone(log), &mut report).unwrap();
    assert_eq!(sessions.len(), 1);
    (sessions.remove(0), report)
}
