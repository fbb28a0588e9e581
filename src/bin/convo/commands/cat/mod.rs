//! `cat`: prints the complete log, or the view in another format.

mod blocks;
mod sets;

use super::Run;
use crate::args::{ChainArgs, Following, InputArgs, InputLocation, OutputArgs, PageArgs, Selecting};
use crate::context::Context;
use crate::input::follow::follow;
use crate::input::open::OpenInput;
use crate::input::{InputSessions, InputSettings, chain_reader, operands, report_and_continue};
use crate::provider_request;
use crate::writing::{
    Export, OutputFormat, SessionGroups, SessionWriter, can_write_back, single, with_model, wrap,
    write_records, write_to,
};
use blocks::StreamCopy;
use clap::Args;
use convo::error::Error;
use convo::filter::materialize::{LineJoiner, LineWriter};
use convo::filter::select;
use convo::filter::sieve::fingerprint;
use convo::filter::stable::stable;
use convo::format::packed::HashFn;
use convo::format::page::PageOptions;
use convo::format::{Format, Stream};
use convo::model::session::Session;
use convo::model::view::View;
use sets::{SetArgs, SetSelection};
use std::io::Write;

/// Print sessions, or convert them to another format
///
/// Prints the complete log as a record stream; unchanged lines are copied byte for byte. With --to, converts the view and
/// reports what the target format cannot represent. With a filter such as --last or --role, prints the header and
/// the matching messages of the view.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo cat chat > chat.jsonl                  export a stored session
  convo cat session.json | jq -r .role         read any format as JSON Lines
  convo cat --to openai-chat chat > body.json  convert the view
  convo cat --category system chat             only the system messages
  convo cat --from picoclaw - < old.json       name the input format")]
pub struct CatCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    selecting: Selecting,
    /// Ignore truncations, compactions and summaries
    ///
    /// Prints the messages as they were before. Without this option, an exported session contains the placeholders and
    /// summaries of its view. Messages that `gc` has archived are not included.
    #[arg(long, help_heading = "Filter")]
    original: bool,
    /// Replace ids, times and paths by numbers, for snapshots
    ///
    /// Numbers count in order of appearance in a session; equal values have equal numbers. Times become seconds of the year
    /// 2000. Within texts, replaces ids of 8 characters or more, hashes, times and absolute paths.
    #[arg(long, help_heading = "Filter", hide_short_help = true)]
    stable: bool,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    chained: ChainArgs,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    writing: OutputArgs,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    sets: SetArgs,
    /// Set the model of the exported session, e.g. gpt-4o
    ///
    /// For aichat, CLIENT:MODEL, e.g. openai:gpt-4o. Messages that name a model keep it.
    #[arg(long, value_name = "MODEL", help_heading = "Output", requires = "to")]
    model: Option<String>,
    /// With --pack, write the SHA-256 of the messages on each line
    ///
    /// The member sha256 next to id: equal for copies of a session, whatever their ids and times, as in count --flat. Engines that
    /// distribute lines can group by it. It is not part of the session and is dropped when the line is read.
    #[arg(
        long,
        requires = "pack",
        conflicts_with = "to",
        help_heading = "Output",
        hide_short_help = true
    )]
    hash: bool,
    /// --diagnostics json
    #[arg(long, hide = true)]
    json: bool,
}

impl Run for CatCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let inputs = operands::inputs(context, &self.inputs)?;
        let mut writing = self.writing.resolve(&inputs, &self.reading)?;
        let to = writing.format();
        let (thinking, page) = match to.is_training() {
            true => self.page.clone().take_training()?,
            false => (None, self.page.clone()),
        };
        writing.page = PageOptions {
            remote_images: writing.page.remote_images,
            training: self.sets.options(to, thinking)?,
            ..page.options(to)?
        };
        if self.following.follow {
            return self.follow(context, &inputs, writing);
        }
        let reading = InputSettings {
            returns: to != Format::Native && !self.stable,
            ..(&self.reading).into()
        };
        let hash: HashFn = |session| fingerprint(session, &View::replay(session));
        writing.hash = self.hash.then_some(hash);
        write_to(context, writing, |out| {
            self.print(context, &inputs, reading, writing, out)
        })
    }
}

