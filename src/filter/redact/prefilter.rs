//! A fast check whether a text may contain a secret, so that most lines need not be decoded. One automaton finds
//! prefixes, words and signs in the encoded text; the context of each match decides.

use super::mapped::Mapped;
use super::runs::has_run;
use super::{place, shapes};
use crate::format::base64;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::OnceLock;

/// How much text around a word is decoded, in bytes.
const BEFORE: usize = 64;
const CONTEXT_BYTES: usize = 2048;

/// The kind of a pattern.
#[derive(Clone, Copy, Debug)]
enum Sign {
    /// A prefix, by number.
    Prefix(usize),
    /// A word before a password (`true`) or a key.
    Word(bool),
    Bearer,
    Basic,
    Cookie,
    Address,
    Percent,
    Unicode,
    WebToken,
    PrivateKey,
    Telegram,
    Mailchimp,
    /// Always possible: a secret, an encrypted part, or an escape that may hide anything.
    Always,
}

const SIGNS: [(&str, Sign); 18] = [
    ("bearer ", Sign::Bearer),
    ("basic ", Sign::Basic),
    ("cookie:", Sign::Cookie),
    ("://", Sign::Address),
    ("%", Sign::Percent),
    ("\\u00", Sign::Unicode),
    ("eyJ", Sign::WebToken),
    ("-----BEGIN ", Sign::PrivateKey),
    (":AA", Sign::Telegram),
    ("-us", Sign::Mailchimp),
    (".atlasv1.", Sign::Always),
    ("\\/", Sign::Always),
    ("\u{1b}", Sign::Always),
    ("encrypted_content", Sign::Always),
    ("reasoning_opaque", Sign::Always),
    ("redacted_thinking", Sign::Always),
    ("reasoning.encrypted", Sign::Always),
    ("\\u001b", Sign::Always),
];

struct SignSearcher {
    automaton: AhoCorasick,
    /// The patterns and their kinds.
    signs: Vec<(String, Sign)>,
}

fn searcher() -> Option<&'static SignSearcher> {
    static SEARCHER: OnceLock<Option<SignSearcher>> = OnceLock::new();
    let build = || {
        let prefixes = shapes::prefixes().enumerate();
        let prefixes = prefixes.map(|(nth, prefix)| (prefix.to_string(), Sign::Prefix(nth)));
        let passwords = place::PASSWORDS.iter().map(|word| (*word, true));
        let words = passwords.chain(place::SECRETS.iter().map(|word| (*word, false)));
        let words =
            words.flat_map(|(word, chosen)| written(word).map(move |word| (word, Sign::Word(chosen))));
        let signs = SIGNS.iter().map(|(text, sign)| (text.to_string(), *sign));
        let signs: Vec<(String, Sign)> = prefixes.chain(words).chain(signs).collect();
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(signs.iter().map(|(text, _)| text));
        Some(SignSearcher {
            automaton: automaton.ok()?,
            signs,
        })
    };
    SEARCHER.get_or_init(build).as_ref()
}

/// A word as plain text and, unless ASCII, with JSON escapes, also nested in a second string.
fn written(word: &str) -> impl Iterator<Item = String> {
    let escaped = |backslash: &str| -> String {
        let mut units = [0; 2];
        let escape = |c: char| match c.is_ascii() {
            true => c.to_string(),
            false => c
                .encode_utf16(&mut units)
                .iter()
                .map(|unit| format!("{backslash}u{unit:04x}"))
                .collect(),
        };
        word.chars().map(escape).collect()
    };
    let mut forms = vec![word.to_string(), escaped("\\"), escaped("\\\\")];
    forms.dedup();
    forms.into_iter()
}

/// Whether a text may contain a secret, plain or JSON-encoded.
pub fn may_contain_secret(text: &str) -> bool {
    let Some(searcher) = searcher() else {
        return true;
    };
    let mut percent = 0;
    let may = |found: aho_corasick::Match| {
        let (sign, start, end) = (&searcher.signs[found.pattern()], found.start(), found.end());
        match sign.1 {
            // Each percent-encoded run is checked once.
            Sign::Percent if start < percent => false,
            Sign::Percent => {
                let (holds, end) = percent_encoded(text, start);
                percent = end;
                holds
            }
            kind => is_secret_context(text, start, end, &sign.0, kind),
        }
    };
    searcher.automaton.find_overlapping_iter(text).any(may) || has_run(text.as_bytes())
}

/// Whether a member name marks its value as a secret.
pub fn may_name(name: &str) -> bool {
    searcher().is_none_or(|searcher| {
        let is_word = |found: aho_corasick::Match| matches!(searcher.signs[found.pattern()].1, Sign::Word(_));
        searcher.automaton.find_overlapping_iter(name).any(is_word)
    })
}

