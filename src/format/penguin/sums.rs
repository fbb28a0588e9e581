//! What the messages of a session come to.

use crate::model::json::ObjectBuilder;

/// What the messages of a document come to, which Penguin keeps beside them.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// How many there are.
    pub messages: u64,
    /// The sum of their cached counts.
    pub tokens: u64,
    /// Their newest time.
    pub newest: Option<jiff::Timestamp>,
}

impl Sums {
    /// Takes a message in, with its cached count.
    pub fn add(&mut self, tokens: Option<&[u8]>) {
        let count = tokens.and_then(|raw| std::str::from_utf8(raw).ok()?.parse::<u64>().ok());
        self.tokens = self.tokens.saturating_add(count.unwrap_or(0));
        self.messages += 1;
    }

    /// As the object that is noted where the document says otherwise.
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
