//! The rows of `list` as an aligned table for people.

use super::Row;
use crate::output::{moment, visible};
use convo::error::Error;
use std::io::Write;

/// The id, as far in as it belongs.
pub fn indented(row: &Row) -> String {
    format!("{}{}", "  ".repeat(row.depth), flat(&row.id))
}

/// A text without what would break a row.
pub fn flat(text: &str) -> String {
    visible(text).replace(['\t', '\n'], " ")
}

/// The rows for people: aligned, and no wider than the terminal.
pub fn table(rows: &[Row], columns: usize, now: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let widest = rows
        .iter()
        .map(|row| indented(row).len())
        .max()
        .unwrap_or(0)
        .max(2);
    let heading = format!("{:<widest$}  {:>8}  {:<16}  TITLE", "ID", "MESSAGES", "UPDATED");
    let line = |row: &Row| {
        let updated = row.updated.as_deref().map_or("-".to_string(), moment);
        let title = flat(row.title.as_deref().unwrap_or_default());
        let health = row
            .ailing(now)
            .map_or(String::new(), |state| format!("[{}] ", state.name()));
        format!(
            "{:<widest$}  {:>8}  {updated:<16}  {health}{title}",
            indented(row),
            row.view
        )
    };
    let heading = (!rows.is_empty()).then_some(heading);
    for mut line in heading.into_iter().chain(rows.iter().map(line)) {
        // Characters may be two columns wide: the last ones go until the line fits.
        while textwrap::core::display_width(&line) > columns.max(widest) {
            line.pop();
        }
        writeln!(out, "{}", line.trim_end()).map_err(|error| Error::io("cannot write", error))?;
    }
    Ok(())
}
