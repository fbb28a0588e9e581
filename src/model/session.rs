//! One session in memory: its lines in one buffer, and the class of each line.

mod detail;
mod header;
mod ids;
mod times;

use super::derived::Detail;
use super::key::{Short, hash};
use super::message::{Category, Message, Role};
use super::partial_session::PartialSession;
use super::record::{self, Record, RecordKind};
use super::source_bytes::SourceBytes;
use crate::error::Position;
use std::collections::HashSet;
use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};

/// The lines of one session, in order.
#[derive(Clone, Debug, Default)]
pub struct Session {
    bytes: Vec<u8>,
    lines: Vec<LineSpan>,
    origin: Option<Arc<SourceBytes>>,
    /// Information about omitted lines, if the session is partial.
    partial: Option<Box<PartialSession>>,
    /// How much of the long values is loaded.
    detail: Detail,
    /// The lines of messages without an id, and what their derived ids show; made when the first is asked for.
    derived: OnceLock<Vec<(usize, Short)>>,
    /// The members of the header; created when they are first requested.
    header: OnceLock<Vec<(String, Vec<u8>)>>,
}

#[derive(Clone, Copy, Debug)]
struct LineSpan {
    /// End offset in the buffer; the start is the end of the previous line.
    end: usize,
    /// Its position; the number is exact up to two billion. The lowest bit of the number is set if the message has a
    /// timestamp, so that a line takes 32 bytes.
    offset: u64,
    number_and_timed: u32,
    class: Class,
    /// Hash of the message's own id, if it has one.
    id: Option<NonZeroU64>,
}

const _: () = assert!(size_of::<LineSpan>() <= 32);

impl LineSpan {
    /// A blank line at a position.
    fn at(place: Position, end: usize) -> LineSpan {
        LineSpan {
            end,
            offset: place.offset,
            number_and_timed: u32::try_from(place.line.min(MOST_LINES) << 1).unwrap_or(0),
            class: Class::Blank,
            id: None,
        }
    }

    fn place(&self) -> Position {
        Position {
            line: u64::from(self.number_and_timed >> 1),
            offset: self.offset,
        }
    }

    /// Whether the message has a timestamp.
    fn is_timed(&self) -> bool {
        self.number_and_timed & 1 == 1
    }
}

/// The class of a line: enough to find exchanges and cut positions without parsing the line again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A message.
    Message(Traits),
    /// A session header.
    Header,
    /// Any other event.
    Event,
    /// Damaged or a passthrough record.
    Unreadable,
    /// Empty.
    Blank,
}

/// A line of a session that is built from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DerivedLine {
    /// A line of the other session, unchanged.
    Line(usize),
    /// A line of the other session with changed members: its index, and the new line without its newline. If the line
    /// is reduced, the new one is reduced too.
    Edited(usize, Vec<u8>),
    /// A new line without its newline.
    Generated(Vec<u8>),
}

/// Message properties that decide where a view may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// The sender's role.
    pub role: Role,
    /// The drop priority.
    pub category: Category,
    /// Whether it has tool calls.
    pub calls: bool,
    /// Whether it has reasoning.
    pub reasoning: bool,
}

impl Traits {
    /// Whether the message is kept when earlier messages are dropped: instructions, and messages with role system or
    /// developer.
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

    /// Whether the message is never dropped automatically. Assistant messages and tool results are excluded, whatever
    /// their category: kept alone, a result would lose its call, and the view would begin with an assistant message.
    pub fn is_system(&self) -> bool {
        self.category == Category::System && !matches!(self.role, Role::Assistant | Role::Tool)
    }
}

impl Class {
    /// The class of a record.
    pub fn of(record: &Record<'_>) -> Class {
        match &record.kind {
            RecordKind::Message(message) => Class::Message(Traits::of(message)),
            RecordKind::Event(event) if event.is_header() => Class::Header,
            RecordKind::Event(_) => Class::Event,
            RecordKind::Unreadable(_) => Class::Unreadable,
            RecordKind::Blank => Class::Blank,
        }
    }
}

