//! Changes the working directories of sessions in the databases of other programs after a project was moved. `convo
//! relocate` runs it on a copy, which then replaces the database.

use super::database::{self, Database, failed, quoted};
use super::output::Output;
use convo::error::{Error, ErrorKind, Result};
use convo::home::relocation::Renames;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// Columns that contain working directories, and other columns that identify their tables.
const PLACES: [(&str, &str, &[&str]); 4] = [
    ("threads", "cwd", &["rollout_path"]),
    ("session", "directory", &["project_id", "slug"]),
    ("project", "worktree", &["vcs"]),
    ("sessions", "working_dir", &["session_type"]),
];

/// Prints the number of rows per column that contain the directory or one below it; changes them unless `only_list` is
/// set.
///
/// # Errors
/// Returns the errors of reading and writing the database.
pub fn run(path: &Path, [old, new]: [&str; 2], only_list: bool, output: &Output) -> Result<()> {
    let renames = Renames::new(old, new);
    let found = find(&Database::open(path)?, &renames)?;
    if !only_list && !found.is_empty() {
        change(path, &found)?;
    }
    let mut counts: Vec<(&str, &str, u64)> = Vec::new();
    for FoundValue {
        table, column, rows, ..
    } in &found
    {
        match counts.last_mut() {
            Some(last) if (last.0, last.1) == (*table, *column) => last.2 += rows,
            _ => counts.push((table, column, *rows)),
        }
    }
    for (table, column, rows) in counts {
        let line = serde_json::json!({
            "schema": "convo.sqlite-relocated/1", "member": format!("{table}.{column}"), "rows": rows,
        });
        output.line(line.to_string().as_bytes())?;
    }
    output.flush()
}

/// Moves the write-ahead log into the file; programs may leave a log when they exit.
///
/// # Errors
/// [`ErrorKind::Locked`] if another program has the database open.
pub fn checkpoint(path: &Path) -> Result<()> {
    let connection = writable(path)?;
    let busy = connection.query_row(CHECKPOINT, [], |row| row.get::<_, i64>(0));
    if busy.map_err(failed)? != 0 {
        return Err(Error::new(
            ErrorKind::Locked,
            "another program has the database open",
        ));
    }
    connection.close().map_err(|(_, error)| failed(error))
}

const CHECKPOINT: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// Opens a database for writing, with triggers disabled so that nothing else changes.
fn writable(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)
        .map_err(failed)?;
    connection
        .pragma_update(None, "trusted_schema", false)
        .map_err(failed)?;
    Ok(connection)
}

/// A value of a column that contains the directory.
struct FoundValue {
    table: &'static str,
    column: &'static str,
    value: String,
    new: String,
    rows: u64,
}

fn find(database: &Database, renames: &Renames) -> Result<Vec<FoundValue>> {
    let mut found = Vec::new();
    for (table, column, others) in PLACES {
        let columns = database.columns(table)?;
        let has = |name: &&str| columns.iter().any(|column| column == name);
        if !has(&column) || !others.iter().all(has) {
            continue;
        }
        let (of, own) = (quoted(table), quoted(column));
        let query = format!(
            "SELECT {own}, count(*) FROM {of} WHERE typeof({own}) = 'text' GROUP BY {own} ORDER BY {own}"
        );
        let values = database.all(&query, &[], |row| {
            let rows = database::number(row, 1)?.map_or(0, i64::unsigned_abs);
            Ok((database::text(row, 0)?.unwrap_or_default(), rows))
        })?;
        found.extend(values.into_iter().filter_map(|(value, rows)| {
            Some(FoundValue {
                table,
                column,
                new: renames.path(&value)?,
                value,
                rows,
            })
        }));
    }
    Ok(found)
}

/// Changes all values in one transaction.
fn change(path: &Path, found: &[FoundValue]) -> Result<()> {
    let mut connection = writable(path)?;
    let transaction = connection.transaction().map_err(failed)?;
    for one in found {
        let (table, column) = (quoted(one.table), quoted(one.column));
        let update = format!("UPDATE {table} SET {column} = ?1 WHERE {column} = ?2");
        let changed = transaction
            .execute(&update, [&one.new, &one.value])
            .map_err(failed)?;
        if changed as u64 != one.rows {
            let what = format!("{}.{} changed while it was read", one.table, one.column);
            return Err(Error::new(ErrorKind::Locked, what));
        }
    }
    transaction.commit().map_err(failed)?;
    // Moves the write-ahead log into the file.
    connection.query_row(CHECKPOINT, [], |_| Ok(())).map_err(failed)?;
    connection.close().map_err(|(_, error)| failed(error))
}
