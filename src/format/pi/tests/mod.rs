//! Tests of reading and writing files.

mod damage;
mod fixtures;
mod small;

use super::{read, write};
use crate::error::Position;
use crate::format::report::Report;
pub use crate::format::tests::bed::{cut, shown_messages as shown, with};
use crate::format::{EditedSession, Purpose};
use crate::model::session::Session;
use crate::model::source_bytes::SourceBytes;
use crate::model::view::View;
use std::sync::Arc;

/// The sessions of a file, and the report.
pub fn sessions(file: &[u8]) -> (Vec<Session>, Report) {
    let mut report = Report::default();
    (
        read::read(None, file, Position { line: 0, offset: 0 }, false, &mut report),
        report,
    )
}

/// Writes a session as a file from its records alone.
pub fn written(session: &Session) -> Vec<u8> {
    let mut out = Vec::new();
    let view = View::replay(session);
    write::write(session, &view, Purpose::Return, &mut out, &mut Report::default()).unwrap();
    out
}

/// Writes sessions back to their file, with the first marked as changed.
pub fn returned(sessions: &[Session], bytes: &[u8]) -> crate::error::Result<Vec<u8>> {
    let origin = Arc::new(SourceBytes {
        bytes: bytes.to_vec(),
        ..SourceBytes::default()
    });
    let mut sessions = sessions.to_vec();
    sessions
        .iter_mut()
        .for_each(|session| session.set_origin(origin.clone()));
    let views: Vec<View> = sessions.iter().map(View::replay).collect();
    let returned: Vec<EditedSession<'_>> = sessions
        .iter()
        .zip(&views)
        .enumerate()
        .map(|(nth, (session, view))| EditedSession {
            session,
            view,
            changed: nth == 0,
        })
        .collect();
    let mut out = Vec::new();
    write::write_back(&returned, &mut out, &mut Report::default())?;
    Ok(out)
}
