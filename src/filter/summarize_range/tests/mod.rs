//! Tests summaries of any author; `CONVO_COMPACTIONS=100000` sets the number of random tests.

mod compactions;
mod properties;
mod requests;
mod small;

use super::{
    ChunkedRequest, SummaryAnswer, SummaryOptions, SummaryRequest, SummaryRequestOptions, apply,
    build_request, extract,
};
use crate::error::Result;
use crate::filter::compact::tests::sessions::{Plot, plot};
use crate::filter::{Plan, Stamp};
use crate::model::session::Session;
use crate::tokens::{Counter, Tokenizer};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Runs a test on random sessions and options, which reports what happened; `expected` must happen.
fn run_random<W: Debug>(
    name: &str,
    wild: bool,
    cases: u32,
    generated: impl Strategy<Value = W>,
    hold: impl Fn(&Plot, &W) -> std::result::Result<&'static str, TestCaseError>,
    expected: &str,
) {
    let requested = std::env::var("CONVO_COMPACTIONS")
        .ok()
        .and_then(|text| text.parse().ok());
    let config = Config {
        cases: requested.unwrap_or(cases),
        max_shrink_iters: 800,
        failure_persistence: None,
        ..Config::default()
    };
    let reported: RefCell<BTreeMap<&str, u32>> = RefCell::default();
    let result = TestRunner::new(config).run(&(plot(wild), generated), |(plot, generated)| {
        let what = hold(&plot, &generated)?;
        *reported.borrow_mut().entry(what).or_default() += 1;
        Ok(())
    });
    eprintln!("{name}: {:?}", reported.borrow());
    match result {
        Err(TestError::Fail(why, (plot, generated))) => {
            panic!("{why}\n{generated:?}\n{}", plot.session().text())
        }
        Err(failure) => panic!("{failure}"),
        Ok(()) => assert!(reported.borrow().contains_key(expected)),
    }
}

/// A request in chunks of this size, without instructions.
fn in_chunks(chunk: impl Into<Option<u64>>) -> SummaryRequestOptions {
    SummaryRequestOptions {
        chunk: chunk.into(),
        tool_max: None,
        prompt: String::new(),
    }
}

fn stamp(_: &str) -> Result<Stamp> {
    Ok(Stamp {
        id: "evt_new".into(),
        at: "2026-05-01T00:00:00Z".into(),
    })
}

/// Generates a unique event id.
fn stamped(session: &Session) -> impl Fn(&str) -> Result<Stamp> {
    let id = format!("evt_made_{}", session.len());
    move |_: &str| {
        Ok(Stamp {
            id: id.clone(),
            at: "2026-05-01T00:00:00Z".into(),
        })
    }
}

fn counter(session: &Session) -> Counter {
    Counter::of(Tokenizer::named("chars4").unwrap(), session)
}

fn with(session: &Session, plan: &Plan) -> Session {
    let mut after = session.clone();
    if let Plan::Lines(lines, _) = plan {
        lines.iter().for_each(|line| after.push_new(line));
    }
    after
}

fn asked(session: &Session, options: &SummaryOptions) -> ChunkedRequest {
    match build_request(session, counter(session), options).unwrap() {
        SummaryRequest::Request(request) => *request,
        SummaryRequest::Nothing(why) => panic!("nothing to ask: {why}"),
    }
}

fn applied(session: &Session, options: &SummaryOptions, answer: &SummaryAnswer) -> Result<Session> {
    let plan = apply(session, counter(session), options, answer, stamped(session))?;
    Ok(with(session, &plan))
}

fn extracted(session: &Session, options: &SummaryOptions) -> Result<Plan> {
    extract(session, counter(session), options, stamped(session))
}
