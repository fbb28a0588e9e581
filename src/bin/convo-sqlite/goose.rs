//! goose's `sessions.db`: one row per session and message. Assembles the document that goose's export prints, and reads
//! it with the codec of that format.

use super::database::{self, Database, number, utc};
use super::session_lines;
use super::session_row::session_row;
use super::system::{DatabaseSystem, SystemRow};
use convo::error::Result;
use convo::format::report::Report;
use convo::format::{self, DocumentSource, Format};
use convo::model::json::{ObjectBuilder, array, quoted};
use convo::model::session::Session;

/// The definition of this system.
pub const SESSIONS: DatabaseSystem = DatabaseSystem {
    name: "goose",
    what: "sessions of goose",
    tables: &[
        ("schema_version", &[]),
        ("sessions", &["id", "working_dir", "created_at"]),
        (
            "messages",
            &["id", "session_id", "role", "content_json", "created_timestamp"],
        ),
    ],
    otherwise: |_| Ok(false),
    rows,
    bytes,
    sessions,
};

fn rows(database: &Database) -> Result<Vec<SystemRow>> {
    let columns = database.columns("sessions")?;
    let column = |name: &str| match columns.iter().any(|column| column == name) {
        true => format!("nullif({}, '')", database::quoted(name)),
        false => "NULL".to_string(),
    };
    let title = format!("coalesce({}, {})", column("name"), column("description"));
    let updated = column("updated_at");
    let query = format!("SELECT id, created_at, {title}, {updated}, working_dir FROM sessions ORDER BY id");
    database.all(&query, &[], |row| {
        let time = |nth| -> rusqlite::Result<_> { Ok(database::text(row, nth)?.and_then(|time| utc(&time))) };
        Ok(SystemRow {
            id: database::text(row, 0)?.unwrap_or_default(),
            time: time(1)?,
            title: database::text(row, 2)?,
            updated: time(3)?,
            directory: database::text(row, 4)?,
            ..SystemRow::default()
        })
    })
}

fn bytes(database: &Database, row: &SystemRow) -> Result<u64> {
    let (from, key) = database.by("messages", "session_id")?;
    let query = format!("SELECT sum(octet_length(t.content_json)) FROM {from} WHERE {key} = ?1");
    let bytes = database.first(&query, &[&row.id], |row| number(row, 0))?;
    Ok(bytes.flatten().map_or(0, i64::unsigned_abs))
}

fn sessions(database: &Database, row: &SystemRow, report: &mut Report) -> Result<Vec<Session>> {
    let messages = messages(database, row)?;
    let mut document = about(database, row)?;
    document
        .raw("conversation", array(&messages))
        .raw("message_count", messages.len().to_string());
    let document = document.finish();
    let source = DocumentSource {
        name: Some(database.name()),
        ..DocumentSource::alone(&document)
    };
    format::convert(Format::Goose, &source, report)
}

/// Returns the metadata of a session in the form of an export.
fn about(database: &Database, row: &SystemRow) -> Result<ObjectBuilder> {
    let (names, values) = session_row(database, "sessions", row)?;
    let mut about = ObjectBuilder::default();
    for (name, value) in names.iter().zip(values) {
        let Some(value) = value else {
            about.raw(name.strip_suffix("_json").unwrap_or(name), "null");
            continue;
        };
        let text = || convo::model::json::text(&value).unwrap_or_default();
        match name.as_str() {
            "user_set_name" => about.raw(name, if value == b"0" { "false" } else { "true" }),
            "created_at" | "updated_at" => {
                about.text(name, &utc(&text()).unwrap_or_else(|| text().into_owned()))
            }
            // JSON columns are JSON in an export too.
            name if name == "extension_data" || name.ends_with("_json") => {
                let inner = session_lines::value(text().as_bytes()).unwrap_or_else(|| value.clone());
                about.raw(name.strip_suffix("_json").unwrap_or(name), inner)
            }
            name => about.raw(name, &value),
        };
    }
    Ok(about)
}

/// Returns the messages of a session in row order.
fn messages(database: &Database, row: &SystemRow) -> Result<Vec<Vec<u8>>> {
    let columns = database.columns("messages")?;
    let column = |name: &str| match columns.iter().any(|column| column == name) {
        true => format!("t.{}", database::quoted(name)),
        false => "NULL".to_string(),
    };
    let (from, key) = database.by("messages", "session_id")?;
    let query = format!(
        "SELECT t.role, t.content_json, t.created_timestamp, {}, {}, {} FROM {from} WHERE {key} = ?1 ORDER BY t.id",
        column("metadata_json"),
        column("tokens"),
        column("message_id"),
    );
    database.all(&query, &[&row.id], |row| {
        let content = database::bytes(row, 1)?.unwrap_or_default();
        let mut message = ObjectBuilder::default();
        message
            .raw(
                "id",
                database::text(row, 5)?.map_or(b"null".to_vec(), |id| quoted(&id)),
            )
            .text("role", &database::text(row, 0)?.unwrap_or_default())
            .raw("created", number(row, 2)?.unwrap_or(0).to_string());
        // Content that is not a list of blocks becomes a string; the codec reports it.
        let blocks = session_lines::value(&content).filter(|value| value.starts_with(b"["));
        message.raw(
            "content",
            blocks.unwrap_or_else(|| quoted(&String::from_utf8_lossy(&content))),
        );
        if let Some(metadata) = database::bytes(row, 3)?.and_then(|raw| session_lines::object(&raw)) {
            message.raw("metadata", metadata);
        }
        if let Some(tokens) = number(row, 4)? {
            message.raw("tokens", tokens.to_string());
        }
        Ok(message.finish())
    })
}
