//! Tests summaries of any author; `CONVO_COMPACTIONS=100000` sets the number of random tests.

mod compactions;
mod properties;
mod requests;
mod small;

use super::{ChunkedRequest, SummaryAnswer, SummaryOptions, SummaryRequest, apply, build_request, extract};
use crate::error::Result;
use crate::filter::{Plan, Stamp};
use crate::model::session::Session;
use crate::tokens::{Counter, Tokenizer};

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
