//! User notes on a session or on one of its messages. Models do not receive them.

use super::event::Event;
use super::json;
use super::session::Session;
use std::collections::{HashMap, HashSet};

/// The type of the event.
pub const NOTE: &str = "note";

/// A note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Id of the note's event.
    pub id: String,
    /// The time as written.
    pub at: String,
    /// The text.
    pub text: String,
    /// Id of the message; `None`: the note is on the session.
    pub of: Option<String>,
}

/// Whether an event is a note.
pub fn is_note(event: &Event<'_>) -> bool {
    event.name() == NOTE
}

/// The notes of a session that were not undone, oldest first.
pub fn notes(session: &Session) -> Vec<Note> {
    let live = session.live_events().into_iter();
    live.filter_map(|index| {
        let record = session.record(index);
        let event = record.event().filter(|event| is_note(event))?;
        let text = |name| json::member_string(event.raw, name);
        Some(Note {
            id: text("id").unwrap_or_default(),
            at: text("at").unwrap_or_default(),
            text: text("text")?,
            of: text("of"),
        })
    })
    .collect()
}

/// The notes of a session, grouped by message.
#[derive(Clone, Debug, Default)]
pub struct SessionNotes {
    /// Notes on the session, and on messages that are not in its log.
    pub on_session: Vec<Note>,
    lines: HashMap<usize, Vec<Note>>,
}

impl SessionNotes {
    /// Collects the notes of a session.
    pub fn of(session: &Session) -> SessionNotes {
        let all = notes(session);
        let ids: HashSet<String> = all.iter().filter_map(|note| note.of.clone()).collect();
        let mut found = SessionNotes::default();
        if all.is_empty() {
            return found;
        }
        let places = session.places(ids);
        for note in all {
            let line = note.of.as_ref().and_then(|id| places.get(id)?.first());
            match line {
                Some(line) => found.lines.entry(*line).or_default().push(note),
                None => found.on_session.push(note),
            }
        }
        found
    }

    /// The notes on the message of a line.
    pub fn on(&self, line: Option<usize>) -> &[Note] {
        let notes = line.and_then(|line| self.lines.get(&line));
        notes.map_or(&[], Vec::as_slice)
    }
}
