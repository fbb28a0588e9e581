//! Whether a text may hold a secret at all: most lines do not, and need not be decoded.

use super::{forms, place, shapes};
use aho_corasick::AhoCorasick;
use std::sync::OnceLock;

/// Characters that the finders look for beside prefixes and words.
const OTHERS: [&str; 8] = [
    "-----BEGIN ",
    "eyJ",
    "://",
    "Bearer ",
    "Basic ",
    "ookie:",
    "%",
    "\\u",
];

/// Fewest characters of the Base64 form of a prefix.
const LEAST: usize = 4;

fn exact() -> Option<&'static AhoCorasick> {
    static EXACT: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let build = || {
        let own = shapes::prefixes().chain(OTHERS).map(str::to_string);
        let encoded = shapes::prefixes().flat_map(encoded);
        AhoCorasick::new(own.chain(encoded)).ok()
    };
    EXACT.get_or_init(build).as_ref()
}

fn words() -> Option<&'static AhoCorasick> {
    static WORDS: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let build = || {
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(
                place::PASSWORDS
                    .iter()
                    .chain(&place::SECRETS)
                    .chain(&["bearer ", "basic "]),
            )
            .ok()
    };
    WORDS.get_or_init(build).as_ref()
}

/// Whether a JSON string may hold a secret, from its encoded text between the quotes.
pub fn may_hold(raw: &str) -> bool {
    let mut found = Vec::new();
    exact().is_none_or(|exact| exact.is_match(raw)) || words().is_none_or(|words| words.is_match(raw)) || {
        forms::words(raw, &mut found);
        !found.is_empty()
    }
}

/// Whether the name of a member marks its value as a secret.
pub fn may_name(name: &str) -> bool {
    words().is_none_or(|words| words.is_match(name))
}

/// What every Base64 text has that holds a prefix, at each of the three offsets.
fn encoded(prefix: &str) -> Vec<String> {
    let form = |offset: usize| {
        let padded = [&[0u8; 2][..offset], prefix.as_bytes()].concat();
        let style = crate::format::base64::Style::PLAIN;
        let digits = crate::format::base64::encode(&padded, &style);
        // Digits that depend on the characters before or after the prefix.
        let first = [0, 2, 3][offset];
        let last = padded.len() * 8 / 6;
        let digits = String::from_utf8_lossy(digits.get(first..last).unwrap_or_default()).into_owned();
        (digits.len() >= LEAST).then_some(digits)
    };
    (0..3).filter_map(form).collect()
}