/// Whether a match may be a secret in its context.
fn is_secret_context(text: &str, start: usize, end: usize, pattern: &str, sign: Sign) -> bool {
    let bytes = text.as_bytes();
    let rest = &bytes[end..];
    let is_exact = || bytes[start..end] == *pattern.as_bytes();
    let run = |has: fn(&u8) -> bool| rest.iter().take_while(|byte| has(byte)).count();
    match sign {
        Sign::Prefix(nth) => is_exact() && shapes::may_have_shape(nth, rest),
        Sign::Word(is_password) => word(text, start, end, is_password),
        Sign::Bearer => run(is_token) >= 20,
        Sign::Basic => run(is_token) >= 8 && is_pair(&rest[..run(is_token)]),
        Sign::Cookie => rest.iter().take(CONTEXT_BYTES).any(|byte| *byte == b'='),
        Sign::Address => {
            let address = &rest[..run(|byte| !byte.is_ascii_whitespace() && !b"\"'<>`\\".contains(byte))];
            let colon = memchr::memchr2(b':', b'/', address).filter(|at| address[*at] == b':');
            let has_password = colon.is_some_and(|colon| address[colon..].contains(&b'@'));
            has_password || memchr::memmem::find(address, b"sig=").is_some()
        }
        // A character that may be part of a secret, or a sign before one.
        Sign::Unicode => rest
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"-_=:./+@".contains(&byte)),
        Sign::WebToken => {
            let first = run(is_word_byte);
            is_exact() && rest.get(first) == Some(&b'.') && rest.len() > first + 20
        }
        Sign::PrivateKey => memchr::memmem::find(&rest[..rest.len().min(60)], b"PRIVATE").is_some(),
        Sign::Telegram => {
            is_exact() && run(is_word_byte) >= 33 && start > 0 && bytes[start - 1].is_ascii_digit()
        }
        Sign::Mailchimp => {
            let hex = bytes[..start]
                .iter()
                .rev()
                .take_while(|byte| byte.is_ascii_hexdigit());
            is_exact() && rest.first().is_some_and(u8::is_ascii_digit) && hex.count() >= 32
        }
        Sign::Percent | Sign::Always => true,
    }
}

fn is_word_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(byte)
}

fn is_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=\\".contains(byte)
}

/// Whether Base64 decodes to `name:password`.
fn is_pair(token: &[u8]) -> bool {
    token.contains(&b'\\') || base64::decode(token).is_some_and(|(_, pair)| pair.contains(&b':'))
}

/// Whether a percent-encoded run may contain a secret, and where the run ends.
fn percent_encoded(text: &str, at: usize) -> (bool, usize) {
    let bytes = text.as_bytes();
    let is_hex = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    if !is_hex(bytes.get(at + 1)) || !is_hex(bytes.get(at + 2)) {
        return (false, at + 1);
    }
    let ends = |byte: &&u8| byte.is_ascii_whitespace() || b"\"'<>&?=;|()\\".contains(byte);
    let start = at - bytes[..at].iter().rev().take_while(|byte| !ends(byte)).count();
    let end = at + bytes[at..].iter().take_while(|byte| !ends(byte)).count();
    let decoded = Mapped::percent(&text[start..end]);
    (
        decoded.is_some_and(|decoded| may_contain_secret(&decoded.text)),
        end,
    )
}

/// Whether a sign and a value follow a word.
fn word(text: &str, start: usize, end: usize, is_password: bool) -> bool {
    let bytes = text.as_bytes();
    let tail = bytes[end..]
        .iter()
        .take(48)
        .take_while(|byte| is_word_byte(byte))
        .count();
    let name = &text[end..end + tail];
    if name.starts_with(|c: char| c.is_ascii_lowercase()) {
        let ends = ["key", "token", "value", "secret"];
        return ends.iter().any(|end| {
            name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_')
                .eq_ignore_ascii_case(end)
        });
    }
    let mut at = end + tail;
    let mut has_sign = false;
    while let Some(byte) = bytes.get(at) {
        let is_escape = bytes[at - 1] == b'\\' && b"tnru".contains(byte);
        has_sign = b"=:\xef".contains(byte) || is_escape && *byte == b'u';
        if has_sign || !is_escape && !b"\"'\\]*` \t".contains(byte) {
            break;
        }
        at += 1;
    }
    let before = bytes[..start]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-');
    let may_be_flag = || {
        before.count() >= 2 || text[start..end].ends_with(" -p") || text[..start].trim_end().ends_with("with")
    };
    if !has_sign && !may_be_flag() {
        return false;
    }
    let from = boundary(text, start.saturating_sub(BEFORE));
    let to = boundary(text, end + CONTEXT_BYTES);
    if place::may_precede_secret(&text[from..to], start - from, end - from, is_password) {
        return true;
    }
    let (mut head, mut rest) = (text[from..start].to_string(), text[end..to].to_string());
    for _ in 0..3 {
        if !head.contains('\\') && !rest.contains('\\') {
            return false;
        }
        (head, rest) = (Mapped::json(&head).text, Mapped::json(&rest).text);
        let joined = [&head, &text[start..end], &rest].concat();
        if place::may_precede_secret(&joined, head.len(), head.len() + end - start, is_password) {
            return true;
        }
    }
    false
}

/// The last character boundary at or before a position.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
