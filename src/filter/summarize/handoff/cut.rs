//! Shortens a text to its beginning and end within a token limit.

use std::borrow::Cow;

/// Replaces omitted text.
pub const GAP: &str = " [...] ";

/// Shortens a text: two thirds of the tokens from the beginning, one third from the end.
pub fn cut<'t>(text: &'t str, most: u64, count: &dyn Fn(&str) -> u64) -> Cow<'t, str> {
    // A text has at most one token per byte.
    if text.len() as u64 <= most {
        return Cow::Borrowed(text);
    }
    // Do not count very long texts: four bytes per token is a sufficient first estimate.
    let tokens = match text.len() as u64 > most.saturating_mul(64) {
        true => text.len() as u64 / 4,
        false => count(text),
    };
    if tokens <= most {
        return Cow::Borrowed(text);
    }
    let mut bytes = (text.len() as u128 * u128::from(most) / u128::from(tokens.max(1))) as usize;
    loop {
        let head = boundary(text, bytes * 2 / 3);
        let tail = text.len() - boundary(text, text.len() - bytes / 3);
        let (head, tail) = (text[..head].trim_end(), text[text.len() - tail..].trim_start());
        let short = format!("{head}{GAP}{tail}").trim().to_string();
        if bytes < 12 || count(&short) <= most {
            return Cow::Owned(short);
        }
        bytes = bytes * 7 / 8;
    }
}

/// The first characters, and an ellipsis if there are more.
pub fn first(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}{}", text[..end].trim_end(), GAP.trim_end())),
    }
}

/// Whether two texts, each of which [`first`] may have shortened, can be the same one.
pub fn begin_alike(one: &str, other: &str) -> bool {
    let shown = |text| str::strip_suffix(text, GAP.trim_end());
    match (shown(one), shown(other)) {
        (Some(one), Some(other)) => one.starts_with(other) || other.starts_with(one),
        (Some(beginning), None) => other.starts_with(beginning),
        (None, Some(beginning)) => one.starts_with(beginning),
        (None, None) => one == other,
    }
}

/// The last character boundary at or before a position.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_are_kept() {
        let count = |text: &str| text.split_whitespace().count() as u64;
        let text: String = (0..300).map(|n| format!("word{n} ")).collect();
        let short = cut(&text, 30, &count);
        assert!(
            short.starts_with("word0 ") && short.trim_end().ends_with("word299"),
            "{short}"
        );
        assert!(count(&short) <= 30 && count(&short) > 15, "{short}");
        assert_eq!(cut("a b", 3, &count), "a b");
        assert_eq!(first("äöü", 2), "äö [...]");
    }
}
