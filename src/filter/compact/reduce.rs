//! Runs the steps of a compaction until the target is reached, or nothing more can be removed.

use super::event::CompactionInfo;
use super::goal::CompactionGoal;
use super::options::{CompactOptions, LevelAlgorithm};
use super::pins::pins;
use super::state::CompactionState;
use super::trigger::Goal;
use super::{optimize, step, tiered};
use crate::error::Result;
use crate::filter::Stamp;
use crate::model::view::View;
use std::collections::HashSet;

/// Reduces the view until it reaches the target, or as far as it can, by way of wider budgets too.
pub fn reach(
    work: &mut CompactionState<'_>,
    options: &CompactOptions,
    pins: &HashSet<usize>,
    target: &CompactionGoal,
) -> Result<()> {
    run(work, options, target)?;
    if !target.asks() || !target.is_tokens_alone() || target.is_met(work) {
        return Ok(());
    }
    let reached = work.total;
    if minimize(work, options, pins).is_ok() && work.total <= reached {
        return Ok(());
    }
    *work = work.unchanged(pins);
    run(work, options, target)?;
    further(work, options, pins, target);
    Ok(())
}

/// Reduces the view to the smallest result of the steps, which is the same for every budget that cannot be reached.
/// Replaces the state, because two of them take much memory.
fn minimize(work: &mut CompactionState<'_>, options: &CompactOptions, pins: &HashSet<usize>) -> Result<()> {
    let nothing = CompactionGoal::new(Goal {
        tokens: Some(0),
        ..Goal::default()
    });
    *work = work.unchanged(pins);
    run(work, options, &nothing)?;
    further(work, options, pins, &nothing);
    Ok(())
}

/// Reduces the view until it reaches the target, or as far as the steps can.
fn run(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) -> Result<()> {
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

/// Compacts the result again as long as that removes more, so that a later compaction finds nothing to do: for a budget
/// that cannot be reached, and without a target. If it cannot be planned or joined, the result is kept.
pub fn repeat(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) {
    for _ in 0..ATTEMPTS {
        match compacted_again(work, options, target) {
            Ok(Some(joined)) => *work = joined,
            Ok(None) | Err(_) => return,
        }
    }
}

/// The state with the changes of a second compaction; none if that removes nothing.
fn compacted_again<'s>(
    work: &CompactionState<'s>,
    options: &CompactOptions,
    target: &CompactionGoal,
) -> Result<Option<CompactionState<'s>>> {
    let stamp = Stamp {
        id: "evt_repeat".to_string(),
        at: String::new(),
    };
    let edit = work.clone().into_reshaping();
    if edit.is_empty() {
        return Ok(None);
    }
    let line = edit.event(work.session, work.view, &CompactionInfo::default(), &stamp)?;
    let mut after = work.session.clone();
    after.push_new(&line);
    let view = View::replay(&after);
    let pins = pins(&after, &view, options)?;
    let mut next = CompactionState::new(&after, &view, work.counter, &pins);
    reach(&mut next, options, &pins, target)?;
    match next.total < work.total {
        true => Ok(work.joined(&next)),
        false => Ok(None),
    }
}

/// Most attempts to find a size below the one that an unreachable budget ended at.
const ATTEMPTS: usize = 8;

/// After an unreachable budget, tries wider ones, each just below the reached size: the steps choose differently for a
/// wider budget, and may then reach less.
fn further(
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
        let mut attempt = work.unchanged(pins);
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
