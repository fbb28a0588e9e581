//! Builds the header of a part or a fork: members of the session's header and the lineage.

use super::plan::PlannedSplit;
use crate::model::event::begin_session;
use crate::model::header;
use crate::model::json::{self, Dialect, ObjectBuilder};
use std::borrow::Cow;

/// Members that are not copied, because they apply only to the session or each part has its own.
const NOT_COPIED: [&str; 11] = [
    "type", "version", "id", "created_at", "title", "key", "tokenizer", "continued_from",
    "continuation_index", "source", "metadata",
];

/// Links of another system to neighboring sessions; each part has its own.
const LINKS: [&str; 4] = [
    "continued_from", "continued_to", "continuation_index", "continuation_time",
];

/// Maximum depth at which links are searched.
const NESTED: u32 = 2;

/// Maximum size in bytes of a member that is copied into every part; larger ones are only in the first, to limit the
/// total size.
const REPEATED: usize = 4096;

/// The header of part number `nth`, from 0.
pub(super) fn header(split: &PlannedSplit<'_>, nth: usize) -> Vec<u8> {
    let (before, count) = (split.header, split.parts.len());
    let text = |name: &str| {
        let value = before.iter().find(|(known, _)| known == name);
        value.and_then(|(_, raw)| json::text(raw).map(Cow::into_owned))
    };
    let mut line = begin_session(&split.id(nth));
    let created = match nth {
        0 => text("created_at").or_else(|| split.began(0)),
        _ => split.began(nth).or_else(|| text("created_at")),
    };
    if let Some(created) = created {
        line.text("created_at", &created);
    }
    if let Some(title) = text("title").filter(|title| !title.trim().is_empty()) {
        line.text("title", &format!("{title} ({}/{count})", nth + 1));
    }
    // The tokenizer used for the existing counts, whatever a later event set.
    if let Some(tokenizer) = &split.tokenizer {
        line.text("tokenizer", tokenizer);
    }
    if let Some(before) = nth.checked_sub(1) {
        line.text("continued_from", &split.id(before));
    }
    line.raw("continuation_index", nth.to_string());
    for (name, value) in before {
        if !NOT_COPIED.contains(&name.as_str()) && (nth == 0 || value.len() <= REPEATED) {
            line.raw(name, value);
        }
    }
    let metadata = before.iter().find(|(name, _)| name == "metadata");
    let mut lineage = ObjectBuilder::default();
    lineage.text("kind", "split");
    // The original title; each part's own title includes its number.
    for (name, value) in [("parent", text("id")), ("title", text("title"))] {
        if let Some(value) = value {
            lineage.text(name, &value);
        }
    }
    lineage
        .raw("part", (nth + 1).to_string())
        .raw("parts", count.to_string());
    let metadata = metadata.map(|(_, raw)| raw.as_slice());
    line.raw("metadata", metadata_of(metadata, &lineage.finish(), nth));
    line.finish()
}

/// The header of a fork with the stem as id.
pub(super) fn of_fork(split: &PlannedSplit<'_>, at: Option<&str>, created_at: Option<&str>) -> Vec<u8> {
    let mut line = begin_session(&split.stem);
    if let Some(created) = created_at {
        line.text("created_at", created);
    }
    if let Some(tokenizer) = &split.tokenizer {
        line.text("tokenizer", tokenizer);
    }
    for (name, value) in split.header {
        if name == "title" || !NOT_COPIED.contains(&name.as_str()) {
            line.raw(name, value);
        }
    }
    let member = |name: &str| header::member(split.header, name);
    let mut lineage = ObjectBuilder::default();
    lineage.text("kind", "fork");
    if let Some(parent) = member("id") {
        lineage.raw("parent", parent);
    }
    if let Some(at) = at {
        lineage.text("at", at);
    }
    line.raw("metadata", metadata_of(member("metadata"), &lineage.finish(), 0));
    line.finish()
}

/// The metadata of a part: that of the session, plus the lineage.
fn metadata_of(before: Option<&[u8]>, lineage: &[u8], nth: usize) -> Vec<u8> {
    let mut metadata = ObjectBuilder::default();
    let members = before.and_then(|raw| json::members(raw, Dialect::Strict));
    for (name, value) in members.unwrap_or_default() {
        if name != "lineage" && (nth == 0 || value.len() <= REPEATED) {
            metadata.raw(&name, without_links(value, NESTED));
        }
    }
    metadata.raw("lineage", lineage);
    metadata.finish()
}

/// Removes links to neighboring sessions from a value.
fn without_links(raw: &[u8], depth: u32) -> Vec<u8> {
    let members = json::members(raw, Dialect::Strict);
    let Some(members) = members.filter(|_| raw.first() == Some(&b'{')) else {
        return raw.to_vec();
    };
    let inner = members.iter().filter(|_| depth > 0);
    let objects = inner.filter(|(_, value)| value.first() == Some(&b'{'));
    let changed: Vec<_> = objects
        .map(|(name, value)| (name.as_ref(), without_links(value, depth - 1)))
        .collect();
    let changes = changed
        .iter()
        .map(|(name, value)| (*name, Some(value.as_slice())));
    let changes: Vec<_> = changes.chain(LINKS.map(|name| (name, None))).collect();
    json::with_members(raw, &changes).unwrap_or_else(|_| raw.to_vec())
}
