//! Sessions in databases, each of which is copied as a record stream.

use crate::homes;
use crate::programs::database;
use convo::home::{BundleFile, Home, Transcript};
use convo::model::key;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Clone)]
pub struct DatabaseSession {
    pub database: PathBuf,
    pub id: String,
    /// Its time and size, which identify its version.
    pub state: String,
}

/// A session in a database that has to be copied.
pub struct Stale<'w> {
    pub database: &'w Path,
    pub id: &'w str,
}

/// Record streams by path.
pub type Rows = BTreeMap<PathBuf, (BundleFile, DatabaseSession)>;

/// Adds the sessions of a database by their names.
pub fn add(
    home: &Home,
    database: &Transcript,
    found: Vec<database::DatabaseRow>,
    rows: &mut BTreeMap<String, Rows>,
) {
    let base = home.base_of_databases();
    let below = database.path.strip_prefix(base).unwrap_or(&database.path);
    for row in found {
        let name = homes::own_name(&row.id, row.parent.as_deref());
        let path = below.join(format!("{}.jsonl", key::id_for_key(&row.id)));
        let piece = BundleFile {
            kind: "transcript",
            bytes: row.bytes,
            modified: (0, 0),
        };
        let row = DatabaseSession {
            database: database.path.clone(),
            state: row.state(),
            id: row.id,
        };
        rows.entry(name).or_default().insert(path, (piece, row));
    }
}
