//! Id values in JSON.

use crate::model::json;
use std::borrow::Cow;

/// The text of a value: a string, or a number formatted as Python does.
pub(super) fn text(raw: &[u8]) -> Option<Cow<'_, str>> {
    match raw.first()? {
        b'"' => json::text(raw),
        b'-' | b'0'..=b'9' => number(std::str::from_utf8(raw).ok()?),
        _ => None,
    }
}

fn number(raw: &str) -> Option<Cow<'_, str>> {
    if raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return Some(Cow::Borrowed(if raw == "-0" { "0" } else { raw }));
    }
    let number: f64 = raw.parse().ok().filter(|number: &f64| number.is_finite())?;
    Some(Cow::Owned(float_text(number)))
}

/// A float in the form of Python's `repr`: the shortest text that parses to it, always recognizable as a float.
pub fn float_text(value: f64) -> String {
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.unsigned_abs());
    }
    let plain = value.to_string();
    if plain.contains('.') { plain } else { plain + ".0" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_encoded_as_in_python() {
        for (raw, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("-1001234567890", "-1001234567890"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("1.50", "1.5"),
            ("1e3", "1000.0"),
            ("-0.0", "-0.0"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1e16", "1e+16"),
            ("1.25e100", "1.25e+100"),
            ("1e15", "1000000000000000.0"),
            ("123456789012345678.0", "1.2345678901234568e+17"),
        ] {
            assert_eq!(text(raw.as_bytes()).as_deref(), Some(expected));
        }
        for raw in ["true", "null", "[]", "{}", "1e999"] {
            assert_eq!(text(raw.as_bytes()), None);
        }
    }
}
