//! A log as a list of lines to keep, change or remove: the original lines, or those generated for a session.

use super::line::{CodexLine, CodexLineKind, ItemRole};
use super::steps::{RecordSource, steps};
use super::{NAME, header, items, line, steps as reading};
use crate::error::Position;
use crate::format::kit::records;
use crate::format::native;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::session::{Class, Session};
use crate::model::view::View;
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

    /// Whether it is part of the message at this line of the session.
    pub fn is_of(&self, line: usize) -> bool {
        self.line() == Some(line)
    }
}

/// The original lines of a session. Steps correspond to the records after the header.
pub fn of_origin(bytes: &[u8]) -> Vec<PlannedLine> {
    let lines = line::lines(bytes, Position { line: 0, offset: 0 });
    let meta = header::meta(&lines);
    let mut of_line: HashMap<usize, (usize, RecordSource)> = HashMap::new();
    for (nth, step) in steps(&lines, meta).into_iter().enumerate() {
        for line in step.lines() {
            of_line.insert(*line, (nth + 1, step.clone()));
        }
    }
    let planned_line = |(nth, line): (usize, &CodexLine<'_>)| PlannedLine {
        what: match of_line.get(&nth) {
            Some((record, RecordSource::Message(_))) => LineRelation::Item(*record),
            Some((record, RecordSource::Event(_))) => LineRelation::Event(*record),
            Some((record, RecordSource::Compacted(_))) => LineRelation::Compacted(*record),
            _ => other_line(line),
        },
        bytes: line.full.to_vec(),
    };
    lines.iter().enumerate().map(planned_line).collect()
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
    let mut shown = HashMap::new();
    for (nth, item) in view.items.iter().enumerate() {
        item.line().map(|line| shown.insert(line, nth));
    }
    let mut planned = Vec::new();
    let mut taken = vec![false; session.len()];
    for index in 0..session.len() {
        if std::mem::replace(&mut taken[index], true) {
            continue;
        }
        match session.class(index) {
            Class::Header => planned.push(meta(session.record(index).body)),
            Class::Unreadable => planned.push(preserved_line(session.record(index).body)),
            Class::Blank => {}
            Class::Event => planned.extend(event(session, index)),
            Class::Message(_) => {
                let built = match shown.get(&index) {
                    Some(item) => items[*item].clone(),
                    None => hidden_items(session, index),
                };
                message(session, index, built, &mut planned, &mut taken);
            }
        }
    }
    planned
}

/// The items of a hidden message.
fn hidden_items(session: &Session, index: usize) -> Vec<Vec<u8>> {
    let mut alone = Session::default();
    alone.push_from(session, index);
    let view = View::replay(&alone);
    let mut built = items::of_view(&alone, &view, true, &mut Default::default());
    built.pop().unwrap_or_default()
}

fn preserved_line(body: &[u8]) -> PlannedLine {
    PlannedLine {
        what: LineRelation::Kept,
        bytes: [body, b"\n"].concat(),
    }
}

/// The session line.
fn meta(body: &[u8]) -> PlannedLine {
    let own = records::note(body, NAME).unwrap_or(b"{}");
    let payload = json::member(own, "session_meta").unwrap_or(b"{}");
    let envelope = json::member(own, "envelope").map(items::members);
    let line = match json::member(own, "bare") {
        Some(_) => payload.to_vec(),
        None => items::line(Some(&envelope.unwrap_or_default()), "session_meta", payload),
    };
    preserved_line(&line)
}

