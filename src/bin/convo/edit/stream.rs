//! Changes the sessions of a file or of standard input, and writes each one.

use super::destination::{Destination, Planner, change};
use super::request::Edit;
use super::stamps::Place;
use crate::context::{Context, Opened, named};
use crate::input::{InputSessions, Reading};
use crate::writing::{Export, Returning, Sessions, goes_back, single, tell_dangling, wrap, write_records};
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::filter::settle::settle;
use convo::format::{Format, Purpose};
use convo::model::session::Session;
use convo::model::view::View;
use std::io::Write;

/// The results written to one output. Reports are printed once it is complete.
#[derive(Default)]
pub struct Written {
    sessions: usize,
    /// The inputs and their reports.
    reports: Vec<(String, String)>,
}

impl Written {
    pub fn report(self, context: &Context, edit: &Edit<'_>) {
        for (label, what) in self.reports {
            edit.describe(context, &label, &what);
        }
    }
}

/// Changes and writes the sessions of an input.
pub fn stream(
    context: &Context,
    mut opened: Opened,
    edit: &Edit<'_>,
    out: &mut dyn Write,
    written: &mut Written,
    plan: Planner<'_>,
) -> anyhow::Result<()> {
    let label = opened.label.clone();
    let from = opened.format;
    let to = match edit.to {
        Some(to) => to,
        None if edit.in_place() => format_in_place(from, &label)?,
        None => Format::Native,
    };
    let unwraps = from == to && (edit.in_place() || !to.is_lines());
    if let Some(wrapped) = opened.wrapped.take().filter(|_| unwraps) {
        let mut inner = Vec::new();
        stream(context, opened, edit, &mut inner, written, plan)?;
        return wrap(&wrapped, &inner, out);
    }
    let export = Export {
        context,
        label: &label,
        to,
        // In the input's format only the messages count, because reading added the ids and annotations.
        purpose: match from == to {
            true => Purpose::Return,
            false => Purpose::Export,
        },
        page: edit.writing().page,
        strict: edit.reading.args.strict,
    };
    // A file in place keeps unselected sessions; a stream contains only the selected ones.
    let selects = edit.reading.args.session.is_some() || edit.reading.args.branch.is_some();
    let returns = goes_back(&opened, to) && (edit.in_place() || !selects);
    if returns {
        single(to, written.sessions + 1)?;
    }
    let value = opened.value.take().filter(|_| from == to);
    let reading = Reading {
        exports: edit.reading.exports || to != Format::Native,
        ..edit.reading
    };
    let sessions = match edit.in_place() || returns {
        true => InputSessions::with_others(context, opened, reading)?,
        false => InputSessions::selected(context, opened, reading),
    };
    let mut stream = Stream {
        edit,
        from,
        export: &export,
        sessions,
        writer: match returns {
            true => Writer::Returning(Returning::new(&export)),
            false => Writer::Sessions(Sessions::new(value.as_deref())),
        },
        written,
        out,
    };
    change(context, &mut stream, plan)
}

/// The format in which a file is written back.
fn format_in_place(format: Format, label: &str) -> convo::Result<Format> {
    if format.form().is_changed_in_place() {
        return Ok(format);
    }
    let what = format!("{} files cannot be rewritten in place", format.name());
    Err(named(Error::new(Kind::Usage, what), label).hint("omit -i and redirect the output"))
}

struct Stream<'s> {
    edit: &'s Edit<'s>,
    from: Format,
    export: &'s Export<'s>,
    sessions: InputSessions<'s>,
    writer: Writer<'s>,
    written: &'s mut Written,
    out: &'s mut dyn Write,
}

/// Writes sessions in formats other than a record stream.
enum Writer<'s> {
    /// Writes back into a log that several sessions share.
    Returning(Returning<'s>),
    Sessions(Sessions<'s>),
}

impl Stream<'_> {
    fn write(&mut self, mut session: Session, planned: convo::Result<Plan>) -> anyhow::Result<()> {
        let (mut changed, mut refused) = (false, false);
        let what = match planned.map_err(|error| named(error, self.export.label))? {
            Plan::Nothing(why) => format!("unchanged: {why}"),
            Plan::Refused(why) => {
                refused = true;
                match why.is_empty() {
                    true => why, // an error was already reported
                    false => format!("unchanged: {why}"),
                }
            }
            Plan::Lines(lines, what) => {
                lines.iter().for_each(|line| session.push_new(line));
                changed = true;
                if let Writer::Sessions(sessions) = &mut self.writer {
                    sessions.changed();
                }
                what
            }
        };
        self.written.reports.push((self.export.label.to_string(), what));
        if let Writer::Returning(returning) = &mut self.writer {
            return returning.write(session, changed, self.out);
        }
        let to = self.export.to;
        let is_record_stream = to == Format::Native || (to == Format::Jsonl && self.from == Format::Jsonl);
        if is_record_stream && (self.edit.full_log || refused) {
            return write_records(&session, self.out);
        }
        // A file of lines is settled, not exported, so it keeps its other records.
        if is_record_stream || (to == Format::Jsonl && session.header().is_empty()) {
            let view = View::replay(&session);
            tell_dangling(self.export.context, self.export.label, &session, &view);
            return Ok(settle(&session, &view, self.out)?);
        }
        self.export(session)
    }

    /// Writes an unselected session unchanged.
    fn pass(&mut self, session: Session) -> anyhow::Result<()> {
        match &mut self.writer {
            Writer::Returning(returning) => returning.write(session, false, self.out),
            Writer::Sessions(_) if self.export.to.is_lines() => write_records(&session, self.out),
            Writer::Sessions(_) => self.export(session),
        }
    }

    fn export(&mut self, session: Session) -> anyhow::Result<()> {
        match &mut self.writer {
            Writer::Sessions(sessions) => {
                sessions.write(session, self.export, &mut self.written.sessions, self.out)
            }
            Writer::Returning(_) => Ok(()),
        }
    }
}

impl Destination for Stream<'_> {
    /// PenguiFlow stores the time of a turn, which is known for a rewritten file but not for a stream.
    fn place(&self) -> Place {
        match self.edit.in_place() && self.export.to == Format::Penguiflow {
            true => Place::Store,
            false => Place::Stream,
        }
    }

    fn next(&mut self) -> anyhow::Result<Option<Session>> {
        while let Some(session) = self.sessions.next()? {
            if self.sessions.is_selected() {
                return Ok(Some(session));
            }
            let done = self.pass(session);
            self.settle(done)?;
        }
        Ok(None)
    }

    fn accept(&mut self, session: Session, planned: convo::Result<Plan>) -> anyhow::Result<()> {
        let done = self.write(session, planned);
        self.settle(done)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let sessions = &mut self.written.sessions;
        match std::mem::replace(&mut self.writer, Writer::Sessions(Sessions::new(None))) {
            Writer::Returning(returning) => returning.finish(self.sessions.tail(), sessions, self.out),
            Writer::Sessions(waiting) => waiting.finish(self.export, sessions, self.out),
        }
    }
}

impl Stream<'_> {
    /// Replaces a file in place only if every session of it was written.
    fn settle(&mut self, done: anyhow::Result<()>) -> anyhow::Result<()> {
        match self.edit.in_place() {
            true => done,
            false => self.sessions.settle(done),
        }
    }
}
