//! Tests of reading and writing training sets.

mod fixtures;
mod properties;
mod small;

use crate::format::report::Report;
pub use crate::format::tests::bed::through_lines;
use crate::format::tests::truth;
use crate::format::{Format, Input, Purpose};
use crate::model::session::Session;
use crate::model::view::View;
use serde_json::Value;

/// The sessions of an input, and the report.
pub fn sessions(input: &[u8]) -> (Vec<Session>, Report) {
    let mut report = Report::default();
    let input = Input {
        name: Some("set.json".to_string()),
        head: Vec::new(),
        rest: Box::new(std::io::Cursor::new(input.to_vec())),
        returns: false,
        beside: None,
    };
    let Ok(mut reader) = Format::Sharegpt.sessions(input).unwrap() else {
        unreachable!("it is read session by session");
    };
    let all = truth::all(reader.as_mut(), &mut report).unwrap();
    (all, report)
}

/// The messages of the only session of an input.
pub fn messages(input: &str) -> Vec<Value> {
    let (all, _) = sessions(input.as_bytes());
    assert_eq!(all.len(), 1);
    let record = |index| serde_json::from_slice(all[0].record(index).body).unwrap();
    (1..all[0].len()).map(record).collect()
}

/// Writes a session as a record; returns the bytes and the losses.
pub fn written(session: &Session, purpose: Purpose) -> (Vec<u8>, Report) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let view = View::replay(session);
    super::write::write(session, &view, purpose, &mut out, &mut report).unwrap();
    (out, report)
}

/// A session with these lines.
pub fn session(lines: &[Value]) -> Session {
    let mut session = Session::default();
    for line in lines {
        session.push_new(line.to_string().as_bytes());
    }
    session
}
