//! Keeps standing instructions verbatim next to the text of an external summarizer.

use super::super::compact::sources::rules;
use super::super::compact::state::CompactionState;
use super::super::compact::summary::share;
use super::super::summarize::{self, Instruction, SummaryFailure, SummaryStyle};
use crate::error::{Error, ErrorKind, Result};

/// Returns the sentences to keep, in the order of the log: those of dropped messages, now and earlier, and those in the
/// previous summary. They take at most `share` percent of `budget`, the tokens of the whole summary.
pub(super) fn pins(
    work: &CompactionState<'_>,
    stays: &dyn Fn(usize) -> bool,
    (budget, share): (u64, u32),
    previous: Option<&str>,
    style: &SummaryStyle,
) -> Result<Vec<Instruction>> {
    let rules = rules(work, style, stays);
    let wanted = summarize::ExtractOptions {
        style: SummaryStyle {
            instruction_share: share,
            ..style.clone()
        },
        ..summarize::ExtractOptions::new(budget)
    };
    let count = |text: &str| work.counter.tokenizer().count(text);
    summarize::instructions(&rules, previous, &wanted, &count).map_err(|failure| match failure {
        SummaryFailure::NoSuchMessage(_) => Error::new(ErrorKind::No, failure.to_string()),
        other => Error::new(ErrorKind::Unavailable, other.to_string()),
    })
}

/// Share of an external summary that standing instructions can take, in percent; `whole` is the budget of the view.
pub(super) fn instruction_share(style: &SummaryStyle, whole: Option<u64>, budget: u64) -> u32 {
    share(style.instruction_share, whole, budget).min(MAXIMUM)
}

/// Maximum share of standing instructions, in percent, so that the summarizer has tokens left.
const MAXIMUM: u32 = 75;

/// Inserts a block with the instructions that the text does not contain before the text.
pub(super) fn with_pins(text: &str, pins: &[Instruction]) -> String {
    let text = without_headings(text);
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
pub(super) fn without_headings(text: &str) -> String {
    summarize::without_headings(text)
}
