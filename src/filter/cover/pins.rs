//! Standing instructions beside a summary that somebody else writes: they stay word for word, whatever that says.

use super::super::compact::sources::rules;
use super::super::compact::summary::share;
use super::super::compact::work::Work;
use super::super::summarize::{self, Failure, Instruction, Style};
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
    let rules = rules(work, &options.style, stays);
    let wanted = summarize::Options {
        style: Style {
            instruction_share: share,
            ..options.style.clone()
        },
        ..summarize::Options::new(budget)
    };
    let count = |text: &str| work.counter.tokenizer().count(text);
    summarize::instructions(&rules, previous, &wanted, &count).map_err(|failure| match failure {
        Failure::NoSuchMessage(_) => Error::new(Kind::No, failure.to_string()),
        other => Error::new(Kind::Unavailable, other.to_string()),
    })
}

/// Per cent that they may take of a summary that somebody else writes: a part of it is theirs.
pub(super) fn share_beside(options: &Options, budget: u64) -> u32 {
    share(options.style.instruction_share, options.budget, budget).min(MOST)
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
