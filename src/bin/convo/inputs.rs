//! Going through inputs and their sessions: with several inputs, an error of one is told and the others go on.

use crate::args::{Input, Reading};
use crate::context::{Context, Opened, named, stopped};
use crate::export::too_much;
use crate::pick::{Pick, Taken};
use convo::error::{Error, Kind};
use convo::format::report::{Loss, Report};
use convo::format::{Format, Sessions};
use convo::model::lineage::Aside;
use convo::model::session::Session;
use std::ops::ControlFlow;

/// Opens one input after another.
pub fn each_input(
    context: &Context,
    inputs: &[Input],
    reading: &Reading,
    mut each: impl FnMut(Opened) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for input in inputs {
        let done = context
            .open(input, reading)
            .map_err(anyhow::Error::from)
            .and_then(&mut each);
        tell_and_go_on(context, done, inputs.len())?;
    }
    Ok(())
}

/// Reads one session of the inputs after another; the first argument is the input's name in messages.
pub fn each_session(
    context: &Context,
    inputs: &[Input],
    reading: &Reading,
    mut each: impl FnMut(&str, Session) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    each_session_and_format(context, inputs, reading, |label, _, session| each(label, session))
}

/// The same with the format of the input.
pub fn each_session_and_format(
    context: &Context,
    inputs: &[Input],
    reading: &Reading,
    mut each: impl FnMut(&str, Format, Session) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for input in inputs {
        let label = input.label();
        let done = match excerpt(context, input, reading) {
            Ok(Some(session)) => each(&label, Format::Native, session),
            Ok(None) => context
                .open(input, reading)
                .map_err(anyhow::Error::from)
                .and_then(|opened| {
                    let format = opened.format;
                    sessions_of(context, opened, reading, |session| each(&label, format, session))
                }),
            Err(error) => Err(error.into()),
        };
        tell_and_go_on(context, done, inputs.len())?;
    }
    Ok(())
}

/// What the view of a stored session is made of, when that is all that is looked at and it can be had alone.
fn excerpt(context: &Context, input: &Input, reading: &Reading) -> convo::Result<Option<Session>> {
    let Input::Name(name) = input else { return Ok(None) };
    if !reading.sees_view || reading.session.is_some() || reading.branch.is_some() {
        return Ok(None);
    }
    let store = context.store()?;
    let id = store.resolve(name)?;
    let excerpt = store.excerpt(&id).map_err(|error| named(error, name))?;
    Ok(excerpt.map(|(session, _)| session))
}

/// Goes through the sessions of an input that are asked for; what is wrong is told on the way.
pub fn sessions_of(
    context: &Context,
    opened: Opened,
    reading: &Reading,
    mut each: impl FnMut(Session) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let each = |session, _| each(session);
    picked_of(context, opened, reading, false, each).map(|_| ())
}

