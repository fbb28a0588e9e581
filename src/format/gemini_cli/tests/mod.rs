//! Tests of reading and writing recordings.

mod damage;
mod fixtures;
mod small;

use super::{FORM, open};
use crate::format::kit;
use crate::format::report::Report;
pub use crate::format::tests::bed::{cut, shown, through_lines, with};
use crate::format::tests::truth;
use crate::format::{EditedSession, Input, Purpose};
use crate::model::session::Session;
use crate::model::view::View;

/// The sessions of an input, and the report.
pub fn sessions(bytes: &[u8]) -> (Vec<Session>, Report) {
    let mut report = Report::default();
    let all = try_sessions(bytes, &mut report).unwrap();
    (all, report)
}

pub fn try_sessions(bytes: &[u8], report: &mut Report) -> crate::error::Result<Vec<Session>> {
    let input = Input {
        name: None,
        head: bytes[..bytes.len().min(100)].to_vec(),
        rest: Box::new(std::io::Cursor::new(bytes[bytes.len().min(100)..].to_vec())),
        returns: true,
        neighbor: None,
    };
    let mut reader = open(input, kit::open)?;
    truth::all(reader.as_mut(), report)
}

/// Writes a session as a log from its records alone.
pub fn written(session: &Session, purpose: Purpose) -> (Vec<u8>, Report) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    FORM.write.unwrap()(session, &View::replay(session), purpose, &mut out, &mut report).unwrap();
    (out, report)
}

/// Writes sessions back to their input; those with additional lines count as changed.
pub fn returned(sessions: &[Session], changed: bool) -> Vec<u8> {
    let views: Vec<View> = sessions.iter().map(View::replay).collect();
    let returned: Vec<EditedSession<'_>> = sessions
        .iter()
        .zip(&views)
        .map(|(session, view)| EditedSession {
            session,
            view,
            changed,
        })
        .collect();
    let mut out = Vec::new();
    FORM.back.unwrap()(&returned, &mut out, &mut Report::default()).unwrap();
    out
}

/// The texts of visible messages.
pub fn texts(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    view.messages(session)
        .map(|message| message.text().into_owned())
        .collect()
}
