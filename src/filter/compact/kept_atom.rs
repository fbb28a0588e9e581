//! A message group that is kept, shortened to a cap.

use super::options::CompactOptions;
use super::state::{AtomLevel, CompactionState};
use super::step::cap::{AnsweredCalls, Cap, LOWEST, capped};
use super::step::mask;
use crate::model::threads::SMALL;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A kept message group: its changed lines and its tokens afterwards.
#[derive(Clone)]
pub struct KeptAtom {
    pub atom: usize,
    changes: Rc<Vec<(usize, Vec<u8>, u64)>>,
    pub tokens: u64,
}

impl KeptAtom {
    /// Sets the changed lines.
    pub fn apply(self, work: &mut CompactionState<'_>) {
        for (at, body, tokens) in self.changes.iter() {
            work.set(*at, body, *tokens);
            let atom = &mut work.atoms[self.atom];
            atom.level = atom.level.max(AtomLevel::HeadTail);
            atom.reason = "head+tail";
        }
    }
}

/// Message groups by their numbers and caps.
type KnownAtoms = HashMap<(usize, Option<Cap>), KeptAtom>;

/// The message groups of one state shortened to caps. In a small session each is computed once; those of a large one would take
/// much memory.
pub struct ShortenedAtoms<'w, 's> {
    pub work: &'w CompactionState<'s>,
    options: &'w CompactOptions,
    answered: &'w AnsweredCalls,
    known: Option<RefCell<KnownAtoms>>,
}

impl<'w, 's> ShortenedAtoms<'w, 's> {
    /// None is shortened yet.
    pub fn of(
        work: &'w CompactionState<'s>,
        options: &'w CompactOptions,
        answered: &'w AnsweredCalls,
    ) -> ShortenedAtoms<'w, 's> {
        ShortenedAtoms {
            work,
            options,
            answered,
            known: (work.session.size() < SMALL).then(RefCell::default),
        }
    }

    /// See [`shortened_atom`].
    pub fn get(&self, atom: usize, cap: Option<Cap>) -> KeptAtom {
        let shorten = || shortened_atom(self.work, self.options, self.answered, atom, cap);
        match &self.known {
            Some(known) => known
                .borrow_mut()
                .entry((atom, cap))
                .or_insert_with(shorten)
                .clone(),
            None => shorten(),
        }
    }
}

/// A message group shortened to a cap; without a cap, unchanged.
pub fn shortened_atom(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    answered: &AnsweredCalls,
    atom: usize,
    cap: Option<Cap>,
) -> KeptAtom {
    let (mut changes, mut all_tokens) = (Vec::new(), 0);
    for at in &work.atoms[atom].items {
        let mut changed = cap.and_then(|cap| capped(work, options, answered, *at, cap));
        // A placeholder may be even smaller.
        if cap == Some(LOWEST)
            && work.is_result(*at)
            && work.may_shorten(*at)
            && !mask::excludes(work, &options.mask, *at)
        {
            let marked = mask::result(work, *at);
            let tokens =
                |kept: &Option<(Vec<u8>, u64)>| kept.as_ref().map_or(u64::MAX, |(_, tokens)| *tokens);
            changed = if tokens(&marked) < tokens(&changed) {
                marked
            } else {
                changed
            };
        }
        match changed {
            Some((body, tokens)) => {
                all_tokens += tokens;
                changes.push((*at, body, tokens));
            }
            None => all_tokens += work.items[*at].now,
        }
    }
    KeptAtom {
        atom,
        changes: Rc::new(changes),
        tokens: all_tokens,
    }
}
