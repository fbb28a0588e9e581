//! One session in memory: its lines in one piece of memory, and what each of them is.

mod detail;
mod ids;

use super::derived::Detail;
use super::event::Action;
use super::excerpt::Excerpt;
use super::json;
use super::key::{Short, hash};
use super::message::{Category, Message, Role};
use super::origin::Origin;
use super::record::{self, Kind, Record};
use crate::error::Place;
use std::borrow::Cow;
use std::collections::HashSet;
use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};

/// The lines of one session, in order.
#[derive(Clone, Debug, Default)]
pub struct Session {
    bytes: Vec<u8>,
    lines: Vec<Line>,
    origin: Option<Arc<Origin>>,
    /// What is known of lines that are not here.
    excerpt: Option<Box<Excerpt>>,
    /// What it has of the long values of messages.
    detail: Detail,
    /// The lines of messages without an id, and what their derived ids show; made when the first is asked for.
    derived: OnceLock<Vec<(usize, Short)>>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    /// Where it ends; it begins at the end of the one before.
    end: usize,
    place: Place,
    class: Class,
    /// Hash of the message's own id; none when it has none.
    id: Option<NonZeroU64>,
}

/// What a line is, in short: enough to find exchanges and cuts without a second look at the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A message.
    Message(Traits),
    /// A `session` line.
    Header,
    /// Any other event.
    Event,
    /// Damaged or foreign.
    Unreadable,
    /// Empty.
    Blank,
}

/// A line of a session that is being made from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A line of the other, as it stands.
    Line(usize),
    /// A line of the other with other members: the line, and what it becomes, without its newline. Of a reduced line this
    /// is reduced too.
    Edited(usize, Vec<u8>),
    /// A new line, without its newline.
    Made(Vec<u8>),
}

/// What decides where a message may be cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Who speaks.
    pub role: Role,
    /// What it is worth.
    pub category: Category,
    /// Whether it calls tools.
    pub calls: bool,
    /// Whether it carries reasoning.
    pub reasoning: bool,
}

impl Traits {
    /// Whether the message is kept when messages before a cut are dropped: instructions, and context in their role.
    pub fn survives_truncate(self) -> bool {
        self.is_system() || matches!(self.role, Role::System | Role::Developer)
    }

    /// The traits of a message.
    pub fn of(message: &super::message::Message<'_>) -> Traits {
        Traits {
            role: message.role(),
            category: message.category(),
            calls: message.calls_tools(),
            reasoning: message
                .reasoning
                .is_some_and(|raw| raw != b"null" && raw != b"[]"),
        }
    }

    /// Whether it never leaves the view by itself. A reply and a tool's result go with what they belong to, whatever
    /// their category: kept alone, a result would lose its call, and the view would begin with the assistant.
    pub fn is_system(&self) -> bool {
        self.category == Category::System && !matches!(self.role, Role::Assistant | Role::Tool)
    }
}

impl Class {
    /// The class of a record.
    pub fn of(record: &Record<'_>) -> Class {
        match &record.kind {
            Kind::Message(message) => Class::Message(Traits::of(message)),
            Kind::Event(event) if event.is_header() => Class::Header,
            Kind::Event(_) => Class::Event,
            Kind::Unreadable(_) => Class::Unreadable,
            Kind::Blank => Class::Blank,
        }
    }
}

impl Session {
    /// Adds a line as it came, its ending included.
    pub fn push(&mut self, record: &Record<'_>) {
        self.bytes.extend_from_slice(record.full);
        self.end_line(record);
    }

    /// Ends the line of this record.
    fn end_line(&mut self, record: &Record<'_>) {
        let id = record.message().and_then(Message::id).map(|id| hash(&id));
        let class = Class::of(record);
        if let (Class::Message(_), None) = (class, id) {
            self.derived.take();
            if let Detail::Digests(derived) = &mut self.detail {
                derived.add(self.lines.len(), record.body);
            }
        }
        self.lines.push(Line {
            end: self.bytes.len(),
            place: record.place,
            class,
            id,
        });
    }

