//! A method of counting tokens: an encoding, an estimate, or an external program.

use super::encoding::Encoding;
use super::estimate::Estimate;
use super::external::{CountRequest, External};
use super::{image, message_cost};
use crate::model::message::{Message, ToolCall};

/// A method of counting tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokenizer(pub(super) Counting);

/// What counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    Encoding(Encoding),
    Estimate(Estimate),
    External(&'static External),
}

impl Tokenizer {
    /// `o200k_base`, the encoding of OpenAI's models since GPT-4o.
    pub const DEFAULT: Tokenizer = Tokenizer(Counting::Encoding(Encoding::O200k));

    /// A tokenizer that requests each count from `ask` and caches it; it lives as long as the program. Its name must be
    /// unique, because counts are stored under it.
    ///
    /// If a request fails, counting unwinds to [`super::external::guarded`].
    pub fn external(name: &str, ask: CountRequest) -> Tokenizer {
        Tokenizer(Counting::External(External::leaked(name, ask)))
    }

    /// All tokenizers by their own names; model names are aliases.
    pub fn all() -> impl Iterator<Item = Tokenizer> {
        let encodings = Encoding::ALL.into_iter().map(Counting::Encoding);
        let estimates = Estimate::ALL.into_iter().map(Counting::Estimate);
        encodings.chain(estimates).map(Tokenizer)
    }

    /// Its own name, which is stored in the header's `tokenizer`.
    pub const fn name(self) -> &'static str {
        match self.0 {
            Counting::Encoding(encoding) => encoding.name(),
            Counting::Estimate(estimate) => estimate.name(),
            Counting::External(external) => external.name(),
        }
    }

    /// Whether counts are exactly those of the model.
    pub const fn is_exact(self) -> bool {
        !matches!(self.0, Counting::Estimate(_))
    }

    /// Whether an external program counts.
    pub const fn is_external(self) -> bool {
        matches!(self.0, Counting::External(_))
    }

    /// The equivalent amount of work for counting this number of bytes: 0 for external tokenizers, which are faster
    /// sequentially.
    pub(crate) const fn work(self, bytes: usize) -> usize {
        match self.0 {
            Counting::Encoding(_) | Counting::Estimate(_) => bytes,
            Counting::External(_) => 0,
        }
    }

    /// A note for a tokenizer that replaces one that is not public.
    pub const fn note(self) -> Option<&'static str> {
        match self.0 {
            Counting::Encoding(_) | Counting::External(_) => None,
            Counting::Estimate(estimate) => estimate.note(),
        }
    }

    /// Tokens of a text. Names of special tokens, such as `<|endoftext|>`, are treated as text.
    pub fn count(self, text: &str) -> u64 {
        match self.0 {
            Counting::Encoding(encoding) => encoding.count(text),
            Counting::Estimate(estimate) => estimate.count(text),
            Counting::External(external) => external.count(text),
        }
    }

    /// Tokens of a message in a context: role, text, calls, results, name, reasoning and media.
    pub fn message(self, message: &Message<'_>) -> u64 {
        match self.0 {
            Counting::Encoding(encoding) => {
                message_cost::sent(message, image::ImageRule::OpenAi, &|text| encoding.count(text))
            }
            Counting::Estimate(estimate) => estimate.message(message),
            Counting::External(external) => external.message(message),
        }
    }

    /// Tokens of one call, which are included in those of its message.
    pub fn call(self, call: &ToolCall<'_>) -> u64 {
        match self.0 {
            Counting::Encoding(encoding) => message_cost::call(call, &|text| encoding.count(text)),
            Counting::Estimate(estimate) => message_cost::call(call, &|text| estimate.count(text)),
            Counting::External(external) => message_cost::call(call, &|text| external.count(text)),
        }
    }

    /// Tokens of a text as a message, such as a summary.
    pub fn message_tokens(self, role: &str, text: &str) -> u64 {
        match self.0 {
            Counting::Encoding(encoding) => message_cost::FRAME + encoding.count(role) + encoding.count(text),
            Counting::Estimate(estimate) => estimate.message_tokens(role, text),
            Counting::External(external) => message_cost::FRAME + external.count(role) + external.count(text),
        }
    }
}
