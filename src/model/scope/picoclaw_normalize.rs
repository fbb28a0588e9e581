//! Normalization of ids as in PicoClaw: trimmed and in lower case; agents and accounts also in a reduced alphabet.

use std::borrow::Cow;

/// Maximum length of an agent or account id in bytes.
const LONGEST: usize = 64;

/// Default agent.
pub const AGENT: &str = "main";

/// Default account.
pub const ACCOUNT: &str = "default";

/// Lower case of one character as in Go: one to one, by Unicode 15. Keys must not change, so pairs of later Unicode
/// versions are left unchanged.
fn lower_char(c: char) -> char {
    match c {
        '\u{130}' => 'i',
        '\u{a7cb}' | '\u{a7cc}' | '\u{a7ce}' | '\u{a7d2}' | '\u{a7d4}' | '\u{a7da}' | '\u{a7dc}' => c,
        '\u{10d50}'..='\u{10d65}' | '\u{16ea0}'..='\u{16eb8}' => c,
        // All other characters have a single lower-case character; a lone sigma has no final form.
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Trims white space and converts to lower case. `str::to_lowercase` would map U+0130 to two characters, and a sigma at
/// the end of a word to its final form.
pub fn folded(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.is_ascii() {
        return match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(text.to_ascii_lowercase()),
            false => Cow::Borrowed(text),
        };
    }
    Cow::Owned(text.chars().map(lower_char).collect())
}

/// Normalizes the id of an agent; never empty.
pub fn agent(text: &str) -> Cow<'_, str> {
    id(text).unwrap_or(Cow::Borrowed(AGENT))
}

/// Normalizes the id of an account; never empty.
pub fn account(text: &str) -> Cow<'_, str> {
    id(text).unwrap_or(Cow::Borrowed(ACCOUNT))
}

/// Whether an id has no character of the reduced alphabet and is therefore replaced by the default.
pub fn is_emptied(text: &str) -> bool {
    !text.trim().is_empty() && id(text).is_none()
}

fn is_of_id(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-')
}

/// Reduces to `[a-z0-9_-]`, with one `-` for each run of other characters; `None` if nothing remains.
fn id(text: &str) -> Option<Cow<'_, str>> {
    let folded = folded(text);
    let plain = (1..=LONGEST).contains(&folded.len())
        && !matches!(folded.as_bytes()[0], b'_' | b'-')
        && folded.bytes().all(is_of_id);
    if plain {
        return Some(folded);
    }
    let mut encoded = String::with_capacity(folded.len());
    let mut run = false;
    for byte in folded.bytes() {
        // Every byte of a multi-byte character is outside the alphabet.
        match is_of_id(byte) {
            true => encoded.push(char::from(byte)),
            false if !run => encoded.push('-'),
            false => {}
        }
        run = !is_of_id(byte);
    }
    let mut id = encoded.trim_matches('-');
    id = &id[..id.len().min(LONGEST)];
    (!id.is_empty()).then(|| Cow::Owned(id.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_character_folds_to_one() {
        for (upper, lower) in [
            (" ABC ", "abc"),
            ("\u{130}", "i"),
            ("ΑΣ", "ασ"),
            ("ΟΔΟΣ ΟΔΟΣ", "οδοσ οδοσ"),
            ("ÀÉ\u{1e9e}", "àéß"),
            ("\u{a0}\u{85}x\u{2003}", "x"),
            ("\u{a7cb}\u{10d50}", "\u{a7cb}\u{10d50}"),
        ] {
            assert_eq!(folded(upper), lower);
        }
    }

    #[test]
    fn other_capitals_have_one_lowercase_letter() {
        let several: Vec<char> = ('\0'..=char::MAX)
            .filter(|c| c.to_lowercase().count() > 1)
            .collect();
        assert_eq!(several, ['\u{130}']);
    }

    #[test]
    fn ids_have_a_small_alphabet() {
        let long = format!("{}-y", "x".repeat(63));
        for (text, expected) in [
            ("Main", "main"),
            ("My Agent!!", "my-agent"),
            ("--x--", "x"),
            ("_under", "_under"),
            ("team-", "team-"),
            ("-team", "team"),
            ("a__b--c", "a__b--c"),
            ("  spaced  out  ", "spaced-out"),
            ("Équipe", "quipe"),
            (&long, &long[..64]),
        ] {
            assert_eq!(agent(text), expected, "{text}");
        }
        assert_eq!((agent(" é "), account("ΑΣ")), ("main".into(), "default".into()));
    }
}
