//! A decoded text, with the source position of each of its bytes.

use std::ops::Range;

/// Decoded text.
#[derive(Debug, Default)]
pub struct Mapped {
    pub text: String,
    /// The source position of each byte of the text, and of its end.
    places: Vec<usize>,
}

impl Mapped {
    fn push(&mut self, text: &str, at: usize) {
        self.text.push_str(text);
        self.places.resize(self.text.len(), at);
    }

    /// Appends text that is identical in the source.
    fn push_plain(&mut self, text: &str, at: usize) {
        self.text.push_str(text);
        self.places.extend(at..at + text.len());
    }

    fn end(mut self, at: usize) -> Mapped {
        self.places.push(at);
        self
    }

    /// Maps a range of the text to the source.
    pub fn source(&self, range: &Range<usize>) -> Range<usize> {
        self.places[range.start]..self.places[range.end]
    }

    /// Decodes a JSON string, given the bytes between its quotes.
    pub fn json(raw: &str) -> Mapped {
        let mut mapped = Mapped::default();
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', &raw.as_bytes()[at..]) {
            mapped.push_plain(&raw[at..at + found], at);
            at += found;
            let (c, length) = escape(&raw[at..]);
            mapped.push(c.encode_utf8(&mut [0; 4]), at);
            at += length;
        }
        mapped.push_plain(&raw[at..], at);
        mapped.end(raw.len())
    }

    /// Removes terminal control sequences.
    pub fn without_escapes(text: &str) -> Mapped {
        let mut mapped = Mapped::default();
        let mut at = 0;
        while let Some(found) = memchr::memchr(0x1b, &text.as_bytes()[at..]) {
            mapped.push_plain(&text[at..at + found], at);
            at += found;
            at += sequence(&text[at..]);
        }
        mapped.push_plain(&text[at..], at);
        mapped.end(text.len())
    }

    /// Decodes percent-encoded text; none if the result is not UTF-8 or nothing is encoded.
    pub fn percent(text: &str) -> Option<Mapped> {
        let bytes = text.as_bytes();
        let (mut decoded, mut places) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < bytes.len() {
            let digits = bytes
                .get(at + 1..at + 3)
                .and_then(|digits| std::str::from_utf8(digits).ok());
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            places.push(at);
            match (bytes[at], byte) {
                (b'%', Some(byte)) => {
                    decoded.push(byte);
                    at += 3;
                }
                (byte, _) => {
                    decoded.push(byte);
                    at += 1;
                }
            }
        }
        places.push(at);
        let text = String::from_utf8(decoded).ok()?;
        (text.len() < bytes.len()).then_some(Mapped { text, places })
    }

    /// Decodes text that may not be valid UTF-8.
    pub fn lossy(bytes: &[u8]) -> Mapped {
        let mut mapped = Mapped::default();
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            mapped.push_plain(chunk.valid(), at);
            at += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                mapped.push("\u{fffd}", at);
                at += chunk.invalid().len();
            }
        }
        mapped.end(at)
    }
}

/// The character that an escape encodes, and the escape's length.
fn escape(raw: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = raw.get(at + 2..at + 6).filter(|_| raw[at..].starts_with("\\u"))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let plain = match raw.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => {
            let Some(high) = unit(0) else {
                return ('\u{fffd}', 2);
            };
            if let (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) = (high, unit(6)) {
                let joined = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return (char::from_u32(joined).unwrap_or('\u{fffd}'), 12);
            }
            return (char::from_u32(high).unwrap_or('\u{fffd}'), 6);
        }
        Some(_) => raw[1..].chars().next().unwrap_or('\\'),
        None => return ('\\', 1),
    };
    (plain, 1 + plain_length(raw))
}

/// Length in bytes of the character after a backslash.
fn plain_length(raw: &str) -> usize {
    raw[1..].chars().next().map_or(0, char::len_utf8)
}

/// Length of a control sequence.
fn sequence(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        Some(b'[') => {
            let inner = bytes[2..]
                .iter()
                .take_while(|byte| (0x20..0x40).contains(*byte))
                .count();
            let closed = bytes
                .get(2 + inner)
                .is_some_and(|byte| (0x40..0x7f).contains(byte));
            2 + inner + usize::from(closed)
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_decoded_text_map_to_its_source() {
        let source = |mapped: &Mapped, part: &str| {
            let at = mapped.text.find(part).unwrap();
            mapped.source(&(at..at + part.len()))
        };
        let mapped = Mapped::json(r#"a\u00e9\nb\ud83d\ude00c\"d"#);
        assert_eq!(mapped.text, "a\u{e9}\nb\u{1f600}c\"d");
        assert_eq!(source(&mapped, "\u{e9}"), 1..7);
        assert_eq!(source(&mapped, "c\"d"), 22..26);
        let mapped = Mapped::without_escapes("a\u{1b}[31mb\u{1b}[0mc");
        assert_eq!((mapped.text.as_str(), source(&mapped, "bc")), ("abc", 6..12));
        let mapped = Mapped::percent("a%2Db").unwrap();
        assert_eq!((mapped.text.as_str(), source(&mapped, "-b")), ("a-b", 1..5));
        assert!(Mapped::percent("50% of %zz").is_none() && Mapped::percent("%ff").is_none());
        let mapped = Mapped::lossy(b"a\xffb");
        assert_eq!(source(&mapped, "b"), 2..3);
    }
}
