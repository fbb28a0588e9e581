//! Removes the middle of long results.

use super::super::head_tail::{TextLimit, shorten};
use super::super::placeholders;
use super::super::state::{AtomLevel, CompactionState};
use super::{EnoughFn, change_each};
use crate::model::json::{self, Dialect};
use crate::model::message::Message;

/// Shortens results that are over the limit.
pub fn run(work: &mut CompactionState<'_>, limit: TextLimit, enough: EnoughFn<'_>) {
    let results = work.results();
    let apply = |work: &mut CompactionState<'_>, at, smaller| reduce(work, at, smaller);
    change_each(work, &results, enough, |work, at| smaller(work, at, limit), apply);
}

/// Shortens one result.
pub fn one(work: &mut CompactionState<'_>, at: usize, limit: TextLimit) {
    if let Some(smaller) = smaller(work, at, limit) {
        reduce(work, at, smaller);
    }
}

/// A result with its texts shortened, and its tokens; none if that is not smaller.
fn smaller(work: &CompactionState<'_>, at: usize, limit: TextLimit) -> Option<(Vec<u8>, u64)> {
    let content = content(&work.message(at)?, limit)?;
    work.tried(at, &[("content", Some(&content))])
}

fn reduce(work: &mut CompactionState<'_>, at: usize, smaller: (Vec<u8>, u64)) {
    work.reduce(at, smaller, AtomLevel::HeadTail, "head+tail");
}

/// The content with its texts shortened, all else unchanged; none if all are within the limit.
pub fn content(message: &Message<'_>, limit: TextLimit) -> Option<Vec<u8>> {
    let raw = message.content?;
    if json::text(raw).is_some() {
        return text(raw, limit);
    }
    let mut changed = false;
    let mut out = vec![b'['];
    for part in json::elements(raw, Dialect::Strict)? {
        if out.len() > 1 {
            out.push(b',');
        }
        let short = match json::member_text(part, "type") {
            Some(kind) if kind == "text" => json::member(part, "text")
                .and_then(|raw| text(raw, limit))
                .and_then(|short| json::with_members(part, &[("text", Some(&short))]).ok()),
            _ => text(part, limit),
        };
        changed |= short.is_some();
        out.extend_from_slice(short.as_deref().unwrap_or(part));
    }
    out.push(b']');
    changed.then_some(out)
}

/// Shortens a JSON string to head and tail, unless it is a placeholder.
fn text(raw: &[u8], limit: TextLimit) -> Option<Vec<u8>> {
    let text = json::text(raw)?;
    if placeholders::is_mark(&text) {
        return None;
    }
    Some(json::quoted(&shorten(&text, limit)?))
}
