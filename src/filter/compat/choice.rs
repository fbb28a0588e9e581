//! The result of another system's trimming: which items of a view to keep, drop or rewrite.

use super::super::compact::event::{ItemChange, ViewEdit};
use super::history::CompatHistory;
use std::collections::BTreeMap;

/// Which rules apply where convo and the imitated system differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// Convo's rules: a tool call keeps its results; each system's module lists the other differences.
    Convo,
    /// The system's own rules, for comparison. A provider may reject the result.
    Theirs,
}

/// Planned changes to a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewChanges {
    /// The changes to each item of the view.
    pub reshaping: ViewEdit,
    /// Dropped items that one summary replaces, in order.
    pub summarised: Vec<usize>,
    /// Whether the system's limit is met. If not, this is the smallest result that convo's rules allow.
    pub fits: bool,
}

impl ViewChanges {
    /// Keeps every item.
    pub fn unchanged(history: &CompatHistory<'_>) -> ViewChanges {
        ViewChanges {
            reshaping: ViewEdit::of(history.view()),
            summarised: Vec::new(),
            fits: true,
        }
    }

    /// Keeps only the selected messages, and all summaries.
    pub fn keeping(history: &CompatHistory<'_>, keeps: impl Fn(usize) -> bool) -> ViewChanges {
        let mut choice = ViewChanges::unchanged(history);
        for message in (0..history.len()).filter(|message| !keeps(*message)) {
            choice.reshaping.changes[history.item(message)] = ItemChange::Drop;
        }
        choice
    }

    /// Replaces some messages with new lines and keeps all others. Identical lines count as unchanged.
    pub fn rewriting(history: &CompatHistory<'_>, lines: BTreeMap<usize, Vec<u8>>) -> ViewChanges {
        let mut choice = ViewChanges::unchanged(history);
        for (message, line) in lines {
            choice.rewrite(history, message, line);
        }
        choice
    }

    /// Replaces a message with another line.
    pub fn rewrite(&mut self, history: &CompatHistory<'_>, message: usize, line: Vec<u8>) {
        if line != history.body(message) {
            self.reshaping.changes[history.item(message)] = ItemChange::Replace(line);
        }
    }

    /// Requests a summary of the dropped items.
    pub fn summarising(mut self) -> ViewChanges {
        self.summarised = (0..self.reshaping.changes.len())
            .filter(|item| self.is_dropped(*item))
            .collect();
        self
    }

    /// Sets whether the limit is met.
    pub fn fitting(mut self, fits: bool) -> ViewChanges {
        self.fits = fits;
        self
    }

    /// Whether an item is dropped.
    pub fn is_dropped(&self, item: usize) -> bool {
        self.reshaping.changes[item] == ItemChange::Drop
    }

    /// Whether the choice changes the view.
    pub fn changes(&self) -> bool {
        !self.reshaping.is_empty() || !self.summarised.is_empty()
    }

    /// Counts drops that convo's own compaction would refuse: instructions and the newest user message. Not an error,
    /// because some systems drop them when asked.
    pub fn losses(&self, history: &CompatHistory<'_>) -> Losses {
        let goes = |message: &usize| self.is_dropped(history.item(*message));
        Losses {
            rules: (0..history.len())
                .filter(|message| history.is_rule(*message))
                .filter(goes)
                .count(),
            newest_user: history.newest_user().as_ref().is_some_and(goes),
        }
    }
}

/// See [`ViewChanges::losses`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Dropped system and developer messages.
    pub rules: usize,
    /// Whether the newest user message is dropped.
    pub newest_user: bool,
}
