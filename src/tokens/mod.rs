//! What text and messages cost in tokens.

mod models;

pub use models::window;

use crate::error::Result;
use crate::model::message::Message;

/// Names a way of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokenizer(Way);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    O200k,
    Cl100k,
    Chars4,
}

impl Tokenizer {
    /// `o200k_base`, which OpenAI's models since GPT-4o have.
    pub const DEFAULT: Tokenizer = Tokenizer(Way::O200k);

    /// The tokenizer of this name: an encoding, an estimator, or a model.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] when there is none of this name.
    pub fn named(name: &str) -> Result<Tokenizer> {
        models::named(name)
    }

    /// Its own name, which stands in the header's `tokenizer`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Way::O200k => "o200k_base",
            Way::Cl100k => "cl100k_base",
            Way::Chars4 => "chars4",
        }
    }

    /// Tokens of a text. The names of special tokens, such as `<|endoftext|>`, are text like any other.
    pub fn count(self, text: &str) -> u64 {
        text.len() as u64 / 4
    }

    /// Tokens of a message in a context: role, text, calls, results, name and media.
    pub fn message(self, message: &Message<'_>) -> u64 {
        let calls = message.tool_calls();
        let calls = calls
            .iter()
            .map(|call| self.count(&call.name) + self.count(&call.arguments));
        4 + self.count(&message.text()) + calls.sum::<u64>()
    }
}

/// Counts the messages of one session: what their lines say of themselves is believed where it was counted alike.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    tokenizer: Tokenizer,
    believes: bool,
}

impl Counter {
    /// Counts by `tokenizer` in a session whose header names `header`.
    pub fn new(tokenizer: Tokenizer, header: Option<&str>) -> Counter {
        Counter {
            tokenizer,
            believes: header == Some(tokenizer.name()),
        }
    }

    /// The tokenizer.
    pub fn tokenizer(self) -> Tokenizer {
        self.tokenizer
    }

    /// Tokens of a message: those that its line names, else counted.
    pub fn message(self, message: &Message<'_>) -> u64 {
        let cached = || std::str::from_utf8(message.tokens?).ok()?.parse().ok();
        self.believes
            .then(cached)
            .flatten()
            .unwrap_or_else(|| self.tokenizer.message(message))
    }
}
