//! The terms of a text: what two texts have in common when they speak of the same thing.
//! Part of the profile coverage-v1; a change here is another profile.

use std::collections::HashSet;
use std::sync::OnceLock;
use unicode_normalization::UnicodeNormalization;

/// Words that say nothing of what a text is about, one a line.
const STOP_WORDS: &str = include_str!("stopwords_en.txt");

/// Endings that are taken off ASCII words, in the order in which they are tried.
const ENDINGS: [&str; 4] = ["ing", "ed", "es", "s"];

/// Fewest characters that an ending must leave.
const STEM: usize = 3;

/// The terms in order, repeats kept: words in lower case without stop words and endings; overlapping pairs of
/// characters where a script writes no spaces.
pub fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for_each_term(text, |term| found.push(term.to_string()));
    found
}

/// Hands the terms on one by one: most are known already to whoever counts them.
pub fn for_each_term(text: &str, mut found: impl FnMut(&str)) {
    let folded: String = if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.nfkc().collect::<String>().to_lowercase()
    };
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
        end_of_run(&mut run, &mut found);
    }
    end_of_run(&mut run, &mut found);
}

/// Kana, Han and Hangul: scripts whose words are not set apart.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

fn end_of_run(run: &mut String, found: &mut impl FnMut(&str)) {
    let mut rest = run.as_str();
    while let Some(first) = rest.chars().next() {
        let unspaced = is_unspaced(first);
        let end = rest.find(|c| is_unspaced(c) != unspaced).unwrap_or(rest.len());
        let (stretch, after) = rest.split_at(end);
        match unspaced {
            true => pairs(stretch, found),
            false => {
                if let Some(word) = word(stretch) {
                    found(word);
                }
            }
        }
        rest = after;
    }
    run.clear();
}

fn pairs(stretch: &str, found: &mut impl FnMut(&str)) {
    let starts = || stretch.char_indices().map(|(at, _)| at).chain([stretch.len()]);
    let ends = starts().skip(2);
    let mut any = false;
    for (start, end) in starts().zip(ends) {
        found(&stretch[start..end]);
        any = true;
    }
    if !any {
        found(stretch);
    }
}

fn word(stretch: &str) -> Option<&str> {
    if stretch.chars().nth(1).is_none() || stop_words().contains(stretch) {
        return None;
    }
    if !stretch.is_ascii() {
        return Some(stretch);
    }
    let stems = ENDINGS.iter().filter_map(|ending| stretch.strip_suffix(ending));
    let stem = stems.into_iter().find(|stem| stem.len() >= STEM);
    Some(stem.unwrap_or(stretch))
}

fn stop_words() -> &'static HashSet<&'static str> {
    static SET: OnceLock<HashSet<&'static str>> = OnceLock::new();
    SET.get_or_init(|| STOP_WORDS.lines().collect())
}
