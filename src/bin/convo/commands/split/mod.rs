//! `split`: divides a session into several sessions.

mod command;
mod output_dir;
mod report;

pub use command::SplitCommand;

use super::Run;
use crate::args::InputLocation;
use crate::context::Context;
use crate::edit::{EventIds, LineDestination};
use crate::errors::{mixed, named};
use crate::input::open::OpenInput;
use crate::input::{InputSessions, each_session, operands, report_and_continue};
use crate::writing::{Export, OutputFormat, write_to};
use command::with_name_hint;
use convo::error::Error;
use convo::format::report::Report;
use convo::model::session::Session;
use report::SplitReport;
use std::io::Write;

impl Run for SplitCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        if let Some(id) = &self.id_prefix {
            crate::args::checked_name(convo::model::key::checked_id(id)?)?;
        }
        if self.cutting.max_tokens.is_some() || self.dry_run {
            self.tokenizer_args.report_estimate(context)?;
        }
        if self.cutting.is_empty() && self.out.is_none() {
            let error = Error::usage("no split point given");
            let hint = "use --max-messages, --max-tokens, --max-exchanges, --at, --gap or --per-day; for one file per \
                        session, --output-dir alone";
            return Err(error.hint(hint).into());
        }
        let inputs = operands::inputs(context, &self.inputs)?;
        let writing = self.writing.resolve(&inputs, &self.reading)?;
        if self.dry_run {
            return each_session(context, &inputs, &self.reading, |label, session| {
                let split = self.plan(context, label, &session)?;
                let reported = SplitReport::of(&split, label, self.counts());
                reported.rows(context, &split, self.json)?;
                reported.notes(context, &split);
                Ok(())
            });
        }
        let stored = inputs.iter().filter(|input| self.is_stored(input)).count();
        if stored > 0 && stored < inputs.len() {
            return Err(mixed().into());
        }
        writing.check()?;
        if stored > 0 {
            for input in &inputs {
                let InputLocation::Name(name) = input else {
                    continue;
                };
                report_and_continue(context, self.store(context, name), inputs.len())?;
            }
            return Ok(());
        }
        match &self.out {
            Some(dir) => output_dir::write(&self, context, &inputs, dir, writing),
            None => write_to(context, writing, |out| {
                let mut nth = 0;
                for input in &inputs {
                    let opened = context.open(input, &self.reading).map_err(Into::into);
                    let done = opened.and_then(|opened| {
                        out.separate();
                        self.stream(context, opened, writing, &mut nth, out)
                    });
                    report_and_continue(context, done, inputs.len())?;
                }
                Ok(())
            }),
        }
    }
}

impl SplitCommand {
    fn is_stored(&self, input: &InputLocation) -> bool {
        let writing = &self.writing;
        let elsewhere = self.stdout || self.log || self.out.is_some();
        matches!(input, InputLocation::Name(_)) && !elsewhere && !writing.is_elsewhere()
    }

    /// Splits a stored session into new stored sessions.
    fn store(&self, context: &Context, name: &str) -> anyhow::Result<()> {
        let store = context.store()?;
        let id = store.resolve(name)?;
        let mut report = Report::default();
        let session = store.load(&id, &mut report)?;
        context.output.report(name, &mut report);
        if self.reading.strict && report.is_damaged() {
            return Err(named(crate::errors::stopped(), name).into());
        }
        let split = self.plan(context, name, &session)?;
        let reported = SplitReport::of(&split, name, self.counts());
        let changed = if split.has_no_cut() {
            // Lines that were read may not be synced yet: make them durable before the report.
            store.sync_lines(&id).map_err(|error| named(error, name))?;
            false
        } else {
            let pieces = (0..split.parts.len()).map(|nth| {
                let piece = split.build_part(nth)?;
                Ok((piece.id, piece.session))
            });
            let stamp = || EventIds::new(context, &session, LineDestination::Store).event("split");
            let done = store.split_session(&id, pieces, stamp);
            done.map_err(|error| named(with_name_hint(error), name))?
        };
        reported.stored(context, &split, changed, self.json)
    }

    /// Splits a stream: writes one session as several.
    fn stream(
        &self,
        context: &Context,
        opened: OpenInput,
        writing: OutputFormat<'_>,
        nth: &mut usize,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let label = opened.label.clone();
        let export = Export::new(context, &label, writing, self.reading.strict);
        let mut sessions = InputSessions::selected(context, opened, (&self.reading).into());
        while let Some(session) = sessions.next()? {
            sessions.accept_result(self.stream_one(&export, &session, nth, out))?;
        }
        Ok(())
    }

    fn stream_one(
        &self,
        export: &Export<'_>,
        session: &Session,
        nth: &mut usize,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let (context, label) = (export.context, export.label);
        let split = self.plan(context, label, session)?;
        if !export.to.spec().concatenable && *nth + split.parts.len() > 1 {
            let what = format!("{}: only one session per file", export.to.name());
            let error = named(Error::usage(what), label);
            return Err(error
                .hint("write each part to its own file with --output-dir DIR")
                .into());
        }
        for part in 0..split.parts.len() {
            *nth += 1;
            self.write(export, &split, session, part, *nth, out)?;
        }
        SplitReport::of(&split, label, self.counts()).streamed(context, &split);
        Ok(())
    }
}
