//! A message group that is kept, shortened to a cap.

use super::options::CompactOptions;
use super::state::{AtomLevel, CompactionState};
use super::step::cap::{AnsweredCalls, Cap, LOWEST, capped};
use super::step::mask;

/// A kept message group: its changed lines and its tokens afterwards.
pub struct KeptAtom {
    pub atom: usize,
    pub changes: Vec<(usize, Vec<u8>, u64)>,
    pub tokens: u64,
}

impl KeptAtom {
    /// Sets the changed lines.
    pub fn apply(self, work: &mut CompactionState<'_>) {
        for (at, body, tokens) in self.changes {
            work.set(at, &body, tokens);
            let atom = &mut work.atoms[self.atom];
            atom.level = atom.level.max(AtomLevel::HeadTail);
            atom.reason = "head+tail";
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
    let mut kept = KeptAtom {
        atom,
        changes: Vec::new(),
        tokens: 0,
    };
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
                kept.tokens += tokens;
                kept.changes.push((*at, body, tokens));
            }
            None => kept.tokens += work.items[*at].now,
        }
    }
    kept
}
