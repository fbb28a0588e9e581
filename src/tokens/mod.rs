//! What text and messages cost in tokens.
//!
//! The encodings of OpenAI are counted exactly, from tables that lie in the program ([`Tokenizer::count`] needs no
//! start); other ways of counting are estimates, each with its source. `docs/tokens.md` has the whole list.

pub mod counter;
mod encoding;
mod estimate;
mod hash;
mod image;
mod media;
mod memo;
mod merge;
mod message;
mod models;
mod payload;
mod split;
mod table;
pub mod usage;

pub use counter::Counter;
pub use models::window;

use crate::error::Result;
use crate::model::message::{Message, ToolCall};
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

    /// Whether text is counted as the model itself does.
    pub const fn is_exact(self) -> bool {
        matches!(self.0, Way::Encoding(_))
    }

    /// What to tell of a tokenizer that stands in for one that is not public.
    pub const fn note(self) -> Option<&'static str> {
        match self.0 {
            Way::Encoding(_) => None,
            Way::Estimate(estimate) => estimate.note(),
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

    /// Tokens of one call, which are part of its message's.
    pub fn call(self, call: &ToolCall<'_>) -> u64 {
        match self.0 {
            Way::Encoding(encoding) => message::call(call, &|text| encoding.count(text)),
            Way::Estimate(estimate) => message::call(call, &|text| estimate.count(text)),
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
