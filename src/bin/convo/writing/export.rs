//! Writes sessions in another format and reports losses. An unchanged document is written with its original bytes.

use super::format::OutputFormat;
use super::secrets;
use crate::context::Context;
use crate::errors::named;
use crate::input::open::OpenInput;
use convo::error::Error;
use convo::filter::materialize::LineWriter;
use convo::format::compression::Wrapped;
use convo::format::page::PageOptions;
use convo::format::report::Report;
use convo::format::{self, EditedSession, Format, Stream, WritePurpose};
use convo::model::json::{self, ObjectBuilder, quoted};
use convo::model::session::{Class, Session};
use convo::model::source_bytes::SourceBytes;
use convo::model::view::View;
use std::io::Write;
use std::sync::Arc;

/// Writes sessions in another format.
pub struct Export<'c> {
    pub context: &'c Context,
    /// The input's name in messages.
    pub label: &'c str,
    pub to: Format,
    pub purpose: WritePurpose,
    /// Whether the output takes the place of the input.
    pub in_place: bool,
    /// Options of page formats.
    pub page: PageOptions,
    /// Whether a loss is an error, before anything is written.
    pub strict: bool,
    /// Whether a message that is not written is an error, because it was appended.
    pub appends: bool,
}

impl<'c> Export<'c> {
    /// Creates an export for another program.
    pub fn new(context: &'c Context, label: &'c str, writing: OutputFormat<'_>, strict: bool) -> Export<'c> {
        Export {
            context,
            label,
            to: writing.format(),
            purpose: WritePurpose::Export,
            in_place: false,
            page: writing.page,
            strict,
            appends: false,
        }
    }

    /// Prints the report, and refuses the losses that are errors.
    fn finish(&self, mut report: Report) -> convo::Result<()> {
        let (lost, missing) = (!report.losses.is_empty(), report.missing > 0);
        self.context.output.report(self.label, &mut report);
        if self.appends && missing {
            let what = format!("{} cannot represent an appended message", self.to.name());
            let error = named(Error::data(what), self.label);
            return Err(error.hint("append it to a native copy: convo cat FILE > NEW.jsonl"));
        }
        match self.strict && lost {
            true => Err(named(losses_refused(), self.label)),
            false => Ok(()),
        }
    }
}

impl Export<'_> {
    /// Writes the view of session number `nth` and reports losses.
    pub fn write(&self, session: &Session, nth: usize, out: &mut dyn Write) -> anyhow::Result<()> {
        single(self.to, nth)?;
        let view = View::replay(session);
        report_dangling(self.context, self.label, session, &view);
        if self.to == Format::Html {
            let count = secrets::count(session, &view, self.page.hidden);
            secrets::warn(self.context, self.label, count);
        }
        let mut report = Report::to_format(self.to.name());
        // Separate pages with an empty line; formats that can be read have their own separator.
        if nth > 1 && !self.to.is_read() && !self.to.is_training() {
            out.write_all(b"\n")
                .map_err(|error| Error::io("cannot write", error))?;
        }
        if !self.strict {
            self.write_view(session, &view, out, &mut report)?;
            return Ok(self.finish(report)?);
        }
        let mut whole = Vec::new();
        self.write_view(session, &view, &mut whole, &mut report)?;
        self.finish(report)?;
        Ok(out
            .write_all(&whole)
            .map_err(|error| Error::io("cannot write", error))?)
    }
}

impl Export<'_> {
    fn write_view(
        &self,
        session: &Session,
        view: &View,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> convo::Result<()> {
        // A response has one message; with others it is written as a history, and the rest is reported.
        let purpose = match session.metadata("response") {
            Some(_) if !self.in_place && self.purpose == WritePurpose::Return => WritePurpose::Export,
            _ => self.purpose,
        };
        format::write_page(self.to, session, view, (purpose, &self.page), out, report)
            .map_err(|error| named(error, self.label))
    }
}

