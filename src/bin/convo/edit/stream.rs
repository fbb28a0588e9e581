//! Changes the sessions of a file or of standard input, and writes each one.

use super::change::change;
use super::destination::{Destination, Planner};
use super::event_ids::LineDestination;
use super::reports::{EditReports, describe_unchanged};
use super::request::EditRequest;
use crate::context::Context;
use crate::errors::{named, named_session};
use crate::input::open::OpenInput;
use crate::input::{InputSessions, InputSettings};
use crate::writing::{
    Export, SessionGroups, SessionWriter, can_write_back, packing, report_dangling, single, wrap,
    write_records,
};
use convo::error::{Error, ErrorKind};
use convo::filter::Plan;
use convo::filter::materialize::materialize;
use convo::format::{Format, WritePurpose};
use convo::model::session::Session;
use convo::model::view::View;
use std::io::Write;

/// The results written to one output. Reports are printed once it is complete.
#[derive(Default)]
pub struct WrittenOutput {
    sessions: usize,
    reports: EditReports,
}

impl WrittenOutput {
    pub fn report(self, context: &Context, edit: &EditRequest<'_>) {
        self.reports
            .print(|label, what| edit.describe(context, label, what));
    }
}

/// Changes and writes the sessions of an input.
pub fn stream(
    context: &Context,
    mut opened: OpenInput,
    edit: &EditRequest<'_>,
    out: &mut dyn Write,
    written: &mut WrittenOutput,
    planner: &mut Planner<'_>,
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
        stream(context, opened, edit, &mut inner, written, planner)?;
        return wrap(&wrapped, &inner, out);
    }
    if !edit.in_place() {
        return write_sessions(context, opened, edit, to, out, written, planner);
    }
    let form = edit.writing().packing_in_place(opened.packed, to);
    packing(context, form.map_err(|error| named(error, &label))?, out, |out| {
        write_sessions(context, opened, edit, to, out, written, planner)
    })
}

/// Changes and writes the sessions of an input that is not compressed.
fn write_sessions(
    context: &Context,
    mut opened: OpenInput,
    edit: &EditRequest<'_>,
    to: Format,
    out: &mut dyn Write,
    written: &mut WrittenOutput,
    planner: &mut Planner<'_>,
) -> anyhow::Result<()> {
    let label = opened.label.clone();
    let from = opened.format;
    let export = Export {
        context,
        label: &label,
        to,
        // In the input's format only the messages count, because reading added the ids and annotations.
        purpose: match from == to {
            true => WritePurpose::Return,
            false => WritePurpose::Export,
        },
        in_place: edit.in_place(),
        page: edit.writing().page,
        strict: edit.reading.args.strict,
        appends: edit.append_only && from == to,
    };
    // A file in place keeps unselected sessions; a stream contains only the selected ones.
    let selects = edit.reading.args.session.is_some() || edit.reading.args.branch.is_some();
    let returns = can_write_back(&opened, to) && (edit.in_place() || !selects);
    if returns {
        single(to, written.sessions + 1)?;
    }
    let value = opened.value.take().filter(|_| from == to);
    let reading = InputSettings {
        exports: edit.reading.exports || to != Format::Native,
        ..edit.reading
    };
    let sessions = match edit.in_place() || returns {
        true => InputSessions::with_others(context, opened, reading)?,
        false => InputSessions::selected(context, opened, reading),
    };
    let mut stream = StreamDestination {
        edit,
        from,
        export: &export,
        sessions,
        writer: match returns {
            true => StreamWriter::Returning(SessionGroups::new(&export)),
            false => StreamWriter::Sessions(SessionWriter::new(value)),
        },
        written,
        out,
    };
    change(context, &mut stream, planner)
}

/// The format in which a file is written back.
fn format_in_place(format: Format, label: &str) -> convo::Result<Format> {
    if format.spec().is_changed_in_place() {
        return Ok(format);
    }
    let what = format!("{} files cannot be rewritten in place", format.name());
    Err(named(Error::usage(what), label).hint("omit -i and redirect the output"))
}

struct StreamDestination<'s> {
    edit: &'s EditRequest<'s>,
    from: Format,
    export: &'s Export<'s>,
    sessions: InputSessions<'s>,
    writer: StreamWriter<'s>,
    written: &'s mut WrittenOutput,
    out: &'s mut dyn Write,
}

/// Writes sessions in formats other than a record stream.
enum StreamWriter<'s> {
    /// Writes back into a log that several sessions share.
    Returning(SessionGroups<'s>),
    Sessions(SessionWriter),
}

