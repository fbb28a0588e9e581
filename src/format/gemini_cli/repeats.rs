//! Finds duplicate results. Gemini CLI 0.60 writes results both with their calls and in later user records, sends both
//! when it resumes a session, and records what it sent (google-gemini/gemini-cli#29365).

use crate::model::json;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The records that only repeat results of earlier ones, each with the indexes of those.
pub fn repeats(records: &[Vec<u8>]) -> HashMap<usize, Vec<usize>> {
    let mut found = HashMap::new();
    // The record with the result of each call.
    let mut known: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let mut called: HashSet<Cow<'_, str>> = HashSet::new();
    for (nth, record) in records.iter().enumerate() {
        match json::member(record, "type") {
            Some(b"\"gemini\"") => {
                // Ids may be reused by later calls.
                for id in calls(record) {
                    known.remove(&id);
                    called.insert(id);
                }
                let ids = results(record).into_iter().filter_map(response);
                known.extend(ids.map(|id| (id, nth)));
            }
            Some(b"\"user\"") if memchr::memmem::find(record, b"\"functionResponse\"").is_some() => {
                let parts = json::list(record, "content");
                let ids: Vec<_> = parts.iter().filter_map(|part| response(part)).collect();
                let of: Option<Vec<usize>> = ids.iter().map(|id| known.get(id).copied()).collect();
                let of = of.filter(|of| !of.is_empty());
                let extra = |part: &&[u8]| response(part).is_none();
                let is_there = |part: &[u8]| {
                    let mut of = of.iter().flatten();
                    of.any(|of| results(&records[*of]).contains(&part))
                };
                match of.is_some() && parts.iter().copied().filter(extra).all(is_there) {
                    true => found.extend(of.map(|of| (nth, of))),
                    // A result without a call is not such a duplicate.
                    false => {
                        let ids = ids.into_iter().filter(|id| called.contains(id));
                        known.extend(ids.map(|id| (id, nth)));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// The ids of the calls in a record of the model.
fn calls(record: &[u8]) -> Vec<Cow<'_, str>> {
    let parts = json::list(record, "content").into_iter();
    let parts = parts.filter_map(|part| json::member(part, "functionCall"));
    let calls = parts.chain(json::list(record, "toolCalls"));
    calls
        .filter_map(|call| json::text(json::member(call, "id")?))
        .collect()
}

/// The result parts in a model or user record.
fn results(record: &[u8]) -> Vec<&[u8]> {
    let calls = json::list(record, "toolCalls").into_iter();
    let own = calls.flat_map(|call| json::list(call, "result"));
    own.chain(json::list(record, "content")).collect()
}

/// The id of the call that a result part answers.
fn response(part: &[u8]) -> Option<Cow<'_, str>> {
    json::text(json::member(json::member(part, "functionResponse")?, "id")?)
}
