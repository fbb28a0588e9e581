//! The report of an archive: one row per session.

use crate::args::TimeOptions;
use crate::context::Context;
use crate::output::path_name;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use convo::error::{Error, Kind};
use convo::store::copies::Outcome;
use std::path::Path;

/// The outcome of a session: the most important outcome of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    Of(Outcome),
    /// Written back to its home.
    Back,
    /// A difference found by --verify.
    Differs,
    Busy,
    Failed,
}

impl Word {
    const fn name(self) -> &'static str {
        match self {
            Word::Of(outcome) => outcome.name(),
            Word::Back => "back",
            Word::Differs => "differs",
            Word::Busy => "busy",
            Word::Failed => "failed",
        }
    }
}

/// A session in the report.
pub struct Row {
    pub word: Word,
    name: String,
    pub bytes: u64,
    errors: Vec<(Kind, String)>,
    hint: Option<String>,
    /// Files that differ.
    found: Vec<(&'static str, String)>,
}

impl Row {
    pub fn new(name: &str, word: Word) -> Row {
        Row {
            word,
            name: name.to_string(),
            bytes: 0,
            errors: Vec::new(),
            hint: None,
            found: Vec::new(),
        }
    }

    /// Adds an error. Data that cannot be read or written results in status 74.
    pub fn failed(mut self, error: &Error) -> Row {
        let (word, kind) = match error.kind {
            Kind::Locked => (Word::Busy, Kind::Locked),
            kind @ (Kind::Unsure | Kind::Data | Kind::Exists | Kind::NotFound | Kind::Usage) => {
                (Word::Failed, kind)
            }
            _ => (Word::Failed, Kind::InputOutput),
        };
        self.word = self.word.max(word);
        self.errors.push((kind, error.message.clone()));
        self.hint.clone_from(&error.hint);
        self
    }

    /// Adds a file that differs.
    pub fn find(&mut self, what: &'static str, path: &Path) {
        self.word = self.word.max(Word::Differs);
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
pub struct Report<'r> {
    pub context: &'r Context,
    pub json: bool,
}

impl Report<'_> {
    /// Prints the rows and reports errors.
    pub fn print(&self, rows: impl Iterator<Item = Row>) -> anyhow::Result<()> {
        let output = &self.context.output;
        let rows: Vec<Row> = rows.collect();
        for row in &rows {
            for (kind, message) in &row.errors {
                let error = Error::new(*kind, message.clone());
                let error = match &row.hint {
                    Some(hint) => error.hint(hint.clone()),
                    None => error,
                };
                output.error(&crate::context::named(error, &row.name));
            }
            if row.word == Word::Differs {
                output.note_status(Kind::No);
            }
        }
        if output.is_quiet() {
            return Ok(());
        }
        let shown = rows
            .iter()
            .filter(|row| output.verbose || row.word != Word::Of(Outcome::Same));
        if self.json {
            return output.done(output.rows(false, shown.map(Row::object)));
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
