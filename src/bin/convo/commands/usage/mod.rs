//! `usage`: reports recorded tokens and their cost.

mod print;

use super::Run;
use crate::args::{ALL, InputArgs, InputLocation, SessionScope, TokenizerArgs, program_of, project_of};
use crate::context::Context;
use crate::errors::named;
use crate::flat_tables::{self, RecordedUsage, SessionOrigin, TableRow, UsageSource};
use crate::input::file_discovery::{self, Follow};
use crate::input::{InputSettings, each_session_and_format, operands};
use crate::output::count_of;
use crate::prices::PriceArgs;
use clap::{Args, ValueEnum};
use convo::filter::usage::{CostSource, GroupKey, InputOrigin, Ledger, Prices, RequestCount, UsageRow};
use convo::format::Format;
use convo::format::recorded::{self, RecordedRequest};
use convo::model::session::Session;
use convo::model::{json, time};
use print::UsageReport;
use std::collections::BTreeMap;

/// Add up recorded tokens and their cost
///
/// Adds up what logs record; nothing is estimated without --estimate. A request counts once: logs repeat it on several lines, in sidechains,
/// and in copies and forks of a session. Cumulative counters are differenced. Input is without cached tokens; reasoning is a
/// part of output.
///
/// A recorded cost takes precedence over prices. A model without a price has no cost and is reported. Prices change: the
/// report has the date of the table, and --prices FILE replaces it. FILE is TOML with `as-of = "DATE"` and a line for each
/// model, `MODEL = { input = 3, output = 15, read = 0.3, write = 3.75, write-1h = 6 }` in dollars per million tokens, in the
/// table `[model]`; with `above = TOKENS, over = { ... }`, larger inputs have other prices. Or FILE is the JSON of litellm.
///
/// Piped, prints one line per row: the keys, then requests, input, cache reads, cache writes, output, reasoning and cost
/// in dollars. A directory is read with its subdirectories.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo usage                                   the store, by day and model
  convo usage ~/.claude/projects --since 7d     the logs of a program
  convo usage --by project,model --chart chat
  convo usage --by session --json | jq .cost
  convo usage --by month,model --to html > usage.html
  convo usage --explain session.jsonl           which records did not count
  convo usage --flat *.jsonl > usage.jsonl      a table for DuckDB or Spark")]
pub struct UsageCommand {
    /// Session names, files, directories, or - for standard input [default: @all]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    scope: SessionScope,
    #[command(flatten)]
    reading: InputArgs,
    /// Group by day, week, month, model, project, session, program, tool
    ///
    /// A week is named by its Monday. tool: the input of each request is divided by the shares of the results of tools in the
    /// messages before it; `-` is the rest, with the output.
    #[arg(
        long,
        value_name = "KEYS",
        value_delimiter = ',',
        default_value = "day,model",
        hide_possible_values = true
    )]
    #[arg(help_heading = "Output")]
    by: Vec<UsageGrouping>,
    /// Use UTC days [default: the local time zone]
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    utc: bool,
    /// Source of costs: auto, recorded, prices, none [default: auto]
    #[arg(
        long,
        value_name = "SOURCE",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    cost: Option<CostChoice>,
    #[command(flatten)]
    prices: PriceArgs,
    /// Estimate the tokens of sessions that record none
    ///
    /// Counts with the tokenizer: a request for each message of a model, whose input is all messages before it. A terminal shows
    /// such figures with ~.
    #[arg(long, help_heading = "Output")]
    estimate: bool,
    #[command(flatten)]
    tokenizer_args: TokenizerArgs,
    /// Draw a bar for each row; cache reads are lighter
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    chart: bool,
    /// Report how many requests of each input counted
    #[arg(long, help_heading = "Output")]
    explain: bool,
    /// Write an HTML page with a bar for each row
    #[arg(
        short,
        long,
        value_name = "html",
        value_parser = page,
        hide_short_help = true,
        conflicts_with_all = ["json", "chart"],
        help_heading = "Output"
    )]
    to: Option<Format>,
    /// Print one object per row
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print one object without nested members per session, for tables
    ///
    /// The same members with the same types for every session, also for one without recorded usage; an absent value is
    /// null. With --since or --until, only sessions with a request of that time. `generate tables` prints the members.
    #[arg(long, conflicts_with_all = ["by", "utc", "chart", "to"], help_heading = "Output", hide_short_help = true)]
    flat: bool,
}

fn page(name: &str) -> Result<Format, &'static str> {
    match name {
        "html" => Ok(Format::Html),
        _ => Err("expected html"),
    }
}

/// What rows are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UsageGrouping {
    Day,
    Week,
    Month,
    Model,
    Project,
    Session,
    Program,
    Tool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CostChoice {
    Auto,
    Recorded,
    Prices,
    None,
}

impl UsageGrouping {
    const fn key(self) -> GroupKey {
        match self {
            UsageGrouping::Day => GroupKey::Day,
            UsageGrouping::Week => GroupKey::Week,
            UsageGrouping::Month => GroupKey::Month,
            UsageGrouping::Model => GroupKey::Model,
            UsageGrouping::Project => GroupKey::Project,
            UsageGrouping::Session => GroupKey::Session,
            UsageGrouping::Program => GroupKey::Program,
            UsageGrouping::Tool => GroupKey::Tool,
        }
    }
}

