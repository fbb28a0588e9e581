//! Whole words and lines of a text.

/// Whether a lower-case text contains these words as whole words.
pub(super) fn contains_words(lower: &str, words: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    lower.match_indices(words).any(|(at, _)| {
        ends(lower[..at].chars().next_back()) && ends(lower[at + words.len()..].chars().next())
    })
}

/// A text with single spaces instead of line ends and other white space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
