//! Encodings with a public vocabulary: byte pair encoding of the pieces that a pattern splits off.

use super::{merge, split, table};
use crate::model::named_enum::named_enum;
use crate::model::threads::{cores, in_parallel};

/// Minimum bytes of a text to count on several cores.
const LONG: usize = 1 << 20;

/// Splits a text into parts of about this size, so that the token counts add up.
fn parts(text: &[u8], bytes: usize) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(after) = rest.get(bytes..) {
        let length = bytes + first_lines(after).0.len();
        let (part, after) = rest.split_at(length);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// Splits a text after a line, so that the token counts of both parts add up: no pattern matches across a single line
/// break between such characters.
pub(super) fn first_lines(text: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr_iter(b'\n', text).find(|at| is_seam(text, *at));
    text.split_at(end.map_or(text.len(), |at| at + 1))
}

/// The start of the last lines of a text, which [`first_lines`] never joins with those before; 0 if there is none.
pub(super) fn last_lines(text: &[u8]) -> usize {
    let end = memchr::memrchr_iter(b'\n', text).find(|at| is_seam(text, *at));
    end.map_or(0, |at| at + 1)
}

fn is_seam(text: &[u8], line_break: usize) -> bool {
    let before = line_break.checked_sub(1).map(|before| text[before]);
    before.is_some_and(|before| before.is_ascii_graphic())
        && text.get(line_break + 1).is_some_and(u8::is_ascii_alphanumeric)
}

named_enum! {
    /// An OpenAI encoding.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Encoding {
        O200k = "o200k_base",
        /// As `O200k`, with further special tokens, which are treated as text here.
        O200kHarmony = "o200k_harmony",
        Cl100k = "cl100k_base",
        P50k = "p50k_base",
        /// As `P50k`, with further special tokens, which are treated as text here.
        P50kEdit = "p50k_edit",
        R50k = "r50k_base",
        /// Another name of `R50k`.
        Gpt2 = "gpt2",
    }
}

impl Encoding {
    /// Tokens of a text; a long one is counted on all cores.
    pub fn count(self, text: &str) -> u64 {
        if text.len() < LONG {
            return self.count_part(text.as_bytes());
        }
        let parts = parts(text.as_bytes(), LONG / 4);
        in_parallel(cores(), &parts, |part| self.count_part(part))
            .into_iter()
            .sum()
    }

    /// Tokens of a text or part, counted on the current thread.
    pub(super) fn count_part(self, text: &[u8]) -> u64 {
        match self {
            Encoding::O200k | Encoding::O200kHarmony => count(&table::O200K, split::o200k::end, text),
            Encoding::Cl100k => count(&table::CL100K, split::cl100k::end, text),
            Encoding::P50k | Encoding::P50kEdit => count(&table::P50K, split::r50k::end, text),
            Encoding::R50k | Encoding::Gpt2 => count(&table::R50K, split::r50k::end, text),
        }
    }
}

/// Monomorphized for each pattern, so that the pattern is inlined into the loop.
#[inline(always)]
fn count(table: &table::RankTable, piece_end: impl Fn(&[u8], usize) -> usize, text: &[u8]) -> u64 {
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
