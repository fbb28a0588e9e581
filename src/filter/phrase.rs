//! Words in a text.

/// Whether a text, in lower case, holds these words as words of their own.
pub(super) fn holds(lower: &str, words: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    lower.match_indices(words).any(|(at, _)| {
        ends(lower[..at].chars().next_back()) && ends(lower[at + words.len()..].chars().next())
    })
}