fn event(session: &Session, index: usize) -> Option<PlannedLine> {
    let record = session.record(index);
    let event = record.event()?;
    if event.name() == "foreign" {
        let raw = records::passthrough_raw(event.raw, NAME)?;
        let line = CodexLine::parse(raw, Position { line: 1, offset: 1 });
        return Some(PlannedLine {
            what: other_line(&line),
            bytes: [raw, b"\n"].concat(),
        });
    }
    let own = records::note(event.raw, NAME)?;
    let items = json::member(event.raw, "insert").and_then(|raw| json::elements(raw, Dialect::Strict));
    let mut payload = ObjectBuilder::default();
    let text = json::member(event.raw, "summary").and_then(|summary| json::member(summary, "content"));
    payload.optional("message", json::member(event.raw, "content").or(text));
    for (name, value) in json::member(own, "payload")
        .map(items::members)
        .unwrap_or_default()
    {
        payload.raw(&name, value);
    }
    if let Some(inserts) = items {
        let bodies: Vec<&[u8]> = inserts
            .iter()
            .filter_map(|insert| json::member(insert, "message"))
            .collect();
        payload.raw("replacement_history", items::history(&bodies));
    }
    let time = json::member(event.raw, "at");
    let envelope = items::preserved_envelope(json::member(own, "envelope"), time);
    let envelope = envelope.as_deref().map(items::members);
    Some(PlannedLine {
        what: LineRelation::Compacted(index),
        bytes: [
            items::line(envelope.as_deref(), "compacted", &payload.finish()).as_slice(),
            b"\n",
        ]
        .concat(),
    })
}

/// Adds the lines of a message, and the original lines between them.
fn message(
    session: &Session,
    index: usize,
    built: Vec<Vec<u8>>,
    planned: &mut Vec<PlannedLine>,
    taken: &mut [bool],
) {
    let record = session.record(index);
    let Some(message) = record.message() else { return };
    let own = records::note(record.body, NAME);
    let time = message.timestamp;
    if let Some(rest) = own.and_then(|own| json::member(own, "event")) {
        let envelope = own.and_then(|own| json::member(own, "lines"));
        let envelope = envelope.and_then(|raw| json::elements(raw, Dialect::Strict)?.first().copied());
        let envelope =
            items::preserved_envelope(envelope.and_then(|raw| json::member(raw, "envelope")), time);
        let members = envelope.as_deref().map(items::members);
        let event = items::user_event(&items::display_text(message), Some(rest));
        planned.push(PlannedLine {
            what: LineRelation::Event(index),
            bytes: [
                items::line(members.as_deref(), "event_msg", &event).as_slice(),
                b"\n",
            ]
            .concat(),
        });
        return;
    }
    let notes = own.and_then(|own| json::member(own, "lines"));
    let notes = notes.and_then(|raw| json::elements(raw, Dialect::Strict));
    let notes = notes
        .filter(|notes| notes.len() == built.len())
        .unwrap_or_default();
    let mut next = index + 1;
    for (nth, item) in built.iter().enumerate() {
        let note = notes.get(nth).copied().unwrap_or(b"{}");
        let after = json::member(note, "behind").and_then(json::number);
        for _ in 0..after.unwrap_or(0_usize) {
            let between = session.len() > next
                && !taken[next]
                && matches!(session.class(next), Class::Event | Class::Unreadable);
            if !between {
                break;
            }
            taken[next] = true;
            match session.class(next) {
                Class::Unreadable => planned.push(preserved_line(session.record(next).body)),
                _ => planned.extend(event(session, next)),
            }
            next += 1;
        }
        let envelope = items::preserved_envelope(json::member(note, "envelope"), time);
        let members = envelope.as_deref().map(items::members);
        planned.push(PlannedLine {
            what: LineRelation::Item(index),
            bytes: [
                items::line(members.as_deref(), "response_item", item).as_slice(),
                b"\n",
            ]
            .concat(),
        });
    }
}

/// Whether user messages are only in display events.
pub fn has_only_display_events(planned: &[PlannedLine]) -> bool {
    planned
        .iter()
        .any(|planned_line| matches!(planned_line.what, LineRelation::Event(_)))
}

/// Whether none of the remaining lines is an item that the user wrote.
pub fn have_only_display_events(lines: &[Vec<u8>]) -> bool {
    let lines: Vec<CodexLine<'_>> = lines.iter().map(|line| parsed(line)).collect();
    reading::has_only_display_events(&lines)
}

/// Whether a line is the display event of a user message.
pub fn is_user_event(line: &[u8]) -> bool {
    reading::is_user_event(&parsed(line))
}

fn parsed(line: &[u8]) -> CodexLine<'_> {
    CodexLine::parse(line, Position { line: 1, offset: 1 })
}

pub fn was_read_from_log(session: &Session) -> bool {
    native::source_format(session).is_some_and(|format| format == NAME) && session.metadata(NAME).is_some()
}
