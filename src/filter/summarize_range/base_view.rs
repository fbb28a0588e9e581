//! The view from which messages are selected: the current view, or the view as if there were no summary.

use super::super::compact::event::Size;
use super::super::compact::state::CompactionState;
use crate::model::event::Action;
use crate::model::key;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// The view to select from, and the summary that a new one replaces.
pub(super) struct BaseView {
    pub view: View,
    /// The current view, if different.
    shown: Option<View>,
    /// The line of the current summary.
    pub replaced: Option<usize>,
}

impl BaseView {
    /// With `rolling`, the current view; otherwise the view with the summarized messages restored, as far as the log
    /// contains them.
    pub fn of(session: &Session, rolling: bool) -> BaseView {
        let shown = View::replay(session);
        let replaced = shown.items.iter().find_map(|item| match item {
            Item::Summary(index) => Some(*index),
            _ => None,
        });
        if rolling || replaced.is_none() {
            return BaseView {
                view: shown,
                shown: None,
                replaced,
            };
        }
        let moves =
            |index: &usize| View::is_moved_by(session, *index) && !has_covered_messages(session, *index);
        let events = session.live_events().into_iter().filter(moves).collect();
        BaseView {
            view: View::after(session, events),
            shown: Some(shown),
            replaced,
        }
    }

    /// Prepares the view for selection.
    pub fn work<'g>(&'g self, session: &'g Session, counter: Counter) -> CompactionState<'g> {
        CompactionState::new(session, &self.view, counter, &HashSet::new())
    }

    /// Whether the current view is different.
    pub fn is_other(&self) -> bool {
        self.shown.is_some()
    }

    /// Prepares the current view.
    pub fn view_state<'g>(&'g self, session: &'g Session, counter: Counter) -> CompactionState<'g> {
        let shown = self.shown.as_ref().unwrap_or(&self.view);
        CompactionState::new(session, shown, counter, &HashSet::new())
    }

    /// Messages and tokens of the current view.
    pub fn size(&self, session: &Session, work: &CompactionState<'_>) -> Size {
        match self.shown {
            Some(_) => self.view_state(session, work.counter).was(),
            None => work.was(),
        }
    }

    /// Items that the current summary hides but this view shows; a new summary must cover them.
    pub fn returned(&self) -> HashSet<usize> {
        let Some(shown) = &self.shown else {
            return HashSet::new();
        };
        let there: HashSet<usize> = shown.items.iter().filter_map(Item::line).collect();
        let items = self.view.items.iter().enumerate();
        let removed = items.filter(|(_, item)| item.line().is_some_and(|line| !there.contains(&line)));
        removed.map(|(at, _)| at).collect()
    }

    /// The fingerprint of these items: the line of the replaced summary, then their lines, each with a newline.
    pub fn fingerprint<'i>(&self, session: &Session, items: impl IntoIterator<Item = &'i usize>) -> String {
        let mut sha = self.begin(session);
        items.into_iter().for_each(|at| self.take(&mut sha, session, *at));
        key::hex(&sha.finalize())
    }

    /// Starts a fingerprint.
    pub fn begin(&self, session: &Session) -> Sha256 {
        let mut sha = Sha256::new();
        if let Some(line) = self.replaced {
            sha.update(session.record(line).body);
            sha.update(b"\n");
        }
        sha
    }

    /// Adds an item to a fingerprint.
    pub fn take(&self, sha: &mut Sha256, session: &Session, at: usize) {
        sha.update(self.view.items[at].body(session));
        sha.update(b"\n");
    }
}

/// Whether an event is a summary whose messages are still in the log.
fn has_covered_messages(session: &Session, index: usize) -> bool {
    let record = session.record(index);
    let Some(event) = record.event() else { return false };
    // A summary that belongs to a compaction cannot be separated from the messages that the compaction dropped.
    let Action::Summary(summary) = event.action() else {
        return false;
    };
    let there = |id: &std::borrow::Cow<'_, str>| !session.all_of(id).is_empty();
    summary.covers.is_some_and(|ends| ends.iter().all(there))
}
