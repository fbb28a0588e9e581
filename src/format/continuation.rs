//! Chain metadata in documents of other systems: members that a continued or joined session takes over, and members
//! that belong to a single session.

use super::Format;
use crate::model::json::{self, Dialect, ObjectBuilder, quoted};
use crate::model::{key, time};

/// Members of Penguin's session metadata that belong to a single session, not to the conversation.
const OF_ONE_SESSION: [&str; 15] = [
    "tool_call_record_count", "tool_result_record_count", "llm_request_lifecycle_count", "message_count",
    "token_count", "continued_from", "continued_to", "continuation_index", "continuation_time",
    "original_created_at", "source_session_tokens", "total_chain_tokens", "recovered_from",
    "flattened_snapshot", "snapshot_id",
];

/// Lists that Penguin stores next to the messages of a session.
const RECORDS: [&str; 3] = [
    "llm_request_lifecycles", "tool_call_records", "tool_result_records",
];

/// Whether this format dates the copied messages of a continuation, and places instructions before the context.
pub fn dates_copies(format: Format) -> bool {
    format == Format::Penguin
}

/// The id of a continuation in a format that dates copies, derived from its time and the continued session.
pub fn dated_id(source: &str, created_at: Option<&str>) -> String {
    let digest = key::sha256(source.as_bytes());
    let digits: String = created_at
        .unwrap_or_default()
        .bytes()
        .filter(u8::is_ascii_digit)
        .take(14)
        .map(char::from)
        .collect();
    match digits.len() {
        14 => format!("session_{}_{}_{}", &digits[..8], &digits[8..], &digest[..8]),
        _ => format!("session_{}", &digest[..16]),
    }
}

/// Whether the metadata of a message has a category that convo does not have.
pub fn has_other_category(metadata: &[u8]) -> bool {
    json::member(metadata, "penguin")
        .and_then(|own| json::member(own, "category"))
        .is_some_and(|category| category != b"null")
}

/// The metadata of a continuation marker in a format that dates copies.
pub fn marker_metadata(metadata: &[u8]) -> Vec<u8> {
    [br#"{"penguin":{"metadata":"#, metadata, b"}}"].concat()
}

/// The metadata of a continuation: that of the previous session, without members of that session alone. For a format
/// that dates copies, `dated` is the start of the chain and the token count of the previous session.
pub fn continued_metadata(metadata: &[u8], dated: Option<(Option<&str>, u64)>) -> Option<Vec<u8>> {
    let mut inner = conversation_members(metadata)?;
    if let Some((first, tokens)) = dated {
        if let Some(first) = first {
            let value = quoted(time::local(first).as_deref().unwrap_or(first));
            inner = json::with_members(&inner, &[("original_created_at", Some(&value))]).ok()?;
        }
        let tokens = tokens.to_string().into_bytes();
        inner = json::with_members(&inner, &[("source_session_tokens", Some(&tokens))]).ok()?;
    }
    let mut own = ObjectBuilder::default();
    if inner != b"{}" {
        own.raw("metadata", inner);
    }
    with_members(metadata, own)
}

/// The metadata of a joined session: that of the first one, with the record lists of all.
pub fn joined_metadata(all: &[&[u8]]) -> Option<Vec<u8>> {
    let first = all.first()?;
    let mut own = ObjectBuilder::default();
    if let Some(inner) = conversation_members(first).filter(|inner| inner != b"{}") {
        own.raw("metadata", inner);
    }
    own.optional(
        "members",
        json::member(first, "penguin").and_then(|own| json::member(own, "members")),
    );
    for name in RECORDS {
        let lists = all
            .iter()
            .filter_map(|metadata| json::member(json::member(metadata, "penguin")?, name))
            .filter_map(|list| json::elements(list, Dialect::Strict));
        let records: Vec<&[u8]> = lists.flatten().collect();
        if !records.is_empty() {
            own.raw(name, [b"[", records.join(&b","[..]).as_slice(), b"]"].concat());
        }
    }
    with_members(first, own)
}

/// The members of Penguin's session metadata that belong to the conversation.
fn conversation_members(metadata: &[u8]) -> Option<Vec<u8>> {
    let inner = json::member(metadata, "penguin").and_then(|own| json::member(own, "metadata"));
    without(inner.unwrap_or(b"{}"), &OF_ONE_SESSION)
}

/// Metadata without members of a single session, and with these Penguin members; `None` if nothing remains.
fn with_members(metadata: &[u8], own: ObjectBuilder) -> Option<Vec<u8>> {
    let kept = without(metadata, &["lineage", "joined", "response", "penguin"])?;
    if own.is_empty() {
        return (kept != b"{}").then_some(kept);
    }
    json::with_members(&kept, &[("penguin", Some(&own.finish()))]).ok()
}

fn without(object: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    let removed: Vec<(&str, Option<&[u8]>)> = names.iter().map(|name| (*name, None)).collect();
    json::with_members(object, &removed).ok()
}
