//! All invariants over many random compactions.

use super::case::{Case, is_expected};
use super::choices::{Choices, choices};
use super::sessions::plot;
use super::{budgets, marks, pieces, stays, twice, validity};
use crate::filter::Plan;
use crate::model::session::Session;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The number of cases: from the environment, else one that is quick enough for every run.
pub fn cases(usual: u32) -> u32 {
    let requested = std::env::var("CONVO_COMPACTIONS")
        .ok()
        .and_then(|text| text.parse().ok());
    requested.unwrap_or(usual)
}

/// The random seed: the same on every run, unless the environment sets another.
fn seed(usual: u64) -> u64 {
    let requested = std::env::var("CONVO_COMPACTIONS_SEED").ok();
    requested.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Checks one compaction against all invariants; returns its kind of result.
pub fn hold(session: Session, choices: &Choices) -> Result<&'static str, TestCaseError> {
    let case = Case::new(session, choices);
    let outcome = match (
        case.plan(&case.before, &case.options),
        case.plan(&case.before, &case.options),
    ) {
        (Ok(one), Ok(other)) => {
            prop_assert_eq!(&one, &other, "I10");
            one
        }
        (Err(error), Err(other)) => {
            prop_assert_eq!(&error.message, &other.message, "I10");
            is_expected(&error)?;
            budgets::floor(&case, &error)?;
            return Ok("refused");
        }
        (one, other) => return Err(TestCaseError::fail(format!("I10: {one:?} {other:?}"))),
    };
    if let Plan::Nothing(_) = &outcome.plan {
        if let (Some(budget), true) = (
            case.options.budget,
            case.has_budget_alone() && outcome.smallest.is_none(),
        ) {
            prop_assert!(
                case.was.tokens <= budget,
                "I2: over the budget, and nothing was done"
            );
        }
        return Ok("as it was");
    }
    let done = case.done(outcome).unwrap();
    budgets::hold(&case, &done)?;
    stays::hold(&case, &done)?;
    pieces::hold(&case, &done)?;
    marks::hold(&case, &done)?;
    twice::hold(&case, &done)?;
    validity::hold(&case, &done)?;
    Ok("compacted")
}

/// Runs random cases and prints the number of each kind of result.
fn run(name: &str, (usual, usual_seed): (u32, u64), wild: bool) {
    let config = Config {
        cases: cases(usual),
        max_shrink_iters: 800,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed(usual_seed)),
        ..Config::default()
    };
    let reported: RefCell<BTreeMap<&str, u32>> = RefCell::default();
    let result = TestRunner::new(config).run(&(plot(wild), choices()), |(plot, choices)| {
        let what = hold(plot.session(), &choices)?;
        *reported.borrow_mut().entry(what).or_default() += 1;
        Ok(())
    });
    eprintln!("{name}: {:?}", reported.borrow());
    if let Err(failure) = result {
        if let proptest::test_runner::TestError::Fail(why, (plot, choices)) = &failure {
            panic!("{why}\n{choices:?}\n{}", plot.session().text());
        }
        panic!("{failure}");
    }
    assert!(reported.borrow().contains_key("compacted"));
}

/// Cases in one of which a second compaction of an unreachable budget would remove more.
#[test]
fn invariants_hold_over_wild_sessions() {
    run("wild sessions", (60, 20230), true);
}

/// Cases among which a wider budget than the requested one reaches less.
#[test]
fn the_named_minimum_does_not_depend_on_the_budget() {
    run("unreachable budgets", (100, 9006), true);
}

#[test]
fn invariants_hold_over_orderly_sessions() {
    run("orderly sessions", (60, 5), false);
}
