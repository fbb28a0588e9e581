//! Keeps standing instructions verbatim next to the text of an external summarizer.

use super::super::compact::sources::rules;
use super::super::compact::summary::share;
use super::super::compact::work::Work;
use super::super::summarize::{self, Failure, Instruction, Style};
use super::Options;
use crate::error::{Error, Kind, Result};

/// Returns the sentences to keep, in the order of the log: those of dropped messages, now and earlier, and those in the
/// previous summary. They take at most `share` percent of `budget`, the tokens of the whole summary.
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

/// Share of an external summary that standing instructions can take, in percent.
pub(super) fn share_beside(options: &Options, budget: u64) -> u32 {
    share(options.style.instruction_share, options.budget, budget).min(MOST)
}

/// Maximum share of standing instructions, in percent, so that the summarizer has tokens left.
const MOST: u32 = 75;

/// Inserts a block with the instructions that the text does not contain before the text.
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

/// Removes headings by which an answer could set standing instructions of its own.
pub(super) fn own(text: &str) -> String {
    summarize::without_headings(text)
}
