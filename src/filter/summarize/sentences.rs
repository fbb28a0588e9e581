//! Where sentences end.

use std::ops::Range;

/// What is written with a full stop that ends no sentence.
const ABBREVIATIONS: [&str; 12] = [
    "dr", "mr", "mrs", "ms", "prof", "st", "e.g", "i.e", "vs", "approx", "fig", "cf",
];

/// The sentences of a text with what separates them taken off: up to and with `.`, `!` or `?` and closing quotes
/// and brackets behind it, where white space follows; with a full stop of scripts that write no spaces; or up to
/// a line break. A number with a full stop that begins a line numbers a list.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    ranges(text).into_iter().map(|range| &text[range]).collect()
}

/// Where the sentences lie.
pub(in crate::filter) fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut offset = 0;
    for line in text.split(['\n', '\r']) {
        let mut add = |start: usize, end: usize| {
            let piece = &line[start..end];
            let start = offset + start + (piece.len() - piece.trim_start().len());
            let length = piece.trim().len();
            if length > 0 {
                found.push(start..start + length);
            }
        };
        let mut start = 0;
        let mut ending = false;
        for (at, c) in line.char_indices() {
            if ending && c.is_whitespace() && !is_inside(line[start..at].trim_start(), start == 0) {
                add(start, at);
                start = at;
            }
            ending = match c {
                '.' | '!' | '?' => true,
                '"' | '\'' | ')' | ']' | '}' | '\u{201d}' | '\u{2019}' | '\u{bb}' | '*' | '`' => ending,
                _ => false,
            };
            if matches!(c, '\u{3002}' | '\u{ff01}' | '\u{ff1f}') {
                add(start, at + c.len_utf8());
                start = at + c.len_utf8();
            }
        }
        add(start, line.len());
        offset += line.len() + 1;
    }
    found
}

/// Whether the full stop at the end of this beginning of a sentence ends none.
fn is_inside(beginning: &str, of_line: bool) -> bool {
    let Some(words) = beginning.strip_suffix('.') else {
        return false;
    };
    let numbers = (1..=3).contains(&words.len()) && words.bytes().all(|byte| byte.is_ascii_digit());
    if of_line && numbers {
        return true;
    }
    let last = words
        .rsplit(|c: char| !c.is_alphanumeric() && c != '.')
        .next()
        .unwrap_or(words);
    let mut letters = last.chars();
    let initial = letters.next().is_some_and(|c| c.is_uppercase() && c != 'I') && letters.next().is_none();
    initial || ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(last))
}
