//! Tests of single cases, and of the laws of merging over random logs.

mod cases;
mod laws;

use super::*;
use crate::filter::tests::histories::reread;
use crate::model::session::Class;

/// The sessions of a stream.
fn sessions(text: &str) -> Vec<Session> {
    let whole = reread(text.as_bytes());
    let mut sessions: Vec<Session> = Vec::new();
    for index in 0..whole.len() {
        if sessions.is_empty() || whole.class(index) == Class::Header {
            sessions.push(Session::default());
        }
        sessions.last_mut().unwrap().push(&whole.record(index));
    }
    sessions
}

fn text(merged: &Merged<'_>) -> String {
    let mut bytes = Vec::new();
    merged.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn merged(base: &str, a: &str, b: &str, options: &MergeOptions<'_>) -> (String, MergeTotals, Vec<Conflict>) {
    let [base, a, b] = [base, a, b].map(sessions);
    let merged = merge(&base, &a, &b, options).unwrap();
    (text(&merged), merged.totals, merged.conflicts.clone())
}