impl CatCommand {
    /// Prints the sessions of all inputs.
    fn print(
        &self,
        context: &Context,
        inputs: &[InputLocation],
        reading: InputSettings<'_>,
        writing: OutputFormat<'_>,
        out: &mut LineJoiner<'_>,
    ) -> anyhow::Result<()> {
        let to = writing.format();
        let mut written = 0;
        if self.sets.selects_sessions(to) {
            return self.choose(context, inputs, writing, out);
        }
        if self.chained.chain {
            let each = |label: &str, mut session: Session| {
                out.separate();
                written += 1;
                let narrowed = self.select_part(label, &mut session)?;
                match to {
                    Format::Native if narrowed => self.print_selection(&session, out),
                    Format::Native => write_records(&session, out),
                    _ => {
                        let session = self.modeled(session, to)?;
                        let export = Export::new(context, label, writing, self.reading.strict);
                        export.write(&session, written, out)
                    }
                }
            };
            return chain_reader::each(context, inputs, &self.reading, self.chained, each);
        }
        for input in inputs {
            let opened = context.open(input, reading).map_err(Into::into);
            let done = opened.and_then(|opened| {
                out.separate();
                match to {
                    Format::Native => self.pass(context, input, opened, reading, out),
                    _ => self.export(context, opened, reading, writing, &mut written, out),
                }
            });
            report_and_continue(context, done, inputs.len())?;
        }
        Ok(())
    }

    /// Prints each record once it is complete.
    fn follow(
        &self,
        context: &Context,
        inputs: &[InputLocation],
        writing: OutputFormat<'_>,
    ) -> anyhow::Result<()> {
        let has_to = writing.format() != Format::Native;
        if has_to
            || self.writing.is_elsewhere()
            || self.selects_part()
            || self.sets.selects_sessions(Format::Native)
        {
            let error = Error::usage("--follow prints the record stream as it is");
            let error = error
                .hint("omit --to, --output, --pack, --unpack and the filters; show --follow has filters");
            return Err(error.into());
        }
        follow(
            context,
            inputs,
            (&self.reading).into(),
            self.following,
            &mut |_, session, mut records| {
                context.output.stdout(|out| {
                    let mut lines = LineWriter::new(out);
                    Ok(records.try_for_each(|index| lines.write(session.full(index)))?)
                })
            },
        )
    }

    /// Selects the sessions of a data set.
    fn choose(
        &self,
        context: &Context,
        inputs: &[InputLocation],
        writing: OutputFormat<'_>,
        out: &mut LineJoiner<'_>,
    ) -> anyhow::Result<()> {
        let to = writing.format();
        let mut chosen = SetSelection::default();
        let mut written = 0;
        let mut write = |label: &str, session: Session| {
            out.separate();
            written += 1;
            match to {
                Format::Native => self.print_selection(&session, out),
                _ => {
                    let session = self.modeled(session, to)?;
                    Export::new(context, label, writing, self.reading.strict).write(&session, written, out)
                }
            }
        };
        let reading = InputSettings {
            exports: to != Format::Native,
            ..(&self.reading).into()
        };
        chain_reader::each(context, inputs, reading, self.chained, |label, mut session| {
            self.select_part(label, &mut session)?;
            match chosen.choose(&self.sets, to, context, label, session)? {
                Some(session) => write(label, session),
                None => Ok(()),
            }
        })?;
        for (label, session) in chosen.held_back_sessions(context) {
            write(&label, session)?;
        }
        chosen.report(context);
        Ok(())
    }

