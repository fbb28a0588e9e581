//! Tests of reading and writing sessions.

mod arbitrary;
mod fixtures;
mod small;

use crate::format::report::Report;
use crate::format::tests::bed;
pub use crate::format::tests::bed::{cut, shown, through_lines, with};
use crate::format::{Format, WritePurpose};
use crate::model::session::Session;

/// Lines with all kinds of data.
pub const LINES: &str = include_str!("session.jsonl");

/// The same as a document.
pub fn document() -> String {
    let mut lines = LINES.lines().filter(|line| !line.is_empty());
    let first = lines.next().unwrap().strip_suffix('}').unwrap().to_string();
    let messages: Vec<&str> = lines.collect();
    format!(
        "{first},\n  \"id\": \"20260601_1\", \"created_at\": \"2026-06-01T08:00:00Z\",\n  \"conversation\": [\n    {}\n  ]\n}}\n",
        messages.join(",\n    ")
    )
}

/// The sessions of an input, the report, and the bytes after the last session.
pub fn read(bytes: &[u8]) -> (Vec<Session>, Report, Vec<u8>) {
    let (sessions, report, tail) = bed::read(Format::Goose, "tray.jsonl", bytes);
    (sessions.unwrap_or_default(), report, tail)
}

/// The sessions of an input without damage.
pub fn sessions(bytes: &[u8]) -> Vec<Session> {
    let (sessions, report, _) = read(bytes);
    // The test data includes this kind of block, which goose does not have.
    let what: Vec<&str> = report
        .findings
        .iter()
        .map(|finding| finding.what.as_ref())
        .collect();
    let text = String::from_utf8_lossy(bytes);
    let unrecognized = what.iter().filter(|what| **what != "unknown content type 'new'");
    assert_eq!(unrecognized.count(), 0, "{what:?}\n{text}");
    let new = text.matches(r#""type":"new""#).count();
    assert!(what.len() <= new, "{what:?}\n{text}");
    sessions
}

/// Writes a session in its original form from its records alone.
pub fn written(session: &Session, purpose: WritePurpose) -> (Vec<u8>, Report) {
    bed::written(Format::Goose, session, purpose)
}

/// Writes sessions back to their input.
pub fn returned(sessions: &[Session], changed: bool) -> crate::error::Result<Vec<u8>> {
    bed::returned(Format::Goose, sessions, |_| changed)
}
