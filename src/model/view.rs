//! The view: a log replayed into the messages a model would be sent.

use super::event::{Action, Compact, Span};
use super::json;
use super::message::{Category, Message};
use super::record::{Kind, Record};
use super::session::{Class, Session, Traits};
use crate::error::Place;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// One thing in the view.
#[derive(Clone, Debug)]
pub enum Item {
    /// A line of the session as it stands.
    Line(usize),
    /// A line with members replaced by a compaction.
    Edited(usize, Vec<u8>),
    /// A message that a compaction put in.
    Inserted(Vec<u8>),
    /// A `summary` event: its text stands for what it covers.
    Summary(usize),
}

/// What a model would be sent, in order.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The items.
    pub items: Vec<Item>,
    /// Events that name something that is not there: line index, and what is wrong.
    pub dangling: Vec<(usize, String)>,
}

impl Item {
    /// The item's bytes as a line without ending.
    pub fn body<'s>(&'s self, session: &'s Session) -> &'s [u8] {
        match self {
            Item::Line(index) | Item::Summary(index) => session.record(*index).body,
            Item::Edited(_, body) | Item::Inserted(body) => body,
        }
    }

    /// The item as a message; none for a summary.
    pub fn message<'s>(&'s self, session: &'s Session) -> Option<Message<'s>> {
        let record = match self {
            Item::Line(index) => session.record(*index),
            // A made line: whatever byte order mark it began with is content.
            Item::Edited(_, body) | Item::Inserted(body) => Record::parse(body, Place { line: 0, offset: 1 }),
            Item::Summary(_) => return None,
        };
        if let Kind::Message(message) = record.kind {
            Some(message)
        } else {
            None
        }
    }

    /// What decides where it may be cut; none for a summary.
    pub fn traits(&self, session: &Session) -> Option<Traits> {
        match self {
            Item::Line(index) => match session.class(*index) {
                Class::Message(traits) => Some(traits),
                _ => None,
            },
            Item::Edited(..) | Item::Inserted(_) => self.message(session).as_ref().map(Traits::of),
            Item::Summary(_) => None,
        }
    }

    /// The summary's text; none for a message.
    pub fn summary<'s>(&self, session: &'s Session) -> Option<Cow<'s, str>> {
        let Item::Summary(index) = self else { return None };
        match session.record(*index).event()?.action() {
            Action::Summary(summary) => Some(summary.content),
            _ => None,
        }
    }

    /// Whether the item never leaves the view by itself.
    pub fn stays(&self, session: &Session) -> bool {
        self.traits(session)
            .is_none_or(|traits| traits.category == Category::System)
    }
}

impl View {
    /// Replays a session.
    pub fn replay(session: &Session) -> View {
        let live = session.live_events().into_iter();
        View::after(
            session,
            live.filter(|index| View::is_moved_by(session, *index)).collect(),
        )
    }

    /// Whether the line is an event that moves the view.
    pub fn is_moved_by(session: &Session, index: usize) -> bool {
        let record = session.record(index);
        let name = record.event().map(|event| event.name()).unwrap_or_default();
        matches!(name.as_ref(), "truncate" | "compact" | "summary")
    }

    /// Replays a session as if only these events, in their order, moved its view.
    pub fn after(session: &Session, events: Vec<usize>) -> View {
        if events.is_empty() {
            return View {
                items: session.messages().map(|(i, _)| Item::Line(i)).collect(),
                dangling: Vec::new(),
            };
        }
        let mut replay = Replay::new(session, &events);
        for index in events {
            replay.apply(index);
        }
        replay.finish()
    }

    /// What would be sent, to compare views by: the bytes of every message, and the texts of summaries.
    pub fn shown(&self, session: &Session) -> Vec<Vec<u8>> {
        let item = |item: &Item| match item.summary(session) {
            Some(text) => text.into_owned().into_bytes(),
            None => item.body(session).to_vec(),
        };
        self.items.iter().map(item).collect()
    }

    /// The messages of the view.
    pub fn messages<'s>(&'s self, session: &'s Session) -> impl Iterator<Item = Message<'s>> + 's {
        self.items.iter().filter_map(|item| item.message(session))
    }
}

/// The ids of messages that an event names.
fn names(action: &Action<'_>, named: &mut HashSet<String>) {
    match action {
        Action::Truncate(cut) => named.extend(cut.before.iter().map(ToString::to_string)),
        Action::Summary(summary) => named.extend(summary.covers.iter().flatten().map(ToString::to_string)),
        Action::Compact(compact) => {
            for span in &compact.drop {
                match span {
                    Span::One(id) => named.extend([id.to_string()]),
                    Span::Range(ends) => named.extend(ends.iter().map(ToString::to_string)),
                }
            }
            let edited = compact.edit.iter().filter_map(|edit| json::member(edit, "id"));
            named.extend(edited.filter_map(json::text).map(Cow::into_owned));
            named.extend(
                compact
                    .insert
                    .iter()
                    .filter_map(|insert| insert.before.as_ref())
                    .map(ToString::to_string),
            );
        }
        _ => {}
    }
}

struct Replay<'s> {
    session: &'s Session,
    /// Line index of the first message of each id that an event names.
    places: HashMap<String, usize>,
    gone: Vec<bool>,
    edits: HashMap<usize, Vec<u8>>,
    /// Line index that an inserted message stands before, and the message.
    inserts: Vec<(usize, Vec<u8>)>,
    /// The summary's event, and the line it stands behind.
    summary: Option<(usize, Option<usize>)>,
    dangling: Vec<(usize, String)>,
}

