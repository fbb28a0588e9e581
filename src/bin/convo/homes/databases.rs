//! Homes whose sessions are in a database.

use crate::context::Context;
use crate::programs::database::{self, DatabaseRow};
use convo::home::{FileKind, Home, Transcript};

pub fn is_database(file: &Transcript) -> bool {
    file.kind == FileKind::Database
}

/// Returns the reason if some sessions of a home are not read although its databases are.
pub fn unread(home: &Home, files: &[Transcript]) -> Option<String> {
    match files.iter().any(is_database) {
        true => (!database::is_supported()).then(|| DATABASE.to_string()),
        false => home
            .program
            .format
            .is_none()
            .then(|| "format not supported".to_string()),
    }
}

/// The reason if a home with a database is not read.
pub const DATABASE: &str = "database";

/// Reports in one line which homes are not read and why; `what` names the skipped work.
pub fn report_unread(context: &Context, unread: &[(&str, String)], what: &str) {
    let homes: Vec<String> = unread
        .iter()
        .map(|(program, why)| format!("{program} ({why})"))
        .collect();
    if !homes.is_empty() {
        context
            .output
            .notice("", &format!("{what}: {}", homes.join(", ")));
    }
    if unread.iter().any(|(_, why)| why == DATABASE)
        && let Some(hint) = database::unsupported().hint
    {
        context.output.notice("", &format!("to read databases, {hint}"));
    }
}

/// Represents a session in a database as a file.
pub fn of_row(database: &Transcript, row: &DatabaseRow) -> Transcript {
    Transcript {
        path: database.path.clone(),
        kind: match (&row.parent, row.is_archived) {
            (Some(_), _) => FileKind::Subagent,
            (None, true) => FileKind::Archived,
            (None, false) => FileKind::Session,
        },
        id: Some(row.id.clone()),
        parent: row.parent.clone(),
        bytes: row.bytes,
        modified: row.updated().unwrap_or(database.modified),
        is_in_database: true,
    }
}
