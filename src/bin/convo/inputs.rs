//! Going through inputs and their sessions: with several inputs, an error of one is told and the others go on.

use crate::args::{Input, Reading};
use crate::context::{Context, Opened, named, stopped};
use convo::error::Error;
use convo::format::Sessions;
use convo::format::report::Report;
use convo::model::session::Session;

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
    each_input(context, inputs, reading, |opened| {
        let label = opened.label.clone();
        sessions_of(context, opened, reading.strict, |session| each(&label, session))
    })
}

/// Goes through the sessions of an input; what is wrong is told on the way.
pub fn sessions_of(
    context: &Context,
    opened: Opened,
    strict: bool,
    mut each: impl FnMut(Session) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Opened { label, reader, .. } = opened;
    let mut sessions = Sessions::new(reader);
    let mut report = Report::default();
    loop {
        let next = sessions.next(&mut report).map_err(|error| named(error, &label));
        let damaged = report.is_damaged();
        context.output.report(&label, &mut report);
        let Some(session) = next? else { return Ok(()) };
        if strict && damaged {
            return Err(named(stopped(), &label).into());
        }
        each(session)?;
    }
}

/// With several inputs an error of one is told, and the others go on.
pub fn tell_and_go_on(context: &Context, done: anyhow::Result<()>, inputs: usize) -> anyhow::Result<()> {
    match done {
        Err(error) if inputs > 1 && !context.output.stdout_failed() => match error.downcast::<Error>() {
            Ok(error) => {
                context.output.error(&error);
                Ok(())
            }
            Err(error) => Err(error),
        },
        done => done,
    }
}