impl StreamDestination<'_> {
    fn write(&mut self, mut session: Session, planned: convo::Result<Plan>) -> anyhow::Result<()> {
        let (mut changed, mut refused) = (false, false);
        let planned = match planned {
            // The session is part of the stream even if it does not change.
            Err(error) if error.kind == ErrorKind::No && !self.edit.in_place() => {
                self.export
                    .context
                    .output
                    .error(&self.of_session(error, &session));
                Ok(Plan::Refused(String::new())) // already reported
            }
            planned => planned.map_err(|error| named(error, self.export.label)),
        };
        let what = match planned? {
            Plan::Nothing(why) => describe_unchanged(&why),
            Plan::Refused(why) => {
                refused = true;
                describe_unchanged(&why)
            }
            Plan::Lines(lines, what) => {
                lines.iter().for_each(|line| session.push_new(line));
                changed = true;
                if let StreamWriter::Sessions(sessions) = &mut self.writer {
                    sessions.changed();
                }
                what
            }
        };
        // A stream of any length takes constant memory, unless each change is reported.
        if self.edit.is_described(self.export.context) {
            self.written.reports.add(self.export.label, &session, what);
        }
        if let StreamWriter::Returning(returning) = &mut self.writer {
            return returning.write(session, changed, self.out);
        }
        let to = self.export.to;
        let is_record_stream = to == Format::Native || (to == Format::Jsonl && self.from == Format::Jsonl);
        if is_record_stream && (self.edit.full_log || refused) {
            return write_records(&session, self.out);
        }
        // A file of lines is materialized, not exported, so it keeps its other records.
        if is_record_stream || (to == Format::Jsonl && session.header().is_empty()) {
            let view = View::replay(&session);
            report_dangling(self.export.context, self.export.label, &session, &view);
            return Ok(materialize(&session, &view, self.out)?);
        }
        self.export(session)
    }

    /// An error that names the input, and the session if it has an id.
    fn of_session(&self, error: Error, session: &Session) -> Error {
        let id = session.header_text("id");
        named_session(error, self.export.label, id.as_deref())
    }

    /// Writes an unselected session unchanged.
    fn pass(&mut self, session: Session) -> anyhow::Result<()> {
        match &mut self.writer {
            StreamWriter::Returning(returning) => returning.write(session, false, self.out),
            StreamWriter::Sessions(_) if self.export.to.is_lines() => write_records(&session, self.out),
            StreamWriter::Sessions(_) => self.export(session),
        }
    }

    fn export(&mut self, session: Session) -> anyhow::Result<()> {
        match &mut self.writer {
            StreamWriter::Sessions(sessions) => {
                sessions.write(session, self.export, &mut self.written.sessions, self.out)
            }
            StreamWriter::Returning(_) => Ok(()),
        }
    }
}

impl Destination for StreamDestination<'_> {
    fn label(&self) -> &str {
        self.export.label
    }

    /// PenguiFlow stores the time of a turn, which is known for a rewritten file but not for a stream.
    fn place(&self) -> LineDestination {
        match self.edit.in_place() && self.export.to == Format::Penguiflow {
            true => LineDestination::Store,
            false => LineDestination::Stream,
        }
    }

    fn next(&mut self) -> anyhow::Result<Option<Session>> {
        while let Some(session) = self.sessions.next()? {
            if self.sessions.is_selected() {
                return Ok(Some(session));
            }
            let done = self.pass(session);
            self.accept_result(done)?;
        }
        Ok(None)
    }

    fn accept(&mut self, session: Session, planned: convo::Result<Plan>) -> anyhow::Result<()> {
        let done = self.write(session, planned);
        self.accept_result(done)
    }

    /// Sessions of a stream, unless unselected ones are written between them, or a session is held back. A session that is
    /// complete does not wait for another program, so that a pipe is not read ahead.
    fn read_ahead(&mut self) -> bool {
        let args = self.edit.reading.args;
        let selects = args.session.is_some() || args.branch.is_some() || args.strict;
        let is_possible = !selects
            && self.sessions.never_waits()
            && matches!(self.writer, StreamWriter::Sessions(_))
            && !self.edit.in_place();
        if is_possible {
            self.sessions.read_ahead();
        }
        is_possible
    }

    fn begin(&mut self) {
        self.sessions.begin();
    }

    fn end_reading(&mut self, read: anyhow::Result<()>) -> anyhow::Result<()> {
        self.sessions.end_reading(read)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let sessions = &mut self.written.sessions;
        match std::mem::replace(&mut self.writer, StreamWriter::Sessions(SessionWriter::default())) {
            StreamWriter::Returning(returning) => returning.finish(self.sessions.tail(), sessions, self.out),
            StreamWriter::Sessions(waiting) => waiting.finish(self.export, sessions, self.out),
        }
    }
}

impl StreamDestination<'_> {
    /// Replaces a file in place only if every session of it was written.
    fn accept_result(&mut self, done: anyhow::Result<()>) -> anyhow::Result<()> {
        match self.edit.in_place() {
            true => done,
            false => self.sessions.accept_result(done),
        }
    }
}
