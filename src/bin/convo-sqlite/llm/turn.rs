//! Data of a turn or response: time, models, usage and settings.

use super::super::database::{self, Database, number, time};
use super::super::session_lines::{self, object};
use super::part;
use convo::error::Result;
use convo::model::json::ObjectBuilder;
use rusqlite::Row;

#[derive(Clone)]
pub struct TurnMetadata {
    /// The time when it began.
    pub time: Option<String>,
    pub model: Option<String>,
    /// Tokens it used: an object.
    pub usage: Option<Vec<u8>>,
    /// Other metadata: an object.
    pub rest: Vec<u8>,
}

/// The columns of a turn. Later versions added those from [`LATER`] on.
const COLUMNS: [&str; 10] = [
    "model", "input_tokens", "output_tokens", "datetime_utc", "resolved_model", "options_json",
    "response_json", "schema_id", "duration_ms", "token_details",
];

const LATER: usize = 4;

/// Selects the columns of a turn from the table, which is called `t`.
pub fn columns(database: &Database, table: &str) -> Result<String> {
    let there = database.columns(table)?;
    let columns = COLUMNS.iter().enumerate().map(|(nth, name)| {
        match nth < LATER || there.iter().any(|column| column == name) {
            true => format!("t.{name}"),
            false => "NULL".to_string(),
        }
    });
    Ok(columns.collect::<Vec<_>>().join(", "))
}

impl TurnMetadata {
    /// Reads a turn from its columns, of which the first is at `first`; `rest` has other metadata.
    pub fn read(row: &Row<'_>, first: usize, mut rest: ObjectBuilder) -> rusqlite::Result<TurnMetadata> {
        let text = |column| database::text(row, first + column);
        let (model, resolved) = (text(0)?, text(4)?);
        // The requested model differs from the one that replied.
        if let (Some(model), Some(_)) = (&model, &resolved) {
            rest.text("model", model);
        }
        for (name, column) in [("options", 5), ("response", 6)] {
            if let Some(value) = filled(row, first + column)? {
                rest.raw(name, value);
            }
        }
        if let Some(schema) = text(7)? {
            rest.text("schema", &schema);
        }
        if let Some(duration) = number(row, first + 8)? {
            rest.raw("duration_ms", duration.to_string());
        }
        Ok(TurnMetadata {
            time: time(row, first + 3)?,
            model: resolved.or(model),
            usage: usage(row, [first + 1, first + 2, first + 9])?,
            rest: rest.finish(),
        })
    }

    pub fn add_metadata(&self, message: &mut ObjectBuilder, own: &mut ObjectBuilder) {
        if let Some(time) = &self.time {
            message.text("timestamp", time);
        }
        if let Some(model) = &self.model {
            message.text("model", model);
        }
        if let Some(usage) = &self.usage {
            message.raw("usage", usage);
        }
        if part::is_filled(&self.rest) {
            own.raw("turn", &self.rest);
        }
    }
}

/// Returns the JSON value of a column; none for null and an empty object.
pub fn filled(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Vec<u8>>> {
    let value = database::bytes(row, column)?;
    let value = value.as_deref().and_then(session_lines::value);
    Ok(value.filter(|value| !matches!(value.as_slice(), b"null" | b"{}")))
}

/// Reads the usage from the columns for input tokens, output tokens and details.
fn usage(row: &Row<'_>, [input, output, details]: [usize; 3]) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut usage = ObjectBuilder::default();
    for (name, column) in [("input_tokens", input), ("output_tokens", output)] {
        if let Some(tokens) = number(row, column)? {
            usage.raw(name, tokens.to_string());
        }
    }
    let details = database::bytes(row, details)?.as_deref().and_then(object);
    if let Some(details) = details.filter(|details| part::is_filled(details)) {
        usage.raw("token_details", details);
    }
    Ok((!usage.is_empty()).then(|| usage.finish()))
}