impl<'s> Replay<'s> {
    fn new(session: &'s Session, events: &[usize]) -> Self {
        let mut named = HashSet::new();
        for index in events {
            session
                .record(*index)
                .event()
                .map(|event| event.action())
                .iter()
                .for_each(|a| names(a, &mut named));
        }
        let places = session.find(named);
        let gone = (0..session.len())
            .map(|i| !matches!(session.class(i), Class::Message(_)))
            .collect();
        Replay {
            session,
            places,
            gone,
            edits: HashMap::new(),
            inserts: Vec::new(),
            summary: None,
            dangling: Vec::new(),
        }
    }

    /// The line of a message that the event at `event` names; only what was said before an event can be meant.
    fn find(&mut self, event: usize, id: &str) -> Option<usize> {
        let place = self.places.get(id).copied().filter(|place| *place < event);
        if place.is_none() {
            self.dangling
                .push((event, format!("it names the message {id}, which is not there")));
        }
        place
    }

    /// The nth message of an id that repeats.
    fn find_nth(&mut self, event: usize, id: &str, nth: u64) -> Option<usize> {
        let all = self.session.all_of(id);
        let place = usize::try_from(nth - 1)
            .ok()
            .and_then(|nth| all.get(nth).copied());
        if place.is_none_or(|place| place >= event) {
            self.dangling.push((
                event,
                format!("it names message {nth} of the id {id}, which is not there"),
            ));
            return None;
        }
        place
    }

    fn is_system(&self, index: usize) -> bool {
        matches!(self.session.class(index), Class::Message(traits) if traits.category == Category::System)
    }

    fn apply(&mut self, event: usize) {
        let session = self.session;
        let record = session.record(event);
        match record.event().map(super::event::Event::action) {
            Some(Action::Truncate(cut)) => {
                let limit = match (&cut.before, cut.nth) {
                    (Some(id), Some(nth)) if nth > 1 => self.find_nth(event, id, nth),
                    (Some(id), _) => self.find(event, id),
                    (None, _) => Some(event),
                };
                let Some(limit) = limit else { return };
                for index in 0..limit {
                    if !(cut.keep_system && self.is_system(index)) {
                        self.gone[index] = true;
                    }
                }
                self.inserts.retain(|(before, body)| {
                    *before >= limit || (cut.keep_system && Item::Inserted(body.clone()).stays(session))
                });
            }
            Some(Action::Compact(compact)) => self.compact(event, &compact),
            Some(Action::Summary(summary)) => {
                let mut behind = None;
                if let Some([first, last]) = &summary.covers
                    && let (Some(first), Some(last)) = (self.find(event, first), self.find(event, last))
                {
                    for index in first..=last {
                        if !self.is_system(index) {
                            self.gone[index] = true;
                        }
                    }
                    behind = Some(last);
                } else if summary.covers.is_none() && summary.here {
                    behind = Some(event);
                }
                self.summary = Some((event, behind));
            }
            _ => self
                .dangling
                .push((event, "its members do not fit its type".to_string())),
        }
    }

    fn compact(&mut self, event: usize, compact: &Compact<'_>) {
        for span in &compact.drop {
            let (first, last) = match span {
                Span::One(id) => (id, id),
                Span::Range([first, last]) => (first, last),
            };
            if let (Some(first), Some(last)) = (self.find(event, first), self.find(event, last)) {
                for index in first..=last {
                    self.gone[index] = true;
                }
            }
        }
        for edit in &compact.edit {
            let raw = *edit;
            let id = json::member(raw, "id").and_then(json::text).unwrap_or_default();
            let Some(index) = self.find(event, &id) else {
                continue;
            };
            let members = json::members(raw, json::Dialect::Strict).unwrap_or_default();
            let changes: Vec<_> = members
                .iter()
                .filter(|(name, _)| name != "id")
                .map(|(name, value)| (name.as_ref(), Some(*value)))
                .collect();
            let before = self.edits.remove(&index);
            let body = before
                .as_deref()
                .unwrap_or_else(|| self.session.record(index).body);
            if let Ok(edited) = json::with_members(body, &changes) {
                self.edits.insert(index, edited);
            }
        }
        for insert in &compact.insert {
            let place = match &insert.before {
                Some(id) => self.find(event, id),
                None => Some(event),
            };
            if let Some(place) = place {
                self.inserts.push((place, insert.message.to_vec()));
            }
        }
    }

    fn finish(mut self) -> View {
        let mut items = Vec::new();
        let summary = self.summary.take();
        for index in 0..self.session.len() {
            for (_, body) in self.inserts.iter().filter(|(before, _)| *before == index) {
                items.push(Item::Inserted(body.clone()));
            }
            if !self.gone[index] {
                items.push(match self.edits.remove(&index) {
                    Some(body) => Item::Edited(index, body),
                    None => Item::Line(index),
                });
            }
            if let Some((event, Some(behind))) = summary
                && behind == index
            {
                items.push(Item::Summary(event));
            }
        }
        if let Some((event, None)) = summary {
            // What it covered is gone: it stands where that began, behind the leading rules.
            let rules = items.iter().take_while(|item| item.stays(self.session)).count();
            items.insert(rules, Item::Summary(event));
        }
        View {
            items,
            dangling: self.dangling,
        }
    }
}
