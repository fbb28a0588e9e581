//! Tests of reading and writing histories.

mod fixtures;
mod small;

use crate::format::report::Report;
use crate::format::tests::bed::exported;
use crate::format::{DocumentSource, Format, convert};
use crate::model::json;
use crate::model::session::Session;

pub fn sessions(file: &str) -> (Vec<Session>, Report) {
    let mut report = Report::default();
    let source = DocumentSource {
        name: Some(".aider.chat.history.md"),
        ..DocumentSource::alone(file.as_bytes())
    };
    (convert(Format::Aider, &source, &mut report).unwrap(), report)
}

/// Role and text of the messages in a session's log, and the console output.
pub fn role_texts(session: &Session) -> Vec<(String, String)> {
    let lines = (0..session.len()).filter_map(|index| {
        let record = session.record(index);
        if let Some(message) = record.message() {
            return Some((message.role_name().into_owned(), message.text().into_owned()));
        }
        let raw = json::member_text(record.body, "raw")?;
        Some(("console".to_string(), raw.into_owned()))
    });
    lines.collect()
}

/// Writes a session as a history.
pub fn written(session: &Session) -> (String, Report) {
    exported(Format::Aider, session)
}
