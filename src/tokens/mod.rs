//! What text and messages cost in tokens.
//!
//! The encodings of OpenAI are counted exactly, from tables that lie in the program ([`Tokenizer::count`] needs no
//! start); other ways of counting are estimates, each with its source. `docs/tokens.md` has the whole list.

mod encoding;
mod estimate;
mod hash;
mod image;
mod media;
mod merge;
mod message;
mod models;
mod payload;
mod split;
mod table;

pub use models::window;

use crate::error::Result;
use crate::model::message::Message;
use encoding::Encoding;
use estimate::Estimate;

/// A way of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokenizer(Way);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Encoding(Encoding),
    Estimate(Estimate),
}

impl Tokenizer {
    /// `o200k_base`, which OpenAI's models since GPT-4o have.
    pub const DEFAULT: Tokenizer = Tokenizer(Way::Encoding(Encoding::O200k));

    /// The tokenizer of this name: an encoding, an estimate, or a model, whose tokenizer is then taken.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] when nothing has this name.
    pub fn named(name: &str) -> Result<Tokenizer> {
        models::named(name)
    }

    /// Every tokenizer by its own name; models are further names.
    pub fn all() -> impl Iterator<Item = Tokenizer> {
        let encodings = Encoding::ALL.into_iter().map(Way::Encoding);
        let estimates = Estimate::ALL.into_iter().map(Way::Estimate);
        encodings.chain(estimates).map(Tokenizer)
    }

    /// Its own name, which stands in the header's `tokenizer`.
    pub const fn name(self) -> &'static str {
        match self.0 {
            Way::Encoding(encoding) => encoding.name(),
            Way::Estimate(estimate) => estimate.name(),
        }
    }

    /// What kind of an estimate it is; none for an encoding, which is exact for text.
    pub const fn note(self) -> Option<&'static str> {
        match self.0 {
            Way::Encoding(_) => None,
            Way::Estimate(estimate) => Some(estimate.note()),
        }
    }

    /// Tokens of a text. The names of special tokens, such as `<|endoftext|>`, are text like any other.
    pub fn count(self, text: &str) -> u64 {
        match self.0 {
            Way::Encoding(encoding) => encoding.count(text),
            Way::Estimate(estimate) => estimate.count(text),
        }
    }

    /// Tokens of a message in a context: role, text, calls, results, name, reasoning and media.
    pub fn message(self, message: &Message<'_>) -> u64 {
        match self.0 {
            Way::Encoding(encoding) => {
                message::sent(message, image::Rule::OpenAi, &|text| encoding.count(text))
            }
            Way::Estimate(estimate) => estimate.message(message),
        }
    }

    /// Tokens of a text that stands in a context as a message, such as a summary.
    pub fn said(self, role: &str, text: &str) -> u64 {
        match self.0 {
            Way::Encoding(encoding) => message::FRAME + encoding.count(role) + encoding.count(text),
            Way::Estimate(estimate) => estimate.said(role, text),
        }
    }
}

/// Counts the messages of one session. What a line says of itself in `tokens` is believed where the session's
/// header names the tokenizer that is asked for, so that nothing is counted twice.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    tokenizer: Tokenizer,
    believes: bool,
}

impl Counter {
    /// Counts by `tokenizer` in a session whose header has `header` for its `tokenizer`.
    pub fn new(tokenizer: Tokenizer, header: Option<&str>) -> Counter {
        Counter {
            tokenizer,
            believes: header == Some(tokenizer.name()),
        }
    }

    /// The tokenizer.
    pub const fn tokenizer(self) -> Tokenizer {
        self.tokenizer
    }

    /// Tokens of a message: those that its line names, else counted.
    pub fn message(self, message: &Message<'_>) -> u64 {
        let named = if self.believes { cached(message) } else { None };
        named.unwrap_or_else(|| self.tokenizer.message(message))
    }
}

/// The count that the message's line carries. 0 is what some systems write for "not counted".
pub fn cached(message: &Message<'_>) -> Option<u64> {
    let count = std::str::from_utf8(message.tokens?).ok()?.parse().ok()?;
    (count > 0).then_some(count)
}
