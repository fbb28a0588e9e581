//! Finds paths, URLs, dates, figures and identifiers in a text by the form of its words.

use super::kind::FactKind;
use crate::filter::summarize::MONTHS;

/// Units that follow a number in a figure.
const UNITS: [&str; 44] = [
    "%", "ms", "s", "sec", "second", "seconds", "min", "minute", "minutes", "h", "hour", "hours", "day",
    "days", "week", "weeks", "month", "months", "year", "years", "b", "kb", "mb", "gb", "tb", "kib", "mib",
    "gib", "bytes", "token", "tokens", "line", "lines", "file", "files", "test", "tests", "times", "percent",
    "usd", "eur", "dollars", "euros", "requests",
];

/// Characters to strip from both ends of a word.
const AROUND: [char; 17] = [
    '`', '"', '\'', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '!', '?', '*', '\u{2026}',
];

/// Reports every fact of a text.
pub(super) fn scan(text: &str, found: &mut impl FnMut(FactKind, &str)) {
    for line in text.lines() {
        if let Some(command) = line.trim_start().strip_prefix("$ ") {
            found(FactKind::Command, command.trim());
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        for (nth, word) in words.iter().enumerate() {
            let quoted = word.starts_with('`') && word.trim_end_matches(['.', ',', ':', ';']).ends_with('`');
            let bare = bare(word);
            // A number with a period or a parenthesis numbers a list item.
            let counts = word.ends_with(['.', ')']) && bare.bytes().all(|byte| byte.is_ascii_digit());
            if bare.is_empty() || counts {
                continue;
            }
            let next = words.get(nth + 1).map_or("", |next| self::bare(next));
            match kind(bare, next, quoted) {
                Some((kind, true)) => found(kind, &format!("{bare} {next}")),
                Some((kind, false)) => found(kind, bare),
                None => {}
            }
        }
    }
}

/// Strips punctuation from a word.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(AROUND);
    word.trim_end_matches(['.', ':', ',']).trim_end_matches(AROUND)
}

/// The kind of a word, and whether the next word belongs to it.
fn kind(word: &str, next: &str, quoted: bool) -> Option<(FactKind, bool)> {
    let lower = || word.to_lowercase();
    if is_address(word) {
        return Some((FactKind::Url, false));
    }
    if is_date(word) {
        return Some((FactKind::Date, false));
    }
    if MONTHS.contains(&lower().as_str()) && is_day(next) {
        return Some((FactKind::Date, true));
    }
    if is_path(word) {
        return Some((FactKind::Path, false));
    }
    if let Some(rest) = after_number(word) {
        let unit = rest.to_lowercase();
        if UNITS.contains(&unit.as_str()) || rest.is_empty() && word.starts_with(['$', '\u{20ac}', '\u{a3}'])
        {
            return Some((FactKind::Figure, false));
        }
        if rest.is_empty() && UNITS.contains(&next.to_lowercase().as_str()) {
            return Some((FactKind::Figure, true));
        }
        if is_day(word) && MONTHS.contains(&next.to_lowercase().as_str()) {
            return Some((FactKind::Date, true));
        }
    }
    (is_identifier(word) || quoted && is_name(word)).then_some((FactKind::Identifier, false))
}

fn is_address(word: &str) -> bool {
    ["http://", "https://", "ssh://", "git@"]
        .iter()
        .any(|begins| word.len() > begins.len() && word.starts_with(begins))
}

/// `2026-11-20`, optionally with a time.
fn is_date(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 10
        && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
        && bytes.get(10).is_none_or(|byte| *byte == b'T')
}

fn is_day(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th")
        && digits.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day))
}

/// A path with a separator, or a file name with an extension that starts with a letter.
fn is_path(word: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || "/._-~@+#:\\$%=".contains(c);
    if !word.chars().all(allowed) || !word.contains(char::is_alphabetic) {
        return false;
    }
    if word.contains('/') {
        let names = word.split('/').filter(|name| !name.is_empty()).count();
        let plain = word.chars().all(|c| c.is_alphabetic() || c == '/');
        // "and/or" is not a path; "/etc" and "src/main.rs" are.
        return names > 0 && (!plain || word.starts_with('/') || names > 2);
    }
    let Some((name, extension)) = word.rsplit_once('.') else {
        return false;
    };
    let letters = extension.len() <= 5 && extension.starts_with(|c: char| c.is_ascii_lowercase());
    letters
        && name.len() > 1
        && name.contains(char::is_alphanumeric)
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_alphanumeric() || "._-".contains(c))
        && !["e.g", "i.e"].contains(&word)
}

/// The text after the number at the start of a word; none if there is no number.
fn after_number(word: &str) -> Option<&str> {
    let number = word.trim_start_matches(['$', '\u{20ac}', '\u{a3}', '~', '+', '-']);
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
    number.starts_with(|c: char| c.is_ascii_digit()).then_some(rest)
}

/// `#123`, `ABC-123`, a hash, a UUID, `snake_case`, `camelCase`, `Type::name`.
fn is_identifier(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if word.strip_prefix('#').is_some_and(digits) {
        return true;
    }
    if let Some((letters, number)) = word.split_once('-')
        && letters.len() >= 2
        && letters.bytes().all(|byte| byte.is_ascii_uppercase())
        && digits(number)
    {
        return true;
    }
    let hexadecimal = word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if hexadecimal {
        let is_mixed = word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_alphabetic());
        return word.len() >= 7 && is_mixed;
    }
    if !is_name(word) {
        return false;
    }
    let inner = word.trim_matches('_');
    let joined = inner.contains('_') || inner.contains("::");
    let humps = inner
        .as_bytes()
        .windows(2)
        .any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    inner.len() >= 3 && (joined || humps)
}

/// A name in code.
fn is_name(word: &str) -> bool {
    word.len() >= 2
        && word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_:.-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_recognized_by_the_form_of_words() {
        let text = "See https://example.com/a?b=1, src/main.rs and `README.md`: it took 6.5 s (down from 12ms), 45% of \
                    $1,200, since 2026-11-20 or March 3rd. 4. Files are ...d. Fix ABC-123 and #45 in commit 35dc990c with and/or \
                    `foo_bar()`, readSession, e.g. the usual one.\n$ cargo test --locked\nNothing here, 2024 or not.";
        let mut found = Vec::new();
        scan(text, &mut |kind, fact: &str| found.push((kind, fact.to_string())));
        let expected = [
            (FactKind::Url, "https://example.com/a?b=1"),
            (FactKind::Path, "src/main.rs"),
            (FactKind::Path, "README.md"),
            (FactKind::Figure, "6.5 s"),
            (FactKind::Figure, "12ms"),
            (FactKind::Figure, "45%"),
            (FactKind::Figure, "$1,200"),
            (FactKind::Date, "2026-11-20"),
            (FactKind::Date, "March 3rd"),
            (FactKind::Identifier, "ABC-123"),
            (FactKind::Identifier, "#45"),
            (FactKind::Identifier, "35dc990c"),
            (FactKind::Identifier, "foo_bar"),
            (FactKind::Identifier, "readSession"),
            (FactKind::Command, "cargo test --locked"),
        ];
        assert_eq!(found, expected.map(|(kind, fact)| (kind, fact.to_string())));
    }
}
