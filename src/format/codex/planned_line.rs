//! A log as a list of lines to keep, change or remove: the original lines, or those generated for a session.

use super::line::{CodexLine, CodexLineKind, ItemRole, NAME};
use super::steps::{RecordSource, steps};
use super::{header, items, line};
use crate::error::Position;
use crate::format::kit::records;
use crate::format::native;
use crate::format::request::request_part;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use std::collections::HashMap;

/// The relation of a line to messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineRelation {
    /// Always kept.
    Kept,
    /// An item of the message at this line of the session.
    Item(usize),
    /// The user message at this line of the session, which only has a display event.
    Event(usize),
    /// The compaction at this line of the session.
    Compacted(usize),
    /// The start of a turn.
    Start,
    /// The settings of a turn.
    Turn,
    /// An event about a call, or the display event of a message.
    Related {
        /// The id of the call.
        call: Option<String>,
        /// The text of the message.
        text: Option<String>,
    },
}

#[derive(Clone, Debug)]
pub struct PlannedLine {
    /// Its relation to messages.
    pub what: LineRelation,
    /// Its bytes, including the ending.
    pub bytes: Vec<u8>,
}

impl PlannedLine {
    /// The session line of the message that it is part of.
    pub fn line(&self) -> Option<usize> {
        match self.what {
            LineRelation::Item(line) | LineRelation::Event(line) => Some(line),
            _ => None,
        }
    }
}

/// The original lines of a session. Steps correspond to the records after the header.
pub fn of_origin(bytes: &[u8]) -> Vec<PlannedLine> {
    let lines = line::lines(bytes, Position::default());
    let planned_line = |line: &CodexLine<'_>| PlannedLine {
        what: other_line(line),
        bytes: line.full.to_vec(),
    };
    let mut planned: Vec<PlannedLine> = lines.iter().map(planned_line).collect();
    for (nth, step) in steps(&lines, header::meta(&lines)).iter().enumerate() {
        let what = match step {
            RecordSource::Message(_) => LineRelation::Item(nth + 1),
            RecordSource::Event(_) => LineRelation::Event(nth + 1),
            RecordSource::Compacted(_) => LineRelation::Compacted(nth + 1),
            RecordSource::Foreign(_) | RecordSource::Unreadable(_) => continue,
        };
        for line in step.lines() {
            planned[*line].what = what.clone();
        }
    }
    planned
}

/// The relation of a line that is not a message.
fn other_line(line: &CodexLine<'_>) -> LineRelation {
    match &line.kind {
        CodexLineKind::Turn(_) => LineRelation::Turn,
        CodexLineKind::Event(name, _) if name == "task_started" => LineRelation::Start,
        CodexLineKind::Event(_, payload) | CodexLineKind::Item(ItemRole::Other, payload) => {
            let text = |name| json::member_string(payload, name);
            LineRelation::Related {
                call: text("call_id"),
                text: text("message"),
            }
        }
        _ => LineRelation::Kept,
    }
}

/// The lines for the records of a session; those read from a log are restored.
pub fn of_session(session: &Session, view: &View, items: &[Vec<Vec<u8>>]) -> Vec<PlannedLine> {
    let shown = shown(view);
    let (mut planned, mut next) = (Vec::new(), 0);
    while next < session.len() {
        let index = next;
        next += 1;
        match session.class(index) {
            Class::Header => planned.push(meta(session.record(index).body)),
            Class::Message(_) => {
                let built = match shown.get(&index) {
                    Some(item) => items[*item].clone(),
                    None => items::of_bodies(&[session.record(index).body]),
                };
                message(session, index, built, &mut planned, &mut next);
            }
            _ => planned.extend(other_record(session, index)),
        }
    }
    planned
}

/// The items of a view by the lines of the session.
pub fn shown(view: &View) -> HashMap<usize, usize> {
    let items = view.items.iter().enumerate();
    items
        .filter_map(|(nth, item)| Some((item.line()?, nth)))
        .collect()
}

