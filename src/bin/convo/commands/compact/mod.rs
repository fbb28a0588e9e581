//! `compact`: shrinks a session to a token budget.

mod compat;
mod options;
mod settings;
mod strategy_args;
mod summarizer;
mod table;
mod tune;
mod values;

use super::Run;
use crate::args::{EditArgs, InputArgs, TimeOptions};
use crate::context::Context;
use crate::edit::{self, EditRequest, EventIds};
use crate::input::operands;
use crate::programs::counter_choice::report_unknown;
use crate::programs::summarizer_process::{self, FailureReport};
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::filter::Plan;
use convo::filter::compact::{self, CompactOptions, CompactionOutcome};
use convo::filter::compat::{self as systems, CompatStrategy, CompatSystem, Precedence};
use convo::model::session::Session;
use convo::tokens::{Counter, Tokenizer};
use settings::{CompactSettings, SettingKeys};
use std::ffi::OsString;
use std::sync::{PoisonError, RwLock};
use strategy_args::StrategyArgs;
use summarizer::CompactionWriter;
pub use tune::names_tune;

/// Columns of a dry run.
const COLUMNS: [Column; 5] = [
    Column::text("ID"),
    Column::text("DECISION"),
    Column::number("BEFORE"),
    Column::number("AFTER"),
    Column::rest("REASON"),
];

/// Shrink a session to a token budget
///
/// Shortens, elides, summarizes or drops the least informative messages until the view fits --budget. Keeps system
/// messages, pinned messages and the newest request; keeps tool calls together with their results. In the store, the
/// change is one event that `restore` undoes; otherwise prints the smaller session. If the budget cannot be reached,
/// nothing changes and the status is 1.
///
/// Without strategy options, all strategies are used (--optimize). With strategy options, only those are used, in the
/// order of --tiered.
// -h is one screen: the options for the budget, for messages to keep and for the output, and the options of every
// command. Options that shape the result (--for, --pin-rules, --handoff, --keep-prefix, ...) have good defaults and are
// in --help.
#[derive(Args, Debug)]
#[command(mut_arg("if_due", |option| option.hide_short_help(true)))]
#[command(mut_arg("when", |option| option.hide_short_help(false)))]
#[command(mut_arg("reserve", |option| option.hide_short_help(false)))]
#[command(mut_arg("tokenizer", |option| option.help_heading("Budget")))]
#[command(mut_arg("force", |option| option.hide_short_help(true)))]
#[command(before_long_help = "Examples:
  convo compact chat --budget 32000                              a stored session
  convo compact --budget 60% --window gpt-4o < in.jsonl > out    a stream
  convo compact chat --when 'tokens>=100000' --budget 50000      from cron
  convo compact chat --budget 8000 --dry-run                     the decision for each message group
  convo compact chat --budget 8000 --with cmd:'llm -m haiku'     with a summarizer program
  convo compact chat --mask-tools --keep-tools 5                 only replace old tool results")]
pub struct CompactCommand {
    // Must be first: the other structs remove the values that it reads from the matches.
    #[command(flatten)]
    settings: CompactSettings,
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    strategy: StrategyArgs,
    #[command(flatten)]
    _keys: SettingKeys,
    /// Report each decision on standard error
    #[arg(long, help_heading = "Output")]
    explain: bool,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    edit_args: EditArgs,
    /// Print the complete log, including the new event
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    log: bool,
}

impl Run for CompactCommand {
    fn expanded(arguments: &[OsString]) -> Option<Vec<OsString>> {
        tune::expanded(arguments)
    }

    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.edit_args.json);
        let (options, compat_strategy) = self.requested(context)?;
        self.strategy.tokenizer_args.report_estimate(context)?;
        let inputs = operands::inputs(context, &self.inputs)?;
        let edit = EditRequest {
            full_log: self.log,
            custom_dry_run: true,
            reports: true,
            ..EditRequest::new(&self.reading, &self.edit_args)
        };
        let edit = edit.resolve(&inputs, &self.reading)?;
        let mut writer = match CompactionWriter::new(context, &self.strategy, self.edit_args.dry_run) {
            Ok(writer) => writer,
            Err(error) => return summarizer_process::missing(context, &inputs, edit, error),
        };
        let failure = FailureReport::new(context, &self.strategy.retry_args, edit);
        let unreached = RwLock::new(None);
        let reached = |outcome: &CompactionOutcome| {
            let mut unreached = unreached.write().unwrap_or_else(PoisonError::into_inner);
            let Some(smallest) = outcome.smallest else { return };
            let (most, has_written) = unreached.unwrap_or_default();
            let is_written = matches!(outcome.plan, Plan::Lines(..));
            *unreached = Some((smallest.max(most), has_written || is_written));
        };
        let tokenizer_args = &self.strategy.tokenizer_args;
        let plan = |session: &Session, event_ids: &EventIds<'_>, counter: Counter| {
            let stamp = |content: &str| event_ids.event(content);
            let outcome = match &compat_strategy {
                Some((strategy, rules)) => systems::plan(session, strategy, *rules, counter, &options, stamp),
                None => compact::plan(session, counter, &options, stamp),
            }?;
            reached(&outcome);
            Ok(outcome)
        };
        let completed = |session: &Session, event_ids: &EventIds<'_>, planned: convo::Result<Plan>| {
            let planned = match planned {
                Ok(Plan::Nothing(why))
                    if why == compact::NO_GAIN && self.settings.text("on-no-gain") == Some("error") =>
                {
                    Err(Error::new(ErrorKind::No, why))
                }
                planned => planned,
            };
            failure.keep_unchanged(session, event_ids, planned)
        };
        // A counter program counts one text after another.
        let is_external = tokenizer_args
            .requested(context)?
            .is_some_and(Tokenizer::is_external);
        let done = if writer.is_none() && !options.explains && !is_external {
            let plan = |session: &Session, event_ids: &EventIds<'_>| {
                let (counter, _) = tokenizer_args.chosen(context, session)?;
                plan(session, event_ids, counter).map(|outcome| outcome.plan)
            };
            edit::run_in_parallel(context, &inputs, edit, plan, |session, event_ids, planned| {
                if let (_, Some(name)) = tokenizer_args.chosen(context, session)? {
                    report_unknown(context, event_ids.input(), &name);
                }
                completed(session, event_ids, planned)
            })
        } else {
            edit::run(context, &inputs, edit, |session, event_ids| {
                let counter = tokenizer_args.counter(context, event_ids.input(), session);
                let planned = counter.and_then(|counter| {
                    let mut reported = |outcome: &CompactionOutcome| {
                        reached(outcome);
                        self.explain(context, session, counter, outcome)
                    };
                    match (&compat_strategy, &mut writer) {
                        (None, Some(writer)) => {
                            writer.plan(session, event_ids, counter, &options, &failure, &mut reported)
                        }
                        _ => {
                            let outcome = plan(session, event_ids, counter)?;
                            reported(&outcome).map(|()| outcome.plan)
                        }
                    }
                });
                completed(session, event_ids, planned)
            })
        };
        failure.report_queued_error();
        done?;
        match unreached.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((smallest, written)) => {
                let error = Error::new(
                    ErrorKind::No,
                    format!("cannot reach the budget; the minimum is {smallest} tokens"),
                );
                Err(match written {
                    true => error.hint("wrote the smallest possible result (--best-effort)"),
                    false => error,
                }
                .into())
            }
            None => Ok(()),
        }
    }
}

