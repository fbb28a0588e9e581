//! Tests that reading through a checkpoint gives the same as the whole log, whatever happened to both.

mod place;

use super::*;
use crate::filter::summarize_range::{self, SummaryOptions};
use crate::filter::{Plan, Stamp, retention};
use crate::model::health::Health;
use crate::model::view::View;
use crate::tokens::{Counter, Tokenizer};
use place::{AT, Operation, Place, operation};
use proptest::prelude::*;
use std::cell::Cell;

fn wanted(keep_last: usize) -> SummaryOptions {
    SummaryOptions {
        keep_last: keep_last.max(1),
        min_gain: 0,
        summary_budget: (keep_last != 3).then_some(60),
        ..SummaryOptions::default()
    }
}

fn counter() -> Counter {
    Counter::new(Tokenizer::named("chars4").unwrap(), None)
}

fn extracted(session: &Session, id: &str, options: &SummaryOptions) -> Result<Plan> {
    summarize_range::extract(session, counter(), options, |_| {
        Ok(Stamp {
            id: id.to_string(),
            at: AT.to_string(),
        })
    })
}

/// Compares everything that views, summaries and retention use.
fn same(whole: &Session, partial: &Session) {
    let (one, other) = (View::replay(whole), View::replay(partial));
    let lines = |session: &Session, view: &View| -> Vec<(Option<u64>, Vec<u8>)> {
        let line = |item: &crate::model::view::Item| item.line().map(|line| session.place(line).line);
        view.items.iter().map(line).zip(view.shown(session)).collect()
    };
    assert_eq!(lines(whole, &one), lines(partial, &other));
    assert!(one.dangling.is_empty() && other.dangling.is_empty());
    assert_eq!(whole.header(), partial.header());
    assert_eq!(whole.newest_time(), partial.newest_time());
    assert_eq!(whole.lines_in_log(), partial.lines_in_log());
    assert_eq!(whole.full(whole.len() - 1), partial.full(partial.len() - 1));
    let health = |session: &Session| Health {
        line: None,
        ..Health::of(session)
    };
    assert_eq!(health(whole), health(partial));
    for keep_last in 1..4 {
        let options = wanted(keep_last);
        assert!(options.covers_view());
        match extracted(partial, "x", &options) {
            Ok(plan) => assert_eq!(extracted(whole, "x", &options).unwrap(), plan),
            Err(_) => continue, // the whole log is read then
        }
        if let Ok(requested) = summarize_range::build_request(partial, counter(), &options) {
            assert_eq!(
                summarize_range::build_request(whole, counter(), &options).unwrap(),
                requested
            );
        }
    }
    let long = "and so it was ".repeat(60);
    for text in ["And so it was.", &long] {
        added(whole, partial, text);
    }
    assert_eq!(retention::due(whole).ok(), retention::due(partial).ok());
}

fn added(whole: &Session, partial: &Session, text: &str) {
    let line = format!(r#"{{"role":"assistant","content":"{text}","id":"next"}}"#).into_bytes();
    let added = |session: &Session| {
        let stamp = |_: &str| {
            Ok(Stamp {
                id: "x".to_string(),
                at: AT.to_string(),
            })
        };
        retention::plan(session, vec![line.clone()], String::new(), counter(), stamp)
    };
    if let Ok(plan) = added(partial) {
        assert_eq!(added(whole).unwrap(), plan);
    }
}

/// Runs a story to its end, after which a valid checkpoint must exist.
fn replayed(remembers: bool, story: &[Operation]) -> Place {
    let mut place = Place::new(remembers);
    for what in story {
        place.does(what);
        place.look();
    }
    let before = place.partial_reads;
    place.look();
    assert!(place.partial_reads > before, "no checkpoint fits");
    place
}

fn message(who: usize) -> Operation {
    Operation::Message(who, "some words that are long enough to be worth it".to_string())
}

#[test]
fn an_exchange_after_a_failure_counts_when_hidden() {
    use Operation::*;
    let place = replayed(
        false,
        &[
            message(0),
            message(1),
            message(0),
            Attempt,
            message(0),
            message(1),
            TruncateAll,
            Keep,
        ],
    );
    assert!(Health::of(&place.store.partial_session("one").unwrap().unwrap().0).turn_since);
}

#[test]
fn lines_adjacent_in_a_checkpoint_are_adjacent_in_the_log() {
    use Operation::*;
    // The second answer of the first turn was dropped; then the whole turn is dropped.
    let turn = [message(0), message(1), message(1), message(1)];
    let story = [&turn[..], &turn, &turn, &[Drop(3), Keep, message(0)]].concat();
    replayed(true, &story);
}

#[test]
fn only_an_edit_outside_the_view_allows_a_checkpoint() {
    use Operation::*;
    let story = [message(0), message(1), message(0), message(1), Edit(1), Keep];
    let mut place = Place::new(false);
    story.iter().for_each(|what| place.does(what));
    assert!(place.store.partial_session("one").unwrap().is_none());
    replayed(false, &[&story[..], &[TruncateAll, message(0), Keep]].concat());
}

#[test]
fn a_checkpoint_of_another_file_is_ignored() {
    use Operation::*;
    let story = [
        message(0),
        message(1),
        message(0),
        message(1),
        TruncateAll,
        message(0),
        message(1),
        Keep,
    ];
    let place = replayed(false, &story);
    let path = log_path(&place.store, "one");
    let log = fs::read_to_string(&path).unwrap();
    fs::write(
        path.with_extension("new"),
        log.replacen("some words", "same words", 1),
    )
    .unwrap();
    fs::rename(path.with_extension("new"), &path).unwrap();
    assert!(place.store.partial_session("one").unwrap().is_none());
}

#[test]
fn a_checkpoint_agrees_with_its_log() {
    let cases = std::env::var("CONVO_VIEWS")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(25);
    let mut runner = proptest::test_runner::TestRunner::new(proptest::test_runner::Config {
        cases,
        failure_persistence: None,
        ..Default::default()
    });
    let (looks, partial_reads) = (Cell::new(0), Cell::new(0));
    let story = (any::<bool>(), proptest::collection::vec(operation(), 1..60));
    runner
        .run(&story, |(remembers, story)| {
            let mut place = Place::new(remembers);
            for what in &story {
                place.does(what);
                place.look();
                looks.set(looks.get() + 1);
            }
            partial_reads.set(partial_reads.get() + place.partial_reads);
            Ok(())
        })
        .unwrap();
    println!(
        "{} looks, {} of them by a checkpoint",
        looks.get(),
        partial_reads.get()
    );
    // Random stories decide how often; that valid checkpoints are used, `replayed` asserts for each of its stories.
    assert!(partial_reads.get() > 0, "no checkpoint is used");
}
