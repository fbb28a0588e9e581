//! `agents`: the programs whose sessions are on this machine.

mod columns;

use super::Run;
use crate::args::{TimeOptions, duration};
use crate::context::Context;
use crate::homes::{self, listings};
use crate::output;
use crate::terminal::measure::many;
use crate::terminal::table::{Column, Table};
use crate::terminal::time_format::Times;
use clap::Args;
use columns::{HomeColumn, HomeRow};
use convo::error::ErrorKind;
use convo::model::time;
use std::time::Duration;

/// List the programs whose sessions are on this machine
///
/// Lists the home of each program: where it keeps its sessions, how many there are, and after which time it deletes them
/// without being asked. On a terminal, prints a table; otherwise program, sessions, bytes, time of the newest session,
/// retention and directory, separated by tabs. Homes are found by the default places and by the variables of the
/// programs, such as CLAUDE_CONFIG_DIR, CODEX_HOME and OPENCODE_DB. Nothing in them is changed. Sessions in databases
/// (opencode, goose, llm, the editor Cursor) require the plugin convo-sqlite; without it, their homes are not readable.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo agents
  convo agents --columns program,running,due
  convo agents --due 7d -q || echo 'a program is about to delete sessions'
  convo agents --json | jq -r 'select(.overdue > 0).root'
  convo list --agents --program claude,codex    the sessions themselves

Programs: claude-code, codex, gemini-cli, opencode, goose, pi, cline, roo-code, continue, aider, aichat, llm,
copilot-cli, cursor, cursor-cli, qwen-code, grok, kimi, kimi-code, droid, openclaw. Sessions of cursor-cli (chats of the
Cursor CLI) and openclaw are counted and archived but not read.")]
pub struct AgentsCommand {
    /// List only these programs, e.g. claude-code,codex
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = program,
        help_heading = "Filter"
    )]
    program: Vec<String>,
    /// List only homes that delete sessions within TIME, e.g. 7d
    ///
    /// Includes sessions that are overdue. Exit status 1 if there is such a home.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Filter")]
    due: Option<Duration>,
    /// Print these columns, separated by commas
    ///
    /// Columns: program, sessions, bytes, newest, retention, root, readable, reason, empty, subagents, orphans, oldest,
    /// running, setting, value, by, due, overdue. Due: sessions that may be deleted within 7 days; value: the setting, if
    /// it differs from the default.
    #[arg(
        long,
        value_name = "LIST",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true,
        conflicts_with = "json",
        help_heading = "Output"
    )]
    columns: Vec<HomeColumn>,
    /// Omit the header of the table
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    no_header: bool,
    #[command(flatten)]
    times: TimeOptions,
    /// Print one object per home
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Parses the name of a program with a home.
fn program(name: &str) -> Result<String, String> {
    match convo::home::program(name) {
        Some(program) => Ok(program.name.to_string()),
        None => {
            let names = convo::home::PROGRAMS.iter().map(|program| program.name);
            Err(format!(
                "expected one of {}",
                names.collect::<Vec<_>>().join(", ")
            ))
        }
    }
}

impl Run for AgentsCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let mut found = homes::all();
        found.retain(|home| {
            self.program.is_empty() || self.program.iter().any(|name| name == home.program.name)
        });
        let is_none = found.is_empty();
        let now = time::seconds(&context.clock.now()).unwrap_or_default();
        let mut rows: Vec<HomeRow> = Vec::new();
        for listing in listings(context, found, true)? {
            listing.report(context);
            rows.push(HomeRow::new(&listing, now));
        }
        if let Some(due) = self.due {
            let limit = now.saturating_add(i64::try_from(due.as_secs()).unwrap_or(i64::MAX));
            rows.retain(|row| row.due.iter().any(|due| *due <= limit));
            if !rows.is_empty() {
                context.output.note_status(ErrorKind::No);
            }
        }
        rows.sort_by(|one, other| (one.program, &one.root).cmp(&(other.program, &other.root)));
        if is_none {
            context.output.notice("", "no sessions of other programs found");
        }
        if self.json {
            return context.output.rows(false, rows.iter().map(HomeRow::object));
        }
        let is_terminal = output::columns().is_some();
        let keys = match self.columns.is_empty() {
            true => columns::DEFAULT.to_vec(),
            false => self.columns.clone(),
        };
        let table: Vec<Column> = keys.iter().map(|key| key.column()).collect();
        let times = Times::new(self.times, &context.clock);
        let cells = rows
            .iter()
            .map(|row| keys.iter().map(|key| key.cell(row, is_terminal)).collect());
        let sessions = rows.iter().filter_map(|row| row.sessions).sum();
        let footer = format!(
            "{} · {}",
            many(rows.len() as u64, "home"),
            many(sessions, "session")
        );
        Table::new(&table, &times)
            .header(!self.no_header)
            .footer(footer)
            .print(&context.output, cells)
    }
}