    /// Adds a record that was made of what is at this place.
    pub fn push_made(&mut self, mut body: Vec<u8>, place: Place) {
        body.push(b'\n');
        self.push(&Record::parse(&body, place));
    }

    /// Adds a line of a document as it came, with the newline that the last one may lack.
    pub fn push_ended(&mut self, full: &[u8], place: Place) {
        self.push(&Record::parse(full, place));
        if let Some(line) = self.lines.last_mut().filter(|_| !full.ends_with(b"\n")) {
            self.bytes.push(b'\n');
            line.end += 1;
        }
    }

    /// Adds a line as [`Session::push_reduced`] does, but a blank one becomes part of the blank line before it: many of them take
    /// no more memory than their bytes.
    pub fn push_read(&mut self, record: &Record<'_>) {
        let is_blank = matches!(record.kind, Kind::Blank);
        let before = self.len().checked_sub(1);
        match before.filter(|before| is_blank && !self.full(*before).is_empty()) {
            Some(before) if self.lines[before].class == Class::Blank => {
                self.bytes.extend_from_slice(record.full);
                self.lines[before].end = self.bytes.len();
            }
            _ => self.push_reduced(record),
        }
    }

    /// Adds an empty line in the place of lines that are not at hand, the first of which stands there.
    pub fn push_gap(&mut self, place: Place) {
        self.lines.push(Line {
            end: self.bytes.len(),
            place,
            class: Class::Blank,
            id: None,
        });
    }

    /// Says that the lines so far are an excerpt.
    pub fn set_excerpt(&mut self, excerpt: Excerpt) {
        self.excerpt = Some(Box::new(excerpt));
    }

    /// What is known of lines that are not at hand; none when all are.
    pub fn excerpt(&self) -> Option<&Excerpt> {
        self.excerpt.as_deref()
    }

    /// Number of lines of the log, those that are not at hand included.
    pub fn lines_in_log(&self) -> usize {
        match &self.excerpt {
            Some(excerpt) => excerpt.lines + self.len() - excerpt.kept(),
            None => (0..self.len()).map(|index| self.lines_at(index)).sum(),
        }
    }

    /// Number of lines that are kept as one: of blank ones there may be several.
    fn lines_at(&self, index: usize) -> usize {
        match self.class(index) {
            Class::Blank => self
                .full(index)
                .split_inclusive(|byte| *byte == b'\n')
                .count()
                .max(1),
            _ => 1,
        }
    }

    /// Adds a line that is made here; a newline is put behind it, and before it where one is missing.
    pub fn push_new(&mut self, body: &[u8]) {
        let mut full = Vec::with_capacity(body.len() + 1);
        full.extend_from_slice(body);
        full.push(b'\n');
        let last = self.len().checked_sub(1);
        let line = last.map_or(1, |last| self.place(last).line + self.lines_at(last) as u64);
        self.push(&Record::parse(
            &full,
            Place {
                line,
                offset: self.bytes.len() as u64 + 1,
            },
        ));
    }

    /// The session with a line that is made here ahead of all.
    pub fn with_first(mut self, body: &[u8]) -> Session {
        let mut first = Session::default();
        first.push_new(body);
        let length = first.bytes.len();
        self.derived.take();
        self.bytes.splice(0..0, first.bytes);
        self.lines.iter_mut().for_each(|line| line.end += length);
        self.lines.splice(0..0, first.lines);
        if let Detail::Digests(derived) = &mut self.detail {
            derived.shift();
        }
        self
    }

    /// Adds a line of another session as it stands there.
    pub fn push_from(&mut self, other: &Session, index: usize) {
        let line = other.lines[index];
        let full = other.full(index);
        // A byte order mark belongs to the start of an input, and this is none.
        let body = record::body_of(full, line.place);
        if !full.starts_with(body) {
            return self.push_new(body);
        }
        self.bytes.extend_from_slice(full);
        if let (Class::Message(_), None) = (line.class, line.id) {
            self.derived.take();
            match (&mut self.detail, &other.detail) {
                (Detail::Digests(derived), Detail::Digests(others)) => {
                    derived.copy(self.lines.len(), others, index);
                }
                (Detail::Digests(derived), _) => derived.add(self.lines.len(), body),
                _ => {}
            }
        }
        self.lines.push(Line {
            end: self.bytes.len(),
            ..line
        });
    }

