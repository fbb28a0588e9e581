//! Adds the changes of a compaction to those of the one before it.

use super::super::event::InsertedSummary;
use super::{CompactionState, PlannedInsert};
use crate::model::view::{Item, View};

/// The origin of an item in the view after a compaction.
enum Origin {
    /// An item of the view before.
    Item(usize),
    /// The digest of an exchange.
    Digest(usize),
    /// The inserted summary.
    Summary,
}

impl CompactionState<'_> {
    /// The state with the changes of `next` too, which starts from the view after the changes of this one. None if the
    /// sum differs from `next`.
    pub fn joined(&self, next: &CompactionState<'_>) -> Option<Self> {
        let origins = self.origins(next.view)?;
        let mut joined = self.clone();
        for (nth, origin) in origins.iter().enumerate() {
            match origin {
                // A message that the first plan could only insert has an id of that plan.
                Origin::Item(_)
                    if next.is_changed(nth) && matches!(next.view.items[nth], Item::Inserted(_)) =>
                {
                    return None;
                }
                Origin::Item(at) => joined.follow(*at, next, nth),
                Origin::Digest(exchange) if next.is_dropped(nth) => {
                    let reason = next.items[nth]
                        .atom()
                        .map_or("drop", |atom| next.atoms[atom].reason);
                    joined.drop_exchange(*exchange, reason);
                }
                Origin::Digest(_) | Origin::Summary => {}
            }
        }
        let place = |nth: usize| match origins.get(nth)? {
            Origin::Item(at) => Some(*at),
            Origin::Digest(exchange) => Some(self.inserts.get(exchange)?.before),
            Origin::Summary => Some(self.summary.as_ref()?.0.before),
        };
        let end = self.items.len();
        for (exchange, insert) in &next.inserts {
            let first = next.atoms[next.exchanges[*exchange].atoms.start].items[0];
            let exchange = joined.atoms[joined.items[place(first)?].atom()?].exchange;
            let digest = PlannedInsert {
                before: place(insert.before).unwrap_or(end),
                ..insert.clone()
            };
            joined.total += digest.tokens;
            joined.inserts.insert(exchange, digest);
        }
        match &next.summary {
            Some((summary, tokens)) => {
                let earlier = self
                    .summary
                    .iter()
                    .flat_map(|(summary, _)| summary.covers.clone());
                let added = summary.covers.iter().flat_map(|nth| self.covered(&origins[*nth]));
                let mut covers: Vec<usize> = earlier.chain(added).collect();
                covers.sort_unstable();
                covers.dedup();
                let summary = InsertedSummary {
                    before: place(summary.before).unwrap_or(end),
                    covers,
                    ..summary.clone()
                };
                joined.summarize(summary, *tokens);
            }
            None if next.drops_summary => {
                joined.remove_new_summary();
                joined.remove_summary();
            }
            None => {}
        }
        (joined.now() == next.now()).then_some(joined)
    }

    /// The origin of each item in the view after the changes; none if that view has others.
    fn origins(&self, after: &View) -> Option<Vec<Origin>> {
        let mut digests: Vec<(usize, usize)> = self
            .inserts
            .iter()
            .map(|(exchange, insert)| (insert.before, *exchange))
            .collect();
        digests.sort_by_key(|(before, _)| *before);
        let mut digests = digests.into_iter().peekable();
        let mut summary = self.summary.as_ref().map(|(summary, _)| summary.before);
        let mut origins = Vec::with_capacity(after.items.len());
        for at in 0..=self.items.len() {
            loop {
                let is_summary = matches!(after.items.get(origins.len()), Some(Item::Summary(_)));
                if is_summary && summary == Some(at) {
                    summary = None;
                    origins.push(Origin::Summary);
                } else if let Some((_, exchange)) =
                    digests.next_if(|(before, _)| !is_summary && *before == at)
                {
                    origins.push(Origin::Digest(exchange));
                } else {
                    break;
                }
            }
            let is_replaced = self.summary_item == Some(at) && self.drops_summary;
            if at < self.items.len() && !is_replaced && !self.is_dropped(at) {
                origins.push(Origin::Item(at));
            }
        }
        (origins.len() == after.items.len() && summary.is_none()).then_some(origins)
    }

    /// Changes an item as another state changes its item `nth`.
    fn follow(&mut self, at: usize, next: &CompactionState<'_>, nth: usize) {
        let (Some(atom), Some(own)) = (self.items[at].atom(), next.items[nth].atom()) else {
            return;
        };
        let own = &next.atoms[own];
        if next.is_dropped(nth) {
            if !self.is_dropped(at) {
                self.drop_atom(atom, own.level, own.reason);
            }
        } else if next.is_changed(nth) {
            self.set(at, next.body(nth), next.items[nth].now);
            let atom = &mut self.atoms[atom];
            atom.level = atom.level.max(own.level);
            atom.reason = own.reason;
        }
    }

    /// The items that a summary covers by this item of the view after the changes.
    fn covered(&self, origin: &Origin) -> Vec<usize> {
        match origin {
            Origin::Item(at) => vec![*at],
            Origin::Digest(exchange) => {
                let atoms = self.exchanges[*exchange].atoms.clone();
                atoms.flat_map(|atom| self.atoms[atom].items.to_vec()).collect()
            }
            Origin::Summary => Vec::new(),
        }
    }
}
