//! The pattern of `o200k_base`. Source of the pattern: tiktoken, `openai_public.py`.

use super::class::{BLANK, BREAK, CASELESS, LETTER, LOWER, MARK, NUMBER, SIGN, UPPER};
use super::{blanks, class_at, contraction, digits, run};

/// Character classes before the lower-case part of a word.
const BEFORE: u8 = UPPER | CASELESS | MARK;
/// Character classes of the lower-case part.
const LOWER_CLASSES: u8 = LOWER | CASELESS | MARK;

/// The end of the piece that starts at `at`.
#[inline(always)]
pub fn end(text: &[u8], at: usize) -> usize {
    let (first, length) = class_at(text, at);
    let behind = at + length;
    if first & (LETTER | NUMBER | BREAK) == 0 {
        // `[^\r\n\p{L}\p{N}]?` matches if a word follows.
        match word(text, behind) {
            WordEnd::Lower(end) => return end + contraction(text, end),
            found => {
                // A mark may also be the word itself, which the pattern tries before words of capitals.
                if first == MARK
                    && let WordEnd::Lower(end) = word(text, at)
                {
                    return end + contraction(text, end);
                }
                if let WordEnd::Upper(end) = found {
                    return end + contraction(text, end);
                }
            }
        }
    } else if first & LETTER != 0 {
        let (WordEnd::Lower(end) | WordEnd::Upper(end)) = word(text, at) else {
            return behind;
        };
        return end + contraction(text, end);
    } else if first == NUMBER {
        // `\p{N}{1,3}`
        return digits(text, behind);
    }
    // ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
    let signs = if text[at] == b' ' { behind } else { at };
    let end = run(text, signs, SIGN);
    if end > signs {
        let more = |byte: &&u8| matches!(byte, b'\r' | b'\n' | b'/');
        return end + text[end..].iter().take_while(more).count();
    }
    // `\s*[\r\n]+|\s+(?!\S)|\s+`
    debug_assert!(first & (BLANK | BREAK) != 0);
    let blanks = blanks(text, at);
    blanks.broken.unwrap_or_else(|| blanks.before_word(text, at))
}

enum WordEnd {
    /// A word with a lower-case part.
    Lower(usize),
    /// A word of capitals only.
    Upper(usize),
    None,
}

/// `BEFORE*LOWER_CLASSES+`, else `BEFORE+`. The first part is greedy and backtracks until the second part matches at least the
/// last character that is in both classes.
#[inline(always)]
fn word(text: &[u8], from: usize) -> WordEnd {
    let (mut at, mut both) = (from, None);
    loop {
        let (class, length) = class_at(text, at);
        if class == LOWER {
            return WordEnd::Lower(run(text, at + length, LOWER_CLASSES));
        }
        if class & BEFORE == 0 {
            break;
        }
        at += length;
        if class != UPPER {
            both = Some(at);
        }
    }
    match both {
        Some(end) => WordEnd::Lower(end),
        None if at > from => WordEnd::Upper(at),
        None => WordEnd::None,
    }
}
