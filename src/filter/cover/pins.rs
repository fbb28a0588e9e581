//! Standing instructions beside a summary that somebody else writes: they stay word for word, whatever that says.

use super::super::compact::summary::rules;
use super::super::compact::work::Work;
use super::super::summarize::{self, Failure};
use super::Options;
use super::span::Span;
use crate::error::{Error, Kind, Result};
use std::collections::HashSet;

/// The sentences that must stay, in the order of the log: those of what leaves and of what has left, and those that the
/// summary before kept.
pub(super) fn pins(
    work: &Work<'_>,
    span: &Span,
    previous: Option<&str>,
    options: &Options,
) -> Result<Vec<String>> {
    let leaving: HashSet<usize> = span.items.iter().copied().collect();
    let rules = rules(work, |at| !leaving.contains(&at));
    let wanted = summarize::Options {
        instructions: options.instructions.clone(),
        instruction_share: share(options, span.budget, span.budget),
        ..summarize::Options::new(span.budget)
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

/// The text with the sentences that it does not have itself in a block ahead of it.
pub(super) fn with_pins(text: &str, pins: &[String]) -> String {
    let missing: Vec<String> = pins.iter().filter(|pin| !text.contains(*pin)).cloned().collect();
    if missing.is_empty() {
        return text.to_string();
    }
    format!("{}\n{text}", summarize::instruction_block(&missing))
}