impl Run for UsageCommand {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json || self.flat);
        self.scope.make_absolute();
        let prices = self.prices.read(context)?;
        let inputs = self.inputs(context)?;
        let mut ledger = Ledger::default();
        // For each session of the ledger, the beginning of its row, if it has one.
        let mut origins: Vec<Option<SessionOrigin>> = Vec::new();
        ledger.by_tool = self.by.contains(&UsageGrouping::Tool);
        let mut explained: BTreeMap<String, RequestCount> = BTreeMap::new();
        let reading = InputSettings {
            include_branches: true,
            ..(&self.reading).into()
        };
        let now = context.clock.timestamp().as_second();
        each_session_and_format(context, &inputs, reading, |label, format, session| {
            let cwd = working_directory(&session);
            let program = program_of(&session, format);
            if !self.scope.has_program(Some(&program)) || !self.scope.has_project(cwd.as_deref()) {
                return Ok(());
            }
            let origin = InputOrigin {
                session: session.header_text("id").unwrap_or_else(|| label.to_string()),
                project: project_of(cwd.as_deref()).unwrap_or_default().to_string(),
                program,
            };
            let selects = |request: &RecordedRequest| {
                let seconds = request.time.as_deref().and_then(time::seconds);
                self.scope.has_time(seconds, Some(now))
            };
            let mut requests = recorded::requests(&session);
            if self.estimate && requests.is_empty() {
                let counter = self.tokenizer_args.counter(context, label, &session)?;
                requests = recorded::estimated(&session, |message| counter.message(message));
            }
            let counts = ledger.add(&session, requests, origin, selects);
            if self.flat {
                let is_selected = counts.found > 0 || self.scope.has_time(None, Some(now));
                origins.push(is_selected.then(|| SessionOrigin::of(label, format, &session)));
            }
            let known = explained.entry(label.to_string()).or_default();
            known.found += counts.found;
            known.new += counts.new;
            Ok(())
        })?;
        if self.explain {
            for (label, counts) in &explained {
                let repeated = counts.found - counts.new;
                let what = format!(
                    "{}, {repeated} of them recorded before",
                    count_of(counts.found, "request")
                );
                context.output.notice(label, &what);
            }
        }
        let keys: Vec<GroupKey> = self.by.iter().map(|grouping| grouping.key()).collect();
        let source = match self.cost.unwrap_or(CostChoice::Auto) {
            CostChoice::Auto => CostSource::Auto,
            CostChoice::Recorded => CostSource::Recorded,
            CostChoice::Prices => CostSource::Prices,
            CostChoice::None => CostSource::None,
        };
        let (rows, unpriced) = match self.flat {
            true => ledger.sessions(source, &prices),
            false => ledger.rows(&keys, self.utc, source, &prices),
        };
        if rows.iter().all(|row| row.requests == 0) {
            context.output.notice("usage", "no recorded usage");
        }
        if !unpriced.is_empty() {
            let models = unpriced.into_iter().map(|model| {
                if model.is_empty() {
                    "(unknown)".to_string()
                } else {
                    model
                }
            });
            let what = format!("no price: {}", models.collect::<Vec<_>>().join(", "));
            context.output.notice("usage", &what);
        }
        if self.flat {
            let rows = origins.into_iter().zip(rows);
            let rows = rows.filter_map(|(origin, total)| Some(row(&origin?, total, &prices)));
            return context.output.rows(false, rows);
        }
        let report = UsageReport {
            keys: &keys,
            rows: &rows,
            prices: &prices,
            has_cost: source != CostSource::None,
        };
        match (self.json, self.chart, self.to) {
            (true, ..) => report.json(context),
            (_, true, _) => report.chart(context),
            (_, _, Some(_)) => report.page(context),
            _ => report.table(context),
        }
    }
}

impl UsageCommand {
    /// Returns the inputs, including the files of directories.
    fn inputs(&self, context: &Context) -> anyhow::Result<Vec<InputLocation>> {
        let all = [ALL.to_string()];
        let operands = if self.inputs.is_empty() {
            context.require_store()?;
            &all[..]
        } else {
            &self.inputs
        };
        let mut inputs = Vec::new();
        for operand in operands {
            let path = std::path::Path::new(operand);
            if !path.is_dir() {
                inputs.extend(operands::inputs(context, std::slice::from_ref(operand))?);
                continue;
            }
            let found = file_discovery::files(path, true, Follow::None);
            let found = found.map_err(|error| named(error, operand))?;
            if found.sessions.is_empty() {
                context.output.error(&file_discovery::empty_directory(path, true));
            }
            inputs.extend(found.sessions.into_iter().map(InputLocation::Path));
        }
        Ok(inputs)
    }
}

/// Encodes the totals of a session as a row of a table.
fn row(origin: &SessionOrigin, total: UsageRow, prices: &Prices) -> String {
    let row = TableRow::new(flat_tables::USAGE)
        .with(origin)
        .with(&UsageSource::of(&total, prices))
        .with(&RecordedUsage::new(total, prices));
    row.to_string()
}

fn working_directory(session: &Session) -> Option<String> {
    json::text(&session.metadata("cwd")?).map(|text| text.into_owned())
}
