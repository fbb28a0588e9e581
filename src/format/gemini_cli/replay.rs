//! Replays the operations of a log.

use super::line::LogOperation;
use crate::error::Position;
use crate::format::kit::{DocumentLayout, ElementPart, ElementState, Parsed};
use crate::format::lines::placed_lines;
use crate::model::json::{self, ArrayElements, Dialect};
use crate::model::record;
use std::borrow::Cow;
use std::collections::HashMap;

/// A remaining message.
struct Live<'a> {
    id: Option<Cow<'a, str>>,
    raw: &'a [u8],
    place: Position,
}

/// A line that is not an operation, and the number of messages before it.
struct OtherLine {
    state: ElementState,
    place: Position,
    before: usize,
}

/// The state of a replay.
#[derive(Default)]
struct LogReplay<'a> {
    live: Vec<Live<'a>>,
    by_id: HashMap<Cow<'a, str>, usize>,
    /// The description of the session, by name.
    about: Vec<(Cow<'a, str>, &'a [u8])>,
    others: Vec<OtherLine>,
}

/// The result of a log's lines, starting at `start`.
pub fn replay(bytes: &[u8], start: Position) -> Parsed {
    let mut replay = LogReplay::default();
    for (full, place) in placed_lines(bytes, start) {
        replay.line(full, place);
    }
    let mut others = std::mem::take(&mut replay.others);
    // Messages before the line may have been removed since.
    let left = replay.live.len();
    others
        .iter_mut()
        .for_each(|other| other.before = other.before.min(left));
    others.sort_by_key(|other| other.before);
    let mut others = others.into_iter().peekable();
    let mut parts: Vec<ElementPart> = Vec::new();
    for (nth, live) in replay.live.iter().enumerate() {
        while let Some(other) = others.next_if(|other| other.before <= nth) {
            parts.push(part(Vec::new(), other.place, other.state));
        }
        parts.push(part(json::compact(live.raw).0, live.place, ElementState::Element));
    }
    parts.extend(others.map(|other| part(Vec::new(), other.place, other.state)));
    for (nth, part) in parts.iter_mut().enumerate() {
        part.at = nth;
    }
    let mut about = json::ObjectBuilder::default();
    for (name, value) in &replay.about {
        about.raw(name, json::compact(value).0);
    }
    Parsed {
        layout: DocumentLayout::Lines,
        about: (!about.is_empty()).then(|| about.finish()),
        parts,
        ..Parsed::default()
    }
}

fn part(raw: Vec<u8>, place: Position, state: ElementState) -> ElementPart {
    ElementPart {
        at: 0,
        raw,
        size: 1,
        further: Vec::new(),
        row: None,
        place,
        state,
    }
}

impl<'a> LogReplay<'a> {
    fn line(&mut self, full: &'a [u8], place: Position) {
        let body = record::body_of(full, place);
        match LogOperation::of(body) {
            LogOperation::Blank => {}
            LogOperation::Rewind(id) => self.rewind(&id),
            LogOperation::Message(id) => self.put(Live {
                id: Some(id),
                raw: body,
                place,
            }),
            LogOperation::Set(set) => {
                if let Some(list) = json::member(set, "messages").filter(|raw| raw.starts_with(b"[")) {
                    self.rewind_to(0);
                    self.put_all(list, place);
                }
                self.describe(set);
            }
            LogOperation::Session => {
                if let Some(list) = json::member(body, "messages") {
                    self.put_all(list, place);
                }
                self.describe(body);
            }
            LogOperation::Unreadable => self.other(ElementState::Damaged(full.to_vec()), place),
            LogOperation::Unrecognized => {
                self.other(ElementState::Unrecognized(body.trim_ascii().to_vec()), place)
            }
        }
    }

    fn other(&mut self, state: ElementState, place: Position) {
        self.others.push(OtherLine {
            state,
            place,
            before: self.live.len(),
        });
    }

    fn put(&mut self, live: Live<'a>) {
        let known = live.id.as_ref().and_then(|id| self.by_id.get(id)).copied();
        match (known, &live.id) {
            (Some(at), _) => self.live[at] = live,
            (None, id) => {
                if let Some(id) = id {
                    self.by_id.insert(id.clone(), self.live.len());
                }
                self.live.push(live);
            }
        }
    }

    fn put_all(&mut self, list: &'a [u8], place: Position) {
        let Ok(mut scan) = ArrayElements::new(list, Dialect::Strict) else {
            return;
        };
        while let Ok(Some((_, raw))) = scan.next() {
            let id = json::member_text(raw, "id");
            self.put(Live { id, raw, place });
        }
    }

    /// An unknown id removes everything.
    fn rewind(&mut self, id: &str) {
        self.rewind_to(self.by_id.get(id).copied().unwrap_or(0));
    }

    fn rewind_to(&mut self, at: usize) {
        for removed in self.live.drain(at..) {
            if let Some(id) = removed.id {
                self.by_id.remove(&id);
            }
        }
    }

    fn describe(&mut self, object: &'a [u8]) {
        for (name, value) in json::members(object, Dialect::Strict).unwrap_or_default() {
            if name == "messages" {
                continue;
            }
            match self.about.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => self.about.push((name, value)),
            }
        }
    }
}
