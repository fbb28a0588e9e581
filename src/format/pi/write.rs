//! Writes sessions as a file. Sessions that were read from a file keep their lines, followed by entries for the current
//! view.

use super::change::{self, RecordPosition, RecordPositions};
use super::entry::{EntryKind, PiEntry, entries};
use super::new_entries::EntryChain;
use super::tree::EntryTree;
use super::{NAME, encode_new, item, read};
use crate::error::Result;
use crate::format::branches::Path;
use crate::format::kit::{losses, records};
use crate::format::report::Report;
use crate::format::request::request_part::extra_members;
use crate::format::{EditedSession, WritePurpose, WriteTarget, written};
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use std::collections::HashSet;
use std::io::Write;

/// Writes one session.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let Some(first) = first_line(session) else {
        return encode_new::write(session, view, WriteTarget(purpose, out, report));
    };
    if purpose == WritePurpose::Export {
        losses::events(session, NAME, report);
    }
    let (places, mut chain) = restored_lines(session, first);
    change::add(session, view, &places, &mut chain, report)?;
    chain.write(out)
}

/// Writes sessions back to the file that they share.
pub fn write_back(sessions: &[EditedSession<'_>], out: &mut dyn Write, report: &mut Report) -> Result<()> {
    let Some(origin) = sessions.first().and_then(|first| first.session.origin()) else {
        return Ok(());
    };
    let all = entries(&origin.bytes, crate::error::Position::default());
    let paths = EntryTree::of(&all).paths;
    let ids: HashSet<String> = all
        .iter()
        .filter_map(|entry| entry.id.as_deref().map(str::to_string))
        .collect();
    let has_ids = all
        .iter()
        .any(|entry| entry.kind != EntryKind::Session && entry.id.is_some());
    let version = all
        .iter()
        .find(|entry| entry.kind == EntryKind::Session)
        .and_then(|first| first.get("version"));
    let mut chain = EntryChain::new(has_ids || version.is_some(), ids, None);
    let leaf = |nth: usize| -> Option<String> {
        let path = paths.get(nth)?.entries.iter().rev();
        // pi cannot read a damaged line, so it never becomes a parent.
        let read = path.filter(|at| !matches!(all[**at].kind, EntryKind::Unreadable(_)));
        let mut ids = read.filter_map(|at| all[*at].id.as_deref());
        ids.next().map(str::to_string)
    };
    // The active path comes last, because pi resumes at the end of the file.
    let mut ends_on_branch = false;
    for (nth, returned) in sessions
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, returned)| returned.changed)
    {
        let Some(path) = paths.get(nth) else { continue };
        let places = record_positions(&all, path);
        chain.last = leaf(nth);
        let before = chain.lines.len();
        change::add(returned.session, returned.view, &places, &mut chain, report)?;
        ends_on_branch = match (chain.lines.len() > before, nth) {
            (true, 0) => false,
            (true, _) => true,
            (false, _) => ends_on_branch,
        };
    }
    if ends_on_branch {
        chain.last = leaf(0);
        let time = EPOCH_MILLIS.to_vec();
        let time = all
            .iter()
            .rev()
            .find_map(PiEntry::timestamp)
            .unwrap_or(&time)
            .to_vec();
        chain.add_leaf(&time);
    }
    written(out.write_all(&origin.bytes))?;
    let ended = origin.bytes.is_empty() || origin.bytes.ends_with(b"\n");
    if !chain.lines.is_empty() && !ended {
        written(out.write_all(b"\n"))?;
    }
    chain.write(out)
}

/// The positions of a path's records.
fn record_positions(all: &[PiEntry<'_>], path: &Path) -> RecordPositions {
    let mut places = RecordPositions::default();
    for (line, at) in read::lines_of(all, path) {
        let place = RecordPosition {
            index: all[at].number - 1,
            id: all[at].id.as_deref().map(str::to_string),
            body: all[at].body.to_vec(),
        };
        places.insert(line, place);
    }
    places
}

/// The first line of a session's file.
fn first_line(session: &Session) -> Option<Vec<u8>> {
    json::member(&session.metadata(NAME)?, "session").map(<[u8]>::to_vec)
}

/// Restores the lines of a session's records as a chain; returns their positions too.
fn restored_lines(session: &Session, first: Vec<u8>) -> (RecordPositions, EntryChain) {
    let ids = json::member(&first, "version").is_some();
    let mut chain = EntryChain::new(ids, HashSet::new(), None);
    chain.lines.push(first);
    let mut places = RecordPositions::default();
    let mut lost = Report::default();
    let names = item::names(session, &View::after(session, Vec::new()));
    for index in 0..session.len() {
        let record = session.record(index);
        let before = chain.lines.len();
        match session.class(index) {
            Class::Message(_) => {
                let id = record
                    .message()
                    .and_then(|message| message.id())
                    .map(|id| id.into_owned());
                item::add(
                    &mut chain,
                    &Item::Line(index),
                    session,
                    EPOCH_MILLIS,
                    id,
                    &names,
                    &mut lost,
                );
            }
            Class::Unreadable => chain.lines.push(record.body.to_vec()),
            Class::Event if records::is_own(session, index, NAME) => compaction(record.body, &mut chain),
            Class::Event => {
                if let Some(raw) = records::passthrough_raw(record.body, NAME) {
                    chain.lines.push(raw.to_vec());
                    chain.last = json::member_string(raw, "id").or(chain.last.take());
                }
            }
            _ => {}
        }
        if chain.lines.len() > before {
            let body = chain.lines[before].clone();
            let id = json::member_string(&body, "id");
            places.insert(
                index,
                RecordPosition {
                    index: before,
                    id,
                    body,
                },
            );
        }
    }
    (places, chain)
}

/// Restores the line of a compaction; does nothing for an event that only hides messages.
fn compaction(event: &[u8], chain: &mut EntryChain) {
    let (Some(note), Some(text)) = (records::note(event, NAME), json::member(event, "content")) else {
        return;
    };
    let mut members = ObjectBuilder::default();
    members.raw("summary", text);
    for (name, value) in extra_members(note, &["id", "parentId", "timestamp"]) {
        members.raw(&name, value);
    }
    let id = json::member_string(note, "id");
    let time = json::member(note, "timestamp").or_else(|| json::member(event, "at"));
    chain.add("compaction", time.unwrap_or(EPOCH_MILLIS), &members.finish(), id);
}
