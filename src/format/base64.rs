//! Base64 in either alphabet, with or without padding, on one or several lines.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The style of an encoding, so that changed data is encoded alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base64Style {
    /// Whether it uses `-` and `_` in place of `+` and `/`.
    url: bool,
    /// Whether it is padded with `=`.
    padded: bool,
    /// Characters per line; `None` for a single line.
    width: Option<usize>,
    /// The line ending.
    newline: &'static [u8],
    /// Whether the last line has a line ending, too.
    ended: bool,
}

impl Base64Style {
    /// The standard alphabet on one line, with padding.
    pub const PLAIN: Base64Style = Base64Style {
        url: false,
        padded: true,
        width: None,
        newline: b"\n",
        ended: false,
    };
}

fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// Whether these bytes could start Base64 data: only letters, digits and line endings.
pub fn is_likely(head: &[u8]) -> bool {
    let fits = |byte: &u8| digit(*byte).is_some() || matches!(byte, b'=' | b'\r' | b'\n');
    head.first().is_some_and(|byte| digit(*byte).is_some()) && head.iter().all(fits)
}

/// Decodes Base64 data; `None` if invalid.
pub fn decode(text: &[u8]) -> Option<(Base64Style, Vec<u8>)> {
    let ended = text.ends_with(b"\n");
    let newline: &[u8] = if memchr::memmem::find(text, b"\r\n").is_some() {
        b"\r\n"
    } else {
        b"\n"
    };
    let body = text.trim_ascii_end();
    let width = memchr::memmem::find(body, newline).filter(|width| *width > 0);
    let mut digits = Vec::with_capacity(body.len());
    let (mut url, mut standard, mut padding) = (false, false, 0);
    for &byte in body {
        match byte {
            b'\r' | b'\n' => continue,
            b'=' => padding += 1,
            _ if padding > 0 => return None,
            byte => digits.push(digit(byte)?),
        }
        url |= matches!(byte, b'-' | b'_');
        standard |= matches!(byte, b'+' | b'/');
    }
    let missing = (4 - digits.len() % 4) % 4;
    if digits.is_empty() || missing == 3 || url && standard || padding > 0 && padding != missing {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    for group in digits.chunks(4) {
        let bits = group
            .iter()
            .fold(0_u32, |bits, digit| bits << 6 | u32::from(*digit))
            << (6 * (4 - group.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    let style = Base64Style {
        url,
        padded: padding > 0 || missing == 0,
        width,
        newline: if newline.len() == 2 { b"\r\n" } else { b"\n" },
        ended,
    };
    Some((style, out))
}

pub fn encode(bytes: &[u8], style: &Base64Style) -> Vec<u8> {
    let alphabet = if style.url { URL } else { STANDARD };
    let mut digits = Vec::with_capacity(bytes.len() / 3 * 4 + 4);
    for group in bytes.chunks(3) {
        let mut all = [0; 4];
        all[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(all);
        for nth in 0..=group.len() {
            digits.push(alphabet[(bits >> (18 - 6 * nth) & 63) as usize]);
        }
        if style.padded {
            digits.extend_from_slice(&b"=="[..3 - group.len()]);
        }
    }
    let mut out = Vec::with_capacity(digits.len() + digits.len() / 32);
    for (nth, line) in digits.chunks(style.width.unwrap_or(usize::MAX)).enumerate() {
        if nth > 0 {
            out.extend_from_slice(style.newline);
        }
        out.extend_from_slice(line);
    }
    if style.ended {
        out.extend_from_slice(style.newline);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 4648, also without padding.
    #[test]
    fn vectors_of_the_standard_are_encoded() {
        for (text, coded) in [
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            for coded in [coded, coded.trim_end_matches('=')] {
                let (style, bytes) = decode(coded.as_bytes()).unwrap();
                assert_eq!(bytes, text.as_bytes());
                assert_eq!(encode(&bytes, &style), coded.as_bytes());
            }
        }
    }

    #[test]
    fn encoded_data_is_restored_in_its_style() {
        let bytes: Vec<u8> = (0..=255).collect();
        for url in [false, true] {
            for padded in [false, true] {
                for (width, newline, ended) in [
                    (None, b"\n".as_slice(), false),
                    (None, b"\n", true),
                    (Some(76), b"\n", true),
                    (Some(64), b"\r\n", false),
                    (Some(1), b"\n", true),
                ] {
                    let style = Base64Style {
                        url,
                        padded,
                        width,
                        newline,
                        ended,
                    };
                    let coded = encode(&bytes, &style);
                    assert!(is_likely(&coded));
                    assert_eq!(decode(&coded), Some((style, bytes.clone())));
                }
            }
        }
    }

    #[test]
    fn text_that_is_not_base64_is_rejected() {
        for text in [
            "", "=", "A", "AAAAA", "Zg=", "Zg===", "Z g=", "Z=g=", "+-AA", "{\"a\"}", "Zg==Zg==",
        ] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
        assert!(
            !is_likely(b"{\"version\":1}")
                && !is_likely(b"")
                && !is_likely(b"\nZg==")
                && !is_likely(b"Zg== x")
        );
    }
}