/// The line of an event or a damaged line.
fn other_record(session: &Session, index: usize) -> Option<PlannedLine> {
    match session.class(index) {
        Class::Unreadable => Some(PlannedLine {
            what: LineRelation::Kept,
            bytes: [session.record(index).body, b"\n"].concat(),
        }),
        Class::Event => event(session, index),
        _ => None,
    }
}

/// The session line.
fn meta(body: &[u8]) -> PlannedLine {
    let own = records::note(body, NAME).unwrap_or(b"{}");
    let payload = json::member(own, "session_meta").unwrap_or(b"{}");
    let envelope = match json::member(own, "bare") {
        Some(_) => b"null",
        None => json::member(own, "envelope").unwrap_or(b"{}"),
    };
    PlannedLine {
        what: LineRelation::Kept,
        bytes: items::line(Some(envelope), None, "session_meta", payload),
    }
}

fn event(session: &Session, index: usize) -> Option<PlannedLine> {
    let record = session.record(index);
    let event = record.event()?;
    if event.name() == "foreign" {
        let raw = records::passthrough_raw(event.raw, NAME)?;
        return Some(PlannedLine {
            what: other_line(&CodexLine::of(raw)),
            bytes: [raw, b"\n"].concat(),
        });
    }
    let own = records::note(event.raw, NAME)?;
    let member = |name| json::member(event.raw, name);
    let inserts = member("insert").and_then(|raw| json::elements(raw, Dialect::Strict));
    let text = member("summary").and_then(|summary| json::member(summary, "content"));
    let text = text.filter(|_| inserts.is_none());
    let mut payload = ObjectBuilder::default();
    payload.optional("message", member("content").or(text));
    request_part::add_members(&mut payload, json::member(own, "payload"));
    if let Some(inserts) = inserts {
        let is_before = |insert: &&&[u8]| json::member(insert, "before").is_some();
        let summary = Item::Summary(index).summary_message(session);
        let at = inserts.iter().take_while(is_before).count();
        let message = |insert| json::member(insert, "message");
        let mut bodies: Vec<&[u8]> = inserts.into_iter().filter_map(message).collect();
        bodies.splice(at..at, summary.as_deref());
        payload.raw("replacement_history", json::array(items::of_bodies(&bodies)));
    }
    let envelope = json::member(own, "envelope");
    Some(PlannedLine {
        what: LineRelation::Compacted(index),
        bytes: items::line(envelope, member("at"), "compacted", &payload.finish()),
    })
}

/// Adds the lines of a message, and the original lines between them. `next` is the record after it, and then the one
/// after these lines.
fn message(
    session: &Session,
    index: usize,
    built: Vec<Vec<u8>>,
    planned: &mut Vec<PlannedLine>,
    next: &mut usize,
) {
    let record = session.record(index);
    let Some(message) = record.message() else { return };
    let own = records::note(record.body, NAME).unwrap_or(b"{}");
    let notes = json::list(own, "lines");
    let line = |note: Option<&&[u8]>, kind, payload: &[u8]| {
        let envelope = note.and_then(|note| json::member(note, "envelope"));
        items::line(envelope, message.timestamp, kind, payload)
    };
    if let Some(rest) = json::member(own, "event") {
        let event = items::user_event(&items::display_text(message), Some(rest));
        planned.push(PlannedLine {
            what: LineRelation::Event(index),
            bytes: line(notes.first(), "event_msg", &event),
        });
        return;
    }
    let is_complete = notes.len() == built.len();
    for (nth, item) in built.iter().enumerate() {
        let note = notes.get(nth).filter(|_| is_complete);
        let between = note.and_then(|note| json::number(json::member(note, "behind")?));
        for _ in 0..between.unwrap_or(0_usize) {
            if *next == session.len() || !matches!(session.class(*next), Class::Event | Class::Unreadable) {
                break;
            }
            planned.extend(other_record(session, *next));
            *next += 1;
        }
        planned.push(PlannedLine {
            what: LineRelation::Item(index),
            bytes: line(note, "response_item", item),
        });
    }
}

pub fn was_read_from_log(session: &Session) -> bool {
    native::source_format(session).is_some_and(|format| format == NAME) && session.metadata(NAME).is_some()
}
