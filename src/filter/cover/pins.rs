//! Standing instructions beside a summary that somebody else writes: they stay word for word, whatever that says.

use super::super::compact::summary::rules;
use super::super::compact::work::Work;
use super::super::summarize::{self, Failure, Instruction};
use super::Options;
use crate::error::{Error, Kind, Result};

/// The sentences that must stay, in the order of the log: those of what leaves and of what has left, and those that the
/// summary before kept. `budget` is that of the whole summary, of which they take `share` per cent at most.
pub(super) fn pins(
    work: &Work<'_>,
    stays: &dyn Fn(usize) -> bool,
    (budget, share): (u64, u32),
    previous: Option<&str>,
    options: &Options,
) -> Result<Vec<Instruction>> {
    let rules = rules(work, stays);
    let wanted = summarize::Options {
        instructions: options.instructions.clone(),
        instruction_share: share,
        ..summarize::Options::new(budget)
    };
    let count = |text: &str| work.counter.tokenizer().count(text);
    summarize::instructions(&rules, previous, &wanted, &count).map_err(|failure| match failure {
        Failure::NoSuchMessage(_) => Error::new(Kind::No, failure.to_string()),
        other => Error::new(Kind::Unavailable, other.to_string()),
    })
}

/// Per cent of a summary of `budget` tokens that they may take: their share is one of the whole view where that has a budget,
/// else of the most that a summary might have.
pub(super) fn share(options: &Options, most: u64, budget: u64) -> u32 {
    let whole = options.budget.unwrap_or(most).max(budget);
    let share = u128::from(options.instruction_share) * u128::from(whole) / u128::from(budget.max(1));
    u32::try_from(share.min(100)).unwrap_or(100)
}

/// The same for a summary that somebody else writes: a part of it is theirs.
pub(super) fn share_beside(options: &Options, budget: u64) -> u32 {
    share(options, budget, budget).min(MOST)
}

/// Most that a summary may have of standing instructions, per cent, where somebody is asked for the rest.
const MOST: u32 = 75;

/// The text with the sentences that it does not have itself in a block ahead of it.
pub(super) fn with_pins(text: &str, pins: &[Instruction]) -> String {
    let text = own(text);
    let missing: Vec<Instruction> = pins
        .iter()
        .filter(|pin| !text.contains(&pin.text))
        .cloned()
        .collect();
    if missing.is_empty() {
        return text;
    }
    format!("{}\n{text}", summarize::instruction_block(&missing))
}

/// What of an answer is kept: it sets no standing instructions of its own.
pub(super) fn own(text: &str) -> String {
    summarize::without_headings(text)
}