    /// Says what it was converted from; sessions that share it share the piece of the input.
    pub fn set_origin(&mut self, origin: Arc<Origin>) {
        self.origin = Some(origin);
    }

    /// What it was converted from, where that was kept.
    pub fn origin(&self) -> Option<&Arc<Origin>> {
        self.origin.as_ref()
    }

    /// All lines, for messages of tests.
    #[cfg(test)]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Bytes of all lines.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// What a line is.
    pub fn class(&self, index: usize) -> Class {
        self.lines[index].class
    }

    /// A line, read anew.
    pub fn record(&self, index: usize) -> Record<'_> {
        Record::parse(self.full(index), self.lines[index].place)
    }

    /// Where a line stood in its input.
    pub fn place(&self, index: usize) -> Place {
        self.lines[index].place
    }

    /// Hash of a message's own id.
    pub(super) fn id_hash(&self, index: usize) -> Option<u64> {
        self.lines[index].id.map(NonZeroU64::get)
    }

    /// The bytes of a line, ending included.
    pub fn full(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.lines[before].end);
        &self.bytes[start..self.lines[index].end]
    }

    /// Indexes of the messages, the header's log order.
    pub fn messages(&self) -> impl Iterator<Item = (usize, Traits)> + '_ {
        self.lines
            .iter()
            .enumerate()
            .filter_map(|(index, line)| match line.class {
                Class::Message(traits) => Some((index, traits)),
                _ => None,
            })
    }

    /// The events that count: those that no `restore` has taken back, `restore` events themselves excepted.
    pub fn live_events(&self) -> Vec<usize> {
        let events: Vec<usize> = (0..self.len())
            .filter(|index| self.lines[*index].class == Class::Event)
            .collect();
        let mut taken_back: HashSet<String> = HashSet::new();
        let mut live = Vec::new();
        for &index in events.iter().rev() {
            let record = self.record(index);
            let Some(event) = record.event() else { continue };
            if event.id().is_some_and(|id| taken_back.contains(id.as_ref())) {
                continue;
            }
            match event.action() {
                Action::Restore(restore) => {
                    taken_back.insert(restore.of.into_owned());
                }
                _ => live.push(index),
            }
        }
        live.reverse();
        live
    }

    /// The gcs of which a later one destroyed what they had taken out.
    pub fn destroyed(&self) -> HashSet<String> {
        let events = self.live_events().into_iter();
        events
            .filter_map(|index| {
                self.record(index)
                    .event()
                    .filter(|event| event.name() == "gc")
                    .map(|gc| gc.destroyed())
            })
            .flatten()
            .collect()
    }

    /// The members of the header as `meta` events have left them: name and raw value, in order.
    pub fn header(&self) -> Vec<(String, Vec<u8>)> {
        let Some(first) = (0..self.len()).find(|index| self.class(*index) == Class::Header) else {
            return Vec::new();
        };
        let events = self.live_events().into_iter().map(|index| self.record(index));
        super::header::of(self.record(first).body, events)
    }

    /// A text member of the header.
    pub fn header_text(&self, name: &str) -> Option<String> {
        json::text(super::header::member(&self.header(), name)?).map(Cow::into_owned)
    }

    /// The newest time that a line carries, as written.
    pub fn newest_time(&self) -> Option<String> {
        self.time(self.newest_timed()?)
    }

    /// The last line that carries a time.
    pub(super) fn newest_timed(&self) -> Option<usize> {
        (0..self.len()).rev().find(|index| self.time(*index).is_some())
    }

    /// The time that a line carries.
    fn time(&self, index: usize) -> Option<String> {
        let name = match self.lines[index].class {
            Class::Message(_) => "timestamp",
            Class::Event => "at",
            Class::Header => "created_at",
            Class::Unreadable | Class::Blank => return None,
        };
        json::member(self.record(index).body, name)
            .and_then(json::text)
            .map(Cow::into_owned)
    }
}
