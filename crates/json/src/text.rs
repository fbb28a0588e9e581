//! Decoding and encoding of JSON strings and numbers.

use super::plain_end;
use std::borrow::Cow;

/// The text of a string value (with its quotes); `None` for any other value. Lone surrogates and invalid UTF-8 become
/// U+FFFD: for inspection only, not for writing back.
pub fn text(value: &[u8]) -> Option<Cow<'_, str>> {
    match value {
        [b'"', inner @ .., b'"'] => Some(unescape(inner)),
        _ => None,
    }
}

/// A number of this type.
pub fn number<T: std::str::FromStr>(value: &[u8]) -> Option<T> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// The content of a string without escapes, such as a time.
pub fn plain(value: &[u8]) -> Option<&str> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    std::str::from_utf8(inner).ok()
}

/// Decodes the escapes in the content of a string.
pub fn unescape(inner: &[u8]) -> Cow<'_, str> {
    let text = lossy(inner);
    let Some(first) = memchr::memchr(b'\\', text.as_bytes()) else {
        return text;
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        let (decoded, length) = escape(&rest.as_bytes()[at..]);
        out.push(decoded);
        rest = &rest[at + length..];
        next = memchr::memchr(b'\\', rest.as_bytes());
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Finds offsets of a decoded text in the content of a string with escapes; each offset is at least the one before.
pub struct EscapedOffsets<'r> {
    inner: &'r [u8],
    /// The same position before and after decoding.
    at: usize,
    decoded: usize,
}

impl<'r> EscapedOffsets<'r> {
    /// Of the content of a string.
    pub fn of(inner: &'r [u8]) -> EscapedOffsets<'r> {
        EscapedOffsets {
            inner,
            at: 0,
            decoded: 0,
        }
    }

    /// The offset in the string of this offset in the text.
    pub fn find(&mut self, decoded: usize) -> usize {
        loop {
            let rest = &self.inner[self.at..];
            let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            let length = (decoded - self.decoded).min(plain);
            self.at += length;
            self.decoded += length;
            if self.decoded == decoded || self.at == self.inner.len() {
                return self.at;
            }
            let (character, length) = escape(&rest[plain..]);
            self.at += length;
            self.decoded += character.len_utf8();
        }
    }
}

/// Decodes text with a fast path for valid UTF-8.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The character of an escape, and the escape's length in bytes.
fn escape(bytes: &[u8]) -> (char, usize) {
    let unit = |bytes: &[u8]| -> Option<u32> {
        let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match bytes.get(1) {
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => match (unit(bytes), bytes.get(6..).and_then(unit)) {
            (Some(high @ 0xD800..0xDC00), Some(low @ 0xDC00..0xE000)) => {
                let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
            }
            (Some(code), _) => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            (None, _) => (char::REPLACEMENT_CHARACTER, 2),
        },
        Some(&byte) if byte.is_ascii() => (char::from(byte), 2),
        _ => (char::REPLACEMENT_CHARACTER, 1),
    }
}

/// Appends `text` as a quoted JSON string, escaping only what RFC 8259 requires.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut from = 0;
    loop {
        let at = plain_end(bytes, from);
        out.extend_from_slice(&bytes[from..at]);
        let Some(&byte) = bytes.get(at) else { break };
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            8 => out.extend_from_slice(b"\\b"),
            9 => out.extend_from_slice(b"\\t"),
            10 => out.extend_from_slice(b"\\n"),
            12 => out.extend_from_slice(b"\\f"),
            13 => out.extend_from_slice(b"\\r"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[byte >> 4, byte & 15].map(|digit| HEX[usize::from(digit)]));
            }
        }
        from = at + 1;
    }
    out.push(b'"');
}

/// The text as a JSON string.
pub fn quoted(text: &str) -> Vec<u8> {
    let mut raw = Vec::with_capacity(text.len() + 2);
    push_text(&mut raw, text);
    raw
}

/// An array of JSON strings.
pub fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Vec<u8> {
    array(texts.into_iter().map(|text| quoted(text.as_ref())))
}

/// An array of raw values.
pub fn array<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Vec<u8> {
    let mut raw = vec![b'['];
    for (nth, value) in values.into_iter().enumerate() {
        if nth > 0 {
            raw.push(b',');
        }
        raw.extend_from_slice(value.as_ref());
    }
    raw.push(b']');
    raw
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_quoted_text_is_read_back(
            pieces in prop::collection::vec(prop::sample::select(&["a", "plain text of more than thirty-two bytes", "\"", "\\", "\n", "\r", "\t", "\u{8}", "\u{c}", "\0", "\u{1b}", "\u{1f}", "\u{7f}", "\u{e9}", "\u{1f331}"][..]), 0..12),
        ) {
            let text = pieces.concat();
            let raw = quoted(&text);
            prop_assert_eq!(crate::value_end(&raw, 0, crate::Dialect::Strict).ok(), Some(raw.len()));
            prop_assert_eq!(super::text(&raw).unwrap_or_default(), text);
        }

        #[test]
        fn parts_of_a_string_are_parts_of_its_text(
            pieces in prop::collection::vec(prop::sample::select(&["a", "be ", "\\n", "\\\"", "\\u00e9", "\\ud83c\\udf31", "\\ud83c", "\u{e9}", "\\\\"][..]), 0..20),
            cuts in prop::collection::vec(0usize..30, 2),
        ) {
            let inner = pieces.concat();
            let text = unescape(inner.as_bytes());
            let mut places: Vec<usize> = cuts.iter().filter_map(|nth| Some(text.char_indices().nth(*nth)?.0)).collect();
            places.sort_unstable();
            let mut offsets = EscapedOffsets::of(inner.as_bytes());
            for pair in places.windows(2) {
                let (start, end) = (offsets.find(pair[0]), offsets.find(pair[1]));
                prop_assert_eq!(&unescape(&inner.as_bytes()[start..end]), &text[pair[0]..pair[1]]);
                prop_assert_eq!(offsets.find(text.len()), inner.len());
            }
        }
    }
}
