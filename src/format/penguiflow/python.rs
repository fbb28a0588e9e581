//! JSON in the encoding of Python's `json.dumps(..., ensure_ascii=False)`.

use crate::model::json::{self, Dialect, push_text, quoted};
use crate::model::scope::float_text;

/// Whether Python treats a value as false: `null`, `false`, 0, and empty values.
pub fn is_false(raw: &[u8]) -> bool {
    match raw.first() {
        Some(b'"') => raw == b"\"\"",
        Some(open @ (b'[' | b'{')) => json::compact(raw).0 == [*open, open + 2],
        Some(b'-' | b'0'..=b'9') => std::str::from_utf8(raw).is_ok_and(|text| text.parse() == Ok(0.0)),
        _ => matches!(raw, b"null" | b"false"),
    }
}

/// Deeper values keep the order of their members.
const DEEPEST: usize = 128;

/// Encodes a value like Python, keeping the order of members.
pub(super) fn encode_value(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len() + value.len() / 8);
    push(&mut out, value);
    out
}

/// Appends a value in Python's encoding, token by token, without recursion.
pub(super) fn push(out: &mut Vec<u8>, value: &[u8]) {
    let mut at = 0;
    while at < value.len() {
        match value[at] {
            b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            b',' => {
                out.extend_from_slice(b", ");
                at += 1;
            }
            b':' => {
                out.extend_from_slice(b": ");
                at += 1;
            }
            brackets @ (b'{' | b'}' | b'[' | b']') => {
                out.push(brackets);
                at += 1;
            }
            _ => {
                let end = json::value_end(value, at, Dialect::Python).unwrap_or(value.len());
                push_scalar(out, &value[at..end]);
                at = end;
            }
        }
    }
}

/// Appends a value in Python's encoding with `sort_keys`; the last member of a name is effective, as in Python.
pub(super) fn push_sorted(out: &mut Vec<u8>, value: &[u8]) {
    sorted(out, value, 0);
}

fn sorted(out: &mut Vec<u8>, value: &[u8], depth: usize) {
    if depth == DEEPEST {
        return push(out, value);
    }
    match value.first() {
        Some(b'{') => {
            let mut members = json::members(value, Dialect::Python).unwrap_or_default();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            out.push(b'{');
            for (nth, (name, value)) in members.iter().enumerate() {
                if nth > 0 {
                    out.extend_from_slice(b", ");
                }
                push_text(out, name);
                out.extend_from_slice(b": ");
                sorted(out, value, depth + 1);
            }
            out.push(b'}');
        }
        Some(b'[') => {
            let elements = json::elements(value, Dialect::Python).unwrap_or_default();
            out.push(b'[');
            for (nth, element) in elements.iter().enumerate() {
                if nth > 0 {
                    out.extend_from_slice(b", ");
                }
                sorted(out, element, depth + 1);
            }
            out.push(b']');
        }
        _ => push(out, value),
    }
}

fn push_scalar(out: &mut Vec<u8>, scalar: &[u8]) {
    match scalar {
        [b'"', inner @ .., b'"'] => push_string(out, inner),
        [b'-' | b'0'..=b'9', ..] => match number(scalar) {
            Some(text) => out.extend_from_slice(text.as_bytes()),
            None => out.extend_from_slice(scalar),
        },
        _ => out.extend_from_slice(scalar),
    }
}

/// The new encoding of a number; `None` if it is unchanged.
fn number(scalar: &[u8]) -> Option<String> {
    if scalar == b"-0" {
        return Some("0".to_string());
    }
    if !scalar.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return None;
    }
    let value: f64 = json::number(scalar)?;
    // Out of range, the result would not be JSON.
    value.is_finite().then(|| float_text(value))
}

/// Appends a string, given without its quotes. A lone surrogate remains an escape.
fn push_string(out: &mut Vec<u8>, inner: &[u8]) {
    if !inner.contains(&b'\\') {
        out.push(b'"');
        out.extend_from_slice(inner);
        out.push(b'"');
        return;
    }
    let unit = |at: usize| -> Option<u32> {
        let digits = inner.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    out.push(b'"');
    let mut at = 0;
    while at < inner.len() {
        let next = memchr::memchr(b'\\', &inner[at..]).map_or(inner.len(), |found| at + found);
        out.extend_from_slice(&inner[at..next]);
        at = next;
        if at == inner.len() {
            break;
        }
        let length = match (unit(at), unit(at + 6)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(0xD800..0xE000), _) => {
                out.extend(inner[at..at + 6].to_ascii_lowercase());
                at += 6;
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        let end = (at + length).min(inner.len());
        let piece = quoted(&json::unescape(&inner[at..end]));
        out.extend_from_slice(&piece[1..piece.len() - 1]);
        at = end;
    }
    out.push(b'"');
}
