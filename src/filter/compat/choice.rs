//! What a system's trimming leaves of a view.

use super::super::compact::event::{Fate, Reshaping};
use super::history::History;
use std::collections::BTreeMap;

/// Whose rules win where they disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Convo's: no call is parted from its result; what else differs stands with each system.
    Convo,
    /// The system's own, to compare with it: the result may be no history that a provider takes.
    Theirs,
}

/// What is to become of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What becomes of the view.
    pub reshaping: Reshaping,
    /// Items that go because one summary is to stand for them, in order.
    pub summarised: Vec<usize>,
    /// Whether the system's limit is met. If not, this is the smallest result that convo's rules let it reach.
    pub fits: bool,
}

impl Choice {
    /// Everything stays.
    pub fn unchanged(history: &History<'_>) -> Choice {
        Choice {
            reshaping: Reshaping::of(history.view()),
            summarised: Vec::new(),
            fits: true,
        }
    }

    /// Only these messages stay; summaries stay too.
    pub fn keeping(history: &History<'_>, keeps: impl Fn(usize) -> bool) -> Choice {
        let mut choice = Choice::unchanged(history);
        for message in (0..history.len()).filter(|message| !keeps(*message)) {
            choice.reshaping.fates[history.item(message)] = Fate::Goes;
        }
        choice
    }

    /// Some messages become other lines, and all stay. A line that is as it was counts as untouched.
    pub fn rewriting(history: &History<'_>, lines: BTreeMap<usize, Vec<u8>>) -> Choice {
        let mut choice = Choice::unchanged(history);
        for (message, line) in lines {
            choice.rewrite(history, message, line);
        }
        choice
    }

    /// One message becomes another line.
    pub fn rewrite(&mut self, history: &History<'_>, message: usize, line: Vec<u8>) {
        if line != history.body(message) {
            self.reshaping.fates[history.item(message)] = Fate::Becomes(line);
        }
    }

    /// A summary is to stand for what goes.
    pub fn summarising(mut self) -> Choice {
        self.summarised = (0..self.reshaping.fates.len())
            .filter(|item| self.goes(*item))
            .collect();
        self
    }

    /// The limit is met, or is not.
    pub fn fitting(mut self, fits: bool) -> Choice {
        self.fits = fits;
        self
    }

    /// Whether an item leaves.
    pub fn goes(&self, item: usize) -> bool {
        self.reshaping.fates[item] == Fate::Goes
    }

    /// Whether anything is to be done.
    pub fn changes(&self) -> bool {
        !self.reshaping.is_empty() || !self.summarised.is_empty()
    }

    /// What the choice takes out that convo's own compaction never would: how many rules, and whether the newest
    /// thing that the user said. Not an error: some systems do it when asked, and their results are kept.
    pub fn losses(&self, history: &History<'_>) -> Losses {
        let goes = |message: &usize| self.goes(history.item(*message));
        Losses {
            rules: (0..history.len())
                .filter(|message| history.is_rule(*message))
                .filter(goes)
                .count(),
            newest_user: history.newest_user().as_ref().is_some_and(goes),
        }
    }
}

/// See [`Choice::losses`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// System and developer messages that leave.
    pub rules: usize,
    /// Whether the newest message of the user leaves.
    pub newest_user: bool,
}
