//! Encodings whose vocabulary is public: byte pairs over the pieces of a pattern.

use super::{merge, split, table};
use crate::model::threads::{cores, in_parallel};

/// Bytes of a text that is counted on more than one core.
const LONG: usize = 1 << 20;

/// A text in parts of about so many bytes whose tokens are those of the whole.
fn parts(text: &[u8], bytes: usize) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(behind) = rest.get(bytes..) {
        let length = bytes + first_lines(behind).0.len();
        let (part, behind) = rest.split_at(length);
        parts.push(part);
        rest = behind;
    }
    parts.push(rest);
    parts
}

/// The beginning of a text whose tokens and those of the rest are those of the whole: up to a line. In no pattern does a piece
/// reach from the only line break between two other characters into a word or number behind it.
pub(super) fn first_lines(text: &[u8]) -> (&[u8], &[u8]) {
    let begins = |at: &usize| {
        at.checked_sub(1)
            .is_some_and(|before| text[before].is_ascii_graphic())
            && text.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
    };
    let end = memchr::memchr_iter(b'\n', text).find(begins);
    text.split_at(end.map_or(text.len(), |at| at + 1))
}

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

    /// Tokens of a text: of a long one on all cores.
    pub fn count(self, text: &str) -> u64 {
        if text.len() < LONG {
            return self.count_part(text.as_bytes());
        }
        let parts = parts(text.as_bytes(), LONG / 4);
        in_parallel(cores(), &parts, |part| self.count_part(part))
            .into_iter()
            .sum()
    }

    /// Tokens of a text, or of a part of one: on this core.
    pub(super) fn count_part(self, text: &[u8]) -> u64 {
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