/// Sets the model in the header of a session, for a format that stores one.
///
/// # Errors
/// A usage error if the format stores no model or another form of it, and for a session read from this format,
/// which keeps its own model.
pub fn with_model(session: &Session, to: Format, model: &str) -> convo::Result<Session> {
    let usage = |what: String| Error::usage(format!("--model: {what}"));
    let Some(form) = to.spec().model else {
        return Err(usage(format!(
            "{} cannot represent the model of a session",
            to.name()
        )));
    };
    let is_of_client = |model: &str| {
        model
            .split_once(':')
            .is_some_and(|(client, model)| !client.is_empty() && !model.is_empty())
    };
    if model.is_empty() || (form.contains(':') && !is_of_client(model)) {
        return Err(usage(format!("'{model}' is not {form}")));
    }
    let header = session.header();
    let get = |name: &str| header.iter().find(|(known, _)| known == name);
    let source = get("source").and_then(|(_, raw)| json::member(raw, "format"));
    let returns = source.and_then(json::text).as_deref() == Some(to.name());
    if returns && to != Format::Aichat {
        let what = format!("the session comes from {} and keeps its own models", to.name());
        return Err(usage(what));
    }
    let quoted = quoted(model);
    let own = get("metadata").map_or(&b"{}"[..], |(_, raw)| raw);
    let metadata = json::with_members(own, &[("model", Some(&quoted))]).unwrap_or_else(|_| own.to_vec());
    let mut changed = Session::default();
    if header.is_empty() {
        let mut built = ObjectBuilder::default();
        built
            .text("type", "session")
            .raw("version", "1")
            .raw("metadata", &metadata);
        changed.push_new(&built.finish());
    }
    let first = (0..session.len()).find(|index| session.class(*index) == Class::Header);
    for index in 0..session.len() {
        match json::with_members(session.record(index).body, &[("metadata", Some(&metadata))]) {
            Ok(body) if Some(index) == first => changed.push_new(&body),
            _ => changed.push_from(session, index),
        }
    }
    Ok(changed)
}

/// The error of --strict.
pub fn losses_refused() -> Error {
    Error::data("lossy conversion; nothing was written (--strict)")
}

/// Writes every record of a session unchanged.
pub fn write_records(session: &Session, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut lines = LineWriter::new(out);
    Ok((0..session.len()).try_for_each(|index| lines.write(session.full(index)))?)
}

/// Whether an input may contain several sessions that can be written back unchanged.
pub fn can_write_back(opened: &OpenInput, to: Format) -> bool {
    let many = opened.value.is_none() && matches!(opened.stream, Stream::Sessions(_));
    many && opened.format == to && to.spec().write_back.is_some()
}

/// Rejects a second session in a format that holds only one.
pub fn single(to: Format, nth: usize) -> convo::Result<()> {
    if !to.spec().concatenable && nth > 1 {
        return Err(Error::usage(format!("{}: only one session per file", to.name()),
        )
        .hint(
            "select one with --session N, or write one file each with: convo migrate --to FORMAT --output-dir DIR INPUT",
        ));
    }
    Ok(())
}

/// Reports events that refer to missing messages.
pub fn report_dangling(context: &Context, label: &str, session: &Session, view: &View) {
    let mut report = Report::default();
    for (index, what) in &view.dangling {
        report.damage(session.record(*index).place, what.clone());
    }
    context.output.report(label, &mut report);
}

/// Writes a document with the compression of the original; unchanged content gives the same bytes.
pub fn wrap(wrapped: &Wrapped, inner: &[u8], out: &mut dyn Write) -> anyhow::Result<()> {
    Ok(out
        .write_all(&wrapped.with(inner))
        .map_err(|error| Error::io("cannot write", error))?)
}

/// Writes back the sessions of an input that holds many; those with a common origin are written together.
pub struct SessionGroups<'e> {
    export: &'e Export<'e>,
    waiting: Vec<(Session, bool)>,
    sessions: usize,
}

