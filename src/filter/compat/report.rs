//! Builds the report of a compaction in the style of another system.

use super::super::compact::event::{ItemChange, Size, ViewEdit};
use super::super::compact::explain::kind;
use super::super::compact::state::{AtomLevel, CompactionState};
use super::super::compact::{AtomReport, CompactionReport, Prefix};
use super::choice::ViewChanges;
use super::history::CompatHistory;
use super::strategy::CompatStrategy;
use std::collections::HashSet;

/// Tokens of an item after the compaction; none when it is dropped.
pub(super) fn after(work: &CompactionState<'_>, reshaping: &ViewEdit, at: usize) -> Option<u64> {
    match &reshaping.changes[at] {
        ItemChange::Keep => Some(work.items[at].now),
        ItemChange::Replace(line) => Some(work.cost(line)),
        ItemChange::Drop => None,
    }
}

/// Adds a record for each message group, two if only a part of it is dropped, and one for dropped instructions.
pub(super) fn of(
    work: &CompactionState<'_>,
    history: &CompatHistory<'_>,
    strategy: &CompatStrategy,
    choice: &ViewChanges,
    now: Size,
) -> CompactionReport {
    let digested = digested(history, choice);
    let summed: HashSet<usize> = match &choice.reshaping.summary {
        Some(summary) => summary.covers.iter().copied().collect(),
        None => HashSet::new(),
    };
    let level = |at: usize| match &choice.reshaping.changes[at] {
        ItemChange::Keep => AtomLevel::Full,
        ItemChange::Replace(_) if strategy.shortens() => AtomLevel::HeadTail,
        ItemChange::Replace(_) => AtomLevel::Masked,
        ItemChange::Drop if digested.contains(&at) => AtomLevel::Digest,
        ItemChange::Drop => AtomLevel::Dropped,
    };
    let mut report = CompactionReport {
        atoms: Vec::new(),
        was: work.was(),
        now,
        summarized: Vec::new(),
        dropped: Vec::new(),
        prefix: Box::new(prefix(work, &choice.reshaping)),
        reason: None,
    };
    let atoms = work.atoms.iter().map(|atom| atom.items.to_vec());
    let is_rule = |at: &usize| work.items[*at].atom().is_none() && work.items[*at].traits.is_some();
    let rules = (0..work.items.len())
        .filter(is_rule)
        .filter(|at| choice.is_dropped(*at));
    let mut pieces: Vec<Vec<usize>> = atoms.chain(rules.map(|at| vec![at])).collect();
    pieces.sort_by_key(|piece| piece[0]);
    for piece in pieces {
        let (removed, left): (Vec<usize>, Vec<usize>) =
            piece.into_iter().partition(|at| choice.is_dropped(*at));
        for part in [removed, left].into_iter().filter(|part| !part.is_empty()) {
            let ids: Vec<String> = part.iter().map(|at| work.id(*at)).collect();
            let level = part.iter().map(|at| level(*at)).max().unwrap_or_default();
            for (at, id) in part.iter().zip(&ids).filter(|(at, _)| choice.is_dropped(**at)) {
                let is_summarized = summed.contains(at) || digested.contains(at);
                let list = if is_summarized {
                    &mut report.summarized
                } else {
                    &mut report.dropped
                };
                list.push(id.clone());
            }
            report.atoms.push(AtomReport {
                ids,
                kind: kind(work, part[0]),
                level,
                before: part.iter().map(|at| work.items[*at].before).sum(),
                after: part
                    .iter()
                    .filter_map(|at| after(work, &choice.reshaping, *at))
                    .sum(),
                reason: if level == AtomLevel::Full {
                    "kept"
                } else {
                    strategy.system().name()
                },
            });
        }
    }
    report
}

/// The items of exchanges that a digest line replaces: those with calls, if digests are inserted.
fn digested(history: &CompatHistory<'_>, choice: &ViewChanges) -> HashSet<usize> {
    if choice.reshaping.inserts.is_empty() {
        return HashSet::new();
    }
    let mut starts = history.exchanges();
    starts.push(history.len());
    let ranges = starts.windows(2).map(|range| range[0]..range[1]);
    let goes = |at: &usize| choice.is_dropped(history.item(*at));
    ranges
        .filter(|range| range.clone().filter(goes).any(|at| history.calls(at)))
        .flat_map(|range| range.filter(goes))
        .map(|at| history.item(at))
        .collect()
}

/// The unchanged prefix up to the first change.
fn prefix(work: &CompactionState<'_>, reshaping: &ViewEdit) -> Prefix {
    let inserts = reshaping.inserts.iter().map(|(at, _)| *at);
    let same = |at: usize| reshaping.changes[at] == ItemChange::Keep;
    Prefix::until(work, reshaping.summary.as_ref(), inserts, same)
}
