//! Groups the records of a session by the elements that they were read from.

use crate::error::Position;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::record::Record;
use crate::model::session::{Class, Session};
use std::collections::HashMap;

#[derive(Debug, PartialEq, Eq)]
pub enum ElementGroup {
    /// Lines of its messages.
    Messages(Vec<usize>),
    /// Line of an event, and the element in it.
    Event(usize, Vec<u8>),
    /// Line of a summary that belongs to the previous element.
    Summary(usize),
    /// A damaged line.
    Damaged(usize),
}

/// Groups the records of a session that was read from the format `name`; skips messages added later. An element starts
/// with a message that has one of the annotations `begins`.
pub fn groups(session: &Session, name: &str, begins: [&str; 2]) -> Vec<ElementGroup> {
    let mut groups = Vec::new();
    let mut open: Option<(Option<String>, Vec<usize>)> = None;
    for index in 0..session.len() {
        let record = session.record(index);
        let note = note(record.body, name);
        let noted = |member: &str| note.and_then(|note| json::member(note, member));
        match session.class(index) {
            Class::Message(_) => {
                let id = record.message().and_then(|message| message.id());
                let of = noted("of").and_then(json::text);
                if begins.iter().any(|begins| noted(begins).is_some()) {
                    groups.extend(open.take().map(|(_, lines)| ElementGroup::Messages(lines)));
                    open = Some((id.map(|id| id.into_owned()), vec![index]));
                } else if let (Some((id, lines)), Some(of)) = (&mut open, of)
                    && id.as_deref() == Some(&*of)
                {
                    lines.push(index);
                }
            }
            Class::Event => {
                let raw = match json::member(record.body, "type") {
                    Some(b"\"foreign\"") => passthrough_raw(record.body, name),
                    _ => noted("raw"),
                };
                if let Some(raw) = raw {
                    groups.extend(open.take().map(|(_, lines)| ElementGroup::Messages(lines)));
                    groups.push(ElementGroup::Event(index, raw.to_vec()));
                } else if noted("of").is_some() {
                    groups.extend(open.take().map(|(_, lines)| ElementGroup::Messages(lines)));
                    groups.push(ElementGroup::Summary(index));
                }
            }
            Class::Unreadable => {
                groups.extend(open.take().map(|(_, lines)| ElementGroup::Messages(lines)));
                groups.push(ElementGroup::Damaged(index));
            }
            Class::Header | Class::Blank => {}
        }
    }
    groups.extend(open.map(|(_, lines)| ElementGroup::Messages(lines)));
    groups
}

/// Assigns unique message ids.
#[derive(Default)]
pub struct Ids {
    known: HashMap<String, IdState>,
}

#[derive(Default)]
struct IdState {
    /// Whether it was assigned.
    given: bool,
    /// Number of alternatives tried.
    tried: u64,
}

impl Ids {
    /// Reserves an id for the message that has it.
    pub fn keep(&mut self, id: &str) {
        self.known.entry(id.to_string()).or_default();
    }

    /// The id of the next message. `has_it` marks the message's own id. An id that is already assigned, or reserved for
    /// another message, gets a suffix.
    pub fn next(&mut self, id: &str, has_it: bool) -> String {
        let is_new = !self.known.contains_key(id);
        let known = self.known.entry(id.to_string()).or_default();
        if is_new || (has_it && !known.given) {
            known.given = true;
            return id.to_string();
        }
        loop {
            let known = self.known.entry(id.to_string()).or_default();
            known.tried += 1;
            let other = format!("{id}~{}", known.tried + 1);
            if !self.known.contains_key(&other) {
                self.known.entry(other.clone()).or_default().given = true;
                return other;
            }
        }
    }
}

/// The annotation of this format on a record.
pub fn note<'b>(body: &'b [u8], name: &str) -> Option<&'b [u8]> {
    json::member(json::member(body, "metadata")?, name)
}

/// Whether an event was read from the source and changes its view: a summary, or the event for its hidden messages.
pub fn is_own(session: &Session, index: usize, name: &str) -> bool {
    let record = session.record(index);
    let strategy = |event| json::member_text(event, "strategy");
    record.event().is_some_and(|event| match event.name().as_ref() {
        "summary" => note(event.raw, name).is_some(),
        "compact" => strategy(event.raw).as_deref() == Some(name),
        _ => false,
    })
}

/// The messages of records, with their annotations for this format.
pub fn annotated_messages<'b, B: AsRef<[u8]>>(bodies: &'b [B], name: &str) -> Vec<AnnotatedMessage<'b>> {
    // The records have no byte order mark.
    let place = Position { line: 0, offset: 1 };
    let annotated = bodies.iter().enumerate().filter_map(|(nth, body)| {
        let record = Record::parse(body.as_ref(), place);
        Some(AnnotatedMessage::of(nth, record.body, *record.message()?, name))
    });
    annotated.collect()
}

/// Whether an event is a passthrough record of this format.
pub fn is_passthrough(event: &[u8], name: &str) -> bool {
    let is = |member, value: &str| json::member_text(event, member).as_deref() == Some(value);
    is("type", "foreign") && is("format", name)
}

/// The element in a passthrough record of this format.
pub fn passthrough_raw<'e>(event: &'e [u8], name: &str) -> Option<&'e [u8]> {
    json::member(event, "raw").filter(|_| is_passthrough(event, name))
}

/// A passthrough record for an element; a damaged one is stored as text.
pub fn passthrough(name: &str, raw: &[u8]) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event.text("type", "foreign").text("format", name);
    match json::value_end(raw, 0, Dialect::Strict) {
        Ok(end) if end == raw.len() => event.raw("raw", raw),
        _ => event.text("raw", &String::from_utf8_lossy(raw)),
    };
    event.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_assigned_once() {
        let mut ids = Ids::default();
        ["a", "a", "b", "a~2"].iter().for_each(|id| ids.keep(id));
        let given: Vec<String> = [
            ("a", true),
            ("a", true),
            ("b", false),
            ("a~2", true),
            ("c", false),
            ("c", false),
            ("a", true),
        ]
        .iter()
        .map(|(id, has_it)| ids.next(id, *has_it))
        .collect();
        assert_eq!(given, ["a", "a~3", "b~2", "a~2", "c", "c~2", "a~4"]);
    }
}
