//! `list`: the sessions of a store, of files or of directories.

mod columns;
mod home;
mod home_facts;
mod row;
mod short_ids;

use super::Run;
use crate::args::{ALL, InputArgs, InputLocation, SessionScope, TimeOptions, TokenizerArgs};
use crate::context::Context;
use crate::errors::named;
use crate::homes;
use crate::input::file_discovery::{self, Follow};
use crate::input::input_source::{detect_file, unwrapped};
use crate::input::{each_session_and_format, operands, report_and_continue};
use crate::output::{self, path_name};
use crate::overviews::OverviewReader;
use crate::terminal::measure::{many, thousands};
use crate::terminal::session_tree;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use clap::Args;
use columns::{ListColumn, Sort, sort};
use convo::error::{Error, ErrorKind};
use convo::filter::metadata;
use convo::format::Format;
use convo::model::time;
use convo::store::foreign;
use row::ListRow;
use std::collections::HashMap;
use std::path::Path;

/// List sessions
///
/// Lists the sessions of the store, of files or of directories, newest first. On a terminal, prints a table with short
/// ids, in which branches and subagents are below their session; otherwise id, messages in the view, last change and
/// title, separated by tabs. A fifth value is the status of the summarizer unless it is healthy: retry, degraded or
/// recovering. A session without title shows the first line of its first question.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo list
  convo list | cut -f1                          only the ids
  convo list --columns short-id,tokens,title --tokens
  convo list --project shop --tag urgent --sort -size
  convo list --until 30d -0 --columns id | xargs -0 -r convo remove --
  convo list -n 20 --offset 40                  the third page of 20 sessions
  convo list --since 2026-11-01 --json
  convo list --json | jq -r 'select(.view > 100).id'
  convo list ./session.json                     the sessions of a file
  convo list ~/.codex/sessions                  the sessions of a directory
  convo list --agents --project .               what every program keeps of this project
  convo list --agents --columns due,name --sort due | head -3")]
pub struct ListCommand {
    /// Sessions, files or directories [default: the store]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// List at most N sessions
    ///
    /// Applies after all other filters, in output order.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Filter")]
    limit: Option<u64>,
    /// Skip the first N sessions
    #[arg(
        long,
        hide_short_help = true,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        help_heading = "Filter"
    )]
    offset: u64,
    /// List the sessions that other programs keep here
    ///
    /// Of every program in `convo agents`; those in databases require the plugin convo-sqlite. On a terminal, `*` marks a running session and `!` one that its program may
    /// delete within 7 days. Messages include those that are not in the view.
    #[arg(long, conflicts_with_all = ["inputs", "tag", "tree"], help_heading = "Input")]
    agents: bool,
    /// With --agents, also list sessions of subagents
    #[arg(long, requires = "agents", hide_short_help = true, help_heading = "Input")]
    subagents: bool,
    /// With --agents, also list sessions without messages
    #[arg(long, requires = "agents", hide_short_help = true, help_heading = "Input")]
    empty: bool,
    /// With --agents, read every file again
    ///
    /// By default, files that have not changed since an earlier list are not read: $XDG_CACHE_HOME/convo/agents holds
    /// their rows.
    #[arg(long, requires = "agents", hide_short_help = true, help_heading = "Input")]
    no_cache: bool,
    #[command(flatten)]
    scope: SessionScope,
    /// Only sessions with this tag (repeatable: all of them)
    #[arg(long, value_name = "TAG", value_parser = tag, help_heading = "Filter")]
    tag: Vec<String>,
    #[command(flatten)]
    reading: InputArgs,
    /// Print these columns, separated by commas
    ///
    /// Columns: id, short-id, title, messages, tokens, size, project, cwd, branch, program, model, format, created,
    /// updated, aliases, tags, name; with --agents also running, archived, due, subagents, resume (the command that
    /// resumes the session in its program), path. Messages and tokens are those of the view. Default: id, messages,
    /// updated, title; on a terminal, short-id, updated, messages, tokens if known, else size, program, project, title;
    /// with --agents name, messages, updated, size, project, title.
    #[arg(
        long,
        value_name = "LIST",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true,
        conflicts_with = "json",
        help_heading = "Output"
    )]
    columns: Vec<ListColumn>,
    /// Sort by KEY; -KEY reverses [default: -updated]
    ///
    /// Keys: updated, created, messages, tokens, size, title, id, project, program, due. Sessions without a value are last.
    #[arg(long, value_name = "KEY", value_parser = sort, allow_hyphen_values = true, conflicts_with = "tree", help_heading = "Output")]
    sort: Option<Sort>,
    /// Reverse the order
    #[arg(
        long,
        hide_short_help = true,
        conflicts_with = "tree",
        help_heading = "Output"
    )]
    reverse: bool,
    /// Show continuations and branches below their session
    ///
    /// Branches are indented one level more. With --json, objects have a depth. Default on a terminal, unless --sort or
    /// --reverse is given.
    #[arg(long, help_heading = "Output")]
    tree: bool,
    /// Omit the header of the table
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    no_header: bool,
    /// End rows with NUL instead of a newline
    #[arg(short = '0', long = "null", conflicts_with = "json", help_heading = "Output")]
    null: bool,
    #[command(flatten)]
    times: TimeOptions,
    /// Print one object per session
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Count the tokens of each view
    ///
    /// The counts are kept until a session changes. Without this option, only known counts are shown.
    #[arg(long, help_heading = "Tokens")]
    tokens: bool,
    #[command(flatten)]
    tokenizer_args: TokenizerArgs,
}