impl CompactCommand {
    /// Returns the options, and the function of another system if one is selected.
    fn requested(
        &mut self,
        context: &Context,
    ) -> anyhow::Result<(CompactOptions, Option<(CompatStrategy, Precedence)>)> {
        if self.settings.system.is_none() {
            self.strategy.check(&self.settings)?;
        }
        self.strategy.check_writer()?;
        let langchain = self.settings.system == Some(CompatSystem::Langchain);
        let mut options = self.strategy.options(&self.settings, langchain)?;
        options.explains = self.explain || self.edit_args.dry_run;
        if self.settings.system.is_some() && options.asks {
            let error = Error::usage("--compat conflicts with a summarizer program");
            return Err(error
                .hint("use --with extract, or summarize first with: convo summarize --with")
                .into());
        }
        let compat_strategy = compat::selected_function(&self.strategy, &self.settings, &options)?;
        if let Some((strategy, rules)) = &compat_strategy {
            options.steps.summary = self.strategy.summarizes_dropped();
            let own = strategy.system().tokenizer();
            if let (Some(own), None) = (own, self.strategy.tokenizer_args.requested(context)?) {
                self.strategy.tokenizer_args.tokenizer = Some(own);
            }
            if *rules == Precedence::Theirs {
                let what = "--compat exact: a provider may reject the result";
                context.output.notice("", what);
            }
        }
        Ok((options, compat_strategy))
    }

    /// Prints the decision for each message: on standard output if it is otherwise unused.
    fn explain(
        &self,
        context: &Context,
        session: &Session,
        counter: Counter,
        outcome: &CompactionOutcome,
    ) -> convo::Result<()> {
        if !self.explain && !self.edit_args.dry_run {
            return Ok(());
        }
        let report = &outcome.report;
        let mut lines: Vec<Vec<u8>> = Vec::new();
        if self.edit_args.json {
            lines.extend(report.atoms.iter().map(compact::AtomReport::json));
            let id = session.header_text("id").unwrap_or_default();
            lines.push(report.json(&id, counter.tokenizer().name()));
        } else {
            let cells = |atom: &compact::AtomReport| {
                let id = atom.ids.first().cloned().unwrap_or_default();
                vec![
                    Cell::Text(id),
                    Cell::Text(atom.level.name().to_string()),
                    Cell::Number(Some(atom.before)),
                    Cell::Number(Some(atom.after)),
                    Cell::Text(atom.reason.to_string()),
                ]
            };
            let rows = report.atoms.iter().map(cells);
            let times = Times::new(TimeOptions::default(), &context.clock);
            if self.edit_args.dry_run {
                return Table::new(&COLUMNS, &times)
                    .print(&context.output, rows)
                    .map_err(|error| Error::new(ErrorKind::InputOutput, error.to_string()));
            }
            let value = |cell: &Cell| cell.value(&times);
            let line = |cells: Vec<Cell>| cells.iter().map(value).collect::<Vec<_>>().join("\t");
            lines.extend(rows.map(|cells| line(cells).into_bytes()));
            let prefix = &report.prefix;
            if let Some(id) = &prefix.first_changed {
                let kept = format!(
                    "unchanged prefix: {} bytes, {} tokens",
                    prefix.bytes, prefix.tokens
                );
                lines.push(format!("{kept}; first change: {id}").into_bytes());
            }
        }
        for line in lines {
            let line = String::from_utf8_lossy(&line);
            if self.edit_args.dry_run {
                context
                    .output
                    .print(&line)
                    .map_err(|error| Error::new(ErrorKind::InputOutput, error.to_string()))?;
            } else {
                context.output.explain(&line);
            }
        }
        Ok(())
    }
}
