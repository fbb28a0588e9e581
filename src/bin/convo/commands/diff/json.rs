//! Prints differences as JSON objects.

use convo::filter::diff::{DiffEntry, DiffStep, SessionDiff};
use serde_json::{Value, json};

/// Encodes each difference as an object, followed by the totals.
pub fn lines(diff: &SessionDiff<'_>, labels: [&str; 2]) -> Vec<String> {
    let place = |entries: &[DiffEntry<'_>], at: usize| {
        let entry = &entries[at];
        json!({"index": at + 1, "id": entry.id, "line": entry.line})
    };
    let (a, b) = (&diff.a, &diff.b);
    let object = |op: &str, at_a: Option<usize>, at_b: Option<usize>, fields: &[&str]| {
        let entry = at_b.map(|at| &b[at]).or(at_a.map(|at| &a[at]));
        let bytes = |entries: &[DiffEntry<'_>], at: Option<usize>| at.map(|at| entries[at].bytes());
        json!({
            "schema": "convo.diff/1", "op": op,
            "a": at_a.map(|at| place(a, at)), "b": at_b.map(|at| place(b, at)),
            "role": entry.map(|entry| &entry.role), "tool": entry.and_then(|entry| entry.tool.as_deref()),
            "fields": fields, "bytes": [bytes(a, at_a), bytes(b, at_b)],
        })
    };
    let mut objects: Vec<Value> = diff
        .members
        .iter()
        .map(|name| json!({"schema": "convo.diff/1", "op": "meta", "fields": [name]}))
        .collect();
    objects.extend(diff.steps.iter().filter_map(|step| match step {
        DiffStep::Equal(..) => None,
        DiffStep::Changed(at_a, at_b, fields) => Some(object("change", Some(*at_a), Some(*at_b), fields)),
        DiffStep::Moved(at_a, at_b, fields) => Some(object("move", Some(*at_a), Some(*at_b), fields)),
        DiffStep::Dropped(at) => Some(object("drop", Some(*at), None, &[])),
        DiffStep::Added(at) => Some(object("add", None, Some(*at), &[])),
    }));
    let totals = diff.totals();
    objects.push(json!({
        "schema": "convo.diff/1", "op": "total", "a": labels[0], "b": labels[1], "messages": [a.len(), b.len()],
        "equal": totals.equal, "changed": totals.changed, "moved": totals.moved, "added": totals.added,
        "dropped": totals.dropped, "members": diff.members,
    }));
    objects.iter().map(Value::to_string).collect()
}
