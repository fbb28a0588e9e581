use super::{PenguiflowState, read};
use crate::error::Result;
use crate::format::report::Report;
use crate::format::tests::bed::exported;
pub(super) use crate::format::tests::bed::through_lines;
use crate::format::{DocumentSource, Format};
use crate::model::session::Session;
use crate::model::view::View;
use serde_json::Value;
use std::path::PathBuf;

mod documents;
mod fixtures;

/// A sample file or directory.
pub(super) fn fixture(name: &str) -> PathBuf {
    crate::sample_data::path("penguiflow").join(name)
}

pub(super) fn rows(name: &str) -> Vec<Value> {
    let table: Value = serde_json::from_slice(&std::fs::read(fixture(name)).unwrap()).unwrap();
    table["rows"].as_array().unwrap().clone()
}

pub(super) fn session(document: &[u8]) -> (Result<Session>, Report) {
    let mut report = Report::default();
    let read = read(&DocumentSource::alone(document), &mut report);
    (read.map(|mut sessions| sessions.remove(0)), report)
}

pub(super) fn rewritten(session: &Session) -> (String, Report) {
    exported(Format::Penguiflow, session)
}

pub(super) fn state(session: &Session) -> PenguiflowState {
    PenguiflowState::of(session, &View::replay(session)).unwrap()
}
