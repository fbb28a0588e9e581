//! Measures, cuts and formats text and numbers for a terminal.

pub use convo::model::visible::thousands;
use textwrap::core::display_width;

/// The display width of a text in columns. An emoji presentation selector widens the preceding character.
pub fn columns_of(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    display_width(text) + text.matches('\u{fe0f}').count()
}

/// Cuts a text at its start to fit the columns, with an ellipsis. For paths, whose file name says most.
pub fn cut_start(text: &str, columns: usize) -> String {
    match fitting(text, text.chars().rev(), columns) {
        None => text.to_string(),
        Some(_) if columns == 0 => String::new(),
        Some(length) => format!("…{}", text[text.len() - length..].trim_start()),
    }
}

/// Cuts a text at its end to fit the columns, with an ellipsis.
pub fn cut(text: &str, columns: usize) -> String {
    match fitting(text, text.chars(), columns) {
        None => text.to_string(),
        Some(_) if columns == 0 => String::new(),
        Some(length) => format!("{}…", text[..length].trim_end()),
    }
}

/// The length of the first of these characters of a text that fit the columns with an ellipsis; none if the whole text fits.
fn fitting(text: &str, characters: impl Iterator<Item = char>, columns: usize) -> Option<usize> {
    if text.len() <= columns || columns_of(text) <= columns {
        return None;
    }
    let mut width = 0;
    let fits = |c: &char| {
        width += columns_of(c.encode_utf8(&mut [0; 4]));
        width < columns
    };
    Some(characters.take_while(fits).map(char::len_utf8).sum())
}

/// Formats a count: `1 message`, `1,234 messages`.
pub fn many(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(number))
}

/// Characters of a random id that are shown.
const SHORT: usize = 8;

/// Shortens a long random id to its first characters and everything from its first period on.
pub fn short_id(id: &str) -> String {
    let start = id.get(..SHORT).filter(|_| id.len() > 2 * SHORT);
    let start = start.filter(|start| start.bytes().all(|b| b.is_ascii_hexdigit()));
    let short = |start: &str| format!("{start}{}", id.find('.').map_or("", |at| &id[at..]));
    crate::output::in_line(&start.map_or(id.to_string(), short))
}

/// Formats a number of bytes in at most five characters: `812B`, `9.5K`, `312M`.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "K", "M", "G", "T"] {
        if value < 999.5 || unit == "T" {
            return match unit != "B" && value < 9.95 {
                true => format!("{value:.1}{unit}"),
                false => format!("{value:.0}{unit}"),
            };
        }
        value /= 1024.0;
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_sizes_have_units() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
        for (bytes, text) in [
            (0, "0B"),
            (999, "999B"),
            (1000, "1.0K"),
            (10_240, "10K"),
            (1_048_576, "1.0M"),
            (u64::MAX, "16777216T"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn a_text_is_truncated_between_characters() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("\u{6f22}\u{5b57}x", 4), "\u{6f22}…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(cut("abc", 0), "");
    }
}