impl<'e> SessionGroups<'e> {
    /// Creates a writer for the export's format, which must hold several sessions.
    pub fn new(export: &'e Export<'e>) -> Self {
        SessionGroups {
            export,
            waiting: Vec::new(),
            sessions: 0,
        }
    }

    /// Adds the next session, and whether it was changed.
    pub fn write(&mut self, session: Session, changed: bool, out: &mut dyn Write) -> anyhow::Result<()> {
        self.sessions += 1;
        let same = |(last, _): &(Session, bool)| match (last.origin(), session.origin()) {
            (Some(one), Some(other)) => std::sync::Arc::ptr_eq(one, other),
            _ => false,
        };
        if !self.waiting.last().is_some_and(same) {
            self.flush(out)?;
        }
        self.waiting.push((session, changed));
        Ok(())
    }

    fn flush(&mut self, out: &mut dyn Write) -> anyhow::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        let views: Vec<View> = waiting.iter().map(|(session, _)| View::replay(session)).collect();
        let returned: Vec<EditedSession<'_>> = waiting
            .iter()
            .zip(&views)
            .map(|((session, changed), view)| {
                report_dangling(self.export.context, self.export.label, session, view);
                EditedSession {
                    session,
                    view,
                    changed: *changed,
                }
            })
            .collect();
        let mut report = Report::to_format(self.export.to.name());
        let mut whole = Vec::new();
        let done = match self.export.strict {
            true => format::write_back(self.export.to, &returned, &mut whole, &mut report),
            false => format::write_back(self.export.to, &returned, out, &mut report),
        };
        let finished = self.export.finish(report);
        done.map_err(|error| named(error, self.export.label))?;
        finished?;
        Ok(out
            .write_all(&whole)
            .map_err(|error| Error::io("cannot write", error))?)
    }

    /// Finishes after the last session with the bytes `tail`; `written` counts the sessions of the output.
    pub fn finish(mut self, tail: &[u8], written: &mut usize, out: &mut dyn Write) -> anyhow::Result<()> {
        self.flush(out)?;
        *written += self.sessions;
        Ok(out
            .write_all(tail)
            .map_err(|error| Error::io("cannot write", error))?)
    }
}

/// Writes the sessions of one input in a format. The sessions of a document are held back until it is known whether
/// any of them changes.
#[derive(Default)]
pub struct SessionWriter {
    /// The original document, if its own format is requested.
    value: Option<Arc<SourceBytes>>,
    is_changed: bool,
    waiting: Vec<Session>,
}

impl SessionWriter {
    /// Creates a writer for an input with these bytes; none if the original bytes must not be written.
    pub fn new(value: Option<Vec<u8>>) -> Self {
        let source = |bytes| {
            Arc::new(SourceBytes {
                bytes,
                ..SourceBytes::default()
            })
        };
        SessionWriter {
            value: value.map(source),
            ..SessionWriter::default()
        }
    }

    /// Marks a session as changed.
    pub fn changed(&mut self) {
        self.is_changed = true;
    }

    /// Adds the next session; `written` counts the sessions of the output.
    pub fn write(
        &mut self,
        session: Session,
        export: &Export<'_>,
        written: &mut usize,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        self.waiting.push(session);
        if self.value.is_some() && !self.is_changed {
            return Ok(());
        }
        for mut session in self.waiting.drain(..) {
            *written += 1;
            if let (Some(value), None) = (&self.value, session.origin()) {
                session.set_origin(value.clone());
            }
            export.write(&session, *written, out)?;
        }
        Ok(())
    }

    /// Finishes after the last session.
    pub fn finish(self, export: &Export<'_>, written: &mut usize, out: &mut dyn Write) -> anyhow::Result<()> {
        let Some(value) = self.value.filter(|_| !self.is_changed) else {
            return Ok(());
        };
        single(export.to, *written + 1)?;
        *written += self.waiting.len();
        for session in &self.waiting {
            report_dangling(export.context, export.label, session, &View::replay(session));
        }
        Ok(out
            .write_all(&value.bytes)
            .map_err(|error| Error::io("cannot write", error))?)
    }
}
