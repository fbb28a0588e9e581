//! I4, I8 and I10: compaction is idempotent in the store and in a stream; nothing is lost; same input, same output.

use super::super::state::CompactionState;
use super::super::{CompactOptions, step};
use super::case::{Case, Done, EVENT};
use crate::filter::tests::histories::{materialized, sent};
use crate::filter::{Plan, gc};
use crate::model::session::{DerivedLine, Session};
use crate::model::view::View;
use proptest::prelude::*;
use std::collections::HashSet;

pub fn hold(case: &Case, done: &Done) -> Result<(), TestCaseError> {
    let (dangling, was) = (View::replay(&done.after).dangling, &case.view.dangling);
    prop_assert_eq!(&dangling, was);
    check_unchanged(case, &done.after, "I4 in the store")?;
    let (bytes, stream) = done.stream();
    prop_assert_eq!(sent(&stream), sent(&done.after));
    check_unchanged(case, &stream, "I4 in a stream")?;
    prop_assert_eq!(materialized(&stream), bytes);
    let gains = [&done.after, &stream].map(|session| mask_gain(case, session));
    prop_assert_eq!(gains[0], gains[1], "store and stream decide alike");
    // Messages appended since are kept, and everything else is restored.
    let mut restored = done.after.clone();
    restored.push_new(br#"{"role":"user","content":"since then"}"#);
    let undo = format!(r#"{{"type":"restore","id":"e_undo","at":"2026-01-03T00:00:00Z","of":"{EVENT}"}}"#);
    restored.push_new(undo.as_bytes());
    let mut expected = case.view.shown(&case.before);
    expected.push(br#"{"role":"user","content":"since then"}"#.to_vec());
    prop_assert!(
        View::replay(&restored).shown(&restored) == expected,
        "I8: restore"
    );
    if let Ok(Some(pieces)) = gc::plan(&done.after, None) {
        let mut kept = Session::default();
        for piece in &pieces {
            match piece {
                DerivedLine::Line(index) => kept.push_new(done.after.record(*index).body),
                DerivedLine::Edited(_, body) | DerivedLine::Generated(body) => kept.push_new(body),
            }
        }
        prop_assert_eq!(sent(&kept), sent(&done.after), "I8: gc");
    }
    Ok(())
}

/// The gain of replacing the results of a session with placeholders, which decides whether that is done.
fn mask_gain(case: &Case, session: &Session) -> u64 {
    let view = View::replay(session);
    let work = CompactionState::new(session, &view, case.counter(session), &HashSet::new());
    step::mask::gain(&work, &case.options.mask)
}

/// Checks that a compacted session is not compacted again.
fn check_unchanged(case: &Case, session: &Session, place: &str) -> Result<(), TestCaseError> {
    // A trigger of two groups may fire by its other group.
    let options = CompactOptions {
        when: None,
        ..case.options.clone()
    };
    let options = if case.options.when.is_some() && case.options.budget.is_none() {
        &case.options
    } else {
        &options
    };
    let second = case.plan(session, options);
    let is_unchanged = match &second {
        Ok(outcome) => matches!(outcome.plan, Plan::Nothing(_)),
        Err(_) => false,
    };
    let other_group = case.options.when.is_some() && case.options.budget.is_none();
    let shown = second.map(|outcome| match outcome.plan {
        Plan::Lines(lines, reported) => format!("{reported} {}", String::from_utf8_lossy(&lines[0])),
        Plan::Nothing(why) | Plan::Refused(why) => why,
    });
    prop_assert!(
        is_unchanged || other_group,
        "{}: {:?}\n{}",
        place,
        shown,
        session.text()
    );
    Ok(())
}
