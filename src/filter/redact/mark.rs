//! The marker that replaces a secret: `[REDACTED:github-token:1f0c93a2]`, equal for equal values in every file.

use super::kind::{Kind, is_guessable};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The key of hashes where the user gives none.
const KEY: &[u8] = b"convo.redact/1";

/// The placeholder of a value. Of a value that can be guessed, a hash without a secret key would confirm the guess: it gets a
/// number by first appearance.
pub fn mark(
    key: Option<&[u8]>,
    kind: Kind,
    value: &str,
    numbers: &mut HashMap<(Kind, String), usize>,
) -> String {
    if key.is_none() && is_guessable(kind) {
        let next = 1 + numbers.keys().filter(|(known, _)| *known == kind).count();
        let number = *numbers.entry((kind, value.to_string())).or_insert(next);
        return format!("[REDACTED:{kind}:{number}]");
    }
    let message = [kind.as_bytes(), b"\0", value.as_bytes()].concat();
    let hash = hmac(key.unwrap_or(KEY), &message);
    let digits: String = hash[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("[REDACTED:{kind}:{digits}]")
}

/// HMAC with SHA-256 (RFC 2104).
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
        let mut numbers = HashMap::new();
        let mut of = |key: Option<&[u8]>, kind, value| mark(key, kind, value, &mut numbers);
        assert_eq!(of(None, "email", "a@b.de"), "[REDACTED:email:1]");
        assert_eq!(of(None, "email", "c@d.de"), "[REDACTED:email:2]");
        assert_eq!(of(None, "email", "a@b.de"), "[REDACTED:email:1]");
        assert!(of(Some(b"k"), "email", "a@b.de").len() > "[REDACTED:email:1]".len());
        assert_eq!(of(None, "jwt", "x"), of(None, "jwt", "x"));
    }
}
