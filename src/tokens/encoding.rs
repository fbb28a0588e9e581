//! Encodings whose vocabulary is public: byte pairs over the pieces of a pattern.

use super::{merge, split, table};

/// An encoding of OpenAI's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    O200k,
    /// As `O200k`; it has more special tokens, which are text here.
    O200kHarmony,
    Cl100k,
    P50k,
    /// As `P50k`, likewise.
    P50kEdit,
    R50k,
    /// Another name of `R50k`.
    Gpt2,
}

impl Encoding {
    pub const ALL: [Encoding; 7] = [
        Encoding::O200k,
        Encoding::O200kHarmony,
        Encoding::Cl100k,
        Encoding::P50k,
        Encoding::P50kEdit,
        Encoding::R50k,
        Encoding::Gpt2,
    ];

    /// The name that tiktoken gives it.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::O200k => "o200k_base",
            Encoding::O200kHarmony => "o200k_harmony",
            Encoding::Cl100k => "cl100k_base",
            Encoding::P50k => "p50k_base",
            Encoding::P50kEdit => "p50k_edit",
            Encoding::R50k => "r50k_base",
            Encoding::Gpt2 => "gpt2",
        }
    }

    /// Tokens of a text.
    pub fn count(self, text: &str) -> u64 {
        let text = text.as_bytes();
        match self {
            Encoding::O200k | Encoding::O200kHarmony => count(&table::O200K, split::o200k::end, text),
            Encoding::Cl100k => count(&table::CL100K, split::cl100k::end, text),
            Encoding::P50k | Encoding::P50kEdit => count(&table::P50K, split::r50k::end, text),
            Encoding::R50k | Encoding::Gpt2 => count(&table::R50K, split::r50k::end, text),
        }
    }
}

/// Compiled once for each pattern, so that the pattern is part of the loop.
#[inline(always)]
fn count(table: &table::Table, piece_end: impl Fn(&[u8], usize) -> usize, text: &[u8]) -> u64 {
    let (mut at, mut tokens) = (0, 0);
    while at < text.len() {
        let end = piece_end(text, at);
        tokens += merge::tokens(table, text, at, end);
        at = end;
    }
    tokens
}

#[cfg(test)]
mod tests;
