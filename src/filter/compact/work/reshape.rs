//! The result of a compaction as changes to the view.

use super::super::event::{Fate, Reshaping};
use super::Work;

impl Work<'_> {
    /// Converts the working state into changes to the view.
    pub fn into_reshaping(mut self) -> Reshaping {
        let mut reshaping = Reshaping::of(self.view);
        for at in 0..self.items.len() {
            let body = self.items[at].body.take();
            reshaping.fates[at] = match body {
                // A replaced summary needs no change: the new summary replaces it.
                _ if Some(at) == self.summary_item && self.drops_summary && self.summary.is_none() => {
                    Fate::Goes
                }
                _ if self.is_gone(at) => Fate::Goes,
                Some(body) => Fate::Becomes(body),
                None => Fate::Stays,
            };
        }
        let inserts = self.inserts.into_values();
        reshaping.inserts = inserts.map(|insert| (insert.before, insert.body)).collect();
        reshaping.inserts.sort_by_key(|(at, _)| *at);
        reshaping.summary = self.summary.map(|(summary, _)| summary);
        reshaping
    }
}
