//! Penguin's `snapshots/snapshots.db`: a table of session documents; each row is a snapshot of a session.

use super::database::{self, Database, utc};
use super::session_lines::NOWHERE;
use super::system::{DatabaseSystem, SystemRow};
use convo::error::{Error, ErrorKind, Result};
use convo::format::report::Report;
use convo::format::{self, DocumentSource, Format};
use convo::model::json::{self, ObjectBuilder, quoted};
use convo::model::key;
use convo::model::session::{Class, Session};

/// The definition of this system.
pub const SNAPSHOTS: DatabaseSystem = DatabaseSystem {
    name: "penguin-snapshots",
    what: "snapshots of Penguin",
    tables: &[("snapshots", &["id", "parent_id", "timestamp", "payload", "meta"])],
    otherwise: |_| Ok(false),
    rows,
    bytes,
    sessions,
};

fn rows(database: &Database) -> Result<Vec<SystemRow>> {
    let query = "SELECT id, timestamp, meta FROM snapshots ORDER BY timestamp, id";
    database.all(query, &[], |row| {
        let meta = database::bytes(row, 2)?.unwrap_or_default();
        let name = json::member_text(&meta, "name");
        Ok(SystemRow {
            id: database::text(row, 0)?.unwrap_or_default(),
            time: database::text(row, 1)?.and_then(|text| utc(&text)),
            title: name.map(|name| name.into_owned()),
            ..SystemRow::default()
        })
    })
}

fn bytes(database: &Database, row: &SystemRow) -> Result<u64> {
    let query = "SELECT octet_length(payload) FROM snapshots WHERE id = ?1";
    let bytes = database.first(query, &[&row.id], |row| row.get::<_, Option<i64>>(0))?;
    Ok(bytes.flatten().map_or(0, i64::unsigned_abs))
}

/// The columns of a snapshot.
struct Snapshot {
    parent: Option<String>,
    payload: Vec<u8>,
    meta: Option<Vec<u8>>,
}

fn sessions(database: &Database, row: &SystemRow, report: &mut Report) -> Result<Vec<Session>> {
    let query = "SELECT parent_id, payload, meta FROM snapshots WHERE id = ?1";
    let found = database.first(query, &[&row.id], |row| {
        Ok(Snapshot {
            parent: database::text(row, 0)?.filter(|parent| !parent.is_empty()),
            payload: database::bytes(row, 1)?.unwrap_or_default(),
            meta: database::bytes(row, 2)?,
        })
    })?;
    let Some(snapshot) = found else {
        return Err(Error::new(
            ErrorKind::Locked,
            format!("{}: deleted by another program", row.id),
        ));
    };
    let read = format::convert(Format::Penguin, &DocumentSource::alone(&snapshot.payload), report)?;
    read.iter()
        .map(|session| renamed(session, row, &snapshot, report))
        .collect()
}

/// Gives the session an id of its own, because all snapshots of a session contain the id of that session.
fn renamed(session: &Session, row: &SystemRow, snapshot: &Snapshot, report: &mut Report) -> Result<Session> {
    let mut built = Session::default();
    for index in 0..session.len() {
        if session.class(index) == Class::Header {
            let header = header(session, index, row, snapshot, report)?;
            built.push_new(&header);
        } else {
            built.push_from(session, index);
        }
    }
    Ok(built)
}

fn header(
    session: &Session,
    index: usize,
    row: &SystemRow,
    snapshot: &Snapshot,
    report: &mut Report,
) -> Result<Vec<u8>> {
    let before = session.record(index).body;
    let mut lineage = ObjectBuilder::default();
    match (&snapshot.parent, session.header_text("id")) {
        (Some(parent), _) => drop(lineage.text("kind", "branch").text("parent", &id(parent))),
        (None, Some(parent)) => drop(lineage.text("kind", "fork").text("parent", &parent)),
        (None, None) => drop(lineage.text("kind", "fork")),
    }
    if let Some(time) = &row.time {
        lineage.text("at", time);
    }
    let mut about = ObjectBuilder::default();
    about.text("id", &row.id);
    if let Some(own) = session.header_text("id") {
        about.text("session", &own);
    }
    if let Some(meta) = &snapshot.meta {
        match json::value_end(meta, 0, json::Dialect::Strict) {
            Ok(end) if end == meta.len() => drop(about.raw("meta", json::compact(meta).0)),
            _ => report.damage(NOWHERE, "meta is not valid JSON; skipped"),
        }
    }
    let metadata = json::member(before, "metadata").unwrap_or(b"{}");
    let (lineage, about) = (lineage.finish(), about.finish());
    let inner = json::member(metadata, "penguin").unwrap_or(b"{}");
    let built = json::with_members(inner, &[("snapshot", Some(&about))]).and_then(|inner| {
        let changes: [(&str, Option<&[u8]>); 2] = [("lineage", Some(&lineage)), ("penguin", Some(&inner))];
        let metadata = json::with_members(metadata, &changes)?;
        let (own, title) = (quoted(&id(&row.id)), row.title.as_deref().map(quoted));
        let mut changes: Vec<(&str, Option<&[u8]>)> = vec![("id", Some(&own)), ("metadata", Some(&metadata))];
        // Uses the name of the snapshot if the session has no title.
        if let (Some(title), None) = (&title, session.header_text("title")) {
            changes.push(("title", Some(title)));
        }
        json::with_members(before, &changes)
    });
    built.map_err(|fault| Error::data(fault.what))
}

/// Returns the id of the session of a snapshot.
fn id(snapshot: &str) -> String {
    key::id_for_key(&format!("snapshot_{snapshot}"))
}
