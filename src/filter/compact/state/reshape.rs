//! The result of a compaction as changes to the view.

use super::super::event::{ItemChange, ViewEdit};
use super::CompactionState;
use std::sync::Arc;

impl CompactionState<'_> {
    /// Converts the working state into changes to the view.
    pub fn into_reshaping(mut self) -> ViewEdit {
        let mut reshaping = ViewEdit::of(self.view);
        for at in 0..self.items.len() {
            let body = self.bodies.remove(&at).map(Arc::unwrap_or_clone);
            reshaping.changes[at] = match body {
                // A replaced summary needs no change: the new summary replaces it.
                _ if Some(at) == self.summary_item && self.drops_summary && self.summary.is_none() => {
                    ItemChange::Drop
                }
                _ if self.is_dropped(at) => ItemChange::Drop,
                Some(body) => ItemChange::Replace(body),
                None => ItemChange::Keep,
            };
        }
        let inserts = self.inserts.into_values();
        reshaping.inserts = inserts.map(|insert| (insert.before, insert.body)).collect();
        reshaping.inserts.sort_by_key(|(at, _)| *at);
        reshaping.summary = self.summary.map(|(summary, _)| summary);
        reshaping
    }
}
