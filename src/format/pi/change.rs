//! Computes the entries to append to a file for a changed view; existing entries are never changed. A truncation or
//! summary becomes a compaction after the last entry. Any other change becomes a new branch with the current entries,
//! and the previous path remains as an inactive branch.

use super::entry::NAME;
use super::item::ItemWriter;
use super::new_entries::EntryChain;
use crate::error::{Error, Result};
use crate::format::kit::changes::{same, source_view};
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
    let is_same = |(one, other): &(&Item, &Item)| same(one, other);
    let begun = view.items.iter().zip(&own.items).take_while(is_same).count();
    let is_line = |pair: &(&Item, &Item)| is_same(pair) && matches!(pair.0, Item::Line(_));
    let ends = view.items.iter().rev().zip(own.items.iter().rev());
    let after = ends.take_while(is_line).count();
    let is_grown = begun == own.items.len() && begun == view.items.len();
    let (replaced, kept) = view.items.split_at(view.items.len() - after);
    let time = session.newest_time().map(|time| json::quoted(&time));
    let mut change = ViewChange {
        places,
        time: time.unwrap_or_else(|| EPOCH_MILLIS.to_vec()),
        items: ItemWriter::new(session, view, chain, report),
    };
    if is_grown || matches!(replaced, [] | [Item::Summary(_)]) {
        if !is_grown {
            change.compact(replaced.first(), kept);
        }
        let is_new = |item: &&Item| item.line().is_some_and(|line| !places.contains_key(&line));
        let added = view.items.iter().filter(is_new);
        added.for_each(|item| change.items.add(item, &change.time, None));
    } else if change.items.chain.ids {
        change.branch(view, begun);
    } else {
        let error = Error::usage("pi files of format version 1 have no branches, which this change requires");
        return Err(error.hint("write a new file: convo COMMAND ... FILE | convo cat --to pi > NEW"));
    }
    Ok(())
}

struct ViewChange<'s> {
    places: &'s RecordPositions,
    /// The time of entries without one: the latest of the session.
    time: Vec<u8>,
    items: ItemWriter<'s>,
}

impl ViewChange<'_> {
    fn place(&self, item: &Item) -> Option<&RecordPosition> {
        self.places.get(&item.line()?)
    }

    /// Appends a compaction that keeps the messages from the first of these items on.
    fn compact(&mut self, summary: Option<&Item>, kept: &[Item]) {
        let session = self.items.session;
        let text = summary.and_then(|item| item.summary(session));
        let text = text.as_deref().unwrap_or(CUT);
        let first = kept.iter().find_map(|item| self.place(item));
        let mut compaction = ObjectBuilder::default();
        compaction.text("summary", text);
        let own = match (self.items.chain.ids, first) {
            (true, Some(RecordPosition { id: Some(id), .. })) => {
                compaction.text("firstKeptEntryId", id);
                None
            }
            // A compaction that names itself, or a later entry, keeps nothing.
            (true, _) => {
                let id = self.items.chain.next_id(text.as_bytes());
                compaction.text("firstKeptEntryId", &id);
                Some(id)
            }
            (false, first) => {
                let last = self.places.values().map(|place| place.index).max();
                let index = first.map_or(last.map_or(1, |last| last + 1), |first| first.index);
                compaction.raw("firstKeptEntryIndex", index.to_string());
                None
            }
        };
        compaction.raw("tokensBefore", tokens(session).to_string());
        let at = summary.and_then(|item| json::member(item.body(session), "at"));
        let chain = &mut self.items.chain;
        chain.add("compaction", at.unwrap_or(&self.time), &compaction.finish(), own);
    }

    /// Appends a branch with the entries of the view, after its unchanged start.
    fn branch(&mut self, view: &View, begun: usize) {
        let session = self.items.session;
        let events = session.live_events().into_iter();
        let compacted = events
            .filter(|index| records::is_own(session, *index, NAME))
            .filter_map(|index| Some(self.places.get(&index)?.index))
            .max();
        // Only branch after the last compaction, because the entries that a compaction keeps precede it.
        let joint = view.items[..begun].last().and_then(|item| self.place(item));
        let joint = joint.filter(|joint| compacted.is_none_or(|compacted| joint.index > compacted));
        let from = if joint.is_some() { begun } else { 0 };
        self.items.chain.last = joint.and_then(|joint| joint.id.clone());
        if from == view.items.len() {
            self.items.chain.add_leaf(&self.time);
        }
        for (nth, item) in view.items[from..].iter().enumerate() {
            match (item, item.line().and_then(|line| self.places.get(&line))) {
                (Item::Summary(_), _) if nth == 0 && from == 0 => self.compact(Some(item), &[]),
                (Item::Line(_), Some(RecordPosition { body, .. })) => {
                    let kind = json::member_text(body, "type").unwrap_or_default();
                    let time = json::member(body, "timestamp").unwrap_or(&self.time);
                    self.items.chain.add(&kind, time, body, None);
                }
                _ => self.items.add(item, &self.time, None),
            }
        }
    }
}

/// Context size of the last reply, in tokens.
fn tokens(session: &Session) -> u64 {
    let reported = session.messages().filter_map(|(index, _)| {
        let usage = json::member(session.record(index).body, "usage")?;
        let number = |name| json::number::<u64>(json::member(usage, name)?);
        number("totalTokens").or_else(|| Some(number("input")? + number("output").unwrap_or(0)))
    });
    reported.filter(|tokens| *tokens > 0).last().unwrap_or(0)
}
