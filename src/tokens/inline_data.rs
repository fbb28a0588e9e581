//! Data inside a part: its position, media type and first bytes.

use crate::model::json::{self, Dialect, Members};
use std::borrow::Cow;

/// Members with data or its address, in the parts of OpenAI, Anthropic, Gemini and MCP.
const HOLDERS: [&str; 6] = ["url", "data", "file_data", "image_url", "image", "file_url"];

/// The data of a part.
pub struct Payload<'a> {
    /// Its media type; empty if unknown.
    pub kind: Cow<'a, str>,
    /// The data: the part of a data URL after the comma, Base64, or text.
    text: Cow<'a, str>,
    /// Whether it is Base64.
    encoded: bool,
}

impl<'a> Payload<'a> {
    /// The data of a part; `None` if the part only has an address.
    pub fn of(part: &'a [u8]) -> Option<Payload<'a>> {
        let text = find(part, &HOLDERS)?;
        if !text.starts_with("data:") {
            let kind = find(part, &["media_type", "mime_type", "mimeType", "format"]).unwrap_or_default();
            let plain = kind.starts_with("text/");
            return (!text.contains("://")).then_some(Payload {
                kind,
                text,
                encoded: !plain,
            });
        }
        let comma = memchr::memchr(b',', text.as_bytes())?;
        let head = &text["data:".len()..comma];
        let (encoded, kind) = match head.strip_suffix(";base64") {
            Some(kind) => (true, kind),
            None => (false, head),
        };
        Some(Payload {
            kind: Cow::Owned(kind.to_string()),
            encoded,
            text: match text {
                Cow::Borrowed(text) => Cow::Borrowed(&text[comma + 1..]),
                Cow::Owned(text) => Cow::Owned(text[comma + 1..].to_string()),
            },
        })
    }

    /// Its approximate decoded length in bytes.
    pub fn len(&self) -> u64 {
        let length = self.text.len() as u64;
        if self.encoded { length * 3 / 4 } else { length }
    }

    /// Its first bytes, at most `most`. Stops at invalid Base64.
    pub fn decoded(&self, most: usize) -> Vec<u8> {
        if !self.encoded {
            let text = self.text.as_bytes();
            return text[..text.len().min(most)].to_vec();
        }
        let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
        for byte in self.text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => break,
            };
            bits = bits << 6 | u32::from(value);
            held += 6;
            if held >= 8 {
                held -= 8;
                bytes.push((bits >> held) as u8);
                if bytes.len() == most {
                    break;
                }
            }
        }
        bytes
    }
}

/// The first string member with one of these names, in the object or in an object among its members.
pub fn find<'a>(object: &'a [u8], names: &[&str]) -> Option<Cow<'a, str>> {
    let in_own = |object: &'a [u8]| {
        let mut members = Members::new(object, Dialect::Strict).ok()?;
        while let Ok(Some(member)) = members.next() {
            let text = names
                .contains(&member.name().as_ref())
                .then(|| json::text(member.value));
            if let Some(Some(text)) = text {
                return Some(text);
            }
        }
        None
    };
    in_own(object).or_else(|| {
        let mut members = Members::new(object, Dialect::Strict).ok()?;
        while let Ok(Some(member)) = members.next() {
            if let Some(text) = in_own(member.value) {
                return Some(text);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(part: &str) -> Option<(String, Vec<u8>)> {
        Payload::of(part.as_bytes()).map(|payload| (payload.kind.to_string(), payload.decoded(3)))
    }

    #[test]
    fn data_is_found_in_the_parts_of_each_provider() {
        for part in [
            r#"{"image_url":{"url":"data:image/png;base64,AQIDBA=="}}"#,
            r#"{"image_url":"data:image/png;base64,AQ\nID\u0042A=="}"#,
            r#"{"source":{"type":"base64","media_type":"image/png","data":"AQIDBA"}}"#,
            r#"{"data":"AQIDBA","mimeType":"image/png"}"#,
            r#"{"inline_data":{"mime_type":"image/png","data":"AQIDBA"}}"#,
        ] {
            assert_eq!(of(part), Some(("image/png".to_string(), vec![1, 2, 3])), "{part}");
        }
        assert_eq!(
            of(r#"{"file":{"file_data":"data:text/plain,a b"}}"#),
            Some(("text/plain".into(), b"a b".to_vec()))
        );
        assert_eq!(of(r#"{"url":"https://example.org/"}"#), None);
        assert_eq!(of(r#"{"type":"image"}"#), None);
        assert_eq!(of("[1]"), None);
    }
}
