//! Logs read and written.

mod fixtures;

use super::*;
use crate::format::report::Report;
use crate::model::session::Session;

/// The session of a log, and what is told of it.
pub fn session(log: &[u8]) -> (Session, Report) {
    let mut report = Report::default();
    (read::read(None, log, &mut report), report)
}
