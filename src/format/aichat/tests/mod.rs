//! Tests of reading and writing files.

mod fixtures;
mod small;
mod values;

use super::read;
use crate::error::Result;
use crate::format::report::Report;
pub use crate::format::tests::bed::with;
use crate::format::tests::bed::{self, exported};
use crate::format::{DocumentSource, Format};
use crate::model::session::Session;
use crate::model::view::View;

pub fn session(file: &str) -> (Session, Report) {
    let mut report = Report::default();
    let source = DocumentSource {
        name: Some("talk.yaml"),
        ..DocumentSource::alone(file.as_bytes())
    };
    let mut sessions = read::read(&source, &mut report).unwrap();
    (sessions.remove(0), report)
}

/// Role and text of visible messages; the text of a summary.
pub fn shown(session: &Session) -> Vec<(String, String)> {
    let view = View::replay(session);
    let item = |item: &crate::model::view::Item| match item.summary(session) {
        Some(text) => ("summary".to_string(), text.into_owned()),
        None => {
            let message = item.message(session).unwrap();
            (message.role_name().into_owned(), message.text().into_owned())
        }
    };
    view.items.iter().map(item).collect()
}

/// Writes a session as a file from its records alone.
pub fn written(session: &Session) -> (String, Report) {
    exported(Format::Aichat, session)
}

/// Writes a session back to its file.
pub fn returned(session: &Session, changed: bool) -> Result<String> {
    let bytes = bed::returned(Format::Aichat, std::slice::from_ref(session), |_| changed)?;
    Ok(String::from_utf8(bytes).unwrap())
}
