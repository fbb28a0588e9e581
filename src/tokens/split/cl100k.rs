//! The pattern of `cl100k_base`. Source of the pattern: tiktoken, `openai_public.py`.

use super::class::{BREAK, LETTER, NUMBER, SIGN};
use super::{blanks, class_at, contraction, digits, run};

/// The end of the piece that starts at `at`.
#[inline(always)]
pub fn end(text: &[u8], at: usize) -> usize {
    // `'(?i:[sdmt]|ll|ve|re)`
    let short = contraction(text, at);
    if short > 0 {
        return at + short;
    }
    let (first, length) = class_at(text, at);
    let behind = at + length;
    // `[^\r\n\p{L}\p{N}]?+\p{L}++`
    if first & LETTER != 0 {
        return run(text, behind, LETTER);
    }
    if first & (NUMBER | BREAK) == 0 {
        let end = run(text, behind, LETTER);
        if end > behind {
            return end;
        }
    }
    // `\p{N}{1,3}+`
    if first == NUMBER {
        return digits(text, behind);
    }
    // ` ?[^\s\p{L}\p{N}]++[\r\n]*+`
    let signs = if text[at] == b' ' { behind } else { at };
    let end = run(text, signs, SIGN);
    if end > signs {
        return run(text, end, BREAK);
    }
    // `\s++$|\s*[\r\n]|\s+(?!\S)|\s`
    let blanks = blanks(text, at);
    match blanks.broken {
        Some(broken) if blanks.end < text.len() => broken,
        _ => blanks.before_word(text, at),
    }
}
