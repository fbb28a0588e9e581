//! Computes the entries to append to a file for a changed view; existing entries are never changed. A truncation or
//! summary becomes a compaction after the last entry. Any other change becomes a new branch with the current entries,
//! and the previous path remains as an inactive branch.

use super::new_entries::EntryChain;
use super::{NAME, item};
use crate::error::{Error, Result};
use crate::format::kit::changes::source_view;
use crate::format::kit::records;
use crate::format::report::Report;
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::HashMap;

/// The summary of a truncation, because a compaction requires a text.
const CUT: &str = "[Earlier messages were cut off.]";

/// The positions of a session's records in its file, by line in the session.
pub type RecordPositions = HashMap<usize, RecordPosition>;

/// The position of a record in the file.
#[derive(Clone, Debug)]
pub struct RecordPosition {
    /// Its index; the first line has index 0.
    pub index: usize,
    /// Its id; `None` in files of the first version.
    pub id: Option<String>,
    /// Its bytes.
    pub body: Vec<u8>,
}

/// Appends entries to the chain so that the session has its current view.
pub fn add(
    session: &Session,
    view: &View,
    places: &RecordPositions,
    chain: &mut EntryChain,
    report: &mut Report,
) -> Result<()> {
    let own = source_view(session, |index| records::is_own(session, index, NAME));
    let same = |pair: &(&Item, &Item)| match pair {
        (Item::Line(one), Item::Line(other)) => one == other,
        (Item::Summary(one), Item::Summary(other)) => one == other,
        _ => false,
    };
    let begun = view.items.iter().zip(&own.items).take_while(same).count();
    let line = |pair: &(&Item, &Item)| same(pair) && matches!(pair.0, Item::Line(_));
    let ends = view.items.iter().rev().zip(own.items.iter().rev());
    let after = ends.take_while(line).count();
    let is_new = |item: &&Item| item.line().is_some_and(|line| !places.contains_key(&line));
    let added: Vec<&Item> = view.items.iter().filter(is_new).collect();
    let grown = begun == own.items.len() && begun == view.items.len();
    let time = time(session);
    let names = item::names(session, view);
    if grown {
        for item in added {
            item::add(chain, item, session, &time, None, &names, report);
        }
        return Ok(());
    }
    let (replaced, kept) = view.items.split_at(view.items.len() - after);
    if let [] | [Item::Summary(_)] = replaced {
        compaction(session, replaced.first(), kept, places, chain);
        for item in added {
            item::add(chain, item, session, &time, None, &names, report);
        }
        return Ok(());
    }
    if !chain.ids {
        let error = Error::usage("pi files of format version 1 have no branches, which this change requires");
        return Err(error.hint("write a new file: convo COMMAND ... FILE | convo cat --to pi > NEW"));
    }
    branch(session, view, begun, places, chain, report);
    Ok(())
}

/// The latest time of a session.
fn time(session: &Session) -> Vec<u8> {
    let time = session.newest_time().map(|time| json::quoted(&time));
    time.unwrap_or_else(|| EPOCH_MILLIS.to_vec())
}

/// Appends a compaction that keeps the messages from the first of these items on.
fn compaction(
    session: &Session,
    summary: Option<&Item>,
    kept: &[Item],
    places: &RecordPositions,
    chain: &mut EntryChain,
) {
    let text = summary.and_then(|item| item.summary(session));
    let first = kept.iter().find_map(|item| places.get(&item.line()?));
    let mut compaction = ObjectBuilder::default();
    compaction.text("summary", text.as_deref().unwrap_or(CUT));
    // A compaction that names itself, or a later entry, keeps nothing.
    let mut own = None;
    match (chain.ids, first) {
        (true, Some(RecordPosition { id: Some(id), .. })) => drop(compaction.text("firstKeptEntryId", id)),
        (true, _) => {
            let id = chain.next_id(text.as_deref().unwrap_or(CUT).as_bytes());
            compaction.text("firstKeptEntryId", &id);
            own = Some(id);
        }
        (false, Some(place)) => drop(compaction.raw("firstKeptEntryIndex", place.index.to_string())),
        (false, None) => {
            let last = places.values().map(|place| place.index).max();
            compaction.raw("firstKeptEntryIndex", last.map_or(1, |last| last + 1).to_string());
        }
    }
    compaction.raw("tokensBefore", sent(session).to_string());
    let event = summary.map(|item| item.body(session));
    let at = event
        .and_then(|event| json::member(event, "at"))
        .map(<[u8]>::to_vec);
    chain.add(
        "compaction",
        &at.unwrap_or_else(|| time(session)),
        &compaction.finish(),
        own,
    );
}

/// Context size of the last reply, in tokens.
fn sent(session: &Session) -> u64 {
    let reported = session.messages().filter_map(|(index, _)| {
        let usage = json::member(session.record(index).body, "usage")?;
        let number = |name| json::number::<u64>(json::member(usage, name)?);
        number("totalTokens").or_else(|| Some(number("input")? + number("output").unwrap_or(0)))
    });
    reported.filter(|tokens| *tokens > 0).last().unwrap_or(0)
}

/// Appends a branch with the entries of the view, after its unchanged start.
fn branch(
    session: &Session,
    view: &View,
    begun: usize,
    places: &RecordPositions,
    chain: &mut EntryChain,
    report: &mut Report,
) {
    let compacted = session
        .live_events()
        .into_iter()
        .filter(|index| records::is_own(session, *index, NAME));
    let compacted = compacted
        .filter_map(|index| places.get(&index))
        .map(|place| place.index)
        .max();
    let place = |item: &Item| item.line().and_then(|line| places.get(&line));
    // Only branch after the last compaction, because the entries that a compaction keeps precede it.
    let joint = view.items[..begun].last().and_then(place);
    let joint = joint.filter(|joint| compacted.is_none_or(|compacted| joint.index > compacted));
    let from = if joint.is_some() { begun } else { 0 };
    chain.last = joint.and_then(|joint| joint.id.clone());
    let time = time(session);
    let names = item::names(session, view);
    if from == view.items.len() {
        chain.add_leaf(&time);
    }
    for (nth, item) in view.items[from..].iter().enumerate() {
        match (item, place(item)) {
            (Item::Summary(_), _) if nth == 0 && from == 0 => {
                compaction(session, Some(item), &[], places, chain);
            }
            (Item::Line(_), Some(place)) => {
                let kind = json::member_text(&place.body, "type").unwrap_or_default();
                let own = json::member(&place.body, "timestamp").unwrap_or(&time);
                chain.add(&kind, own, &place.body, None);
            }
            _ => item::add(chain, item, session, &time, None, &names, report),
        }
    }
}
