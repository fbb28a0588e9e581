//! Tests of reading and writing files.

mod fixtures;
mod small;
mod values;

use super::{read, write};
use crate::error::Result;
use crate::format::report::Report;
use crate::format::{DocumentSource, EditedSession, Format, Purpose};
use crate::model::session::Session;
use crate::model::view::View;

/// The session of a file, and the report.
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
    let (mut out, mut report) = (Vec::new(), Report::default());
    let view = View::replay(session);
    crate::format::write(
        Format::Aichat,
        session,
        &view,
        Purpose::Export,
        &mut out,
        &mut report,
    )
    .unwrap();
    (String::from_utf8(out).unwrap(), report)
}

/// Writes a session back to its file.
pub fn returned(session: &Session, changed: bool) -> Result<String> {
    let view = View::replay(session);
    let returned = EditedSession {
        session,
        view: &view,
        changed,
    };
    let mut out = Vec::new();
    write::write_back(&[returned], &mut out, &mut Report::default())?;
    Ok(String::from_utf8(out).unwrap())
}

/// The session with these lines appended.
pub fn with(session: &Session, lines: &[&str]) -> Session {
    let mut session = session.clone();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    session
}
