//! The placeholder of a secret, `[REDACTED:github-token:1f0c93a2]`: equal for equal values in every file.

use super::kind::{SecretKind, is_guessable};
use crate::model::key::hex;
use regex::Regex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The default key of hashes.
const KEY: &[u8] = b"convo.redact/1";

/// The beginning of every placeholder in the default form.
pub const BEGIN: &str = "[REDACTED:";

/// Numbers guessable values in order of first appearance.
#[derive(Debug, Default)]
pub struct SecretNumbers {
    of: HashMap<(SecretKind, String), usize>,
    /// The highest number used for each kind.
    last: HashMap<String, usize>,
}

impl SecretNumbers {
    /// Reserves the numbers of placeholders in this text for their values.
    pub fn reserve(&mut self, text: &[u8]) {
        for at in memchr::memmem::find_iter(text, BEGIN) {
            let rest = &text[at + BEGIN.len()..];
            let end = rest.iter().take(64).position(|byte| *byte == b']');
            let placeholder = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok());
            let Some((kind, number)) = placeholder.and_then(|text| text.split_once(':')) else {
                continue;
            };
            if let Some(number) = number.parse::<usize>().ok().filter(|_| number.len() < 8) {
                let last = self.last.entry(kind.to_string()).or_default();
                *last = number.max(*last);
            }
        }
    }

    fn of(&mut self, kind: SecretKind, value: &str) -> usize {
        let last = self.last.entry(kind.to_string()).or_default();
        *self.of.entry((kind, value.to_string())).or_insert_with(|| {
            *last += 1;
            *last
        })
    }
}

/// The form of placeholders.
#[derive(Clone, Debug, Default)]
pub struct Template(Option<(Vec<TemplatePart>, Regex)>);

#[derive(Clone, Debug)]
enum TemplatePart {
    Text(String),
    Kind,
    Hash,
}

impl Template {
    /// Parses a template: `%k` is the kind, `%h` the hash or the number, `%%` a percent sign. None for any other
    /// sequence, and for control characters.
    pub fn read(text: &str) -> Option<Template> {
        let mut pieces = Vec::new();
        let mut pattern = String::from("^");
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            let (piece, matched) = match c {
                '%' => match chars.next()? {
                    'k' => (TemplatePart::Kind, "[a-z-]+".to_string()),
                    'h' => (TemplatePart::Hash, "(?:[0-9a-f]{8}|[0-9]+)".to_string()),
                    '%' => (TemplatePart::Text("%".to_string()), "%".to_string()),
                    _ => return None,
                },
                c if c.is_control() => return None,
                c => (TemplatePart::Text(c.to_string()), regex::escape(&c.to_string())),
            };
            pieces.push(piece);
            pattern.push_str(&matched);
        }
        let own = Regex::new(&format!("{pattern}$")).ok()?;
        Some(Template(Some((pieces, own))))
    }

    fn fill(&self, kind: SecretKind, hash: &str) -> String {
        let Some((pieces, _)) = &self.0 else {
            return format!("{BEGIN}{kind}:{hash}]");
        };
        let text = |piece: &TemplatePart| match piece {
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Kind => kind.to_string(),
            TemplatePart::Hash => hash.to_string(),
        };
        pieces.iter().map(text).collect()
    }

    /// Whether a value is already a placeholder.
    pub fn is_mark(&self, value: &str) -> bool {
        value.contains("[REDACTED") || self.0.as_ref().is_some_and(|(_, own)| own.is_match(value))
    }
}

/// Returns the placeholder of a value. A guessable value, which a hash without a secret key would confirm, gets a
/// number by first appearance.
pub fn mark(
    template: &Template,
    key: Option<&[u8]>,
    kind: SecretKind,
    value: &str,
    numbers: &mut SecretNumbers,
) -> String {
    if key.is_none() && is_guessable(kind) {
        return template.fill(kind, &numbers.of(kind, value).to_string());
    }
    template.fill(kind, &keyed(key.unwrap_or(KEY), kind, value)[..8])
}

/// The keyed hash of a value in hexadecimal.
pub fn keyed(key: &[u8], kind: SecretKind, value: &str) -> String {
    hex(&hmac(key, &[kind.as_bytes(), b"\0", value.as_bytes()].concat()))
}

/// HMAC-SHA-256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0u8; 64];
    match key.len() {
        0..=64 => block[..key.len()].copy_from_slice(key),
        _ => block[..32].copy_from_slice(&Sha256::digest(key)),
    }
    let pad = |byte: u8| block.map(|own| own ^ byte);
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(message)
        .finalize();
    Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_standard() {
        // RFC 4231, test case 2.
        let hash = hmac(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hash[..4], [0x5b, 0xdc, 0xc1, 0x46]);
    }

    #[test]
    fn values_that_can_be_guessed_are_numbered() {
        let mut numbers = SecretNumbers::default();
        let mut of =
            |key: Option<&[u8]>, kind, value| mark(&Template::default(), key, kind, value, &mut numbers);
        assert_eq!(of(None, "email", "a@b.de"), "[REDACTED:email:1]");
        assert_eq!(of(None, "email", "c@d.de"), "[REDACTED:email:2]");
        assert_eq!(of(None, "email", "a@b.de"), "[REDACTED:email:1]");
        assert!(of(Some(b"k"), "email", "a@b.de").len() > "[REDACTED:email:1]".len());
        assert_eq!(of(None, "jwt", "x"), of(None, "jwt", "x"));
        numbers.reserve(b"x [REDACTED:email:7] [REDACTED:jwt:1f0c93a2] [REDACTED:email:");
        assert_eq!(numbers.of("email", "e@f.de"), 8);
    }

    #[test]
    fn a_placeholder_has_a_kind_and_a_hash() {
        let template = Template::read("<<%k/%h 100%%>>").unwrap();
        let text = mark(&template, None, "password", "x", &mut SecretNumbers::default());
        assert_eq!(text, "<<password/1 100%>>");
        assert!(template.is_mark(&text) && !template.is_mark("password/1"));
        assert!(Template::read("%x").is_none() && Template::read("a%").is_none());
        assert!(Template::read("a\nb").is_none() && Template::read("").is_some());
    }
}
