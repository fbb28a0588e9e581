//! Sessions that are made of rows.

use super::database::Database;
use super::system::Row;
use convo::format::native::HeaderBuilder;
use convo::format::workspace::Workspace;
use convo::model::json::{self, ObjectBuilder};
use convo::model::key;

/// Where a session that is not the main one hangs.
pub struct Lineage<'a> {
    /// `branch`, `fork`, ...
    pub kind: &'static str,
    /// Id of the session that it was made of, in the database.
    pub parent: &'a str,
    /// Id of the last message that both have.
    pub at: Option<&'a str>,
}

/// The first line of the session that a row is; `nth` is 0 for the main one and counts its branches, `own` is what the
/// system has beside, and `format` what its messages are.
pub fn header(
    database: &Database,
    (system, format): (&'static str, &str),
    row: &Row,
    nth: usize,
    lineage: Option<&Lineage<'_>>,
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
        let mut told = ObjectBuilder::default();
        told.text("kind", lineage.kind)
            .text("parent", &key::id_for_key(lineage.parent));
        if let Some(at) = lineage.at {
            told.text("at", at);
        }
        metadata.raw("lineage", told.finish());
    }
    if !own.is_empty() {
        metadata.raw(system, own.finish());
    }
    if !metadata.is_empty() {
        header.raw("metadata", metadata.finish());
    }
    header.finish(&id)
}

/// What a branch of a row is called; the main one has the row's own name.
pub fn name(id: &str, nth: usize) -> String {
    match nth {
        0 => id.to_string(),
        nth => format!("{id}.{nth}"),
    }
}

/// A record that is no message, carried along.
pub fn foreign(system: &str, raw: &[u8]) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event
        .text("type", "foreign")
        .text("format", system)
        .raw("raw", raw);
    event.finish()
}

/// The text as JSON.
pub fn quoted(text: &str) -> Vec<u8> {
    let mut raw = Vec::with_capacity(text.len() + 2);
    json::push_text(&mut raw, text);
    raw
}

/// An array of these values.
pub fn array<V: AsRef<[u8]>>(values: &[V]) -> Vec<u8> {
    let values: Vec<&[u8]> = values.iter().map(AsRef::as_ref).collect();
    [b"[".as_slice(), &values.join(&b','), b"]"].concat()
}

/// The value on one line, when these bytes are one.
pub fn value(raw: &[u8]) -> Option<Vec<u8>> {
    let raw = raw.trim_ascii();
    let end = json::value_end(raw, 0, json::Dialect::Python).ok()?;
    (end == raw.len() && std::str::from_utf8(raw).is_ok()).then(|| json::compact(raw).0)
}

/// The same of an object.
pub fn object(raw: &[u8]) -> Option<Vec<u8>> {
    value(raw).filter(|value| value.starts_with(b"{"))
}
