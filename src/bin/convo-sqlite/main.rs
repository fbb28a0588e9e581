//! The plugin `convo sqlite`: prints the sessions in SQLite databases as a record stream. It is a plugin because SQLite
//! takes longer to compile than everything else, and most pipelines do not read databases.
#![forbid(unsafe_code)]

mod agents;
mod cursor;
mod database;
mod goose;
mod llm;
mod opencode;
mod output;
mod penguin;
mod relocation;
mod session_lines;
mod session_row;
mod system;
mod systems;
#[path = "../convo/terminal/terminal_filter.rs"]
mod terminal_filter;

use clap::Parser;
use convo::error::{Error, ErrorKind, Result};
use convo::format::report::Report;
use database::Database;
use output::Output;
use std::path::PathBuf;
use std::process::ExitCode;
use system::{DatabaseSystem, SystemRow};

/// Print the sessions in a SQLite database
///
/// Opens the database read-only, including its write-ahead log, and creates no files. Detects the type of the database
/// from its tables:
///
/// llm (`logs.db`): threads, and the conversations and responses of older versions.
///
/// openai-agents: sessions of the OpenAI Agents SDK, with any table names; each branch is a session.
///
/// opencode (`opencode.db`): sessions, including those of subagents.
///
/// goose (`sessions.db`): sessions, with the visibility of each message.
///
/// cursor (`state.vscdb` of the Cursor editor): chats, without unused tabs and discarded messages.
///
/// penguin-snapshots (`snapshots/snapshots.db`): one session per snapshot, `snapshot_ID`, whose header names its origin in
/// `metadata.lineage`.
#[derive(Parser, Debug)]
#[command(
    name = "convo sqlite",
    bin_name = "convo sqlite",
    version,
    max_term_width = 110
)]
#[command(after_long_help = "Examples:
  convo sqlite logs.db --list
  convo sqlite logs.db --session 01m7x318 | convo context --to anthropic
  convo sqlite snapshots.db | convo split --per-day --output-dir days/
  convo sqlite snapshots.db --session 900977a9 | convo show
  convo sqlite logs.db > logs.jsonl && convo migrate logs.jsonl")]
struct SqliteArguments {
    /// Database
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// List sessions: id, time, bytes, title
    #[arg(short, long)]
    list: bool,
    /// Print only this session, by id or prefix (repeatable)
    #[arg(long, value_name = "ID", visible_alias = "session")]
    id: Vec<String>,
    /// Type of database [default: detected]
    #[arg(short, long, value_name = "SYSTEM")]
    from: Option<String>,
    /// Fail on damaged sessions and on lossy conversion
    #[arg(long)]
    strict: bool,
    /// Replace a directory by another one where sessions name it as theirs; with --list, only count the rows
    ///
    /// Changes the file: `convo relocate` runs it on a copy.
    #[arg(
        long,
        num_args = 2,
        value_names = ["OLD", "NEW"],
        hide = true,
        conflicts_with_all = ["id", "from", "strict", "json"]
    )]
    relocate: Vec<String>,
    /// Move the write-ahead log into the file
    #[arg(long, hide = true, conflicts_with_all = ["list", "id", "from", "strict", "json", "relocate"])]
    checkpoint: bool,
    /// With --list, print JSON Lines
    #[arg(long, requires = "list")]
    json: bool,
    /// Print the line of --list --json of each session before its records; the newest session first
    #[arg(long, hide = true, conflicts_with_all = ["list", "json", "relocate", "checkpoint"])]
    rows: bool,
}

fn main() -> ExitCode {
    let output = Output::default();
    let arguments = match SqliteArguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ExitCode::from(output.usage(&error)),
    };
    let label = arguments.file.to_string_lossy().into_owned();
    match run(&arguments, &label, &output) {
        Ok(()) => {}
        Err(error) if output.is_closed() => drop(error),
        Err(error) => output.error(&label, &error),
    }
    ExitCode::from(output.status())
}

fn run(arguments: &SqliteArguments, label: &str, output: &Output) -> Result<()> {
    if let [old, new] = arguments.relocate.as_slice() {
        return relocation::run(&arguments.file, [old, new], arguments.list, output);
    }
    if arguments.checkpoint {
        return relocation::checkpoint(&arguments.file);
    }
    let database = Database::open(&arguments.file)?;
    let system = systems::known(&database, arguments.from.as_deref())?;
    let mut rows = system::requested_rows((system.rows)(&database)?, &arguments.id)?;
    if arguments.rows {
        rows.sort_by(|one, other| other.newest().cmp(&one.newest()));
    }
    let printed = match arguments.list {
        true => list(arguments, system, &database, &rows, output),
        false => print(arguments, label, system, &database, &rows, output),
    };
    // The buffered output was read before the failure.
    output.flush()?;
    output.losses(label);
    printed?;
    database.check_unchanged()
}

fn list(
    arguments: &SqliteArguments,
    system: &DatabaseSystem,
    database: &Database,
    rows: &[SystemRow],
    output: &Output,
) -> Result<()> {
    for row in rows {
        let bytes = (system.bytes)(database, row)?;
        let line = match arguments.json {
            true => object(system, row, bytes),
            false => text(row, bytes),
        };
        output.line(line.as_bytes())?;
    }
    Ok(())
}

fn print(
    arguments: &SqliteArguments,
    label: &str,
    system: &DatabaseSystem,
    database: &Database,
    rows: &[SystemRow],
    output: &Output,
) -> Result<()> {
    if database.lacks_its_log() {
        let what =
            "no write-ahead log next to the database; a copy of an open database lacks the newest messages";
        output.note(label, what);
    }
    for row in rows {
        if arguments.rows {
            let bytes = (system.bytes)(database, row)?;
            output.line(object(system, row, bytes).as_bytes())?;
        }
        let mut report = Report::default();
        let read = database.at_once(|| (system.sessions)(database, row, &mut report));
        let sessions = match read {
            Ok(sessions) => sessions,
            // A session that cannot be read does not prevent reading the others.
            Err(error) if error.kind == ErrorKind::Data && !arguments.strict => {
                output.error(label, &about(row, error));
                continue;
            }
            Err(error) => return Err(about(row, error)),
        };
        let whole = report.losses.is_empty() && !report.is_damaged();
        output.report(label, &row.id, report);
        if arguments.strict && !whole {
            let error = Error::data("stopped at a damaged record (--strict)");
            return Err(about(row, error));
        }
        for session in sessions {
            for index in 0..session.len() {
                output.line(session.full(index))?;
            }
        }
    }
    Ok(())
}

fn about(row: &SystemRow, error: Error) -> Error {
    Error {
        message: format!("{}: {}", row.id, error.message),
        at: None,
        ..error
    }
}

fn text(row: &SystemRow, bytes: u64) -> String {
    let flat = |text: &str| text.replace(|c: char| c.is_control(), " ");
    format!(
        "{}\t{}\t{bytes}\t{}",
        flat(&row.id),
        row.time.as_deref().map_or("-".to_string(), flat),
        flat(row.title.as_deref().unwrap_or_default())
    )
}

fn object(system: &DatabaseSystem, row: &SystemRow, bytes: u64) -> String {
    serde_json::json!({
        "schema": "convo.sqlite/1", "system": system.name, "id": row.id, "time": row.time, "bytes": bytes,
        "title": row.title, "updated": row.newest(), "project": row.directory, "parent": row.parent,
        "archived": row.is_archived,
    })
    .to_string()
}
