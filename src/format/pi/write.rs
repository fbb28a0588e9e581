//! Writes sessions as a file. Sessions that were read from a file keep their lines, followed by entries for the current
//! view.

use super::change::{self, RecordPosition, RecordPositions};
use super::encode_new;
use super::entry::{self, EntryKind, LINK, NAME, PiEntry};
use super::item::ItemWriter;
use super::new_entries::EntryChain;
use super::read::is_hidden;
use super::tree::EntryTree;
use crate::error::{Position, Result};
use crate::format::branches::Path;
use crate::format::kit::{losses, records};
use crate::format::report::Report;
use crate::format::request::request_part::add_extra_members;
use crate::format::{EditedSession, WritePurpose, WriteTarget, written};
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use std::borrow::Cow;
use std::io::Write;

/// Writes one session.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let own = session.metadata(NAME);
    let Some(first) = own.as_ref().and_then(|own| json::member(own, "session")) else {
        return encode_new::write(session, view, WriteTarget(purpose, out, report));
    };
    if purpose == WritePurpose::Export {
        losses::events(session, NAME, report);
    }
    let mut chain = EntryChain::after(first.to_vec());
    let places = restore(session, &mut chain);
    change::add(session, view, &places, &mut chain, report)?;
    chain.write(out)
}

/// Writes sessions back to the file that they share.
pub fn write_back(sessions: &[EditedSession<'_>], out: &mut dyn Write, report: &mut Report) -> Result<()> {
    let Some(origin) = sessions.first().and_then(|first| first.session.origin()) else {
        return Ok(());
    };
    let entries = entry::entries(&origin.bytes, Position::default());
    let tree = EntryTree::of(&entries);
    let ids = entries.iter().filter_map(|entry| entry.id.as_deref());
    let has_version = entry::first(&entries).is_some_and(|first| first.get("version").is_some());
    let has_ids = |entry: &PiEntry<'_>| entry.kind != EntryKind::Session && entry.id.is_some();
    let has_ids = has_version || entries.iter().any(has_ids);
    let mut chain = EntryChain::new(has_ids, ids.map(str::to_string).collect());
    let leaf = |path: &Path| {
        let path = path.entries.iter().rev().map(|at| &entries[*at]);
        // pi cannot read a damaged line, so it never becomes a parent.
        let mut read = path.filter(|entry| !matches!(entry.kind, EntryKind::Unreadable(_)));
        read.find_map(|entry| entry.id.as_deref().map(str::to_string))
    };
    // The active path comes last, because pi resumes at the end of the file.
    let mut is_at_branch = false;
    let sessions = sessions.iter().zip(&tree.paths).enumerate().rev();
    for (nth, (edited, path)) in sessions.filter(|(_, (edited, _))| edited.changed) {
        chain.last = leaf(path);
        let before = chain.lines.len();
        let places = record_positions(&tree, path);
        change::add(edited.session, edited.view, &places, &mut chain, report)?;
        if chain.lines.len() > before {
            is_at_branch = nth > 0;
        }
    }
    if is_at_branch {
        chain.last = leaf(&tree.paths[0]);
        let time = entries.iter().rev().find_map(PiEntry::timestamp);
        chain.add_leaf(time.unwrap_or(EPOCH_MILLIS));
    }
    written(out.write_all(&origin.bytes))?;
    let is_open = origin.bytes.last().is_some_and(|last| *last != b'\n');
    if !chain.lines.is_empty() && is_open {
        written(out.write_all(b"\n"))?;
    }
    chain.write(out)
}

/// The positions of a path's records.
fn record_positions(tree: &EntryTree<'_>, path: &Path) -> RecordPositions {
    let mut line = 1;
    let places = path.entries.iter().map(|at| {
        let entry = &tree.entries[*at];
        let position = RecordPosition {
            index: entry.number - 1,
            id: entry.id.as_deref().map(str::to_string),
            body: entry.body.to_vec(),
        };
        let place = (line, position);
        line += 1 + usize::from(is_hidden(entry));
        place
    });
    places.collect()
}

/// Restores the lines of a session's records as a chain; returns their positions.
fn restore(session: &Session, chain: &mut EntryChain) -> RecordPositions {
    let mut places = RecordPositions::default();
    let mut lost = Report::default();
    let all = View::after(session, Vec::new());
    let mut items = ItemWriter::new(session, &all, chain, &mut lost);
    for index in 0..session.len() {
        let record = session.record(index);
        let body = record.body;
        let before = items.chain.lines.len();
        match session.class(index) {
            Class::Message(_) => {
                let id = record.message().and_then(|message| message.id());
                items.add(&Item::Line(index), EPOCH_MILLIS, id.map(Cow::into_owned));
            }
            Class::Unreadable => items.chain.lines.push(body.to_vec()),
            Class::Event if records::is_own(session, index, NAME) => restore_compaction(body, items.chain),
            Class::Event => {
                if let Some(raw) = records::passthrough_raw(body, NAME) {
                    items.chain.lines.push(raw.to_vec());
                    items.chain.last = json::member_string(raw, "id").or(items.chain.last.take());
                }
            }
            _ => {}
        }
        if let Some(line) = items.chain.lines.get(before) {
            let place = RecordPosition {
                index: before,
                id: json::member_string(line, "id"),
                body: line.clone(),
            };
            places.insert(index, place);
        }
    }
    places
}

/// Restores the line of a compaction; does nothing for an event that only hides messages.
fn restore_compaction(event: &[u8], chain: &mut EntryChain) {
    let (Some(note), Some(text)) = (records::note(event, NAME), json::member(event, "content")) else {
        return;
    };
    let mut members = ObjectBuilder::default();
    members.raw("summary", text);
    add_extra_members(&mut members, note, &LINK);
    let id = json::member_string(note, "id");
    let time = json::member(note, "timestamp").or_else(|| json::member(event, "at"));
    chain.add("compaction", time.unwrap_or(EPOCH_MILLIS), &members.finish(), id);
}
