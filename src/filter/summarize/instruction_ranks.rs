//! Which standing instructions a summary quotes if not all of them fit: each with what changes it, or none of both.

use super::Instruction;
use std::cmp::Reverse;

/// Which of two instructions is preferred: the lower one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// 0, or how doubtful the instruction is.
    pub doubt: i32,
    /// Whether its form is weak.
    pub is_weak: bool,
    /// Newer ones are preferred.
    pub position: Reverse<usize>,
}

/// A sentence that a summary may quote among the standing instructions.
pub(super) struct RankedInstruction {
    pub instruction: Instruction,
    /// None for what is quoted only with a rule that it changes, and for what is not quoted at all.
    pub rank: Option<Rank>,
    /// Whether it sets a rule, or only changes one.
    pub is_rule: bool,
    /// Whether an earlier summary quotes it; such ones are limited by tokens alone.
    pub was_quoted: bool,
    /// The indexes of the sentences that may change it, oldest first.
    pub changes: Vec<usize>,
}

impl RankedInstruction {
    /// Whether it has one of the places of doubtful instructions.
    fn takes_a_place(&self) -> bool {
        self.rank.is_some_and(|rank| rank.doubt > 0)
    }
}

/// Most changes that are quoted with a rule, the newest ones.
const MOST_CHANGES: usize = 3;

/// Most doubtful sentences in a summary: those that set a rule, and those that only change one. A long conversation always
/// has some.
const MOST_DOUBTFUL: [usize; 2] = [8, 4];

/// The indexes of the instructions that fit into `room` tokens, in order: certain ones are taken first, those with a clear form
/// before the others, newest first in both; then doubtful ones, the most certain first, with at most `room_for_doubtful`
/// tokens. `cost` returns the tokens of an instruction.
pub(super) fn within(
    all: &[RankedInstruction],
    (mut room, mut room_for_doubtful): (u64, u64),
    cost: impl Fn(usize) -> u64,
) -> Vec<usize> {
    let mut order: Vec<(Rank, usize)> = (0..all.len())
        .filter_map(|at| Some((all[at].rank?, at)))
        .collect();
    order.sort_unstable();
    let mut places = MOST_DOUBTFUL;
    for known in all
        .iter()
        .filter(|known| known.was_quoted && known.takes_a_place())
    {
        let places = &mut places[usize::from(!known.is_rule)];
        *places = places.saturating_sub(1);
    }
    let mut taken = vec![false; all.len()];
    for (rank, at) in order {
        let places = &mut places[usize::from(!all[at].is_rule)];
        let is_limited = rank.doubt > 0 && !all[at].was_quoted;
        if taken[at] || is_limited && *places == 0 {
            continue;
        }
        let group = group(all, &taken, at);
        let tokens: u64 = group.iter().map(|at| cost(*at)).sum();
        let is_too_much = tokens > room_for_doubtful || group.len() > *places;
        if tokens > room || is_limited && is_too_much {
            continue;
        }
        room -= tokens;
        if is_limited {
            room_for_doubtful -= tokens;
            *places -= group.len();
        }
        group.into_iter().for_each(|at| taken[at] = true);
    }
    (0..all.len()).filter(|at| taken[*at]).collect()
}

/// An instruction, what changes it, and what changes that, without those that are taken.
fn group(all: &[RankedInstruction], taken: &[bool], first: usize) -> Vec<usize> {
    let (mut group, mut next) = (vec![first], 0);
    while let Some(at) = group.get(next) {
        for change in all[*at].changes.iter().rev().take(MOST_CHANGES) {
            if !taken[*change] && !group.contains(change) {
                group.push(*change);
            }
        }
        next += 1;
    }
    group
}
