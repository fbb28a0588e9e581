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
    /// Events whose lines are not in the archive: destroyed, or moved back.
    ended: HashSet<String>,
}

impl ArchivedLines {
    /// Adds a line of the log.
    pub fn add(&mut self, line: &[u8]) {
        let is_named = |name: &[u8]| memmem::find(line, name).is_some();
        if !is_named(b"\"gc\"") && !is_named(b"\"restore\"") {
            return;
        }
        let record = Record::parse(line, Position::default());
        let Some(event) = record.event() else { return };
        if event.name() == "restore" {
            self.ended.extend(json::member_string(event.raw, "of"));
        }
        if event.name() != "gc" {
            return;
        }
        self.ended.extend(event.destroyed());
        if !is_discarded(event.raw) {
            let lines = json::member(event.raw, "lines").and_then(json::number);
            let id = event.id().map(|id| id.into_owned());
            self.moved.push((id, lines.unwrap_or_default()));
        }
    }

    /// Number of lines that are still in the archive.
    pub fn count(&self) -> u64 {
        let is_left = |id: &Option<String>| id.as_ref().is_none_or(|id| !self.ended.contains(id));
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
