//! The steps of a compaction, one file each. A step changes the oldest first, and ends as soon as it is told that
//! it is enough.

pub mod dedupe;
pub mod digest;
pub mod drop;
pub mod head_tail;
pub mod mask;
pub mod media;
pub mod shrink;
pub mod thinking;

use super::mark;
use super::piece::Level;
use super::work::Work;
use crate::model::json;
use crate::model::message::{Role, ToolCall};
use std::borrow::Cow;

/// Whether it is enough.
pub type Enough<'e> = &'e dyn Fn(&Work<'_>) -> bool;

impl Work<'_> {
    /// The results that are still there and are neither pinned nor waiting for others, oldest first.
    pub fn results(&self) -> Vec<usize> {
        let is_result = |at: &usize| {
            let traits = self.items[*at].traits;
            let atom = self.items[*at].atom.map(|atom| &self.atoms[atom]);
            traits.is_some_and(|traits| traits.role == Role::Tool)
                && atom.is_some_and(|atom| atom.level < Level::Digest && !atom.pinned && !atom.pending)
        };
        (0..self.items.len()).filter(is_result).collect()
    }

    /// A result's call.
    pub fn call(&self, at: usize) -> Option<ToolCall<'_>> {
        let (caller, nth) = *self.owners.get(&at)?;
        let message = self.view.items[caller].message(self.session)?;
        message.tool_calls().into_iter().nth(nth)
    }

    /// Name of the tool that a result is of.
    pub fn tool(&self, at: usize) -> Cow<'_, str> {
        let own = || {
            self.view.items[at]
                .message(self.session)?
                .name
                .and_then(json::text)
        };
        match self.call(at) {
            Some(call) => call.name,
            None => own().unwrap_or_default(),
        }
    }

    /// The text of a result as it stands; none when it is empty or a mark already.
    pub fn unmarked(&self, at: usize) -> Option<Cow<'_, str>> {
        let text = mark::content(&self.message(at)?)?;
        (!text.is_empty() && !mark::is_mark(&text)).then_some(text)
    }

    /// What a mark in place of a result tells of the message as the log has it.
    pub fn elided(&self, at: usize, id: String, mark: fn(&mark::Result<'_>) -> String) -> Option<Vec<u8>> {
        let original = self.original(at)?;
        let text = mark::content(&original)?;
        let text = mark(&mark::Result {
            tool: &self.tool(at),
            tokens: self.counter.tokenizer().count(&text),
            text: &text,
            id: &id,
        });
        let mut raw = Vec::new();
        json::push_text(&mut raw, &text);
        Some(raw)
    }
}
