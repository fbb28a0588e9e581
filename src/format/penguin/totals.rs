//! Totals of a session's messages.

use crate::model::json::{self, ObjectBuilder};

/// Totals of a document's messages, which Penguin stores next to them.
#[derive(Default, PartialEq, Eq)]
pub(super) struct DocumentTotals {
    /// Number of messages.
    pub messages: u64,
    /// Sum of their cached token counts.
    pub tokens: u64,
    /// Their latest time.
    pub newest: Option<jiff::Timestamp>,
}

impl DocumentTotals {
    /// Adds a message with its cached token count.
    pub fn add(&mut self, tokens: Option<&[u8]>) {
        let count = tokens.and_then(json::number::<u64>);
        self.tokens = self.tokens.saturating_add(count.unwrap_or(0));
        self.messages += 1;
    }

    /// The totals as an object, which is stored if those in the document differ.
    pub fn noted(&self) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        built
            .raw("messages", self.messages.to_string())
            .raw("tokens", self.tokens.to_string());
        if let Some(newest) = self.newest {
            built.text("newest", &newest.to_string());
        }
        built.finish()
    }
}
