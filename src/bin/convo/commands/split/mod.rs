//! `split`: divides a session into several sessions.

mod output_dir;
mod report;

use super::Run;
use crate::args::{InputArgs, InputLocation, OutputArgs, TokenizerArgs, duration, tokens};
use crate::context::Context;
use crate::edit::{EventIds, LineDestination};
use crate::errors::{mixed, named};
use crate::input::open::OpenInput;
use crate::input::{InputSessions, each_session, operands, report_and_continue};
use crate::writing::{Export, OutputFormat, report_dangling, write_records, write_to};
use clap::{Args, ValueEnum};
use convo::error::{Error, ErrorKind};
use convo::filter::materialize::materialize;
use convo::filter::split::{self as filter, SplitConditions};
use convo::format::Format;
use convo::format::report::Report;
use convo::model::session::Session;
use convo::model::view::View;
use report::SplitReport;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Split a session into several
///
/// Starts a new session at each split point. Splits between exchanges, so that a tool call is never separated from its
/// result; an exchange larger than a limit becomes a session of its own (status 1). Several options can be combined. The
/// parts ID.1, ID.2, ... form a chain; system messages are copied to each part.
///
/// In the store, prints the ids of the parts; the original is unchanged except for a `split` event, and repeating the
/// command creates nothing. Otherwise prints the parts.
///
/// With --output-dir and no split point, writes each session of the input to its own file.
#[derive(Args, Debug)]
#[command(
    override_usage = "convo split <SPLIT-POINT>... [OPTIONS] [INPUT]...\n       convo split --output-dir <DIR> [OPTIONS] [INPUT]..."
)]
#[command(before_long_help = "Examples:
  convo split chat --max-messages 200                    a stored session
  convo split chat --gap 6h --dry-run                    show the split points
  convo split --per-day < in.jsonl | convo count         a stream, counted day by day
  convo split big.jsonl --max-tokens 100k --output-dir parts/   one file per part
  convo split --output-dir chats/ conversations.json     one file per session of an export
  convo split chat --at msg_7ab3e65541d09f2c             in two, before this message")]
pub struct SplitCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    cutting: SplitArgs,
    /// Copy into later parts: system (default), context, none
    ///
    /// context includes system messages. Each copy names its original in `copied_from`, so that `join` leaves it out.
    #[arg(long, value_name = "WHAT", default_value = "system", help_heading = "Output")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    carry: CopyArg,
    /// Prefix of the new ids [default: the session id]
    #[arg(
        long,
        alias = "id",
        value_name = "ID",
        help_heading = "Output",
        hide_short_help = true
    )]
    id_prefix: Option<String>,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    tokenizer_args: TokenizerArgs,
    #[command(flatten)]
    writing: OutputArgs,
    /// Write each part to a file in DIR
    #[arg(long = "output-dir", alias = "out", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    #[arg(conflicts_with = "output", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Print the parts; do not store them
    #[arg(long, help_heading = "Output", conflicts_with = "out")]
    stdout: bool,
    /// Print complete logs instead of views
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    log: bool,
    /// Print the planned parts; change nothing
    #[arg(short = 'n', long, help_heading = "Output", conflicts_with_all = ["output", "stdout"])]
    dry_run: bool,
    /// Print the result as JSON Lines
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Args, Debug)]
#[group(multiple = true)]
#[command(next_help_heading = "Split at")]
struct SplitArgs {
    /// Start a new session after N messages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_messages: Option<u64>,
    /// Start a new session after N tokens, e.g. 8000, 100k
    #[arg(long, value_name = "N", value_parser = tokens)]
    max_tokens: Option<u64>,
    /// Start a new session after N exchanges
    #[arg(long, alias = "every-turns", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_exchanges: Option<u64>,
    /// Start a new session at this message (repeatable)
    ///
    /// Moves back to the start of the exchange, and reports it.
    #[arg(long, value_name = "ID")]
    at: Vec<String>,
    /// Start a new session after a pause: 30m, 6h, 7d
    #[arg(long, value_name = "TIME", value_parser = duration)]
    gap: Option<Duration>,
    /// Start a new session at midnight local time
    ///
    /// Uses TZ or the system time zone. An exchange belongs to the day on which it starts.
    #[arg(long)]
    per_day: bool,
}

impl SplitArgs {
    /// Whether no split point is given.
    fn is_empty(&self) -> bool {
        let limits = [self.max_messages, self.max_tokens, self.max_exchanges];
        let other = self.gap.is_some() || self.per_day || !self.at.is_empty();
        limits.iter().all(Option::is_none) && !other
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CopyArg {
    System,
    Context,
    None,
}

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

    /// Whether tokens are counted: a limit needs them, or the report shows them.
    fn counts(&self) -> bool {
        self.cutting.max_tokens.is_some() || self.dry_run
    }

    fn plan<'s>(
        &self,
        context: &Context,
        label: &str,
        session: &'s Session,
    ) -> anyhow::Result<filter::PlannedSplit<'s>> {
        let ways = SplitConditions {
            max_messages: self.cutting.max_messages,
            max_tokens: self.cutting.max_tokens,
            at: self.cutting.at.clone(),
            gap: self.cutting.gap,
            per_day: self.cutting.per_day,
            every_turns: self.cutting.max_exchanges,
        };
        let carry = match self.carry {
            CopyArg::System => filter::CopyPolicy::System,
            CopyArg::Context => filter::CopyPolicy::Context,
            CopyArg::None => filter::CopyPolicy::None,
        };
        let counter = match self.counts() {
            true => Some(self.tokenizer_args.counter(context, label, session)?),
            false => None,
        };
        let split = filter::PlannedSplit::plan(session, &ways, carry, counter)
            .map_err(|error| named(error, label))?;
        Ok(match &self.id_prefix {
            Some(stem) => split.with_stem(stem),
            None => split,
        })
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

    /// Writes a part as the nth session of an output; writes the session itself when there is nothing to split.
    fn write(
        &self,
        export: &Export<'_>,
        split: &filter::PlannedSplit<'_>,
        session: &Session,
        part: usize,
        nth: usize,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let built;
        let session = if split.has_no_cut() {
            session
        } else {
            let piece = split.build_part(part).map_err(|error| named(error, export.label));
            built = piece?.session;
            &built
        };
        if export.to != Format::Native {
            return export.write(session, nth, out);
        }
        if self.log {
            return write_records(session, out);
        }
        let view = View::replay(session);
        report_dangling(export.context, export.label, session, &view);
        Ok(materialize(session, &view, out)?)
    }
}

/// Adds a hint to the error of a taken name.
fn with_name_hint(error: Error) -> Error {
    match error.kind {
        ErrorKind::Exists => error.hint("choose other ids with --id"),
        _ => error,
    }
}
