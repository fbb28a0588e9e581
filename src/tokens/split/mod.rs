//! Splits text into pieces that tokens never cross, by the patterns of the encodings. Each pattern is implemented by
//! hand in its own file, with its alternatives in order and the effect of backtracking, so that each character is
//! examined a bounded number of times.

pub mod cl100k;
pub mod o200k;
pub mod r50k;

/// Character classes, one bit each; no bit is the end of the text.
pub mod class {
    /// `\p{Ll}`.
    pub const LOWER: u8 = 1;
    /// `[\p{Lu}\p{Lt}]`.
    pub const UPPER: u8 = 2;
    /// `[\p{Lm}\p{Lo}]`.
    pub const CASELESS: u8 = 4;
    /// `\p{M}`.
    pub const MARK: u8 = 8;
    /// `\p{N}`.
    pub const NUMBER: u8 = 16;
    /// `\s` without line breaks.
    pub const BLANK: u8 = 32;
    /// `[\r\n]`.
    pub const BREAK: u8 = 64;
    /// Everything else.
    pub const SYMBOL: u8 = 128;

    /// `\p{L}`.
    pub const LETTER: u8 = LOWER | UPPER | CASELESS;
    /// `\s`.
    pub const SPACE: u8 = BLANK | BREAK;
    /// `[^\s\p{L}\p{N}]`.
    pub const SIGN: u8 = SYMBOL | MARK;
}

use class::{BREAK, NUMBER, SPACE};

static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes"));

/// Blocks of 128 characters.
const BLOCKS: usize = 0x11_0000 / 128;

/// Class and length of the character at `at` of a UTF-8 text; zeros at its end.
#[inline(always)]
fn class_at(text: &[u8], at: usize) -> (u8, usize) {
    let Some(&first) = text.get(at) else { return (0, 0) };
    if first < 0x80 {
        // Block 0 is the first one that is stored.
        return (CLASSES[BLOCKS + usize::from(first)], 1);
    }
    let next = |nth: usize| usize::from(text.get(at + nth).copied().unwrap_or_default() & 0x3f);
    let first = usize::from(first);
    let (code, length) = match first {
        0..0xe0 => ((first & 0x1f) << 6 | next(1), 2),
        0xe0..0xf0 => ((first & 0x0f) << 12 | next(1) << 6 | next(2), 3),
        _ => ((first & 0x07) << 18 | next(1) << 12 | next(2) << 6 | next(3), 4),
    };
    let block = CLASSES.get(code / 128).copied().unwrap_or_default();
    (CLASSES[BLOCKS + usize::from(block) * 128 + code % 128], length)
}

/// The end of the run of characters of `set` that starts at `at`.
#[inline(always)]
fn run(text: &[u8], mut at: usize, set: u8) -> usize {
    loop {
        let (class, length) = class_at(text, at);
        if class & set == 0 {
            return at;
        }
        at += length;
    }
}

/// A run of white space: its end, the start of its last character, and the end of its last line break.
struct Blanks {
    end: usize,
    last: usize,
    broken: Option<usize>,
}

#[inline(always)]
fn blanks(text: &[u8], mut at: usize) -> Blanks {
    let mut found = Blanks {
        end: at,
        last: at,
        broken: None,
    };
    loop {
        let (class, length) = class_at(text, at);
        if class & SPACE == 0 {
            found.end = at;
            return found;
        }
        found.last = at;
        at += length;
        if class == BREAK {
            found.broken = Some(at);
        }
    }
}

impl Blanks {
    /// `\s+(?!\S)|\s`: the complete run at the end of the text, else all but its last character, else a single
    /// character.
    #[inline(always)]
    fn before_word(&self, text: &[u8], at: usize) -> usize {
        if self.end == text.len() || self.last == at {
            self.end
        } else {
            self.last
        }
    }
}

/// The end of `\p{N}{1,3}`, of which the first digit ends at `at`.
#[inline(always)]
fn digits(text: &[u8], mut at: usize) -> usize {
    for _ in 0..2 {
        let (class, length) = class_at(text, at);
        if class != NUMBER {
            break;
        }
        at += length;
    }
    at
}

/// Length of an apostrophe and `s`, `t`, `re`, `ve`, `m`, `ll` or `d` at `at`, ignoring case; else 0. The long s
/// (U+017F) counts as an s.
#[inline(always)]
fn contraction(text: &[u8], at: usize) -> usize {
    let Some([b'\'', rest @ ..]) = text.get(at..) else {
        return 0;
    };
    match *rest {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'l' | b'L', b'l' | b'L', ..] => 3,
        [0xc5, 0xbf, ..] => 3,
        _ => 0,
    }
}
