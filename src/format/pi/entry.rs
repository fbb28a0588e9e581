//! Parses the entries of a file, one per line.

use crate::error::Position;
use crate::format::lines::placed_lines;
use crate::format::object::{Object, is_time};
use crate::model::json::{self, JsonError};
use crate::model::record;
use std::borrow::Cow;

/// The name of the format, and of its annotations.
pub const NAME: &str = "pi";

/// Members that describe the position of an entry.
pub const LINK: [&str; 3] = ["id", "parentId", "timestamp"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Session,
    /// A message or tool result.
    Message,
    /// A summary of earlier messages.
    Compaction,
    /// A summary of another branch, for the model.
    BranchSummary,
    /// A message of an extension to the model.
    CustomMessage,
    /// Any other object.
    Other,
    /// An empty line.
    Blank,
    /// Not an object.
    Unreadable(JsonError),
}

#[derive(Clone, Debug)]
pub struct PiEntry<'a> {
    /// The line with its ending.
    pub full: &'a [u8],
    /// The line without byte order mark and ending.
    pub body: &'a [u8],
    pub place: Position,
    /// How many lines up to and including it are not empty. The first version counts from 0 to name an entry.
    pub number: usize,
    pub kind: EntryKind,
    pub id: Option<Cow<'a, str>>,
    /// Id of its parent.
    pub parent: Option<Cow<'a, str>>,
    object: Object<'a>,
}

impl<'a> PiEntry<'a> {
    /// Parses a line; `first` if it is the first of the file.
    pub fn parse(full: &'a [u8], place: Position, first: bool) -> PiEntry<'a> {
        let body = record::body_of(full, place);
        let (object, kind) = match Object::parse(body) {
            _ if body.trim_ascii().is_empty() => (Object::default(), EntryKind::Blank),
            // The links of a damaged line are near its start.
            Err(fault) => (Object::before_damage(body), EntryKind::Unreadable(fault)),
            Ok(object) => {
                let kind = kind(&object, first);
                (object, kind)
            }
        };
        PiEntry {
            full,
            body,
            place,
            number: 0,
            kind,
            id: object.filled("id"),
            parent: object.filled("parentId"),
            object,
        }
    }

    /// A member as raw JSON.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.object.get(name)
    }

    /// A string member, decoded.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.object.text(name)
    }

    /// The message, if it is a message or tool result.
    pub fn message(&self) -> Option<&'a [u8]> {
        self.get("message").filter(|_| self.kind == EntryKind::Message)
    }

    /// Whether it is an object that such files do not have: without a type, or with the payload member of another
    /// format.
    pub fn is_unrecognized(&self) -> bool {
        let typed = self.object.string("type").is_some();
        self.kind == EntryKind::Other
            && (!typed || self.get("payload").is_some() || self.get("role").is_some())
    }

    /// Whether its type is unknown.
    pub fn is_unknown(&self) -> bool {
        let kind = self.object.text("type");
        self.kind == EntryKind::Other && !kind.is_some_and(|kind| is_known(&kind))
    }

    pub fn timestamp(&self) -> Option<&'a [u8]> {
        let is_damaged = matches!(self.kind, EntryKind::Unreadable(_));
        self.get("timestamp").filter(|raw| !is_damaged && is_time(raw))
    }

    /// Whether the model receives it.
    pub fn is_received(&self) -> bool {
        matches!(
            self.kind,
            EntryKind::Message | EntryKind::BranchSummary | EntryKind::CustomMessage
        )
    }
}

/// The kind of an entry; `first` if it is the first of its file.
fn kind(entry: &Object<'_>, first: bool) -> EntryKind {
    let has_summary = entry.string("summary").is_some();
    match entry.text("type").as_deref() {
        Some("session") if first => EntryKind::Session,
        Some("message") if entry.get("message").is_some_and(|raw| raw.starts_with(b"{")) => {
            EntryKind::Message
        }
        Some("compaction") if has_summary => EntryKind::Compaction,
        Some("branch_summary") if has_summary => EntryKind::BranchSummary,
        Some("custom_message") if entry.get("content").is_some() => EntryKind::CustomMessage,
        _ => EntryKind::Other,
    }
}

/// Whether this is a type of entry.
pub fn is_known(kind: &str) -> bool {
    KINDS.contains(&kind)
}

/// Known types of entries.
const KINDS: [&str; 10] = [
    "session", "message", "compaction", "branch_summary", "custom_message", "custom", "label",
    "model_change", "thinking_level_change", "session_info",
];

/// Whether a line is the first of a file.
pub fn starts_file(line: &[u8]) -> bool {
    // First lines are shorter than this; do not parse longer ones.
    const LONGEST: usize = 64 * 1024;
    let is = |name, text: &[u8]| json::member(line, name) == Some(text);
    let has = |name| json::member(line, name).is_some();
    line.len() < LONGEST && is("type", b"\"session\"") && (has("cwd") || (has("version") && has("timestamp")))
}

/// The entries of a file that starts at `start`.
pub fn entries(bytes: &[u8], start: Position) -> Vec<PiEntry<'_>> {
    let mut number = 0;
    let entries = placed_lines(bytes, start).map(|(full, place)| {
        let entry = PiEntry::parse(full, place, number == 0);
        number += usize::from(entry.kind != EntryKind::Blank);
        PiEntry { number, ..entry }
    });
    entries.collect()
}

/// The entry that describes the session of a file.
pub fn first<'e, 'a>(entries: &'e [PiEntry<'a>]) -> Option<&'e PiEntry<'a>> {
    entries.iter().find(|entry| entry.kind == EntryKind::Session)
}
