//! Tests of reading and writing documents.

mod damage;
mod fixtures;
mod small;

use super::read;
use crate::error::Result;
use crate::format::report::Report;
use crate::format::tests::bed;
pub use crate::format::tests::bed::{shown, through_lines, with, without};
use crate::format::{DocumentSource, Format, WritePurpose};
use crate::model::session::Session;
use crate::model::view::{Item, View};

/// The session of a document.
pub fn session(bytes: &[u8]) -> Session {
    try_session(bytes, &mut Report::default()).unwrap()
}

pub fn try_session(bytes: &[u8], report: &mut Report) -> Result<Session> {
    read::read(&DocumentSource::alone(bytes), report).map(|mut all| all.remove(0))
}

/// Writes a session as a document.
pub fn written(session: &Session, purpose: WritePurpose) -> (Vec<u8>, Report) {
    bed::written(Format::Continue, session, purpose)
}

/// The texts of the view.
pub fn texts(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    let text = |item: &Item| match (item.summary(session), item.message(session)) {
        (Some(text), _) => format!("= {text}"),
        (_, Some(message)) => message.text().into_owned(),
        _ => String::new(),
    };
    view.items.iter().map(text).collect()
}
