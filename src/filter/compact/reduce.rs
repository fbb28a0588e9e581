//! Runs the steps of a compaction until the target is reached, or nothing more can be removed.

use super::goal::CompactionGoal;
use super::options::{CompactOptions, LevelAlgorithm};
use super::state::CompactionState;
use super::trigger::Goal;
use super::{optimize, step, tiered};
use crate::error::Result;
use std::collections::HashSet;

/// Reduces the view until it reaches the target, or as far as it can.
pub fn run(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) -> Result<()> {
    match options.choice {
        LevelAlgorithm::Optimize => optimize::run(work, options, target)?,
        LevelAlgorithm::Tiered => tiered::run(work, options, target)?,
    }
    finish(work, options, target);
    Ok(())
}

fn finish(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) {
    if target.asks() && !target.is_met(work) {
        tiered::last_resort(work, options, target);
    }
    if options.steps.summary || options.steps.drop {
        step::drop::drop_leading_replies(work, "drop");
    }
}

/// Most attempts to find a size below the one that an unreachable budget ended at.
const ATTEMPTS: usize = 8;

/// After an unreachable budget, tries wider ones, each just below the reached size: the steps choose differently for a
/// wider budget, and may then reach less.
pub fn further(
    work: &mut CompactionState<'_>,
    options: &CompactOptions,
    pins: &HashSet<usize>,
    target: &CompactionGoal,
) {
    for _ in 0..ATTEMPTS {
        let wider = CompactionGoal::new(Goal {
            tokens: Some(work.total.saturating_sub(1)),
            ..Goal::default()
        });
        let mut attempt = CompactionState::new(work.session, work.view, work.counter, pins);
        if run(&mut attempt, options, &wider).is_err() || !wider.is_met(&attempt) {
            return;
        }
        // The wider budget ended the steps early.
        let mut rest = attempt.clone();
        if tiered::run(&mut rest, options, target).is_ok() {
            finish(&mut rest, options, target);
        }
        let mut bare = attempt.clone();
        if options.steps.summary || options.steps.drop {
            bare.drop_summary();
            step::drop::drop_leading_replies(&mut bare, "drop");
        }
        // Of equal results, the first.
        let results = [attempt, rest, bare].into_iter();
        let Some(smallest) = results.min_by_key(|result| result.total) else {
            return;
        };
        *work = smallest;
        if target.is_met(work) {
            return;
        }
    }
}
