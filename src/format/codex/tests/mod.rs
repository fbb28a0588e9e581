//! Tests of reading and writing logs.

mod damage;
mod fixtures;
mod small;

use super::{read, write};
use crate::error::Position;
use crate::format::report::Report;
pub use crate::format::tests::bed::{cut, shown_with_category as shown, through_lines};
use crate::format::{EditedSession, Purpose};
use crate::model::session::Session;
use crate::model::source_bytes::SourceBytes;
use crate::model::view::View;
use std::sync::Arc;

/// The session of a log, and the report.
pub fn session(log: &[u8]) -> (Session, Report) {
    let mut report = Report::default();
    (
        read::read(None, log, Position { line: 0, offset: 0 }, &mut report),
        report,
    )
}

/// Writes a session as a log from its records alone.
pub fn written(session: &Session) -> Vec<u8> {
    let mut out = Vec::new();
    let view = View::replay(session);
    write::write(session, &view, Purpose::Return, &mut out, &mut Report::default()).unwrap();
    out
}

/// Writes a session back to its log, marked as changed.
pub fn returned(session: &Session, bytes: &[u8]) -> Vec<u8> {
    let mut session = session.clone();
    session.set_origin(Arc::new(SourceBytes {
        bytes: bytes.to_vec(),
        ..SourceBytes::default()
    }));
    let view = View::replay(&session);
    let returned = EditedSession {
        session: &session,
        view: &view,
        changed: true,
    };
    let mut out = Vec::new();
    write::write_back(&[returned], &mut out, &mut Report::default()).unwrap();
    out
}

/// The lines of a log that are not empty, without their endings.
pub fn full_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty()).collect()
}