/// The largest line number that is exact.
const MOST_LINES: u64 = (1 << 31) - 1;

/// Length from which a copy of a line takes noticeable memory, in bytes.
const LONG: usize = 1 << 20;

/// Usual length of a line without long values, in bytes. Memory that is reserved and not used costs nothing.
const REDUCED: usize = 160;

/// Number of lines from which their spans take noticeable memory.
const MANY: usize = 1 << 16;

/// Number of lines whose spans take more than 32 MiB. The allocator of glibc returns an allocation of this size to the
/// system when it is freed, and may keep a smaller one.
const RETURNED: usize = (33 << 20) / size_of::<LineSpan>();

impl Session {
    /// Appends a line unchanged, including its ending.
    pub fn push(&mut self, record: &Record<'_>) {
        // A byte order mark is only valid at the start of an input.
        let mark = if self.lines.is_empty() { 0 } else { record.mark() };
        self.bytes.extend_from_slice(&record.full[mark..]);
        self.end_line(record, self.bytes.len());
    }

    /// Reserves memory for lines of a usual length without their long values.
    pub fn reserve(&mut self, lines: usize) {
        let spans = if lines < MANY { lines } else { lines.max(RETURNED) };
        self.lines.reserve_exact(spans);
        self.bytes.reserve_exact(lines.saturating_mul(REDUCED));
    }

    /// Completes the line of this record, which ends here in the buffer.
    fn end_line(&mut self, record: &Record<'_>, end: usize) {
        let id = record.message().and_then(Message::id).map(|id| hash(&id));
        let class = Class::of(record);
        if let (Class::Message(_), None) = (class, id) {
            self.derived.take();
            if let Detail::Digests(derived) = &mut self.detail {
                derived.add(self.lines.len(), record.body);
            }
        }
        self.forget_header(class);
        let mut line = LineSpan::at(record.place, end);
        let is_timed = |message: &Message<'_>| message.timestamp.is_some();
        line.number_and_timed |= u32::from(record.message().is_some_and(is_timed));
        self.lines.push(LineSpan { class, id, ..line });
    }

    /// Appends a generated record for the input at this position.
    pub fn push_generated(&mut self, mut body: Vec<u8>, place: Position) {
        body.push(b'\n');
        if body.len() <= LONG.max(self.bytes.len()) {
            return self.push(&Record::parse(&body, place));
        }
        // The buffer of a long line becomes that of the session, so that the line is in memory once.
        let start = self.bytes.len();
        body.splice(..0, std::mem::take(&mut self.bytes));
        self.end_line(&Record::parse(&body[start..], place), body.len());
        self.bytes = body;
    }

    /// Appends a line of a document unchanged, with the newline that the last line may lack.
    pub fn push_ended(&mut self, full: &[u8], place: Position) {
        self.push(&Record::parse(full, place));
        if let Some(line) = self.lines.last_mut().filter(|_| !full.ends_with(b"\n")) {
            self.bytes.push(b'\n');
            line.end += 1;
        }
    }

    /// Appends a line as [`Session::push_reduced`] does, but joins consecutive blank lines into one entry to save
    /// memory.
    pub fn push_read(&mut self, record: &Record<'_>) {
        let is_blank = matches!(record.kind, RecordKind::Blank);
        let before = self.len().checked_sub(1);
        match before.filter(|before| is_blank && !self.full(*before).is_empty()) {
            Some(before) if self.lines[before].class == Class::Blank => {
                self.bytes.extend_from_slice(record.full);
                self.lines[before].end = self.bytes.len();
            }
            _ => self.push_reduced(record),
        }
    }

    /// Appends an empty line in place of omitted lines; `place` is the position of the first one.
    pub fn push_gap(&mut self, place: Position) {
        self.lines.push(LineSpan::at(place, self.bytes.len()));
    }

    /// Marks the lines so far as a partial session.
    pub fn set_partial(&mut self, partial: PartialSession) {
        self.partial = Some(Box::new(partial));
    }

    /// Information about omitted lines; `None` if all lines are loaded.
    pub fn partial(&self) -> Option<&PartialSession> {
        self.partial.as_deref()
    }

