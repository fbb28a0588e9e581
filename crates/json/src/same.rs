//! Equality of JSON values regardless of formatting.

use super::{ArrayElements, Dialect, Members, skip_space, unescape};
use std::borrow::Cow;

/// Deeper values are equal only if their bytes are.
const DEEPEST: usize = 64;

/// Whether two values are equal except for white space and member order. Numbers and strings are compared by their
/// bytes, so that values that a parser could distinguish are never equal.
pub fn same(one: &[u8], other: &[u8]) -> bool {
    same_at(one, other, 0, |_, _| false)
}

/// Like [`same`], but strings are equal if their texts are: programs escape `<`, `/` and letters outside ASCII
/// differently.
pub fn same_text(one: &[u8], other: &[u8]) -> bool {
    same_at(one, other, 0, |one, other| {
        matches!((one.first(), other.first()), (Some(b'"'), Some(b'"'))) && decoded(one) == decoded(other)
    })
}

/// The text of a string without its quotation marks. One with a lone surrogate is compared by its raw bytes, because
/// different ones decode to the same text.
fn decoded(string: &[u8]) -> Cow<'_, str> {
    let text = unescape(string);
    match text.contains('\u{fffd}') {
        true => String::from_utf8_lossy(string),
        false => text,
    }
}

/// `also` decides about values that are neither lists nor objects and whose bytes differ.
fn same_at(one: &[u8], other: &[u8], depth: usize, also: fn(&[u8], &[u8]) -> bool) -> bool {
    let (one, other) = (&one[skip_space(one, 0)..], &other[skip_space(other, 0)..]);
    let (one, other) = (one.trim_ascii_end(), other.trim_ascii_end());
    if one == other {
        return true;
    }
    if depth == DEEPEST {
        return false;
    }
    match (one.first(), other.first()) {
        (Some(b'['), Some(b'[')) => same_elements(one, other, depth, also).unwrap_or(false),
        (Some(b'{'), Some(b'{')) => match (sorted(one), sorted(other)) {
            (Some(one), Some(other)) => {
                one.len() == other.len()
                    && one.iter().zip(&other).all(|((name, value), (other, with))| {
                        name == other && same_at(value, with, depth + 1, also)
                    })
            }
            _ => false,
        },
        _ => also(one, other),
    }
}

fn same_elements(one: &[u8], other: &[u8], depth: usize, also: fn(&[u8], &[u8]) -> bool) -> Option<bool> {
    let mut one = ArrayElements::new(one, Dialect::Python).ok()?;
    let mut other = ArrayElements::new(other, Dialect::Python).ok()?;
    loop {
        match (one.next().ok()?, other.next().ok()?) {
            (None, None) => return Some(true),
            (Some((_, element)), Some((_, with))) if same_at(element, with, depth + 1, also) => {}
            _ => return Some(false),
        }
    }
}

/// The members sorted by name; members of one name keep their order.
fn sorted(object: &[u8]) -> Option<Vec<(Cow<'_, str>, &[u8])>> {
    let mut scan = Members::new(object, Dialect::Python).ok()?;
    let mut all = Vec::new();
    while let Some(member) = scan.next().ok()? {
        all.push((decoded(member.key), member.value));
    }
    all.sort_by(|one: &(Cow<'_, str>, _), other| one.0.cmp(&other.0));
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::{same, same_text};

    #[test]
    fn equality_ignores_order_and_space_but_not_notation() {
        let is = |one: &str, other: &str| same(one.as_bytes(), other.as_bytes());
        assert!(is(
            r#"{"a":1,"b":[{"c":2,"d":3}]}"#,
            r#" { "b":[ {"d":3,"c":2} ],"a":1 } "#
        ));
        assert!(is(r#"{"\u0061":1}"#, r#"{"a":1}"#));
        for (one, other) in [
            ("1.0", "1"),
            ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"),
            (r#"{"a":1}"#, r#"{"a":1,"a":1}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#),
            (r#"{"\ud800":1}"#, r#"{"\ud801":1}"#),
            (r#"{"a":null}"#, "{}"),
            ("[", "[ "),
        ] {
            assert!(!is(one, other) || one.trim() == other.trim(), "{one} {other}");
        }
        let deep = |inner: &str| "[".repeat(100_000) + inner + &"]".repeat(100_000);
        assert!(is(&deep("1"), &deep("1")));
        assert!(!is(&deep("1"), &deep("2")));
    }

    #[test]
    fn texts_are_compared_without_their_escapes() {
        let is = |one: &str, other: &str| same_text(one.as_bytes(), other.as_bytes());
        assert!(is(r#"{"a":["\u003c\/b\u00fc"]}"#, r#"{"a":["</bü"]}"#));
        for (one, other) in [
            (r#"{"a":"\u0062"}"#, r#"{"a":"c"}"#),
            (r#"["\ud800"]"#, r#"["\ud801"]"#),
            (r#""1""#, "1"),
            ("1.0", "1"),
        ] {
            assert!(!is(one, other), "{one} {other}");
        }
    }
}
