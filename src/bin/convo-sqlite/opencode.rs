//! opencode's `opencode.db`: one row per session, message and part. Assembles the document that opencode's export
//! prints, and reads it with the codec of that format.

use super::database::{self, Database, number};
use super::session_lines;
use super::session_row::session_row;
use super::system::{DatabaseSystem, SystemRow};
use convo::error::Result;
use convo::format::report::Report;
use convo::format::{self, DocumentSource, Format};
use convo::model::json::{self, Dialect, ObjectBuilder, array};
use convo::model::session::Session;
use convo::model::time;
use std::collections::{HashMap, VecDeque};

/// The definition of this system.
pub const SESSIONS: DatabaseSystem = DatabaseSystem {
    name: "opencode",
    what: "sessions of opencode",
    tables: &[
        ("session", &["id"]),
        ("message", &["id", "session_id", "data"]),
        ("part", &["id", "message_id", "session_id", "data"]),
    ],
    otherwise: |_| Ok(false),
    rows,
    bytes,
    sessions,
};

/// Columns that have another name in an export.
const KNOWN: [&str; 9] = [
    "id", "project_id", "parent_id", "directory", "title", "version", "time_created", "time_updated",
    "time_archived",
];

fn rows(database: &Database) -> Result<Vec<SystemRow>> {
    let columns = database.columns("session")?;
    let column = |name: &str| match columns.iter().any(|column| column == name) {
        true => database::quoted(name),
        false => "NULL".to_string(),
    };
    let names = [
        "time_created", "title", "time_updated", "directory", "parent_id", "time_archived",
    ];
    let query = format!(
        "SELECT id, {} FROM session ORDER BY id",
        names.map(column).join(", ")
    );
    database.all(&query, &[], |row| {
        let time = |nth| -> rusqlite::Result<_> {
            Ok(number(row, nth)?.and_then(|time| time::from_epoch(time as f64 / 1000.0)))
        };
        let filled =
            |nth| -> rusqlite::Result<_> { Ok(database::text(row, nth)?.filter(|text| !text.is_empty())) };
        Ok(SystemRow {
            id: database::text(row, 0)?.unwrap_or_default(),
            time: time(1)?,
            title: filled(2)?,
            updated: time(3)?,
            directory: filled(4)?,
            parent: filled(5)?,
            is_archived: number(row, 6)?.is_some(),
        })
    })
}

fn bytes(database: &Database, row: &SystemRow) -> Result<u64> {
    let mut sum = 0;
    for table in ["message", "part"] {
        let (from, key) = database.by(table, "session_id")?;
        let query = format!("SELECT sum(octet_length(t.data)) FROM {from} WHERE {key} = ?1");
        let bytes = database.first(&query, &[&row.id], |row| number(row, 0))?;
        sum += bytes.flatten().map_or(0, i64::unsigned_abs);
    }
    Ok(sum)
}

fn sessions(database: &Database, row: &SystemRow, report: &mut Report) -> Result<Vec<Session>> {
    let document = document(database, row)?;
    let source = DocumentSource {
        name: Some(database.name()),
        ..DocumentSource::alone(&document)
    };
    format::convert(Format::Opencode, &source, report)
}

/// Builds the document that an export of the session would print.
fn document(database: &Database, row: &SystemRow) -> Result<Vec<u8>> {
    let (info, extra) = info(database, row)?;
    let mut parts = parts(database, row)?;
    let created = database
        .columns("message")?
        .iter()
        .any(|column| column == "time_created");
    let order = if created { "t.time_created, t.id" } else { "t.id" };
    let (from, key) = database.by("message", "session_id")?;
    let query = format!("SELECT t.id, t.data FROM {from} WHERE {key} = ?1 ORDER BY {order}");
    let stored = database.all(&query, &[&row.id], |row| {
        Ok((
            database::text(row, 0)?.unwrap_or_default(),
            database::bytes(row, 1)?.unwrap_or_default(),
        ))
    })?;
    let mut messages: Vec<Vec<u8>> = Vec::new();
    for (id, data) in stored {
        let mut info = ObjectBuilder::default();
        info.text("id", &id).text("sessionID", &row.id);
        let own = parts.remove(&id).unwrap_or_default();
        messages.push(message(&with_column(info, &data), &own));
    }
    // Parts without a message are preserved as passthrough data.
    let mut left: Vec<_> = parts.into_iter().collect();
    left.sort();
    messages.extend(left.iter().map(|(_, parts)| message(b"null", parts)));
    let mut document = ObjectBuilder::default();
    document.raw("info", info).raw("messages", array(&messages));
    if !extra.is_empty() {
        document.raw("columns", extra.finish());
    }
    Ok(document.finish())
}

