//! Selects the standing instructions of a summary if not all of them fit: each with what changes it, or neither.

use super::Instruction;
use std::cmp::Reverse;

/// The order in which instructions are taken, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// False for a change of an instruction that remains in the view in any case, and for a clear change without a known rule.
    pub is_usual: bool,
    /// 0, or how doubtful it is.
    pub doubt: i32,
    /// How clear it is.
    pub clarity: Clarity,
    /// Newer ones come first.
    pub position: Reverse<usize>,
}

/// How clearly a sentence is an instruction, the clearest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Clarity {
    /// It has a strong form, or forbids something in a firm one.
    Strong,
    /// It has one of the forms, or forbids something.
    Formed,
    /// Its words read like an instruction.
    Learned,
}

/// A sentence that a summary may quote among the standing instructions.
pub(super) struct RankedInstruction {
    pub instruction: Instruction,
    /// None if it is quoted only with a rule that it changes, or not at all.
    pub rank: Option<Rank>,
    /// Whether it sets a rule; otherwise it only changes one.
    pub is_rule: bool,
    /// Whether it counts toward the limits of doubtful ones; one without a rank does if it is in a summary that is kept.
    pub is_doubtful: bool,
    /// Whether an earlier summary quotes it. Such ones are limited by tokens alone.
    pub was_quoted: bool,
    /// Whether it forbids something.
    pub forbids: bool,
    /// Whether a later instruction replaces it.
    pub is_replaced: bool,
    /// The indexes of the sentences that may change it, oldest first.
    pub changes: Vec<usize>,
}

/// Most changes that are quoted with a rule.
const MOST_CHANGES: usize = 3;

/// Fewest doubtful rules and doubtful changes that a summary may quote. A long conversation always has some.
const MOST_DOUBTFUL: [usize; 2] = [8, 4];

/// The indexes of the instructions that fit into a budget of tokens, in order. Certain ones are taken first, the clearest before
/// the others, newest first in each class; then doubtful ones, the most certain first: rules within `doubtful_budget`
/// tokens, and changes within as many. A change without a known rule may concern any of the certain rules, so that as many may
/// be taken. The clear ones come before all rules, within half of the budget, because a rule without its change would seem to apply.
/// `cost` returns the tokens of an instruction.
pub(super) fn within(
    all: &[RankedInstruction],
    (mut budget, doubtful_budget): (u64, u64),
    cost: impl Fn(usize) -> u64,
) -> Vec<usize> {
    let ranked = |at: usize| Some((all[at].rank?, at));
    let mut order: Vec<(Rank, usize)> = (0..all.len()).filter_map(ranked).collect();
    // An earlier summary has made its choice, so that the next one makes the same.
    let comes_last = |rank: &Rank, at: usize| rank.is_usual && all[at].is_doubtful && !all[at].was_quoted;
    order.sort_unstable_by_key(|(rank, at)| (comes_last(rank, *at), *rank));
    let certain = all
        .iter()
        .filter(|one| one.is_rule && one.rank.is_some() && !one.is_doubtful);
    let mut limits = [
        (MOST_DOUBTFUL[0], doubtful_budget),
        (MOST_DOUBTFUL[1].max(certain.count()), doubtful_budget),
    ];
    for kept in all.iter().filter(|one| one.is_doubtful && one.rank.is_none()) {
        let (count, _) = &mut limits[usize::from(!kept.is_rule)];
        *count = count.saturating_sub(1);
    }
    // For clear changes without a known rule.
    let mut change_budget = if doubtful_budget == 0 { 0 } else { budget / 2 };
    let mut taken = vec![false; all.len()];
    for (rank, at) in order {
        let one = &all[at];
        let (count, rest) = &mut limits[usize::from(!one.is_rule)];
        let rest = if rank.is_usual { rest } else { &mut change_budget };
        let is_limited = one.is_doubtful && !one.was_quoted;
        if taken[at] || is_limited && *count == 0 {
            continue;
        }
        let changes = one.changes.iter().rev().take(MOST_CHANGES);
        let group: Vec<usize> = changes.copied().chain([at]).filter(|at| !taken[*at]).collect();
        let tokens: u64 = group.iter().map(|at| cost(*at)).sum();
        let is_too_much = tokens > *rest || group.len() > *count;
        if tokens > budget || is_limited && is_too_much {
            continue;
        }
        budget -= tokens;
        if one.is_doubtful {
            *count = count.saturating_sub(group.len());
            *rest = rest.saturating_sub(tokens);
        }
        group.into_iter().for_each(|at| taken[at] = true);
    }
    (0..all.len()).filter(|at| taken[*at]).collect()
}
