//! A stream whose sessions are changed as they go by: each is written as it is after the change.

use crate::args::{Changing, Reading};
use crate::context::{Context, Opened, named};
use crate::export::{Export, Returning, Sessions, goes_back, single, tell_dangling, wrap};
use crate::inputs::picked_of;
use crate::stamps::{Place, Stamps};
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::filter::settle::{Lines, settle};
use convo::format::{Format, Purpose};
use convo::model::session::Session;
use convo::model::view::View;
use std::io::Write;

/// What is to become of a session.
pub type Planner<'p> = &'p mut dyn FnMut(&Session, &Stamps<'_>) -> convo::Result<Plan>;

/// What was done to the sessions of a stream; told when it is done, and not before.
#[derive(Default)]
pub struct Done {
    sessions: usize,
    told: Vec<String>,
}

impl Done {
    /// What was done since it was last asked for, the sessions of the output counted on.
    pub fn split_off(&mut self) -> Done {
        Done {
            sessions: self.sessions,
            told: std::mem::take(&mut self.told),
        }
    }

    /// Tells of it.
    pub fn tell(&mut self, context: &Context, changing: &Changing, label: &str) {
        for told in self.told.drain(..) {
            changing.describe(context, label, &told);
        }
    }
}

impl Changing {
    /// Reports a finished change of a stream or file; without [`Changing::tells`] only with `-v`.
    pub fn describe(&self, context: &Context, label: &str, what: &str) {
        match self.tells {
            _ if what.is_empty() => {}
            true => context.output.tell(label, what),
            false => context.output.detail(label, what),
        }
    }
}

/// A stream: each session is written as it is after the change.
pub fn stream(
    context: &Context,
    mut opened: Opened,
    reading: &Reading,
    changing: &Changing,
    out: &mut dyn Write,
    done: &mut Done,
    plan: Planner<'_>,
) -> anyhow::Result<()> {
    let label = opened.label.clone();
    let to = match (changing.writing.to, &changing.in_place) {
        (Some(to), _) => to,
        (None, Some(_)) => own(opened.format, &label)?,
        (None, None) => Format::Native,
    };
    // PenguiFlow notes when a turn was, and a file that is kept knows the time; a stream does not.
    let place = match changing.in_place.is_some() && to == Format::Penguiflow {
        true => Place::Store,
        false => Place::Stream,
    };
    // Back in the format that it came in, only what was said counts: ids and books were added on the way.
    let opened_as = opened.format;
    let wraps = opened_as == to && (changing.in_place.is_some() || !to.is_lines());
    if let Some(wrapped) = opened.wrapped.take().filter(|_| wraps) {
        let mut inner = Vec::new();
        stream(context, opened, reading, changing, &mut inner, done, plan)?;
        return wrap(&wrapped, &inner, out);
    }
    let purpose = if opened_as == to {
        Purpose::Return
    } else {
        Purpose::Export
    };
    let export = Export {
        context,
        label: &label,
        to,
        purpose,
        images: changing.writing.images,
        strict: reading.strict,
    };
    // A file that is changed keeps the sessions that are not asked for; a stream is what is asked for.
    let whole = changing.in_place.is_some();
    let back = goes_back(&opened, to) && (whole || (reading.session.is_none() && reading.branch.is_none()));
    let value = opened.value.take().filter(|_| opened_as == to);
    let reading = &Reading {
        exports: reading.exports || to != Format::Native,
        ..reading.clone()
    };
    if back {
        single(to, done.sessions + 1)?;
    }
    let mut returning = Returning::new(&export);
    let mut sessions = Sessions::new(value.as_deref());
    let tail = picked_of(context, opened, reading, whole || back, |mut session, taken| {
        let (mut changed, mut refused) = (false, false);
        if taken {
            let planned = plan(&session, &Stamps::new(context, &session, place));
            let told = match planned.map_err(|error| named(error, &label))? {
                Plan::Nothing(why) => format!("unchanged: {why}"),
                Plan::Refused(why) => {
                    refused = true;
                    match why.is_empty() {
                        true => why, // an error has said so
                        false => format!("unchanged: {why}"),
                    }
                }
                Plan::Lines(lines, told) => {
                    lines.iter().for_each(|line| session.push_new(line));
                    changed = true;
                    sessions.changed();
                    told
                }
            };
            done.told.push(told);
        }
        if back {
            return returning.write(session, changed, out);
        }
        let log =
            (changing.log || refused) && (to == Format::Native || to == opened_as && to == Format::Jsonl);
        if log || (!taken && to.is_lines()) {
            let mut lines = Lines::new(out);
            return Ok((0..session.len()).try_for_each(|index| lines.write(session.full(index)))?);
        }
        // A file of lines is settled, not exported: it keeps what it holds beside messages.
        let lines = to == Format::Jsonl && (session.header().is_empty() || opened_as == Format::Jsonl);
        if to == Format::Native || lines {
            let view = View::replay(&session);
            tell_dangling(context, &label, &session, &view);
            return Ok(settle(&session, &view, out)?);
        }
        sessions.write(session, &export, &mut done.sessions, out)
    })?;
    if back {
        return returning.finish(&tail, &mut done.sessions, out);
    }
    sessions.finish(&export, &mut done.sessions, out)
}

/// The format in which a file is written back.
fn own(format: Format, label: &str) -> convo::Result<Format> {
    if format.form().is_changed_in_place() {
        return Ok(format);
    }
    Err(named(
        Error::new(
            Kind::Usage,
            format!("{} files cannot be rewritten in place", format.name()),
        ),
        label,
    )
    .hint("omit -i and redirect the output"))
}