fn message(info: &[u8], parts: &[Vec<u8>]) -> Vec<u8> {
    let mut message = ObjectBuilder::default();
    message.raw("info", info).raw("parts", array(parts));
    message.finish()
}

/// Returns the metadata of a session, and the columns that an export does not contain.
fn info(database: &Database, row: &SystemRow) -> Result<(Vec<u8>, ObjectBuilder)> {
    let (names, values) = session_row(database, "session", row)?;
    let get = |name: &str| {
        let at = names.iter().position(|column| column == name)?;
        values.get(at)?.as_deref()
    };
    let mut info = ObjectBuilder::default();
    info.text("id", &row.id);
    let own = [
        ("version", "version"),
        ("projectID", "project_id"),
        ("directory", "directory"),
        ("parentID", "parent_id"),
        ("title", "title"),
    ];
    for (name, column) in own {
        get(column).map(|value| info.raw(name, value));
    }
    let mut times = ObjectBuilder::default();
    for (name, column) in [
        ("created", "time_created"),
        ("updated", "time_updated"),
        ("archived", "time_archived"),
    ] {
        get(column).map(|value| times.raw(name, value));
    }
    info.raw("time", times.finish());
    let mut extra = ObjectBuilder::default();
    for (name, value) in names.iter().zip(&values) {
        if let (false, Some(value)) = (KNOWN.contains(&name.as_str()), value) {
            extra.raw(name, value);
        }
    }
    Ok((info.finish(), extra))
}

/// Returns the parts of each message of a session.
fn parts(database: &Database, row: &SystemRow) -> Result<HashMap<String, Vec<Vec<u8>>>> {
    let (from, key) = database.by("part", "session_id")?;
    let query = format!("SELECT t.id, t.message_id, t.data FROM {from} WHERE {key} = ?1 ORDER BY t.id");
    let stored: VecDeque<_> = database
        .all(&query, &[&row.id], |row| {
            let id = database::text(row, 0)?.unwrap_or_default();
            let of = database::text(row, 1)?.unwrap_or_default();
            Ok((id, of, database::bytes(row, 2)?.unwrap_or_default()))
        })?
        .into();
    let mut parts: HashMap<String, Vec<Vec<u8>>> = HashMap::new();
    for (id, of, data) in stored {
        let mut part = ObjectBuilder::default();
        part.text("id", &id)
            .text("sessionID", &row.id)
            .text("messageID", &of);
        parts.entry(of).or_default().push(with_column(part, &data));
    }
    Ok(parts)
}

/// Adds the members of a column to an object after its ids; a value that is not an object is added as text.
fn with_column(mut built: ObjectBuilder, data: &[u8]) -> Vec<u8> {
    let members = session_lines::object(data);
    match members
        .as_deref()
        .and_then(|data| json::members(data, Dialect::Strict))
    {
        Some(members) => {
            let ids = ["id", "sessionID", "messageID"];
            let own = members.iter().filter(|(name, _)| !ids.contains(&name.as_ref()));
            own.for_each(|(name, value)| {
                built.raw(name, value);
            });
        }
        None => {
            built.text("damaged", &String::from_utf8_lossy(data));
        }
    }
    built.finish()
}