impl Run for ListCommand {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        self.scope.make_absolute();
        let counts = self.tokens || self.tokenizer_args.tokenizer.is_some();
        let reader = OverviewReader::new(context, &self.tokenizer_args, counts);
        let mut rows = match self.agents {
            true => home::rows(
                context,
                &home::HomeFilter {
                    scope: &self.scope,
                    subagents: self.subagents,
                    empty: self.empty,
                    reading: homes::HomeReadOptions {
                        with_databases: true,
                        reader: &reader,
                        is_cached: !self.no_cache,
                    },
                },
            )?,
            false => self.rows(context, &reader)?,
        };
        let is_terminal = output::columns().is_some() && !self.null && !self.json;
        if is_terminal || self.columns.contains(&ListColumn::ShortId) {
            shorten(&mut rows);
        }
        let now = context.clock.now();
        let seconds = time::seconds(&now);
        rows.retain(|row| self.fits(row, seconds));
        name_aliases(context, &mut rows);
        for row in &mut rows {
            row.mark = row.home.as_ref().map_or("", |home| home.mark(seconds));
        }
        let is_tree = self.tree || (is_terminal && self.sort.is_none() && !self.reverse && !self.agents);
        rows = self.sort.unwrap_or(Sort::NEWEST).apply(rows, self.reverse);
        if is_tree || self.json {
            rows = arrange(rows, is_tree);
        }
        let found = rows.len();
        let rows = self.page(rows);
        if self.json {
            return context.output.stdout(|out| {
                rows.iter().try_for_each(|row| {
                    let written = writeln!(out, "{}", row.object(&now));
                    Ok(written.map_err(|error| Error::io("cannot write", error))?)
                })
            });
        }
        let keys = match (self.columns.is_empty(), is_terminal) {
            (false, _) => self.columns.clone(),
            (true, _) if self.agents => columns::HOMES.to_vec(),
            (true, true) => columns::visible_columns(&rows),
            (true, false) => columns::PIPED.to_vec(),
        };
        let table: Vec<Column> = keys
            .iter()
            .map(|key| key.column(!self.columns.is_empty()))
            .collect();
        let times = Times::new(self.times, &context.clock);
        let cells = rows.iter().map(|row| {
            let mut cells: Vec<Cell> = keys.iter().map(|key| key.cell(row, is_terminal)).collect();
            if let Some(state) = row.unhealthy_state(&now).filter(|_| self.columns.is_empty()) {
                match cells.last_mut() {
                    Some(Cell::Text(title)) if is_terminal => {
                        title.insert_str(0, &format!("[{}] ", state.name()))
                    }
                    _ => cells.push(Cell::Text(state.name().to_string())),
                }
            }
            cells
        });
        Table::new(&table, &times)
            .header(!self.no_header)
            .null(self.null)
            .footer(footer(&rows, found, &times))
            .print(&context.output, cells)
    }
}

/// Parses a tag.
fn tag(text: &str) -> Result<String, String> {
    metadata::check_tag(text).map(|()| text.to_string())
}

/// Returns the totals.
fn footer(rows: &[ListRow], found: usize, times: &Times) -> String {
    let messages: u64 = rows.iter().map(ListRow::messages).sum();
    let tokens: u64 = rows
        .iter()
        .filter_map(|row| Some(row.overview.tokens.as_ref()?.0))
        .sum();
    let mut parts = vec![match rows.len() == found {
        true => many(found as u64, "session"),
        false => format!(
            "{} of {}",
            thousands(rows.len() as u64),
            many(found as u64, "session")
        ),
    }];
    parts.push(many(messages, "message"));
    if tokens > 0 {
        parts.push(many(tokens, "token"));
    }
    parts.push(format!("times in {}", times.zone()));
    parts.join(" · ")
}

/// Sets the short ids.
fn shorten(rows: &mut [ListRow]) {
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let parents: Vec<Option<&str>> = rows.iter().map(ListRow::parent).collect();
    let short = short_ids::short(&ids, &parents);
    for (row, (short, unique)) in rows.iter_mut().zip(short) {
        (row.short, row.unique) = (short, unique);
    }
}

/// Sets the positions in chains, and arranges the rows as trees.
fn arrange(mut rows: Vec<ListRow>, is_tree: bool) -> Vec<ListRow> {
    let leaves = session_tree::arrange(&rows.iter().map(ListRow::node).collect::<Vec<_>>());
    for leaf in &leaves {
        let row = &mut rows[leaf.node];
        // Counted from the first session; another system may have recorded any number.
        row.index = leaf.index.filter(|index| *index > 0).or(row.index);
        if is_tree {
            row.depth = leaf.depth;
        }
    }
    if is_tree {
        let order: Vec<usize> = leaves.iter().map(|leaf| leaf.node).collect();
        rows = columns::in_order(rows, &order);
    }
    rows
}

