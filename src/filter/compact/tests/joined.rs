//! The changes of two compactions, joined into one, give the view of both.

use super::super::event::CompactionInfo;
use super::super::state::CompactionState;
use super::super::{ChosenChange, CompactOptions, choose_changes};
use super::case::Case;
use super::choices::choices;
use super::many::cases;
use super::sessions::plot;
use crate::filter::Stamp;
use crate::filter::tests::histories::sent;
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::cell::Cell;

/// The session with the event of these changes.
fn changed(work: &CompactionState<'_>, id: &str) -> Session {
    let stamp = Stamp {
        id: id.to_string(),
        at: "2026-01-02T00:00:00Z".to_string(),
    };
    let edit = work.clone().into_reshaping();
    let line = edit
        .event(work.session, work.view, &CompactionInfo::default(), &stamp)
        .unwrap();
    let mut after = work.session.clone();
    after.push_new(&line);
    after
}

fn with_budget(options: &CompactOptions, budget: u64) -> CompactOptions {
    CompactOptions {
        budget: Some(budget),
        when: None,
        best_effort: true,
        retry: true,
        ..options.clone()
    }
}

/// The items of the view. A digest is without its id, which derives from the event that inserts it.
fn contents(session: &Session) -> Vec<String> {
    let content = |body: String| match body.contains("\"convo\":{\"digest\"") {
        true => String::from_utf8(json::with_members(body.as_bytes(), &[("id", None)]).unwrap()).unwrap(),
        false => body,
    };
    sent(session).into_iter().map(content).collect()
}

#[test]
fn two_joined_compactions_give_the_view_of_both() {
    let config = Config {
        cases: cases(60),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(3),
        ..Config::default()
    };
    let (both, joins) = (Cell::new(0), Cell::new(0));
    let shares = (3u64..9, 0u64..7);
    let result = TestRunner::new(config).run(
        &(plot(true), choices(), shares),
        |(plot, choices, (one, other))| {
            let case = Case::new(plot.session(), &choices);
            let counter = case.counter(&case.before);
            let options = with_budget(&case.options, case.was.tokens * one / 10);
            let chosen = choose_changes(&case.before, &case.view, counter, &options);
            let Ok(ChosenChange::Change(work, _)) = chosen else {
                return Ok(());
            };
            let after = changed(&work, "evt_one");
            let view = View::replay(&after);
            let options = with_budget(&case.options, work.total * other / 10);
            let chosen = choose_changes(&after, &view, counter, &options);
            let Ok(ChosenChange::Change(next, _)) = chosen else {
                return Ok(());
            };
            both.set(both.get() + 1);
            if let Some(joined) = work.joined(&next) {
                joins.set(joins.get() + 1);
                prop_assert_eq!(
                    contents(&changed(&joined, "evt_two")),
                    contents(&changed(&next, "evt_two"))
                );
            }
            Ok(())
        },
    );
    assert!(result.is_ok(), "{result:?}");
    assert!(
        joins.get() * 10 > both.get() * 7,
        "{} of {}",
        joins.get(),
        both.get()
    );
}
