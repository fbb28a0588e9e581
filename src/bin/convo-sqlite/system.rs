//! What a system that stores sessions in a database provides: how to detect and read it.

use super::database::Database;
use convo::error::{Error, ErrorKind, Result};
use convo::format::report::Report;
use convo::model::session::Session;

/// A system that stores sessions in a database.
pub struct DatabaseSystem {
    pub name: &'static str,
    /// Description for users.
    pub what: &'static str,
    /// Tables and columns that identify it.
    pub tables: &'static [(&'static str, &'static [&'static str])],
    /// Detects this system if its tables have other names.
    pub otherwise: fn(&Database) -> Result<bool>,
    /// Returns its sessions, in the order in which they are printed.
    pub rows: fn(&Database) -> Result<Vec<SystemRow>>,
    /// Returns the size of a row in bytes, without data shared with other rows.
    pub bytes: fn(&Database, &SystemRow) -> Result<u64>,
    /// Converts a row to sessions: the main one, its branches, its sidechains.
    pub sessions: fn(&Database, &SystemRow, &mut Report) -> Result<Vec<Session>>,
}

/// A session in a database.
#[derive(Default)]
pub struct SystemRow {
    /// Its id in the database.
    pub id: String,
    /// When it was created: RFC 3339.
    pub time: Option<String>,
    pub title: Option<String>,
    /// When it was last changed, if later: RFC 3339.
    pub updated: Option<String>,
    /// The working directory.
    pub directory: Option<String>,
    /// The session that started it.
    pub parent: Option<String>,
    /// Whether its program has archived it.
    pub is_archived: bool,
}

impl SystemRow {
    /// Returns the time of the last change.
    pub fn newest(&self) -> Option<&str> {
        self.updated.as_deref().or(self.time.as_deref())
    }
}

/// Returns the requested rows in their order; each is selected by its id or a prefix of it.
pub fn requested_rows(rows: Vec<SystemRow>, ids: &[String]) -> Result<Vec<SystemRow>> {
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
                let error = Error::new(ErrorKind::NotFound, format!("{id}: no such session"));
                return Err(error.hint("list sessions with --list"));
            }
            (None, several) => {
                let shown = several.iter().take(SHOWN).map(|nth| rows[*nth].id.as_str());
                let shown = shown.collect::<Vec<_>>().join(", ");
                let more = match several.len().saturating_sub(SHOWN) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let what = format!("{id}: ambiguous: matches {shown}{more}");
                return Err(Error::new(ErrorKind::NotFound, what));
            }
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    let mut wanted = wanted.into_iter().peekable();
    let numbered = rows.into_iter().enumerate();
    Ok(numbered
        .filter(|(nth, _)| wanted.next_if_eq(nth).is_some())
        .map(|(_, row)| row)
        .collect())
}

/// Maximum number of ids that the error for an ambiguous prefix lists.
const SHOWN: usize = 5;
