//! The pattern of `r50k_base` (GPT-2) and `p50k_base`. Source of the pattern: tiktoken, `openai_public.py`.

use super::class::{LETTER, NUMBER, SIGN};
use super::{blanks, class_at, run};

/// The end of the piece that starts at `at`.
#[inline(always)]
pub fn end(text: &[u8], at: usize) -> usize {
    // `'(?:[sdmt]|ll|ve|re)`
    match &text[at..] {
        [b'\'', b's' | b'd' | b'm' | b't', ..] => return at + 2,
        [b'\'', b'l', b'l', ..] | [b'\'', b'v' | b'r', b'e', ..] => return at + 3,
        _ => {}
    }
    // ` ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++`
    let from = at + usize::from(text[at] == b' ');
    let (first, length) = class_at(text, from);
    for set in [LETTER, NUMBER, SIGN] {
        if first & set != 0 {
            return run(text, from + length, set);
        }
    }
    // `\s++$|\s+(?!\S)|\s`
    blanks(text, at).before_word(text, at)
}
