//! Writes several histories back to their positions in one input.

use super::{Api, print, write};
use crate::error::Result;
use crate::format::report::Report;
use crate::format::{EditedSession, WritePurpose, WriteTarget, written};
use crate::model::json;
use std::io::Write;

/// Writes the sessions of one section of an input, with its original bytes unless a session has changed.
pub fn write_back(
    api: Api,
    sessions: &[EditedSession<'_>],
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let Some(origin) = sessions.first().and_then(|first| first.session.origin()) else {
        return Ok(());
    };
    written(out.write_all(&origin.before))?;
    if sessions.iter().all(|session| !session.changed) {
        return written(out.write_all(&origin.bytes));
    }
    let [one] = sessions else {
        return Err(print::response_refused());
    };
    let mut whole = Vec::new();
    write(
        api,
        one.session,
        one.view,
        WriteTarget(WritePurpose::Return, &mut whole, report),
    )?;
    // A section on one line must remain on one line.
    let is_one_line = |bytes: &[u8]| memchr::memchr(b'\n', bytes).is_none();
    match is_one_line(&origin.bytes) && !is_one_line(&whole) {
        true => written(out.write_all(&json::compact(&whole).0)),
        false => written(out.write_all(whole.trim_ascii_end())),
    }
}
