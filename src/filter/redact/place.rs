//! Finds secrets by the word before them: `DB_PASSWORD=...`, `"api_key": "..."`, `--token ...`.

use super::hit::Hit;
use super::kind::{Certainty, SecretKind};
use super::value::{is_example, is_generated, is_password, is_reference};
use aho_corasick::{AhoCorasick, MatchKind};
use std::ops::Range;
use std::sync::OnceLock;

/// Words before passwords chosen by a person, in several languages.
pub const PASSWORDS: [&str; 22] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "pass",
    "passwort",
    "kennwort",
    "mot de passe",
    "contrase\u{f1}a",
    "contrasena",
    "senha",
    "palavra-passe",
    "parola d'ordine",
    "has\u{142}o",
    "haslo",
    "\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}",
    "\u{5bc6}\u{7801}",
    "\u{5bc6}\u{78bc}",
    "\u{30d1}\u{30b9}\u{30ef}\u{30fc}\u{30c9}",
    "\u{be44}\u{bc00}\u{bc88}\u{d638}",
    "sshpass -p",
];

/// Words before generated keys.
pub const SECRETS: [&str; 30] = [
    "secret",
    "token",
    "api key",
    "api_key",
    "api-key",
    "apikey",
    "access_key",
    "access key",
    "accesskey",
    "private_key",
    "private key",
    "auth",
    "credential",
    "signing_key",
    "encryption_key",
    "client_secret",
    "cookie",
    "schl\u{fc}ssel",
    "geheimnis",
    "jeton",
    "cl\u{e9}",
    "chiave",
    "segreto",
    "clave",
    "chave",
    "klucz",
    "\u{43a}\u{43b}\u{44e}\u{447}",
    "\u{442}\u{43e}\u{43a}\u{435}\u{43d}",
    "\u{5bc6}\u{94a5}",
    "\u{30c8}\u{30fc}\u{30af}\u{30f3}",
];

/// Names of public values, although they are long and mixed.
const PUBLIC: [&str; 8] = [
    "checksum", "integrity", "digest", "commit", "etag", "fingerprint", "public", "hash",
];

/// Maximum distance from the word to the sign after it, in bytes.
const TAIL: usize = 40;

fn searcher() -> Option<&'static AhoCorasick> {
    static SEARCHER: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let build = || {
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .build(PASSWORDS.iter().chain(&SECRETS))
            .ok()
    };
    SEARCHER.get_or_init(build).as_ref()
}

/// Finds values that follow a word and a sign.
pub fn find(text: &str, found: &mut Vec<Hit>) {
    let Some(searcher) = searcher() else { return };
    for word in searcher.find_iter(text) {
        let is_password = word.pattern().as_usize() < PASSWORDS.len();
        // A four-letter word counts only at the end of a name: DB_PASS.
        if word.len() == 4
            && !text[..word.start()].ends_with('_')
            && text[word.range()].eq_ignore_ascii_case("pass")
        {
            continue;
        }
        if let Some((value, quoted)) = value(text, word.start(), word.end()) {
            found.extend(judge(
                text,
                value,
                quoted,
                is_password,
                name(text, word.start(), word.end()),
            ));
        }
    }
}

/// Whether a word may precede a secret.
pub fn may_precede_secret(text: &str, start: usize, end: usize, is_password: bool) -> bool {
    value(text, start, end).is_some_and(|(value, quoted)| {
        judge(text, value, quoted, is_password, name(text, start, end)).is_some()
    })
}

/// Checks an object member by its name and its complete text.
pub fn member(name: &str, text: &str) -> Option<Hit> {
    let word = searcher()?.find_iter(name).last()?;
    let is_password = word.pattern().as_usize() < PASSWORDS.len();
    let rest = name[word.end()..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    let ends =
        rest.is_empty() || ["key", "token", "value", "secret"].contains(&rest.to_ascii_lowercase().as_str());
    if !ends {
        return None;
    }
    judge(text, 0..text.len(), true, is_password, name)
}

fn judge(text: &str, value: Range<usize>, quoted: bool, is_chosen: bool, name: &str) -> Option<Hit> {
    let lower = name.to_ascii_lowercase();
    let shown = &text[value.clone()];
    if is_reference(shown) || is_example(shown) || PUBLIC.iter().any(|public| lower.contains(public)) {
        return None;
    }
    let kind: SecretKind = if is_chosen {
        is_password(shown, quoted).then_some("password")?
    } else if lower.contains("aws") && lower.contains("secret") && shown.len() == 40 {
        "aws-secret-key"
    } else {
        is_generated(shown).then_some("generic-secret")?
    };
    Some(Hit::new(value, kind, Certainty::Likely))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.'
}

/// The complete name that contains a word.
fn name(text: &str, start: usize, end: usize) -> &str {
    let before = text[..start].trim_end_matches(is_name).len();
    let after = text[end..].len() - text[end..].trim_start_matches(is_name).len();
    &text[before..end + after]
}

/// The value after a name that ends with a word: after `=`, `:`, `=>`, `:=`, after a flag, or in quotes.
fn value(text: &str, start: usize, end: usize) -> Option<(Range<usize>, bool)> {
    let rest = &text[end..];
    let tail = rest.len()
        - rest
            .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-')
            .len();
    // Part of a longer word: "tokens", "tokenizer", "author".
    if tail > TAIL || rest.starts_with(|c: char| c.is_ascii_lowercase()) {
        return None;
    }
    let mut at = end + tail;
    let is_flag = text[..start]
        .trim_end_matches(is_flag_name)
        .ends_with([' ', '"', '\''])
        && text[..start].len() - text[..start].trim_end_matches(is_flag_name).len() >= 2
        || text[start..end].ends_with(" -p");
    let closing = text[at..].trim_start_matches(['"', '\'', '\\', ']', '*', '`']);
    at = text.len() - closing.len();
    let spaced = text[at..].trim_start_matches([' ', '\t']);
    let has_space = spaced.len() < text[at..].len();
    at = text.len() - spaced.len();
    let sign = ["=>", ":=", "==", "=", ":", "\u{ff1a}"]
        .into_iter()
        .find(|sign| text[at..].starts_with(sign));
    match sign {
        Some("==") => return None,
        Some(sign) => at += sign.len(),
        None if has_space && is_flag => {}
        None if has_space
            && text[..start].trim_end().ends_with("with")
            && text[at..].starts_with(['"', '\'']) => {}
        None => return None,
    }
    let spaced = text[at..].trim_start_matches([' ', '\t', '\\']);
    at = text.len() - spaced.len();
    if let Some(quote) = spaced.chars().next().filter(|c| ['"', '\'', '`'].contains(c)) {
        at += 1;
        let end = text[at..].find([quote, '\n', '\\'])?;
        return Some((at..at + end, true));
    }
    let is_end = |c: char| c.is_whitespace() || ",;\"'`<>)]}|\\".contains(c);
    let end = text[at..].find(is_end).unwrap_or(text.len() - at);
    let value = text[at..at + end].trim_end_matches(['.', ':']);
    // Keep only one parameter of a query string.
    let value = match value.split_once('&') {
        Some((value, _)) if text[..start].ends_with(['?', '&', '_']) => value,
        _ => value,
    };
    Some((at..at + value.len(), false))
}

fn is_flag_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}
