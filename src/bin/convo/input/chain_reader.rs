//! Reads the sessions of a chain from the store, in order.

use crate::args::{ChainArgs, InputLocation};
use crate::context::Context;
use crate::errors::named;
use crate::input::{InputSettings, each_session, report_and_continue};
use convo::error::{Error, Position, Result};
use convo::filter::join::join;
use convo::format::report::Report;
use convo::model::chain::{self, Branched, ChainLinks, ChainOrder, ChainStep};
use convo::model::key;
use convo::model::session::Session;
use std::collections::HashSet;

/// How far to follow a chain from the named session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainReach {
    /// Back to the first session.
    Back,
    /// Back to the first and forward to the last session.
    Both,
}

/// Reads the chain of a stored session, the first one first, and reports problems of the links.
pub fn read(context: &Context, name: &str, reach: ChainReach) -> Result<(Vec<Session>, ChainOrder)> {
    let store = context.store()?;
    let id = store.resolve(name)?;
    let mut seen = HashSet::from([id.clone()]);
    let load = |id: &str| {
        let mut report = Report::default();
        let session = store.load(id, &mut report)?;
        context.output.report(id, &mut report);
        Ok::<Session, Error>(session)
    };
    let mut next = |id: &str| match key::is_id(id) && store.has(id)? && seen.insert(id.to_string()) {
        true => load(id).map(Some),
        false => Ok(None),
    };
    let mut sessions = vec![load(&id)?];
    let mut from = ChainLinks::of(&sessions[0]).continued_from;
    while let Some(parent) = from.take() {
        if let Some(session) = next(&parent)? {
            from = ChainLinks::of(&session).continued_from;
            sessions.push(session);
        }
    }
    let named_at = sessions.len() - 1;
    sessions.reverse();
    let mut forward = match reach {
        ChainReach::Back => Vec::new(),
        ChainReach::Both => ChainLinks::of(&sessions[named_at]).continued_to,
    };
    let mut parent = id.clone();
    let mut denied = Vec::new();
    while !forward.is_empty() {
        let mut found = Vec::new();
        let above = std::mem::take(&mut parent);
        for child in std::mem::take(&mut forward) {
            match next(&child)? {
                Some(session) if session.header_text("continued_from").as_deref() == Some(&above) => {
                    parent = child;
                    found.push(session);
                }
                Some(_) => denied.push(format!(
                    "{above} names the continuation {child}, which does not link back; left out"
                )),
                None => {}
            }
        }
        // If several sessions continue one, the order decides; they need not be read completely.
        if let [only] = &found[..] {
            forward = ChainLinks::of(only).continued_to;
        }
        sessions.extend(found);
    }
    let last = (reach == ChainReach::Back).then_some(named_at);
    let mut order = ordered(&sessions, last).map_err(|error| named(error, name))?;
    order.faults.extend(denied);
    Ok((sessions, order))
}

/// Orders sessions by their links.
pub fn ordered(sessions: &[Session], last: Option<usize>) -> Result<ChainOrder> {
    let links: Vec<ChainLinks> = sessions.iter().map(ChainLinks::of).collect();
    chain::order(&links, last).map_err(|Branched { id, children }| {
        let what = format!("continued by several sessions: {}", children.join(", "));
        let last = children.first().map_or("", String::as_str);
        Error::usage(what)
            .hint(format!("select the last session with: --through {last}"))
            .at(id, Position::default())
    })
}

/// Reports problems of the links.
pub fn report_links(context: &Context, label: &str, order: &mut ChainOrder) {
    let mut report = Report::default();
    for fault in order.faults.drain(..) {
        report.damage(Position::default(), fault);
    }
    context.output.report(label, &mut report);
}

/// Visits the sessions of inputs like [`each_session`]; with `chained`, joins each named session with its chain, and
/// the sessions of each other input.
pub fn each<'a>(
    context: &'a Context,
    inputs: &[InputLocation],
    reading: impl Into<InputSettings<'a>>,
    chained: ChainArgs,
    mut each: impl FnMut(&str, Session) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let reading = reading.into();
    if !chained.chain {
        return each_session(context, inputs, reading, each);
    }
    for input in inputs {
        let label = input.label();
        let read = || -> anyhow::Result<(Vec<Session>, ChainOrder)> {
            if let InputLocation::Name(name) = input {
                return Ok(read(context, name, ChainReach::Both)?);
            }
            let mut sessions = Vec::new();
            each_session(context, std::slice::from_ref(input), reading, |_, session| {
                sessions.push(session);
                Ok(())
            })?;
            let order = ordered(&sessions, None).map_err(|error| named(error, &label))?;
            Ok((sessions, order))
        };
        let done = read().and_then(|(sessions, mut order)| {
            if sessions.is_empty() {
                return Ok(());
            }
            report_links(context, &label, &mut order);
            let id = order.steps.iter().find_map(|step| match step {
                ChainStep::Session(nth) => sessions[*nth].header_text("id"),
                ChainStep::Missing(_) => None,
            });
            each(&label, join(&sessions, &order, id.as_deref())?.session)
        });
        report_and_continue(context, done, inputs.len())?;
    }
    Ok(())
}