/// Adds a hint to the error for an unknown name if a directory has this name.
fn with_dir(error: anyhow::Error, input: &InputLocation) -> anyhow::Error {
    match (error.downcast::<Error>(), input) {
        (Ok(error), InputLocation::Name(name))
            if error.kind == ErrorKind::NotFound && Path::new(name).is_dir() =>
        {
            error
                .hint(format!(
                    "list the directory of this name with: convo list ./{name}"
                ))
                .into()
        }
        (Ok(error), _) => error.into(),
        (Err(error), _) => error,
    }
}

/// Whether a file is not a session, as opposed to a damaged session.
fn is_other(path: &Path) -> bool {
    let head = std::fs::File::open(path)
        .map_err(Error::open)
        .and_then(|mut file| unwrapped(&mut file));
    head.is_ok_and(|(head, whole, _)| {
        let verdict = detect_file(&head, whole, Some(path));
        verdict.format.is_none() && !verdict.damaged && !head.is_empty()
    })
}

fn name_aliases(context: &Context, rows: &mut [ListRow]) {
    let Ok(aliases) = context.store().and_then(|store| store.aliases()) else {
        return;
    };
    let mut by_id: HashMap<String, Vec<String>> = HashMap::new();
    for (alias, ids) in aliases {
        for id in ids {
            by_id.entry(id).or_default().push(alias.clone());
        }
    }
    for row in rows {
        row.aliases
            .extend(by_id.get(&row.id).cloned().unwrap_or_default());
    }
}

impl ListCommand {
    /// Returns the sessions of the inputs, or of the store without inputs.
    fn rows(&self, context: &Context, reader: &OverviewReader<'_>) -> anyhow::Result<Vec<ListRow>> {
        let mut rows = Vec::new();
        if self.inputs.is_empty() || self.inputs == [ALL] {
            for stored in reader.stored()? {
                let native = Format::Native.name();
                rows.push(ListRow {
                    bytes: Some(stored.bytes),
                    // The name of the log takes precedence over its records.
                    id: stored.id,
                    ..ListRow::new(stored.value, "", native)
                });
            }
            return Ok(rows);
        }
        let inputs = operands::each_input(context, &self.inputs)?;
        for input in &inputs {
            let done = match input {
                InputLocation::Path(path) if path.is_dir() => self.dir(context, reader, path, &mut rows),
                input => self
                    .input(context, reader, input, &mut rows)
                    .map_err(|error| with_dir(error, input)),
            };
            report_and_continue(context, done, inputs.len())?;
        }
        Ok(rows)
    }

    /// Returns the sessions of an input.
    fn input(
        &self,
        context: &Context,
        reader: &OverviewReader<'_>,
        input: &InputLocation,
        rows: &mut Vec<ListRow>,
    ) -> anyhow::Result<()> {
        let inputs = std::slice::from_ref(input);
        each_session_and_format(context, inputs, &self.reading, |label, format, session| {
            let first = (!session.is_empty()).then(|| session.record(0).body);
            let aliases = first
                .filter(|_| matches!(input, InputLocation::Path(_)))
                .map(foreign::aliases);
            rows.push(ListRow {
                aliases: aliases.unwrap_or_default(),
                ..ListRow::new(
                    Box::new(reader.read(label, &session, false)?),
                    label,
                    format.name(),
                )
            });
            Ok(())
        })
    }

    /// Whether the filters select a session.
    fn fits(&self, row: &ListRow, now: Option<i64>) -> bool {
        let overview = &row.overview;
        let updated = overview.updated.as_deref().and_then(time::seconds);
        self.scope.has_program(row.program())
            && self.scope.has_project(overview.cwd.as_deref())
            && self.tag.iter().all(|tag| overview.tags.contains(tag))
            && self.scope.has_time(updated, now)
    }

    /// Returns the rows selected by `--offset` and `--limit`.
    fn page(&self, mut rows: Vec<ListRow>) -> Vec<ListRow> {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        rows.drain(..count(self.offset).min(rows.len()));
        rows.truncate(self.limit.map_or(usize::MAX, count));
        rows
    }

    /// Returns the sessions of any system in a directory and its subdirectories. Skips other files.
    fn dir(
        &self,
        context: &Context,
        reader: &OverviewReader<'_>,
        path: &Path,
        rows: &mut Vec<ListRow>,
    ) -> anyhow::Result<()> {
        let files = file_discovery::files(path, true, Follow::Files)
            .map_err(|error| named(error, &path_name(path)))?;
        for (file, why) in &files.skipped {
            context.output.notice(&path_name(file), why);
        }
        let several = files.sessions.len().max(2);
        for file in files.sessions {
            if self.reading.from.is_none() && is_other(&file) {
                context.output.detail(&path_name(&file), "no session");
                continue;
            }
            let done = self.input(context, reader, &InputLocation::Path(file), rows);
            report_and_continue(context, done, several)?;
        }
        Ok(())
    }
}
