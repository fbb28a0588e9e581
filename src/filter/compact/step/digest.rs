//! Replaces each exchange that calls tools with one line.

use super::super::digest;
use super::super::placeholders;
use super::super::state::{AtomLevel, CompactionState};
use super::EnoughFn;
use crate::filter::summarize::DetectedInstruction;
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::Message;

/// Replaces exchanges that call tools with digests, except the newest and those that must be kept in part.
pub fn run(work: &mut CompactionState<'_>, protected: usize, enough: EnoughFn<'_>) {
    let end = work.exchanges.len().saturating_sub(protected.max(1));
    for exchange in 0..end {
        if enough(work) {
            return;
        }
        if let Some(body) = line(work, exchange) {
            work.digest(exchange, body);
        }
    }
}

/// The digest of an exchange; none if it called no tools, must be kept in part, or contains digests.
pub fn line(work: &CompactionState<'_>, exchange: usize) -> Option<Vec<u8>> {
    let atoms = &work.atoms[work.exchanges[exchange].atoms.clone()];
    let whole = atoms
        .iter()
        .all(|atom| !atom.pinned && !atom.pending && !atom.record && atom.level < AtomLevel::Digest);
    if !whole {
        return None;
    }
    let mut items: Vec<usize> = atoms.iter().flat_map(|atom| atom.items.to_vec()).collect();
    items.sort_unstable();
    let messages: Vec<Message<'_>> = items.iter().filter_map(|at| work.described(*at)).collect();
    // A digest of placeholders has no information.
    if !messages.iter().any(Message::calls_tools) || messages.iter().any(placeholders::has_marks) {
        return None;
    }
    let lines = items.iter().filter_map(|at| work.view.items[*at].line());
    let instructions: Vec<&str> = lines
        .flat_map(|line| work.instructions_of(line))
        .filter_map(DetectedInstruction::standing)
        .collect();
    let ends = [*items.first()?, *items.last()?].map(|at| work.id(at));
    let covers = json::wrapped("convo", json::wrapped("digest", json::texts(ends)));
    let mut body = ObjectBuilder::default();
    // A user message of category `context` may lead a view, begins no exchange, and can be dropped later.
    body.text("role", "user")
        .text("content", &digest::exchange(&messages, &instructions))
        .text("category", "context")
        .raw("metadata", covers);
    Some(body.finish())
}
