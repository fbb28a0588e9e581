//! The operations of a log carried out: what is left of it.

use super::line::Line;
use crate::error::Place;
use crate::format::kit::Frame;
use crate::model::json::{self, Dialect, Elements, Fault};
use crate::model::record;
use std::borrow::Cow;
use std::collections::HashMap;

/// A message that is left.
#[derive(Clone, Debug)]
pub struct Live<'a> {
    /// Its id.
    pub id: Option<Cow<'a, str>>,
    /// Its bytes.
    pub raw: &'a [u8],
    /// Where it stands.
    pub place: Place,
}

/// A line that is no operation.
#[derive(Clone, Debug)]
pub struct Aside<'a> {
    /// The line with its ending.
    pub full: &'a [u8],
    /// The line without.
    pub body: &'a [u8],
    /// Where it stands.
    pub place: Place,
    /// Why it cannot be read; none of an object.
    pub fault: Option<Fault>,
    /// How many messages there were ahead of it.
    pub behind: usize,
}

/// What is left.
#[derive(Debug, Default)]
pub struct Replay<'a> {
    /// The messages, in order.
    pub live: Vec<Live<'a>>,
    by_id: HashMap<Cow<'a, str>, usize>,
    /// What is told of the session, by name.
    pub told: Vec<(Cow<'a, str>, &'a [u8])>,
    /// Lines that are no operation, in their order.
    pub aside: Vec<Aside<'a>>,
}

impl<'a> Replay<'a> {
    /// Of the lines of a log that begins behind a place.
    pub fn of_log(bytes: &'a [u8], start: Place) -> Replay<'a> {
        let mut replay = Replay::default();
        let mut place = start;
        for full in bytes.split_inclusive(|byte| *byte == b'\n') {
            place.line += 1;
            let body = record::body_of(full, place);
            let line = Line::of(body);
            match line {
                Line::Blank => {}
                Line::Rewind(id) => replay.rewind(&id),
                Line::Message(id) => replay.put(Live {
                    id: Some(id),
                    raw: body,
                    place,
                }),
                Line::Set(set) => {
                    let at = Place {
                        line: place.line,
                        offset: place.offset,
                    };
                    if let Some(list) = json::member(set, "messages").filter(|raw| raw.starts_with(b"[")) {
                        replay.rewind_to(0);
                        replay.put_all(list, at);
                    }
                    replay.tell(set);
                }
                Line::Session => {
                    if let Some(list) = json::member(body, "messages") {
                        replay.put_all(list, place);
                    }
                    replay.tell(body);
                }
                Line::Unreadable(_) | Line::Strange => replay.aside.push(Aside {
                    full,
                    body,
                    place,
                    fault: match line {
                        Line::Unreadable(fault) => Some(fault),
                        _ => None,
                    },
                    behind: replay.live.len(),
                }),
            }
            place.offset += full.len() as u64;
        }
        // What was ahead of a line may have gone since.
        let left = replay.live.len();
        for aside in &mut replay.aside {
            aside.behind = aside.behind.min(left);
        }
        replay.aside.sort_by_key(|aside| aside.behind);
        replay
    }

    /// Of a document that stands at a place: its messages are what they are.
    pub fn of_document(document: &'a [u8], listing: Option<&Frame<'a>>, start: Place) -> Replay<'a> {
        let mut replay = Replay::default();
        let mut place = start;
        let mut counted = 0;
        for nth in 0..listing.map_or(0, |listing| listing.elements.len()) {
            let Some(listing) = listing else { break };
            let raw = listing.element(nth);
            let at = listing.elements[nth].start;
            place.line += memchr::memchr_iter(b'\n', &document[counted..at]).count() as u64;
            counted = at;
            place.offset = start.offset + at as u64;
            let id = json::member(raw, "id").and_then(json::text);
            replay.live.push(Live { id, raw, place });
        }
        replay.tell(document);
        replay
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

    fn put_all(&mut self, list: &'a [u8], place: Place) {
        let Ok(mut scan) = Elements::new(list, Dialect::Strict) else {
            return;
        };
        while let Ok(Some((_, raw))) = scan.next() {
            let id = json::member(raw, "id").and_then(json::text);
            self.put(Live { id, raw, place });
        }
    }

    /// Everything goes when the id is not known.
    fn rewind(&mut self, id: &str) {
        self.rewind_to(self.by_id.get(id).copied().unwrap_or(0));
    }

    fn rewind_to(&mut self, at: usize) {
        for gone in self.live.drain(at..) {
            if let Some(id) = gone.id {
                self.by_id.remove(&id);
            }
        }
    }

    fn tell(&mut self, object: &'a [u8]) {
        for (name, value) in json::members(object, Dialect::Strict).unwrap_or_default() {
            if name == "messages" {
                continue;
            }
            match self.told.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => self.told.push((name, value)),
            }
        }
    }

    /// What is told under a name.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.told
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, raw)| *raw)
    }
}
