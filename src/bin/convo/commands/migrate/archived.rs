//! Lines that `gc` moved to the archive of a store, which no other place has.

use convo::error::Position;
use convo::model::json;
use convo::model::record::Record;
use convo::store::log;
use memchr::memmem;
use std::collections::HashSet;

/// The archived lines of a session, by the `gc` event that moved them.
#[derive(Default)]
pub struct ArchivedLines {
    moved: Vec<(Option<String>, u64)>,
    destroyed: HashSet<String>,
}

impl ArchivedLines {
    /// Adds a line of the log.
    pub fn add(&mut self, line: &[u8]) {
        if memmem::find(line, b"\"gc\"").is_none() {
            return;
        }
        let record = Record::parse(line, Position::default());
        let Some(event) = record.event().filter(|event| event.name() == "gc") else {
            return;
        };
        self.destroyed.extend(event.destroyed());
        if !is_discarded(event.raw) {
            let lines = json::member(event.raw, "lines");
            let lines = lines.and_then(|lines| std::str::from_utf8(lines).ok()?.parse().ok());
            let id = event.id().map(|id| id.into_owned());
            self.moved.push((id, lines.unwrap_or_default()));
        }
    }

    /// Number of lines that were not destroyed later.
    pub fn count(&self) -> u64 {
        let is_left = |id: &Option<String>| id.as_ref().is_none_or(|id| !self.destroyed.contains(id));
        let left = self.moved.iter().filter(|(id, _)| is_left(id));
        left.map(|(_, lines)| lines).sum()
    }
}

fn is_discarded(event: &[u8]) -> bool {
    json::member(event, "discarded") == Some(b"true")
}

/// The line of a `gc` event for a log without archive, where nothing can undo it; none for any other line.
pub fn discarded(line: &[u8]) -> Option<Vec<u8>> {
    memmem::find(line, b"\"gc\"")?;
    let bare = log::bare(line);
    let record = Record::parse(&bare, Position::default());
    let event = record.event().filter(|event| event.name() == "gc")?;
    match is_discarded(event.raw) {
        true => None,
        false => json::with_members(record.body, &[("discarded", Some(b"true"))]).ok(),
    }
}
