//! The options of `split`, and what they mean for one session.

use crate::args::{InputArgs, OutputArgs, TokenizerArgs, duration, tokens};
use crate::context::Context;
use crate::errors::named;
use crate::writing::{Export, report_dangling, write_records};
use clap::{Args, ValueEnum};
use convo::error::{Error, ErrorKind};
use convo::filter::materialize::materialize;
use convo::filter::split::{self as filter, SplitConditions};
use convo::format::Format;
use convo::model::session::Session;
use convo::model::view::View;
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
    pub(super) inputs: Vec<String>,
    #[command(flatten)]
    pub(super) cutting: SplitArgs,
    /// Copy into later parts: system (default), context, none
    ///
    /// context includes system messages. Each copy names its original in `copied_from`, so that `join` leaves it out.
    #[arg(long, value_name = "WHAT", default_value = "system", help_heading = "Output")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(super) carry: CopyArg,
    /// Prefix of the new ids [default: the session id]
    #[arg(
        long,
        alias = "id",
        value_name = "ID",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub(super) id_prefix: Option<String>,
    #[command(flatten)]
    pub(super) reading: InputArgs,
    #[command(flatten)]
    pub(super) tokenizer_args: TokenizerArgs,
    #[command(flatten)]
    pub(super) writing: OutputArgs,
    /// Write each part to a file in DIR
    #[arg(long = "output-dir", alias = "out", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    #[arg(conflicts_with = "output", help_heading = "Output")]
    pub(super) out: Option<PathBuf>,
    /// Print the parts; do not store them
    #[arg(long, help_heading = "Output", conflicts_with = "out")]
    pub(super) stdout: bool,
    /// Print complete logs instead of views
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    pub(super) log: bool,
    /// Print the planned parts; change nothing
    #[arg(short = 'n', long, help_heading = "Output", conflicts_with_all = ["output", "stdout"])]
    pub(super) dry_run: bool,
    /// Print the result as JSON Lines
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
#[group(multiple = true)]
#[command(next_help_heading = "Split at")]
pub struct SplitArgs {
    /// Start a new session after N messages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_messages: Option<u64>,
    /// Start a new session after N tokens, e.g. 8000, 100k
    #[arg(long, value_name = "N", value_parser = tokens)]
    pub(super) max_tokens: Option<u64>,
    /// Start a new session after N exchanges
    #[arg(long, alias = "every-turns", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_exchanges: Option<u64>,
    /// Start a new session at this message (repeatable)
    ///
    /// Moves back to the start of the exchange, and reports it.
    #[arg(long, value_name = "ID")]
    pub(super) at: Vec<String>,
    /// Start a new session after a pause: 30m, 6h, 7d
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) gap: Option<Duration>,
    /// Start a new session at midnight local time
    ///
    /// Uses TZ or the system time zone. An exchange belongs to the day on which it starts.
    #[arg(long)]
    pub(super) per_day: bool,
}

impl SplitArgs {
    /// Whether no split point is given.
    pub(super) fn is_empty(&self) -> bool {
        let limits = [self.max_messages, self.max_tokens, self.max_exchanges];
        let other = self.gap.is_some() || self.per_day || !self.at.is_empty();
        limits.iter().all(Option::is_none) && !other
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CopyArg {
    System,
    Context,
    None,
}

impl SplitCommand {
    /// Whether tokens are counted: a limit needs them, or the report shows them.
    pub(super) fn counts(&self) -> bool {
        self.cutting.max_tokens.is_some() || self.dry_run
    }

    pub(super) fn plan<'s>(
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

    /// Writes a part as the nth session of an output; writes the session itself when there is nothing to split.
    pub(super) fn write(
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
pub fn with_name_hint(error: Error) -> Error {
    match error.kind {
        ErrorKind::Exists => error.hint("choose other ids with --id"),
        _ => error,
    }
}