    /// Copies a record stream in constant memory.
    fn pass(
        &self,
        context: &Context,
        input: &InputLocation,
        opened: OpenInput,
        reading: InputSettings<'_>,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let label = opened.label.clone();
        if self.selects_part() {
            let mut sessions = InputSessions::selected(context, opened, reading);
            while let Some(mut session) = sessions.next()? {
                let narrowed = self.select_part(&label, &mut session);
                let write = |_| self.print_selection(&session, out);
                sessions.accept_result(narrowed.map_err(Into::into).and_then(write))?;
            }
            return Ok(());
        }
        let mut reader = match opened.stream {
            Stream::Records(reader) if self.reading.session.is_none() && self.reading.branch.is_none() => {
                reader
            }
            _ => {
                // The log includes branches.
                let reading = InputSettings {
                    include_branches: true,
                    ..reading
                };
                let mut sessions = InputSessions::selected(context, opened, reading);
                while let Some(session) = sessions.next()? {
                    sessions.accept_result(write_records(&session, out))?;
                }
                return Ok(());
            }
        };
        let lines = LineWriter::new(out);
        StreamCopy::new(context, input, &label, self.reading.strict, lines).copy(reader.as_mut())
    }

    fn export(
        &self,
        context: &Context,
        mut opened: OpenInput,
        reading: InputSettings<'_>,
        writing: OutputFormat<'_>,
        written: &mut usize,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let to = writing.format();
        if let Some(wrapped) = opened.wrapped.take().filter(|_| opened.format == to) {
            let mut inner = Vec::new();
            self.export(context, opened, reading, writing, written, &mut inner)?;
            return wrap(&wrapped, &inner, out);
        }
        let label = opened.label.clone();
        let export = Export::new(context, &label, writing, self.reading.strict);
        // Selected messages are a new session, not a change of its file.
        let is_new = self.model.is_some() || self.stable || self.selecting.selection().is_some();
        let returns = can_write_back(&opened, to) && !is_new;
        if returns && self.reading.session.is_none() && self.reading.branch.is_none() {
            single(to, *written + 1)?;
            let mut returning = SessionGroups::new(&export);
            let mut sessions = InputSessions::all(context, opened, reading);
            while let Some(mut session) = sessions.next()? {
                let narrowed = self.select_part(&label, &mut session);
                let write = |narrowed| returning.write(session, narrowed, out);
                sessions.accept_result(narrowed.map_err(Into::into).and_then(write))?;
            }
            return returning.finish(sessions.tail(), written, out);
        }
        let value = opened
            .value
            .take()
            .filter(|_| opened.format == to && self.model.is_none());
        let mut exported = SessionWriter::new(value);
        let reading = InputSettings {
            exports: true,
            ..reading
        };
        let mut sessions = InputSessions::selected(context, opened, reading);
        while let Some(mut session) = sessions.next()? {
            let narrowed = self.select_part(&label, &mut session);
            let modeled = narrowed.and_then(|narrowed| {
                if narrowed {
                    exported.changed();
                }
                self.modeled(session, to)
            });
            let write = |session| exported.write(session, &export, written, out);
            sessions.accept_result(modeled.map_err(Into::into).and_then(write))?;
        }
        exported.finish(&export, written, out)
    }

    /// Whether options change the session or select a part of it.
    fn selects_part(&self) -> bool {
        self.original || self.stable || self.selecting.selection().is_some()
    }

    /// Reduces the session to the part to print; returns whether an option asked for that.
    fn select_part(&self, label: &str, session: &mut Session) -> convo::Result<bool> {
        if self.original {
            *session = select::original(session);
        }
        let narrowed = self.selecting.select_part(label, session)?;
        if self.stable {
            *session = stable(session);
        }
        Ok(narrowed || self.original || self.stable)
    }

    /// Prints the reduced session; a selection of messages keeps only the header and the messages.
    fn print_selection(&self, session: &Session, out: &mut dyn Write) -> anyhow::Result<()> {
        match self.selecting.selection() {
            Some(_) => provider_request::write(session, &View::replay(session), out),
            None => write_records(session, out),
        }
    }

    /// Sets the model of --model.
    fn modeled(&self, session: Session, to: Format) -> convo::Result<Session> {
        match &self.model {
            Some(model) => with_model(&session, to, model),
            None => Ok(session),
        }
    }
}
