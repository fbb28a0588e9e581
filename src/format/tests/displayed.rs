//! Compares sessions that are read for display with those that are read for writing.

use super::in_place::{Opened, input};
use super::truth;
use crate::format::Format;
use crate::format::report::Report;
use crate::model::session::Session;
use serde_json::Value;

/// Reports a file whose sessions for display have other records, apart from annotations, or data for writing back.
pub fn difference(file: &Opened) -> Option<String> {
    let reader = file.format.displayed(input(&file.path, &file.bytes, false));
    // Other formats are read as whole documents.
    let mut reader = reader.unwrap().ok()?;
    let displayed = truth::all(reader.as_mut(), &mut Report::default()).unwrap();
    let annotation = file.format.name();
    let records = |sessions: &[Session]| -> Vec<Vec<Option<Value>>> {
        let of = |session: &Session| {
            let bodies = (0..session.len()).map(|index| session.body(index));
            bodies.map(|body| record(body, annotation)).collect()
        };
        sessions.iter().map(of).collect()
    };
    let has_residue = displayed
        .iter()
        .any(|session| session.text().contains("\"residue\":"));
    let is_same = records(&file.sessions) == records(&displayed);
    let is_reduced = !has_residue || file.format.spec().display.is_none();
    (!is_same || !is_reduced).then(|| format!("{}: displayed otherwise", file.name()))
}

/// A record without the annotation of a message, and without the hash of a Claude Code log, which is not computed for
/// display.
fn record(body: &[u8], annotation: &str) -> Option<Value> {
    let mut record: Value = serde_json::from_slice(body).ok()?;
    if annotation == Format::ClaudeCode.name()
        && let Some(source) = record.get_mut("source").and_then(Value::as_object_mut)
    {
        source.remove("sha256");
    }
    if record.get("role").is_some()
        && let Some(metadata) = record.get_mut("metadata").and_then(Value::as_object_mut)
    {
        metadata.remove(annotation);
        if metadata.is_empty() {
            record.as_object_mut()?.remove("metadata");
        }
    }
    Some(record)
}
