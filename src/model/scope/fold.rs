//! Ids as PicoClaw folds them: trimmed, in lower case, and for agents and accounts in a small alphabet.

use std::borrow::Cow;

/// Longest id of an agent or account in bytes.
const LONGEST: usize = 64;

/// What an agent is called that has no name.
pub const AGENT: &str = "main";

/// What an account is called that has no name.
pub const ACCOUNT: &str = "default";

/// One character in lower case as in Go: one for one, and by Unicode 15. Keys are kept for years, so that pairs which
/// Unicode has learnt since are left as they are.
fn lower_char(c: char) -> char {
    match c {
        '\u{130}' => 'i',
        '\u{a7cb}' | '\u{a7cc}' | '\u{a7ce}' | '\u{a7d2}' | '\u{a7d4}' | '\u{a7da}' | '\u{a7dc}' => c,
        '\u{10d50}'..='\u{10d65}' | '\u{16ea0}'..='\u{16eb8}' => c,
        // All other characters have one of lower case; a sigma has no final form when it stands alone.
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Trimmed of white space and in lower case. `str::to_lowercase` would make two characters of U+0130, and a final
/// sigma at the end of a word.
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

/// The id of an agent; never empty.
pub fn agent(text: &str) -> Cow<'_, str> {
    id(text).unwrap_or(Cow::Borrowed(AGENT))
}

/// The id of an account; never empty.
pub fn account(text: &str) -> Cow<'_, str> {
    id(text).unwrap_or(Cow::Borrowed(ACCOUNT))
}

/// Whether nothing of an id is left in the small alphabet, so that it has the name of one without a name.
pub fn is_emptied(text: &str) -> bool {
    !text.trim().is_empty() && id(text).is_none()
}

fn is_of_id(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-')
}

/// `[a-z0-9_-]` with one `-` for each run of anything else; none when nothing is left.
fn id(text: &str) -> Option<Cow<'_, str>> {
    let folded = folded(text);
    let plain = (1..=LONGEST).contains(&folded.len())
        && !matches!(folded.as_bytes()[0], b'_' | b'-')
        && folded.bytes().all(is_of_id);
    if plain {
        return Some(folded);
    }
    let mut spelled = String::with_capacity(folded.len());
    let mut run = false;
    for byte in folded.bytes() {
        // A byte of a longer character is of no id, and so is the one after it.
        match is_of_id(byte) {
            true => spelled.push(char::from(byte)),
            false if !run => spelled.push('-'),
            false => {}
        }
        run = !is_of_id(byte);
    }
    let mut id = spelled.trim_matches('-');
    id = &id[..id.len().min(LONGEST)];
    (!id.is_empty()).then(|| Cow::Owned(id.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_character_stays_one() {
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
    fn every_other_capital_has_one_small_letter() {
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
