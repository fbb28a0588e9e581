//! Reads the row of a session as JSON values.

use super::database::Database;
use super::system::SystemRow;
use convo::error::{Error, ErrorKind, Result};
use convo::model::json;
use rusqlite::types::ValueRef;

/// The names of columns, and their values as JSON; `None` for NULL.
type SessionRow = (Vec<String>, Vec<Option<Vec<u8>>>);

/// Returns the columns of a session and their values.
///
/// # Errors
/// If the session no longer exists.
pub fn session_row(database: &Database, table: &str, row: &SystemRow) -> Result<SessionRow> {
    let names = database.columns(table)?;
    let query = format!("SELECT * FROM {table} WHERE id = ?1");
    let found = database.first(&query, &[&row.id], |row| {
        (0..names.len())
            .map(|column| Ok(raw(row.get_ref(column)?)))
            .collect()
    })?;
    let values: Vec<_> =
        found.ok_or_else(|| Error::new(ErrorKind::Locked, "the session was deleted by another program"))?;
    Ok((names, values))
}

/// Encodes the value of a column as JSON; `None` for NULL.
fn raw(value: ValueRef<'_>) -> Option<Vec<u8>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string().into_bytes()),
        ValueRef::Real(number) if number.is_finite() => Some(format!("{number:?}").into_bytes()),
        ValueRef::Real(_) => None,
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(json::quoted(&String::from_utf8_lossy(text))),
    }
}