/// The same; with `others` also through those that are not asked for, which are told apart by the second argument. Gives
/// back what stands behind the last one.
pub fn picked_of(
    context: &Context,
    opened: Opened,
    reading: &Reading,
    others: bool,
    mut each: impl FnMut(Session, bool) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<u8>> {
    let label = opened.label.clone();
    if others && reading.branch.is_some() {
        let error = Error::new(Kind::Usage, "--branch conflicts with -i");
        let error =
            error.hint("change the branch's own messages with --session ID, or omit -i to print the branch");
        return Err(named(error, &label).into());
    }
    let mut pick = Pick::new(reading, opened.format);
    // Where what is left out must not be lost, a session is not written before it is known that nothing is left out.
    let waits = reading.strict && reading.exports && !others;
    let mut waiting: Option<Session> = None;
    let tail = all_sessions_of(context, opened, reading.strict, |session| {
        match pick.take(session) {
            Taken::Wanted(session) if waits => {
                let before = waiting.replace(session);
                before.map_or(Ok(()), |session| each(session, true))?;
            }
            Taken::Wanted(session) => each(session, true)?,
            Taken::Other(session) if others => each(session, false)?,
            Taken::Other(_) | Taken::Waits => {}
        }
        let lost = waits && !pick.left_out().is_empty();
        Ok(match lost || (pick.is_done() && !others) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    })?;
    pick.finish().map_err(|error| named(error, &label))?;
    if !others {
        tell_left_out(context, &label, reading, &pick)?;
    }
    waiting.map_or(Ok(()), |session| each(session, true))?;
    Ok(tail)
}

/// Tells of branches and sidechains that were left out.
fn tell_left_out(context: &Context, label: &str, reading: &Reading, pick: &Pick<'_>) -> anyhow::Result<()> {
    let left = pick.left_out();
    if left.is_empty() {
        return Ok(());
    }
    if reading.exports {
        let mut report = Report::default();
        for (aside, count) in left {
            let loss = match aside {
                Aside::Branch => Loss::Branch,
                Aside::Sidechain => Loss::Sidechain,
            };
            report.lose(loss, *count);
        }
        context.output.report(label, &mut report);
        if reading.strict {
            return Err(named(too_much(), label).into());
        }
    }
    let counts: Vec<String> = left
        .iter()
        .map(|(aside, count)| counted(*aside, *count))
        .collect();
    let what = format!(
        "skipped {}; include them with --all-branches, or read one with --branch N",
        counts.join(" and ")
    );
    context.output.tell(label, &what);
    Ok(())
}

fn counted(aside: Aside, count: u64) -> String {
    let ending = |one: &'static str, more: &'static str| if count == 1 { one } else { more };
    match aside {
        Aside::Branch => format!("{count} {}", ending("branch", "branches")),
        Aside::Sidechain => format!("{count} {}", ending("sidechain", "sidechains")),
    }
}

/// Goes through all sessions of an input until it is told to stop, and gives back what stands behind the last. An error
/// of one session is told when there is a further one, which is not stopped by it; the last error is the result.
pub fn all_sessions_of(
    context: &Context,
    opened: Opened,
    strict: bool,
    mut each: impl FnMut(Session) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<Vec<u8>> {
    let Opened { label, stream, .. } = opened;
    let mut sessions = Sessions::new(stream);
    let mut report = Report::default();
    let mut failed: Option<Error> = None;
    loop {
        let next = sessions.next(&mut report).map_err(|error| named(error, &label));
        let damaged = report.is_damaged();
        context.output.report(&label, &mut report);
        let Some(session) = next? else { break };
        if strict && damaged {
            return Err(named(stopped(), &label).into());
        }
        if let Some(error) = failed.take() {
            context.output.error(&error);
        }
        match each(session) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => return Ok(Vec::new()),
            Err(error) => failed = Some(of_one_session(context, error)?),
        }
    }
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(sessions.tail().to_vec()),
    }
}

/// An error that says nothing of the sessions that follow; any other one stops.
fn of_one_session(context: &Context, error: anyhow::Error) -> anyhow::Result<Error> {
    let one = |error: &Error| {
        matches!(
            error.kind,
            Kind::No | Kind::Data | Kind::NotFound | Kind::Unavailable | Kind::Exists | Kind::Unsafe
        )
    };
    match error.downcast_ref::<Error>() {
        Some(inner) if one(inner) && !context.output.stdout_failed() => error.downcast::<Error>(),
        _ => Err(error),
    }
}

/// With several inputs an error of one is told, and the others go on.
pub fn tell_and_go_on(context: &Context, done: anyhow::Result<()>, inputs: usize) -> anyhow::Result<()> {
    match done {
        Err(error) if inputs > 1 && !context.output.stdout_failed() => match error.downcast::<Error>() {
            // About the command, not about this input: the next one would fail as well.
            Ok(error) if error.kind == Kind::Usage && error.at.is_none() => Err(error.into()),
            Ok(error) => {
                context.output.error(&error);
                Ok(())
            }
            Err(error) => Err(error),
        },
        done => done,
    }
}
