//! Runs the steps from the gentlest on, each only as far as needed.

use super::goal::CompactionGoal;
use super::options::{CompactOptions, Mask};
use super::state::CompactionState;
use super::step::EnoughFn;
use super::{keep_newest, step, summary};
use crate::error::Result;

/// Least gain from placeholders of results (like Anthropic's `clear_at_least`; opencode uses 20,000, gemini-cli
/// 30,000), if a tenth of the budget is not less.
const MASK_GAIN: u64 = 2000;

/// Runs the steps.
pub fn run(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) -> Result<()> {
    let enough = |work: &CompactionState<'_>| target.is_met(work);
    run_keeping_steps(work, options, target);
    let steps = &options.steps;
    let protected = options.keep_last.unwrap_or(2);
    if steps.digest {
        step::digest::run(work, protected, &enough);
    }
    if steps.summary && target.asks() {
        summary::run(work, options, target, protected)?;
    } else if steps.drop && target.asks() {
        step::drop::run(work, options, protected, "drop", &enough);
        step::drop::run(work, options, 1, "drop", &enough);
    }
    if let (false, Some(keep)) = (target.asks(), options.keep_last) {
        drop_all_but(work, options, target, keep);
    }
    Ok(())
}

/// Runs the steps that keep every message in place.
pub fn run_keeping_steps(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) {
    let enough = |work: &CompactionState<'_>| target.is_met_in_size(work);
    let steps = &options.steps;
    run_lossless_steps(work, options, &enough);
    if steps.head_tail {
        step::head_tail::run(work, options.tool_output, &enough);
    }
    if steps.mask {
        let tenth = target.tokens().map_or(MASK_GAIN, |budget| budget / 10);
        let gain = options.mask.min_gain.unwrap_or(MASK_GAIN.min(tenth));
        step::mask::run(work, &options.mask, gain, &enough);
    }
}

/// Runs the steps that remove no unique content: repeated results, media already seen, closed reasoning.
pub fn run_lossless_steps(work: &mut CompactionState<'_>, options: &CompactOptions, enough: EnoughFn<'_>) {
    let steps = &options.steps;
    if steps.dedupe {
        step::dedupe::run(work, &options.write_tools, enough);
    }
    if steps.media {
        step::media::run(work, options.media, enough);
    }
    if steps.thinking {
        step::thinking::run(work, options.thinking, enough);
    }
}

/// Drops all but the newest exchanges, for a compaction without a budget.
fn drop_all_but(
    work: &mut CompactionState<'_>,
    options: &CompactOptions,
    target: &CompactionGoal,
    keep: usize,
) {
    let leaving = work.exchanges.len().saturating_sub(keep.max(1));
    if leaving == 0 {
        return;
    }
    let summed = options.steps.summary;
    for exchange in 0..leaving {
        // A digest already replaces the exchange.
        if !work.inserts.contains_key(&exchange) {
            work.drop_atoms(
                exchange,
                |atom| !atom.record,
                if summed { "summary" } else { "keep-last" },
            );
        }
    }
    if summed {
        summary::fill(work, options, target);
    }
}

/// The last resort: replaces results of the newest exchange with placeholders and reduces the summary.
pub fn last_resort(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) {
    if options.steps.mask {
        let all = Mask {
            keep: 0,
            protect: 0,
            ..options.mask.clone()
        };
        step::mask::run(work, &all, 0, &|work| target.is_met_in_size(work));
    }
    // A summary may fit now.
    if options.steps.summary && work.summary.is_none() {
        summary::fill(work, options, target);
    }
    if !target.is_met(work) && keep_newest::is_allowed(options, target) {
        keep_newest::run(work, options, target);
    }
    if !target.is_met(work) && (options.steps.summary || options.steps.drop) {
        work.drop_summary();
    }
}
