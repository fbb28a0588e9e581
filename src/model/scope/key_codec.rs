//! Readable keys: labeled parts in a reversible encoding without collisions.

use crate::model::key;

/// Prefix of these keys; another encoding would get another number.
const START: &str = "scope1";

/// Label that replaces the parts if they are too long.
const HASH: &str = "sha256";

/// Encodes the parts as `scope1.label-value.label-value`. Letters, digits and (in a value) `-` are unchanged, `__` is a
/// colon, and `_` with two hex digits any other byte. The result needs no quoting in a shell, and its labeled last part
/// is never mistaken for a file extension.
pub fn encode<'p>(parts: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    let mut out = String::with_capacity(96);
    out.push_str(START);
    for (label, value) in parts {
        out.push('.');
        escape(&mut out, label, false);
        out.push('-');
        escape(&mut out, value, true);
    }
    out
}

fn escape(out: &mut String, text: &str, dashes: bool) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for byte in text.bytes() {
        match byte {
            b'-' if dashes => out.push('-'),
            b':' => out.push_str("__"),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => {
                out.push('_');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
}

/// The key of encoded parts: unchanged if short enough for an id, else hashed with SHA-256.
pub fn key(encoded: String) -> String {
    if encoded.len() <= key::LONGEST {
        return encoded;
    }
    format!("{START}.{HASH}-{}", key::sha256(encoded.as_bytes()))
}

/// Decodes the parts; `None` if this is not such a key, or its parts are hashed.
pub fn parts(encoded: &str) -> Option<Vec<(String, String)>> {
    let rest = encoded.strip_prefix(START)?;
    let mut parts = Vec::new();
    for part in rest.strip_prefix('.')?.split('.') {
        let (label, value) = part.split_once('-')?;
        parts.push((plain(label)?, plain(value)?));
    }
    // Accept only the canonical encoding: `_61` would be an `a`, which is never escaped.
    let again = encode(
        parts
            .iter()
            .map(|(label, value)| (label.as_str(), value.as_str())),
    );
    (again == encoded && parts.first().is_some_and(|(label, _)| label != HASH)).then_some(parts)
}

/// Whether this is a key with hashed parts.
pub fn is_hashed(key: &str) -> bool {
    let digits = key
        .strip_prefix(START)
        .and_then(|rest| rest.strip_prefix('.'))
        .and_then(|rest| rest.strip_prefix(HASH))
        .and_then(|rest| rest.strip_prefix('-'));
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn plain(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'_', [b'_', after @ ..]) => {
                bytes.push(b':');
                rest = after;
            }
            (b'_', [_, _, after @ ..]) => {
                let digits = std::str::from_utf8(&tail[..2]).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = after;
            }
            (b'_', _) => return None,
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_plain_ids() {
        let encoded = encode([
            ("channel", "telegram"),
            ("chat", "group:-100/42"),
            ("my-x", "a.json"),
        ]);
        assert_eq!(
            encoded,
            "scope1.channel-telegram.chat-group__-100_2f42.my_2dx-a_2ejson"
        );
        assert!(key::is_id(&encoded) && key::id_for_key(&encoded) == encoded);
        assert_eq!(
            parts(&encoded).unwrap()[1],
            ("chat".to_string(), "group:-100/42".to_string())
        );
    }

    #[test]
    fn long_keys_are_hashed() {
        let long = "x".repeat(200);
        let hashed = key(encode([("sender", long.as_str())]));
        assert!(key::is_id(&hashed) && is_hashed(&hashed) && parts(&hashed).is_none());
        // A label of the same name is not a hash.
        let named = encode([("sha256", "x")]);
        assert!(!is_hashed(&named) && parts(&named).is_none());
    }

    #[test]
    fn other_encodings_are_not_keys() {
        for other in [
            "", "scope1", "scope1.", "scope1.x", "scope2.a-b", "scope1.a-_61", "scope1.a-_2E", "scope1.a-_",
            "scope1.a-b c", "scope1.a-_ff",
        ] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn parts_are_decoded(all in prop::collection::vec((".{0,9}", ".{0,9}"), 1..5)) {
            prop_assume!(all[0].0 != HASH);
            let encoded = encode(all.iter().map(|(label, value)| (label.as_str(), value.as_str())));
            prop_assert!(encoded.len() > key::LONGEST || key::is_id(&encoded));
            prop_assert_eq!(parts(&encoded), Some(all));
        }
    }
}
