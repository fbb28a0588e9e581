//! Matches stored messages with messages that their source has changed.

use super::session_lines::SessionLine;
use convo::error::Position;
use convo::model::json;
use convo::model::record::Record;
use std::collections::{HashMap, HashSet};

/// New messages to match older ones against.
pub struct MatchCandidates<'e, 's> {
    all: &'e [&'e SessionLine<'s>],
    bodies: HashSet<&'e [u8]>,
    ids: HashMap<String, &'e SessionLine<'s>>,
}

impl<'e, 's> MatchCandidates<'e, 's> {
    pub fn new(all: &'e [&'e SessionLine<'s>]) -> Self {
        MatchCandidates {
            all,
            bodies: all.iter().map(|entry| &*entry.body).collect(),
            ids: all
                .iter()
                .filter_map(|entry| Some((identity(entry)?, *entry)))
                .collect(),
        }
    }

    /// Whether the message is among them, unchanged or extended; a message without an id is compared by position.
    pub fn include(&self, old: &SessionLine<'_>, nth: usize) -> bool {
        let same = match identity(old) {
            Some(id) => self.ids.get(&id).copied(),
            None => self
                .all
                .get(nth)
                .copied()
                .filter(|entry| identity(entry).is_none()),
        };
        let parse = |body| Record::parse(body, Position::default());
        self.bodies.contains(&*old.body)
            || same.is_some_and(|new| has_grown(&parse(&old.body), &parse(&new.body)))
    }
}

/// Identifies a message by its id, or a tool result by its call, because each call has one result.
fn identity(entry: &SessionLine<'_>) -> Option<String> {
    let call = json::member_text(&entry.body, "tool_call_id");
    call.map(|id| format!("call {id}")).or_else(|| entry.id())
}

/// Whether a message is an extension of another: more text, calls or members.
fn has_grown(old: &Record<'_>, new: &Record<'_>) -> bool {
    let (Some(before), Some(after)) = (old.message(), new.message()) else {
        return false;
    };
    let calls = |body| {
        let all = json::list(body, "tool_calls");
        let id = |call: &[u8]| json::member(call, "id").map(<[u8]>::to_vec);
        all.into_iter().map(id).collect::<Vec<_>>()
    };
    before.role() == after.role()
        && after.text().trim_end().starts_with(before.text().trim_end())
        && calls(new.body).starts_with(&calls(old.body))
}
