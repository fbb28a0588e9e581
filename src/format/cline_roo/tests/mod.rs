//! Tests of reading and writing histories.

mod damage;
mod fixtures;
mod small;

use super::{SPEC, panel, read};
use crate::error::Result;
use crate::format::report::Report;
pub use crate::format::tests::bed::{shown, through_lines, with, without};
use crate::format::{DocumentSource, WritePurpose, WriteTarget};
use crate::model::session::Session;
use crate::model::view::View;

/// The session of a history, with an optional interface file.
pub fn session(bytes: &[u8], panel: Option<&[u8]>) -> Session {
    try_session(bytes, panel, &mut Report::default()).unwrap()
}

pub fn try_session(bytes: &[u8], panel: Option<&[u8]>, report: &mut Report) -> Result<Session> {
    let neighbor = |name: &str| Ok(panel.filter(|_| name == panel::NAME).map(<[u8]>::to_vec));
    let source = DocumentSource {
        neighbor: &neighbor,
        ..DocumentSource::alone(bytes)
    };
    read::read(&source, report).map(|mut all| all.remove(0))
}

/// Writes a session as a history.
pub fn written(session: &Session, purpose: WritePurpose) -> Result<(Vec<u8>, Report)> {
    let (mut out, mut report) = (Vec::new(), Report::default());
    SPEC.write.unwrap()(
        session,
        &View::replay(session),
        WriteTarget(purpose, &mut out, &mut report),
    )?;
    Ok((out, report))
}
