//! Every system that stores sessions in a database, and the one to which a database belongs.

use super::database::Database;
use super::system::DatabaseSystem;
use super::{agents, cursor, goose, llm, opencode, penguin};
use convo::error::{Error, Result};
use convo::format::detect::unread_database;

/// Every system, one file each; the first match is used.
const SYSTEMS: [DatabaseSystem; 6] = [
    llm::LOGS,
    agents::SESSIONS,
    opencode::SESSIONS,
    goose::SESSIONS,
    cursor::SESSIONS,
    penguin::SNAPSHOTS,
];

/// Returns the system with this name, or the one whose tables exist.
pub fn known(database: &Database, name: Option<&str>) -> Result<&'static DatabaseSystem> {
    if let Some(name) = name.filter(|name| SYSTEMS.iter().all(|system| system.name != *name)) {
        let error = Error::usage(format!("unknown type of database '{name}'"));
        return Err(error.hint(names()));
    }
    let mut near = None;
    for system in SYSTEMS
        .iter()
        .filter(|system| name.is_none_or(|name| name == system.name))
    {
        match missing(database, system)? {
            None => return Ok(system),
            Some(_) if (system.otherwise)(database)? => return Ok(system),
            Some(Missing::Column(table, column)) if near.is_none() => near = Some((system, table, column)),
            Some(_) => {}
        }
    }
    if let Some((system, table, column)) = near {
        let what = format!(
            "unknown version of {}: the table {table} has no column {column}",
            system.what
        );
        return Err(Error::data(what).hint("update convo"));
    }
    let tables = database.tables()?;
    if let Some(found) = unread_database(&tables).filter(|_| name.is_none()) {
        let error = Error::data(found.problem());
        return Err(error.hint(found.hint.map_or_else(names, str::to_string)));
    }
    let what = match (tables.is_empty(), name) {
        (true, _) => "contains no tables".to_string(),
        (false, None) => format!("contains no supported sessions; tables: {}", tables.join(", ")),
        (false, Some(name)) => format!("not a database of {name}; tables: {}", tables.join(", ")),
    };
    Err(Error::data(what).hint(names()))
}

fn names() -> String {
    let names: Vec<&str> = SYSTEMS.iter().map(|system| system.name).collect();
    format!("supported types: {}", names.join(", "))
}

/// The part of a system's tables that a database lacks.
enum Missing {
    Table,
    Column(&'static str, &'static str),
}

fn missing(database: &Database, system: &DatabaseSystem) -> Result<Option<Missing>> {
    let mut column = None;
    for (table, columns) in system.tables {
        let there = database.columns(table)?;
        if there.is_empty() {
            return Ok(Some(Missing::Table));
        }
        let lacks = |column: &&&'static str| there.iter().all(|name| name != **column);
        let first = columns.iter().find(lacks);
        column = column.or(first.map(|first| Missing::Column(table, first)));
    }
    Ok(column)
}
