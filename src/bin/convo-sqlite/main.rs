//! Sessions that other systems keep in SQLite databases, as a stream: the verb `convo sqlite`. A plugin, since SQLite
//! takes longer to compile than everything else, and most pipes never meet a database.

mod database;
mod output;
mod penguin;

use clap::Parser;
use convo::error::{Error, Kind, Place, Result};
use convo::format::report::Report;
use convo::model::session::Session;
use database::Database;
use output::Output;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print the sessions of an SQLite database as a stream
///
/// The database is only read, with what its write-ahead log holds, and nothing is made or changed beside it. Known are
/// the snapshots of Penguin (`snapshots/snapshots.db`): each is a session of its own, `snapshot_ID`, whose first line
/// tells in `metadata.lineage` what it was taken of.
#[derive(Parser, Debug)]
#[command(
    name = "convo sqlite",
    bin_name = "convo sqlite",
    version,
    max_term_width = 110
)]
#[command(after_long_help = "Examples:
  convo sqlite snapshots.db --list
  convo sqlite snapshots.db | convo split --per-day --out days/
  convo sqlite snapshots.db --id 900977a9 | convo show -
  convo sqlite snapshots.db > snapshots.jsonl && convo migrate snapshots.jsonl")]
struct Arguments {
    /// The database
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// Only tell which sessions there are: id, time, bytes, title
    #[arg(short, long)]
    list: bool,
    /// Only this one: its id in the database, or the beginning of it (repeatable)
    #[arg(long, value_name = "ID")]
    id: Vec<String>,
    /// With --list: one JSON object a line
    #[arg(long, requires = "list")]
    json: bool,
}

/// A system that keeps sessions in a database: how to know it, and how to read it.
struct System {
    /// Its name.
    name: &'static str,
    /// Tables and columns that it has.
    tables: &'static [(&'static str, &'static [&'static str])],
    /// What there is, in the order in which it is printed.
    rows: fn(&Database) -> Result<Vec<Row>>,
    /// The sessions of a row.
    sessions: fn(&Database, &Row, &mut Report) -> Result<Vec<Session>>,
}

/// Every system; one file each.
const SYSTEMS: [System; 1] = [penguin::SNAPSHOTS];

/// One session of a database, or what stands for it.
struct Row {
    /// Its id there.
    id: String,
    /// When it was written: RFC 3339.
    time: Option<String>,
    /// Bytes of it.
    bytes: u64,
    /// What people call it.
    title: Option<String>,
}

fn main() -> ExitCode {
    let output = Output::default();
    let arguments = match Arguments::try_parse() {
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

fn run(arguments: &Arguments, label: &str, output: &Output) -> Result<()> {
    let database = Database::open(&arguments.file)?;
    let system = known(&database)?;
    let rows = chosen((system.rows)(&database)?, &arguments.id)?;
    for row in rows {
        if arguments.list {
            let line = if arguments.json {
                object(system, &row)
            } else {
                text(&row)
            };
            output.line(line.as_bytes())?;
            continue;
        }
        let mut report = Report::default();
        let sessions = match (system.sessions)(&database, &row, &mut report) {
            Ok(sessions) => sessions,
            // One that is damaged beyond reading keeps none of the others back.
            Err(error) if error.kind == Kind::Data => {
                output.error(label, &about(&row, error));
                continue;
            }
            Err(error) => return Err(error),
        };
        output.report(label, &row.id, report);
        for session in sessions {
            for index in 0..session.len() {
                output.line(session.full(index))?;
            }
        }
    }
    output.flush()?;
    database.is_as_it_was()
}

fn about(row: &Row, error: Error) -> Error {
    Error {
        message: format!("{}: {}", row.id, error.message),
        at: None,
        ..error
    }
}

/// The system whose tables are there.
fn known(database: &Database) -> Result<&'static System> {
    for system in &SYSTEMS {
        let mut all = true;
        for (table, columns) in system.tables {
            let there = database.columns(table)?;
            all &= columns
                .iter()
                .all(|column| there.iter().any(|name| name == column));
        }
        if all {
            return Ok(system);
        }
    }
    let tables = database.tables()?;
    let what = match tables.is_empty() {
        true => "no tables in it".to_string(),
        false => format!(
            "no sessions that this version reads: its tables are {}",
            tables.join(", ")
        ),
    };
    let names: Vec<&str> = SYSTEMS.iter().map(|system| system.name).collect();
    Err(Error::new(Kind::Data, what).hint(format!("known are {}", names.join(", "))))
}

/// The rows that are asked for, in their order; each is named by its id or the beginning of it.
fn chosen(rows: Vec<Row>, ids: &[String]) -> Result<Vec<Row>> {
    if ids.is_empty() {
        return Ok(rows);
    }
    let mut wanted = Vec::new();
    for id in ids {
        let exact = rows.iter().position(|row| row.id == *id);
        let begins: Vec<usize> = (0..rows.len())
            .filter(|nth| rows[*nth].id.starts_with(id))
            .collect();
        match (exact, begins.as_slice()) {
            (Some(nth), _) => wanted.push(nth),
            (None, [nth]) => wanted.push(*nth),
            (None, []) => {
                let error = Error::new(Kind::NotFound, format!("no session {id} in it"));
                return Err(error.hint("--list tells which there are"));
            }
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|nth| rows[*nth].id.as_str()).collect();
                let what = format!("{id} is the beginning of {}", names.join(", "));
                return Err(Error::new(Kind::NotFound, what));
            }
        }
    }
    let numbered = rows.into_iter().enumerate();
    Ok(numbered
        .filter(|(nth, _)| wanted.contains(nth))
        .map(|(_, row)| row)
        .collect())
}

fn text(row: &Row) -> String {
    let flat = |text: &str| text.replace(|c: char| c.is_control(), " ");
    format!(
        "{}\t{}\t{}\t{}",
        flat(&row.id),
        row.time.as_deref().map_or("-".to_string(), flat),
        row.bytes,
        flat(row.title.as_deref().unwrap_or_default())
    )
}

fn object(system: &System, row: &Row) -> String {
    serde_json::json!({
        "schema": "convo.sqlite/1", "system": system.name, "id": row.id, "time": row.time, "bytes": row.bytes,
        "title": row.title,
    })
    .to_string()
}

/// A place that is no line of a file.
const NOWHERE: Place = Place { line: 0, offset: 0 };
