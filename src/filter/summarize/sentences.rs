//! Splits text into sentences.

use std::ops::Range;

/// Abbreviations whose final period ends no sentence.
const ABBREVIATIONS: [&str; 12] = [
    "dr", "mr", "mrs", "ms", "prof", "st", "e.g", "i.e", "vs", "approx", "fig", "cf",
];

/// The ranges of the sentences of a text, without separators. A sentence ends with `.`, `!` or `?` and following closing quotes and
/// brackets before white space, with the full stop of a script without spaces, or at a line break. A number with a
/// period at the beginning of a line, also of a heading, is a list number.
pub(in crate::filter) fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut offset = 0;
    loop {
        let rest = &text[offset..];
        let length = memchr::memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        let line = &rest[..length];
        let add = |start: usize, end: usize| {
            let piece = &line[start..end];
            let start = offset + start + (piece.len() - piece.trim_start().len());
            let length = piece.trim().len();
            if length > 0 {
                found.push(start..start + length);
            }
        };
        match line.is_ascii() {
            true => in_ascii(line, add),
            false => in_line(line, add),
        }
        if length == rest.len() {
            return found;
        }
        offset += length + 1;
    }
}

/// Removes the marks of lists, quotations and headings before a sentence. `**bold**`, `--option` and `#5` have none.
pub(in crate::filter) fn without_list_mark(sentence: &str) -> &str {
    let mut bare = sentence;
    loop {
        let run = bare.trim_start_matches(['-', '*', '#']);
        let is_mark = run.len() < bare.len() && run.chars().next().is_none_or(char::is_whitespace);
        let single = || bare.strip_prefix(['\u{2022}', '>']).or_else(|| dashed(bare));
        match if is_mark { Some(run) } else { single() } {
            Some(rest) => bare = rest.trim_start(),
            None => break,
        }
    }
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    match bare[digits..].strip_prefix(['.', ')']) {
        Some(rest) if digits > 0 && digits < 4 && rest.starts_with(' ') => rest.trim_start(),
        _ => bare,
    }
}

/// The text after a dash that is a list mark without a space.
fn dashed(text: &str) -> Option<&str> {
    text.strip_prefix('-').filter(|rest| !rest.starts_with('-'))
}

/// The sentences of a line.
fn in_line(line: &str, mut add: impl FnMut(usize, usize)) {
    let (mut start, mut begin) = (0, begin_of(line, 0));
    let mut ending = false;
    for (at, c) in line.char_indices() {
        if ending && c.is_whitespace() && !is_inside(&line[begin.min(at)..at], start == 0) {
            add(start, at);
            (start, begin) = (at, begin_of(line, at));
        }
        ending = match c {
            '.' | '!' | '?' => true,
            '"' | '\'' | ')' | ']' | '}' | '\u{201d}' | '\u{2019}' | '\u{bb}' | '*' | '`' => ending,
            _ => false,
        };
        if matches!(c, '\u{3002}' | '\u{ff01}' | '\u{ff1f}') {
            let end = at + c.len_utf8();
            add(start, end);
            (start, begin) = (end, begin_of(line, end));
        }
    }
    add(start, line.len());
}

/// Where the text after an index begins, past white space.
fn begin_of(line: &str, from: usize) -> usize {
    line.len() - line[from..].trim_start().len()
}

/// The same of a line that is ASCII, as most are: only what a sentence may end with is looked at.
fn in_ascii(line: &str, mut add: impl FnMut(usize, usize)) {
    let bytes = line.as_bytes();
    let closes = |byte: &u8| b".!?\"')]}*`".contains(byte);
    let (mut start, mut begin, mut at) = (0, begin_of(line, 0), 0);
    while let Some(found) = memchr::memchr3(b'.', b'!', b'?', &bytes[at..]) {
        at += found;
        at += bytes[at..].iter().take_while(|byte| closes(byte)).count();
        let ends = bytes
            .get(at)
            .is_some_and(|byte| char::from(*byte).is_whitespace());
        if ends && !is_inside(&line[begin.min(at)..at], start == 0) {
            add(start, at);
            (start, begin) = (at, begin_of(line, at));
        }
    }
    add(start, line.len());
}

/// Whether the period at the end of this text does not end a sentence.
fn is_inside(beginning: &str, of_line: bool) -> bool {
    let Some(words) = beginning.strip_suffix('.') else {
        return false;
    };
    let number = words.trim_start_matches(['#', '>', '-', '*', ' ']);
    if of_line && (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_of_a_heading_ends_no_sentence() {
        let text = "### 4. **Tools** - all. More.\n**2. Next**";
        let found: Vec<&str> = ranges(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["### 4. **Tools** - all.", "More.", "**2. Next**"]);
    }

    #[test]
    fn marks_are_removed_and_markup_is_kept() {
        for (sentence, bare) in [
            ("- a", "a"),
            ("-use tabs", "use tabs"),
            ("> * \u{2022}b", "b"),
            ("## 3. c", "c"),
            ("- **bold** d", "**bold** d"),
            ("*e* f", "*e* f"),
            ("--no-verify is banned", "--no-verify is banned"),
            ("#5 is open", "#5 is open"),
            ("---", ""),
        ] {
            assert_eq!(without_list_mark(sentence), bare);
        }
    }

    proptest! {
        #[test]
        fn lines_of_ascii_have_the_sentences_of_any_line(
            pieces in prop::collection::vec(prop::sample::select(&["a", "Mr", "12", ".", "!", "?", ")", "\"", "*", " ", "  ", "\t", "e.g.", "\u{b}"][..]), 0..20),
        ) {
            let line = pieces.concat();
            let (mut one, mut other) = (Vec::new(), Vec::new());
            in_ascii(&line, |start, end| one.push(start..end));
            in_line(&line, |start, end| other.push(start..end));
            prop_assert_eq!(one, other, "{:?}", line);
        }
    }
}
