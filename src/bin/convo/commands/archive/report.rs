//! The report of an archive: one row per session.

use crate::args::TimeOptions;
use crate::context::Context;
use crate::output::path_name;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use convo::error::{Error, ErrorKind};
use convo::store::copies::CopyOutcome;
use std::path::Path;

/// The outcome of a session: the most important outcome of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionOutcome {
    Of(CopyOutcome),
    /// Written back to its home.
    Back,
    /// A difference found by --verify.
    Differs,
    Busy,
    Failed,
}

impl SessionOutcome {
    const fn name(self) -> &'static str {
        match self {
            SessionOutcome::Of(outcome) => outcome.name(),
            SessionOutcome::Back => "back",
            SessionOutcome::Differs => "differs",
            SessionOutcome::Busy => "busy",
            SessionOutcome::Failed => "failed",
        }
    }
}

pub struct ArchiveRow {
    pub word: SessionOutcome,
    name: String,
    pub bytes: u64,
    errors: Vec<(ErrorKind, String)>,
    hint: Option<String>,
    /// Files that differ.
    found: Vec<(&'static str, String)>,
}

impl ArchiveRow {
    pub fn new(name: &str, word: SessionOutcome) -> ArchiveRow {
        ArchiveRow {
            word,
            name: name.to_string(),
            bytes: 0,
            errors: Vec::new(),
            hint: None,
            found: Vec::new(),
        }
    }

    /// Adds an error. Data that cannot be read or written results in status 74.
    pub fn failed(self, error: &Error) -> ArchiveRow {
        let (word, kind) = match error.kind {
            ErrorKind::Locked => (SessionOutcome::Busy, ErrorKind::Locked),
            kind @ (ErrorKind::Unsure
            | ErrorKind::Data
            | ErrorKind::Exists
            | ErrorKind::NotFound
            | ErrorKind::Usage) => (SessionOutcome::Failed, kind),
            _ => (SessionOutcome::Failed, ErrorKind::InputOutput),
        };
        self.with_error(word, kind, error)
    }

    /// Adds an error with its own status.
    pub fn refused(self, error: &Error) -> ArchiveRow {
        self.with_error(SessionOutcome::Failed, error.kind, error)
    }

    fn with_error(mut self, word: SessionOutcome, kind: ErrorKind, error: &Error) -> ArchiveRow {
        self.word = self.word.max(word);
        self.errors.push((kind, error.message.clone()));
        self.hint.clone_from(&error.hint);
        self
    }

    /// Adds a file that differs.
    pub fn find(&mut self, what: &'static str, path: &Path) {
        self.word = self.word.max(SessionOutcome::Differs);
        self.found.push((what, path_name(path)));
    }

    fn object(&self) -> String {
        let files: Vec<_> = self
            .found
            .iter()
            .map(|(what, path)| serde_json::json!({"problem": what, "path": path}))
            .collect();
        let errors: Vec<&str> = self.errors.iter().map(|(_, error)| error.as_str()).collect();
        serde_json::json!({
            "schema": "convo.archived/1", "outcome": self.word.name(), "name": self.name, "bytes": self.bytes,
            "files": files, "errors": errors,
        })
        .to_string()
    }
}

const COLUMNS: [Column; 3] = [
    Column::text("OUTCOME"),
    Column::rest("SESSION"),
    Column::number("BYTES"),
];

/// The options of the output.
pub struct ArchiveReport<'r> {
    pub context: &'r Context,
    pub json: bool,
}

impl ArchiveReport<'_> {
    /// Prints the rows and reports errors.
    pub fn print(&self, rows: impl Iterator<Item = ArchiveRow>) -> anyhow::Result<()> {
        let output = &self.context.output;
        let rows: Vec<ArchiveRow> = rows.collect();
        for row in &rows {
            for (kind, message) in &row.errors {
                let error = Error::new(*kind, message.clone());
                let error = match &row.hint {
                    Some(hint) => error.hint(hint.clone()),
                    None => error,
                };
                output.error(&crate::errors::named(error, &row.name));
            }
            if row.word == SessionOutcome::Differs {
                output.note_status(ErrorKind::No);
            }
        }
        if output.is_quiet() {
            return Ok(());
        }
        let shown = rows
            .iter()
            .filter(|row| output.verbose || row.word != SessionOutcome::Of(CopyOutcome::Same));
        if self.json {
            return output.done(output.rows(false, shown.map(ArchiveRow::object)));
        }
        let cells = shown.flat_map(|row| {
            let cells = |word: &str, name: &str, bytes: Option<u64>| {
                vec![
                    Cell::Text(word.to_string()),
                    Cell::Text(name.to_string()),
                    Cell::Bytes(bytes),
                ]
            };
            match row.found.is_empty() {
                true => vec![cells(row.word.name(), &row.name, Some(row.bytes))],
                false => row
                    .found
                    .iter()
                    .map(|(what, path)| cells(what, &format!("{} {path}", row.name), None))
                    .collect(),
            }
        });
        let times = Times::new(TimeOptions::default(), &self.context.clock);
        output.done(Table::new(&COLUMNS, &times).print(output, cells))
    }
}
