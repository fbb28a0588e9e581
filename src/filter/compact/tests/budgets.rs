//! I2 and I3: the sizes in the event match a naive count and are within the budget, and the smallest size named by an
//! error is exact.

use super::super::{CompactionGoal, CompactionOutcome, state::CompactionState};
use super::case::{Case, Done, OVERFLOW, smallest};
use crate::error::Error;
use crate::filter::Plan;
use crate::model::retention::Overflow;
use proptest::prelude::*;
use std::collections::HashSet;

/// Checks a successful compaction.
pub fn hold(case: &Case, done: &Done) -> Result<(), TestCaseError> {
    let now = case.size(&done.after, &done.view);
    prop_assert_eq!(done.reported("was"), case.was);
    prop_assert_eq!(done.reported("now"), now);
    let report = &done.outcome.report;
    prop_assert_eq!((report.was, report.now), (case.was, now));
    prop_assert!(
        now.tokens < case.was.tokens,
        "I3: {:?} became {:?}",
        case.was,
        now
    );
    let before: u64 = report.atoms.iter().map(|atom| atom.before).sum();
    let after: u64 = report.atoms.iter().map(|atom| atom.after).sum();
    prop_assert!(before <= case.was.tokens && after <= now.tokens);
    match (case.options.budget, done.outcome.smallest) {
        (Some(budget), None) => prop_assert!(now.tokens <= budget, "I2: {} of {budget}", now.tokens),
        (_, Some(smallest)) => {
            prop_assert!(case.options.best_effort);
            prop_assert_eq!(smallest, now.tokens);
        }
        (None, None) => {}
    }
    // A trigger that fired does not fire again.
    if let (Some(when), None, None) = (&case.options.when, case.options.budget, done.outcome.smallest) {
        let measures = |session, view| {
            CompactionState::new(session, view, case.counter(session), &HashSet::new())
                .measures(case.options.window)
        };
        let fired = when.fired(&measures(&case.before, &case.view)).unwrap();
        let goal = super::super::trigger::TriggerExpression::goal(
            fired, case.options.hysteresis, case.options.window,
        );
        let work = CompactionState::new(
            &done.after,
            &done.view,
            case.counter(&done.after),
            &HashSet::new(),
        );
        let target = CompactionGoal::new(goal);
        prop_assert!(
            !target.asks() || target.is_met(&work),
            "{:?} of {:?}",
            work.measures(None),
            goal
        );
    }
    Ok(())
}

/// Checks an unreachable budget: the named size is reachable, and nothing less.
pub fn floor(case: &Case, error: &Error) -> Result<(), TestCaseError> {
    let Some(size) = smallest(error).filter(|_| case.has_budget_alone()) else {
        return Ok(());
    };
    prop_assert!(size > case.options.budget.unwrap());
    let reached = |outcome: CompactionOutcome| match (&outcome.plan, &outcome.report) {
        (Plan::Lines(..), report) => report.now.tokens,
        (Plan::Nothing(_) | Plan::Refused(_), report) => report.was.tokens,
    };
    let best = case.with_budget(case.options.budget.unwrap(), true).unwrap();
    prop_assert_eq!(best.smallest, Some(size));
    prop_assert_eq!(reached(best), size);
    let exact = case.with_budget(size, false);
    prop_assert!(exact.is_ok(), "I2: {:?}", exact);
    // A summary that the view begins with and cannot do without may be rewritten shorter.
    prop_assert!(reached(exact.unwrap()) <= size);
    for budget in [size - 1, size / 2, 1]
        .into_iter()
        .filter(|budget| *budget < size)
    {
        let less = case.with_budget(budget, false);
        // With `Overflow::Error` the check of the summary and the newest exchanges comes first, and names no size.
        if let (Overflow::Error, Err(error)) = (case.options.overflow, &less)
            && error.message.starts_with(OVERFLOW)
        {
            continue;
        }
        let named = less.as_ref().err().and_then(smallest);
        prop_assert_eq!(named, Some(size), "at {}", budget);
    }
    Ok(())
}
