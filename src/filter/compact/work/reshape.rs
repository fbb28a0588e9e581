//! What has become of a view on the table.

use super::super::event::{Fate, Reshaping};
use super::Work;

impl Work<'_> {
    /// What has become of the view.
    pub fn into_reshaping(mut self) -> Reshaping {
        let mut reshaping = Reshaping::of(self.view);
        for at in 0..self.items.len() {
            let body = self.items[at].body.take();
            reshaping.fates[at] = match body {
                // One that takes its place says so itself.
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
