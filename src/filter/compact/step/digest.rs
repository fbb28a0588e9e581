//! Exchanges with tools become one line.

use super::super::digest;
use super::super::mark;
use super::super::work::{Level, Work};
use super::Enough;
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::Message;

/// Makes lines of exchanges that called tools, the newest excepted, and those of which something must stay.
pub fn run(work: &mut Work<'_>, protected: usize, enough: Enough<'_>) {
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

/// The message that stands for an exchange; none when it called no tools or must stay, or is of digests in part.
pub fn line(work: &Work<'_>, exchange: usize) -> Option<Vec<u8>> {
    let atoms = &work.exchanges[exchange].atoms;
    let whole = atoms.iter().all(|atom| {
        let atom = &work.atoms[*atom];
        !atom.pinned && !atom.pending && !atom.record && atom.level < Level::Digest
    });
    if !whole {
        return None;
    }
    let mut items: Vec<usize> = atoms
        .iter()
        .flat_map(|atom| work.atoms[*atom].items.clone())
        .collect();
    items.sort_unstable();
    let messages: Vec<Message<'_>> = items.iter().filter_map(|at| told(work, *at)).collect();
    // A digest of marks says nothing.
    if !messages.iter().any(Message::calls_tools) || messages.iter().any(has_marks) {
        return None;
    }
    let ends = [*items.first()?, *items.last()?].map(|at| {
        let mut raw = Vec::new();
        json::push_text(&mut raw, &work.id(at));
        String::from_utf8_lossy(&raw).into_owned()
    });
    let covers = format!("{{\"convo\":{{\"digest\":[{}]}}}}", ends.join(","));
    let mut body = ObjectBuilder::default();
    // A user's message of the category `context` may lead a view, begins no exchange and can leave again.
    body.text("role", "user")
        .text("content", &digest::exchange(&messages))
        .text("category", "context")
        .raw("metadata", covers);
    Some(body.finish())
}

/// What a digest tells of a message: what the log has where marks stand in the view, else what the view came with. An
/// edit is no mark: a stream does not have what was there before it, and both must decide alike.
fn told<'w>(work: &'w Work<'_>, at: usize) -> Option<Message<'w>> {
    let shown = work.view.items[at].message(work.session)?;
    if has_marks(&shown) {
        return work.original(at);
    }
    Some(shown)
}

/// Whether something of a message was elided before it came here.
fn has_marks(message: &Message<'_>) -> bool {
    message.text().lines().any(mark::is_mark)
        || message
            .tool_calls()
            .iter()
            .any(|call| mark::is_arguments(&call.arguments))
}