    /// Number of lines of the log, including omitted ones.
    pub fn lines_in_log(&self) -> usize {
        match &self.partial {
            Some(partial) => partial.lines + self.len() - partial.kept(),
            None => (0..self.len()).map(|index| self.lines_at(index)).sum(),
        }
    }

    /// Number of log lines in one entry; more than one for joined blank lines.
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

    /// Appends a generated line and its newline, after a newline that the previous line may lack.
    pub fn push_new(&mut self, body: &[u8]) {
        let last = self.len().checked_sub(1);
        let line = last.map_or(1, |last| self.place(last).line + self.lines_at(last) as u64);
        let offset = self.bytes.len() as u64 + 1;
        // Else the newline would double the memory of a long line.
        self.bytes.reserve(body.len() + 1);
        self.push_ended(body, Position { line, offset });
    }

    /// The session with a generated line inserted at the start.
    pub fn with_first(mut self, body: &[u8]) -> Session {
        let mut first = Session::default();
        first.push_new(body);
        let length = first.bytes.len();
        self.derived.take();
        self.header.take();
        self.bytes.splice(0..0, first.bytes);
        self.lines.iter_mut().for_each(|line| line.end += length);
        self.lines.splice(0..0, first.lines);
        if let Detail::Digests(derived) = &mut self.detail {
            derived.shift();
        }
        self
    }

    /// Appends a line of another session unchanged.
    pub fn push_from(&mut self, other: &Session, index: usize) {
        let line = other.lines[index];
        let full = other.full(index);
        // A byte order mark is only valid at the start of an input, which this is not.
        let body = record::body_of(full, line.place());
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
        self.forget_header(line.class);
        self.lines.push(LineSpan {
            end: self.bytes.len(),
            ..line
        });
    }

    /// Sets the source bytes; sessions of one source section share them.
    pub fn set_origin(&mut self, origin: Arc<SourceBytes>) {
        self.origin = Some(origin);
    }

    /// The source bytes, if they were kept.
    pub fn origin(&self) -> Option<&Arc<SourceBytes>> {
        self.origin.as_ref()
    }

    /// All lines as text, for messages of tests.
    #[cfg(test)]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Size of all lines in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether the session has no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The class of a line.
    pub fn class(&self, index: usize) -> Class {
        self.lines[index].class
    }

    /// Parses a line again.
    pub fn record(&self, index: usize) -> Record<'_> {
        let (full, place) = (self.full(index), self.place(index));
        match self.class(index) {
            Class::Message(_) | Class::Header | Class::Event => Record::reparse(full, place),
            Class::Unreadable | Class::Blank => Record::parse(full, place),
        }
    }

    /// Position of a line in its input.
    pub fn place(&self, index: usize) -> Position {
        self.lines[index].place()
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

    /// The bytes of a line without its ending.
    pub fn body(&self, index: usize) -> &[u8] {
        record::body_of(self.full(index), self.place(index))
    }

    /// Indexes and traits of all messages, in log order.
    pub fn messages(&self) -> impl Iterator<Item = (usize, Traits)> + '_ {
        self.lines
            .iter()
            .enumerate()
            .filter_map(|(index, line)| match line.class {
                Class::Message(traits) => Some((index, traits)),
                _ => None,
            })
    }

    /// The active events: those that no `restore` has undone, without the `restore` events themselves.
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
            match event.restored() {
                Some(of) => drop(taken_back.insert(of.into_owned())),
                None => live.push(index),
            }
        }
        live.reverse();
        live
    }

    /// Ids of `gc` events whose archived lines a later one destroyed.
    pub fn destroyed(&self) -> HashSet<String> {
        let destroyed = |index| {
            let record = self.record(index);
            let gc = record.event().filter(|event| event.name() == "gc")?;
            Some(gc.destroyed())
        };
        let events = self.live_events().into_iter();
        events.filter_map(destroyed).flatten().collect()
    }
}

/// A session with these lines.
#[cfg(test)]
pub fn of_lines(lines: &[&str]) -> Session {
    let mut session = Session::default();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    session
}
