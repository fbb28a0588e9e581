//! Builds sessions from rows.

use super::database::Database;
use super::system::SystemRow;
use convo::error::Position;
use convo::format::native::HeaderBuilder;
use convo::format::workspace::Workspace;
use convo::model::json::{self, ObjectBuilder};
use convo::model::key;

/// The place of data that is not a line of a file.
pub const NOWHERE: Position = Position { line: 0, offset: 0 };

/// The origin of a session that is not the main one.
pub struct LineageMember<'a> {
    /// `branch`, `fork`, ...
    pub kind: &'static str,
    /// Id of its original in the database.
    pub parent: &'a str,
    /// Id of the last message that both contain.
    pub at: Option<&'a str>,
}

/// Builds the header of the session of a row. `nth` is 0 for the main session and counts its branches; `own` is
/// additional metadata of the system, and `format` the format of its messages.
pub fn header(
    database: &Database,
    (system, format): (&'static str, &str),
    row: &SystemRow,
    nth: usize,
    lineage: Option<&LineageMember<'_>>,
    own: ObjectBuilder,
    workspace: &Workspace,
) -> Vec<u8> {
    let name = name(&row.id, nth);
    let id = key::id_for_key(&name);
    let mut source = ObjectBuilder::default();
    source.text("format", format).text("name", database.name());
    let mut header = HeaderBuilder::default();
    header
        .text("created_at", row.time.as_deref())
        .text("title", row.title.as_deref())
        .text("key", (id != name).then_some(&name))
        .raw("source", source.finish());
    let mut metadata = ObjectBuilder::default();
    workspace.add_to(&mut metadata);
    if let Some(lineage) = lineage {
        let mut reported = ObjectBuilder::default();
        reported
            .text("kind", lineage.kind)
            .text("parent", &key::id_for_key(lineage.parent));
        if let Some(at) = lineage.at {
            reported.text("at", at);
        }
        metadata.raw("lineage", reported.finish());
    }
    if !own.is_empty() {
        metadata.raw(system, own.finish());
    }
    if !metadata.is_empty() {
        header.raw("metadata", metadata.finish());
    }
    header.finish(&id)
}

/// Returns the name of a branch of a row; the main branch has the name of the row.
pub fn name(id: &str, nth: usize) -> String {
    match nth {
        0 => id.to_string(),
        nth => format!("{id}.{nth}"),
    }
}

/// Builds a passthrough record.
pub fn passthrough(system: &str, raw: &[u8]) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event
        .text("type", "foreign")
        .text("format", system)
        .raw("raw", raw);
    event.finish()
}

/// Returns the value on one line; `None` if the bytes are not a JSON value.
pub fn value(raw: &[u8]) -> Option<Vec<u8>> {
    let raw = raw.trim_ascii();
    let end = json::value_end(raw, 0, json::Dialect::Python).ok()?;
    (end == raw.len() && std::str::from_utf8(raw).is_ok()).then(|| json::compact(raw).0)
}

/// Like [`value`], for objects only.
pub fn object(raw: &[u8]) -> Option<Vec<u8>> {
    value(raw).filter(|value| value.starts_with(b"{"))
}
