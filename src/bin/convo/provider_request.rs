//! Builds the input of a model from a session: the view, compacted to a budget and repaired for an API. The session
//! itself is unchanged.

use crate::context::Context;
use crate::errors::{named, stopped};
use convo::check::{Api, CheckOptions};
use convo::error::{Error, ErrorKind};
use convo::filter::materialize::{LineWriter, summary_line};
use convo::filter::repair::{self, RepairOptions, Repaired};
use convo::filter::{Plan, compact};
use convo::format::annotations;
use convo::format::report::Report;
use convo::model::session::{Class, Session};
use convo::model::view::{Item, View};
use convo::tokens::Counter;
use std::io::Write;

/// Parses the name of an API; `claude` and `openai` select the main API of their provider.
pub fn api(name: &str) -> Result<Api, String> {
    let api = match name {
        "claude" => Some(Api::Anthropic),
        "openai" => Some(Api::OpenaiChat),
        _ => Api::from_name(name),
    };
    api.ok_or_else(|| {
        let names: Vec<_> = Api::ALL.into_iter().map(Api::name).collect();
        format!("unknown API; expected one of {}", names.join(", "))
    })
}

/// Compacts the view to the budget, as `compact` would.
pub fn fit(
    context: &Context,
    label: &str,
    session: &mut Session,
    budget: u64,
    window: Option<u64>,
    counter: Counter,
) -> anyhow::Result<()> {
    let options = compact::CompactOptions {
        budget: Some(budget),
        window,
        // The result is computed for each request and never stored.
        retry: true,
        unseen: annotations::unseen,
        ..compact::CompactOptions::default()
    };
    let planned = compact::plan(session, counter, &options, |content| {
        context.derived("evt_", session, content)
    });
    if let Plan::Lines(lines, reported) = planned.map_err(|error| named(error, label))?.plan {
        context.output.detail(label, &reported);
        lines.iter().for_each(|line| session.push_new(line));
    }
    Ok(())
}

/// Maximum number of repair passes. A repair that session messages cannot represent would recur forever.
const TRIES: usize = 3;

/// Returns the session with all violations of the API's rules repaired in memory.
pub fn sendable(
    context: &Context,
    label: &str,
    mut session: Session,
    api: Api,
    strict: bool,
) -> anyhow::Result<Session> {
    let check = CheckOptions::default();
    let options = RepairOptions {
        api,
        check: &check,
        mode: None,
        warnings: false,
    };
    // One more for a partial session, which is replaced by the whole log.
    let tries = TRIES + usize::from(session.partial().is_some());
    for _ in 0..tries {
        let stamp = |content: &str| context.derived("evt_", &session, content);
        let planned = repair::plan(&session, &options, stamp);
        // A repair generates unused ids, which requires all ids of the log; a partial session lacks some.
        if session.partial().is_some() && !planned.as_ref().is_ok_and(is_fine) {
            session = load_session(context, label, strict)?;
            continue;
        }
        let Repaired { plan, fixed } = planned.map_err(|error| named(error, label))?;
        if fixed.elements.is_empty() && fixed.changes.is_empty() {
            return Err(named(
                Error::new(ErrorKind::No, "the view has no message to send"),
                label,
            )
            .into());
        }
        if let Some(left) = fixed.errors().next() {
            let what = format!("invalid for {}: {}: {}", api.name(), left.rule.id, left.message);
            return Err(named(
                Error::new(ErrorKind::No, what)
                    .hint("this rule has no repair; locate the violation with: convo check"),
                label,
            )
            .into());
        }
        let Plan::Lines(lines, reported) = plan else {
            return Ok(session);
        };
        let what: Vec<String> = fixed
            .changes
            .iter()
            .take(MAX_LISTED)
            .map(|change| change.what.clone())
            .collect();
        let what = format!("invalid for {}: {reported}: {}", api.name(), what.join("; "));
        if strict {
            let error = Error::data(format!("{what} (--strict)"));
            return Err(named(
                error
                    .hint("locate the violations with: convo check, and repair them with: convo check --fix"),
                label,
            )
            .into());
        }
        context.output.notice(label, &format!("repaired: {what}"));
        for line in lines {
            session.push_new(&line);
        }
    }
    let error = Error::new(
        ErrorKind::No,
        format!("invalid for {} and not repairable", api.name()),
    );
    Err(named(error, label).into())
}

/// Whether there are messages to send and nothing to repair.
fn is_fine(repaired: &Repaired) -> bool {
    let Repaired { plan, fixed } = repaired;
    matches!(plan, Plan::Nothing(_)) && !fixed.elements.is_empty() && fixed.errors().next().is_none()
}

/// Loads the complete stored session.
fn load_session(context: &Context, name: &str, strict: bool) -> anyhow::Result<Session> {
    let store = context.store()?;
    let mut report = Report::default();
    let session = store.load(&store.resolve(name)?, &mut report)?;
    let damaged = report.is_damaged();
    context.output.report(name, &mut report);
    match strict && damaged {
        true => Err(named(stopped(), name).into()),
        false => Ok(session),
    }
}

/// Maximum number of repairs that are listed.
const MAX_LISTED: usize = 10;

/// Writes the header, then the view.
pub fn write(session: &Session, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut lines = LineWriter::new(out);
    if let Some(header) = (0..session.len()).find(|index| session.class(*index) == Class::Header) {
        lines.write(session.full(header))?;
    }
    for item in &view.items {
        match item {
            Item::Line(index) => lines.write(session.full(*index))?,
            // The output does not contain the messages that the summary covers.
            Item::Summary(index) => match summary_line(session, *index) {
                Some(body) => {
                    lines.write(&body)?;
                    lines.write_ending()?;
                }
                None => lines.write(session.full(*index))?,
            },
            Item::Edited(_, body) | Item::Inserted(body) => {
                lines.write(body)?;
                lines.write_ending()?;
            }
        }
    }
    Ok(())
}
