//! Extracts the terms of a text, which texts about the same subject share. Part of the profile coverage-v1; any
//! change requires a new profile.

use super::numbers::TermNumbers;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

/// Words without information about the subject, one per line.
const STOP_WORDS: &str = include_str!("stopwords_en.txt");

/// Endings removed from ASCII words, in order of precedence.
const ENDINGS: [&str; 4] = ["ing", "ed", "es", "s"];

/// Minimum characters that must remain without the ending.
const STEM: usize = 3;

/// The terms in order, with repeats: lower-case words without stop words and endings; overlapping character pairs in
/// scripts without spaces.
pub fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for_each_term(text, |term| found.push(term.to_string()));
    found
}

/// Passes each term to `found`, without allocating a list.
pub fn for_each_term(text: &str, mut found: impl FnMut(&str)) {
    for_each_piece(text, |piece| piece.term().into_iter().for_each(&mut found));
}

/// A text element from which a term is derived.
#[derive(Clone, Copy)]
pub(super) enum TextElement<'t> {
    /// A word in lower case.
    Word(&'t str),
    /// A pair of characters in a script without spaces.
    Pair(&'t str),
}

impl<'t> TextElement<'t> {
    /// The term; none of a stop word.
    pub fn term(self) -> Option<&'t str> {
        match self {
            TextElement::Word(stretch) => word(stretch),
            TextElement::Pair(pair) => Some(pair),
        }
    }
}

type FoundTerm<'f> = &'f mut dyn FnMut(TextElement<'_>);

/// Passes each text element to `found`.
pub(super) fn for_each_piece(text: &str, mut found: impl FnMut(TextElement<'_>)) {
    let mut lower = String::new();
    let mut ascii = |text: &str, found: FoundTerm<'_>| {
        lower.clear();
        lower.push_str(text);
        lower.make_ascii_lowercase();
        for_each_ascii_word(&lower, found);
    };
    if text.is_ascii() {
        return ascii(text, &mut found);
    }
    // Normalization composes nothing across white space.
    for piece in text.split_ascii_whitespace() {
        match piece.is_ascii() {
            true => ascii(piece, &mut found),
            false => for_each_folded_piece(piece, &mut found),
        }
    }
}

/// The same of a text that is not ASCII, without white space.
pub(super) fn for_each_folded_piece(text: &str, found: FoundTerm<'_>) {
    let folded = text.nfkc().collect::<String>().to_lowercase();
    let mut run = String::new();
    let mut rest = folded.chars().peekable();
    while let Some(c) = rest.next() {
        if c.is_alphanumeric() {
            run.push(c);
            continue;
        }
        let inside = matches!(c, '\'' | '\u{2019}') && !run.is_empty();
        if inside && rest.peek().is_some_and(|next| next.is_alphanumeric()) {
            continue;
        }
        end_of_run(&mut run, found);
    }
    end_of_run(&mut run, found);
}

/// Fast path for lower-case ASCII text, the most frequent case.
fn for_each_ascii_word(text: &str, found: FoundTerm<'_>) {
    let bytes = text.as_bytes();
    let belongs = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let mut at = 0;
    while at < bytes.len() {
        if !belongs(at) {
            at += 1;
            continue;
        }
        let start = at;
        while belongs(at) {
            at += 1;
        }
        let mut joined = String::new();
        while bytes.get(at) == Some(&b'\'') && belongs(at + 1) {
            if joined.is_empty() {
                joined.push_str(&text[start..at]);
            }
            let rest = at + 1;
            at = rest;
            while belongs(at) {
                at += 1;
            }
            joined.push_str(&text[rest..at]);
        }
        found(TextElement::Word(match joined.is_empty() {
            true => &text[start..at],
            false => &joined,
        }));
    }
}

/// Kana, Han and Hangul, which do not separate words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

fn end_of_run(run: &mut String, found: FoundTerm<'_>) {
    let mut rest = run.as_str();
    while let Some(first) = rest.chars().next() {
        let unspaced = is_unspaced(first);
        let end = rest.find(|c| is_unspaced(c) != unspaced).unwrap_or(rest.len());
        let (stretch, after) = rest.split_at(end);
        match unspaced {
            true => pairs(stretch, found),
            false => found(TextElement::Word(stretch)),
        }
        rest = after;
    }
    run.clear();
}

fn pairs(stretch: &str, found: FoundTerm<'_>) {
    let starts = || stretch.char_indices().map(|(at, _)| at).chain([stretch.len()]);
    let ends = starts().skip(2);
    let mut any = false;
    for (start, end) in starts().zip(ends) {
        found(TextElement::Pair(&stretch[start..end]));
        any = true;
    }
    if !any {
        found(TextElement::Pair(stretch));
    }
}

fn word(stretch: &str) -> Option<&str> {
    let single = if stretch.is_ascii() {
        stretch.len() < 2
    } else {
        stretch.chars().nth(1).is_none()
    };
    if single || STOP_NUMBERS.find(stretch).is_some() {
        return None;
    }
    if !stretch.is_ascii() {
        return Some(stretch);
    }
    let stems = ENDINGS.iter().filter_map(|ending| stretch.strip_suffix(ending));
    let stem = stems.into_iter().find(|stem| stem.len() >= STEM);
    Some(stem.unwrap_or(stretch))
}

/// The term without the last letters that inflection changes: those of "apply" and "applied", "move" and "moving", "plan"
/// and "planned", "DJ" and "DJs" are equal. Not a part of the profile: it compares questions with units.
pub(super) fn without_inflection(term: &str) -> &str {
    let mut stem = term;
    if let [_, before, b's'] = stem.as_bytes()
        && before.is_ascii_alphabetic()
        && !b"aeiousy".contains(before)
    {
        stem = &stem[..2];
    }
    while let [.., before, last] = stem.as_bytes()
        && stem.len() > STEM
        && (b"eisy".contains(last) || last == before && last.is_ascii_alphabetic())
    {
        stem = &stem[..stem.len() - 1];
    }
    stem
}

static STOP_NUMBERS: LazyLock<TermNumbers> = LazyLock::new(|| {
    let mut numbers = TermNumbers::default();
    STOP_WORDS.lines().for_each(|word| _ = numbers.of(word));
    numbers
});
