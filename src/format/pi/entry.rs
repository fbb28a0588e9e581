//! Parses the entries of a file, one per line.

use crate::error::Position;
use crate::format::lines::placed_lines;
use crate::format::object::{FoundMembers, is_time, members};
use crate::model::json::{self, Dialect, JsonError, Members};
use crate::model::record;
use std::borrow::Cow;

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
    members: FoundMembers<'a>,
}

impl<'a> PiEntry<'a> {
    /// Parses a line; `first` if it is the first of the file.
    pub fn parse(full: &'a [u8], place: Position, first: bool) -> PiEntry<'a> {
        let body = record::body_of(full, place);
        let mut entry = PiEntry {
            full,
            body,
            place,
            number: 0,
            kind: EntryKind::Blank,
            id: None,
            parent: None,
            members: FoundMembers::new(),
        };
        if body.trim_ascii().is_empty() {
            return entry;
        }
        match members(body) {
            Ok(members) => entry.members = members,
            Err(fault) => {
                entry.kind = EntryKind::Unreadable(fault);
                (entry.id, entry.parent) = readable_links(body);
                return entry;
            }
        }
        let get = |name: &str| entry.get(name);
        let text = |name| get(name).and_then(json::text).filter(|text| !text.is_empty());
        let (id, parent) = (text("id"), text("parentId"));
        let object = get("message").is_some_and(|raw| raw.starts_with(b"{"));
        let summary = get("summary").is_some_and(|raw| raw.starts_with(b"\""));
        let kind = match text("type").as_deref() {
            Some("session") if first => EntryKind::Session,
            Some("message") if object => EntryKind::Message,
            Some("compaction") if summary => EntryKind::Compaction,
            Some("branch_summary") if summary => EntryKind::BranchSummary,
            Some("custom_message") if get("content").is_some() => EntryKind::CustomMessage,
            _ => EntryKind::Other,
        };
        PiEntry {
            kind,
            id,
            parent,
            ..entry
        }
    }

    /// A member as raw JSON.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let found = self.members.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, raw)| *raw)
    }

    /// Whether it is an object that such files do not have: without a type, or with the payload member of another
    /// format.
    pub fn is_unrecognized(&self) -> bool {
        let typed = self.get("type").is_some_and(|raw| raw.starts_with(b"\""));
        self.kind == EntryKind::Other
            && (!typed || self.get("payload").is_some() || self.get("role").is_some())
    }

    /// Whether its type is unknown.
    pub fn is_unknown(&self) -> bool {
        let kind = self.get("type").and_then(json::text);
        self.kind == EntryKind::Other && !kind.is_some_and(|kind| is_known(&kind))
    }

    pub fn timestamp(&self) -> Option<&'a [u8]> {
        self.get("timestamp").filter(|raw| is_time(raw))
    }

    /// Whether the model receives it.
    pub fn is_received(&self) -> bool {
        matches!(
            self.kind,
            EntryKind::Message | EntryKind::BranchSummary | EntryKind::CustomMessage
        )
    }
}

/// The id and parent of a damaged line, if readable; they are near its start.
fn readable_links(body: &[u8]) -> (Option<Cow<'_, str>>, Option<Cow<'_, str>>) {
    let (mut id, mut parent) = (None, None);
    let Ok(mut scan) = Members::new(body, Dialect::Strict) else {
        return (id, parent);
    };
    while let Ok(Some(member)) = scan.next() {
        let text = || json::text(member.value).filter(|text| !text.is_empty());
        match member.name().as_ref() {
            "id" => id = text(),
            "parentId" => parent = text(),
            _ => {}
        }
    }
    (id, parent)
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
