//! Each step goes only as far as needed, and makes one change at a time.

use super::super::state::CompactionState;
use super::super::{CompactOptions, step};
use super::case::Case;
use super::choices::choices;
use super::sessions::plot;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::HashSet;

type Run<'r> = &'r dyn Fn(&mut CompactionState<'_>, &CompactOptions, step::EnoughFn<'_>);

fn steps() -> Vec<(&'static str, Run<'static>)> {
    vec![
        ("dedupe", &|work, options, enough| {
            step::dedupe::run(work, &options.write_tools, enough)
        }),
        ("media", &|work, options, enough| {
            step::media::run(work, options.media, enough)
        }),
        ("thinking", &|work, options, enough| {
            step::thinking::run(work, options.thinking, enough)
        }),
        ("head+tail", &|work, options, enough| {
            step::head_tail::run(work, options.tool_output, enough)
        }),
        ("mask", &|work, options, enough| {
            step::mask::run(work, &options.mask, 0, enough)
        }),
        ("digest", &|work, _, enough| step::digest::run(work, 2, enough)),
        ("drop", &|work, options, enough| {
            step::drop::run(work, options, 1, "drop", enough)
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(super::many::cases(40)))]
    #[test]
    fn a_step_stops_at_the_goal(plot in plot(true), choices in choices(), share in 0u64..1000, skip in 0usize..7) {
        let case = Case::new(plot.session(), &choices);
        let mut work = CompactionState::new(&case.before, &case.view, case.counter(&case.before), &HashSet::new());
        let target = case.was.tokens * share / 1000;
        let pieces = |work: &CompactionState<'_>| -> Vec<u64> {
            let exchange = |nth| work.exchange_tokens(nth);
            (0..work.exchanges.len()).map(exchange).collect()
        };
        for (nth, (name, run)) in steps().into_iter().enumerate() {
            if nth == skip {
                continue; // the other steps must work without this one
            }
            let requested: RefCell<Vec<(u64, Vec<u64>)>> = RefCell::default();
            run(&mut work, &case.options, &|work| {
                requested.borrow_mut().push((work.total, pieces(work)));
                work.total <= target
            });
            let mut requested = requested.into_inner();
            let first = requested.iter().position(|(total, _)| *total <= target);
            if let Some(first) = first {
                let whole = name == "drop" && !(case.options.drop_order.is_empty() && case.options.shares.is_empty());
                // The step also drops replies at the beginning of the view.
                prop_assert!(whole || work.total == requested[first].0, "{} went on: {} of {}", name, work.total, target);
            }
            // A change after the last question counts, too.
            requested.push((work.total, pieces(&work)));
            for pair in requested.windows(2) {
                let changed = pair[0].1.iter().zip(&pair[1].1).filter(|(one, other)| one != other).count();
                prop_assert!(changed <= 1 || name == "drop", "{} changed {} exchanges at once", name, changed);
                prop_assert!(pair[1].0 <= pair[0].0);
            }
            let naive: u64 = pieces(&work).iter().sum::<u64>()
                + work.items.iter().filter(|entry| entry.atom().is_none()).map(|entry| entry.now).sum::<u64>();
            prop_assert_eq!(work.total, naive);
        }
    }
}
