//! A validating scanner for raw JSON. It splits objects and arrays into borrowed slices and builds no tree, so that big
//! integers, number formats, duplicate members, lone surrogates and member order are preserved. It does not recurse, so
//! nesting depth is unlimited.
//!
//! The library `convo` exports this package as `convo::model::json`. It uses nothing of convo and is optimized in tests,
//! which read JSON most of the time.

mod build;
mod members;
mod same;
mod text;

pub use build::{
    ObjectBuilder, compact, object, replaced, with_member, with_members, with_owned_members, wrapped,
};
pub use members::{
    ArrayElements, Member, Members, elements, items, list, member, member_string, member_text, members,
    several, string_member,
};
pub use same::{same, same_text};
pub use text::{EscapedOffsets, array, number, plain, push_text, quoted, text, texts, unescape};

/// The position and reason of a JSON syntax error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Offset of the offending byte from the start of the scanned bytes.
    pub offset: usize,
    /// The problem at that offset.
    pub what: &'static str,
}

/// Accepted extensions of RFC 8259.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// RFC 8259.
    Strict,
    /// As Python's `json` writes it: also `NaN`, `Infinity`, `-Infinity`.
    Python,
    /// RFC 8259 that was checked before, so that only the ends of strings are looked for in them.
    Checked,
}

type Scan<T> = Result<T, JsonError>;

const fn fault<T>(offset: usize, what: &'static str) -> Scan<T> {
    Err(JsonError { offset, what })
}

/// Index of the first byte at or after `at` that is not JSON white space.
pub fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The same byte in all eight positions.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each byte that ends a run of plain text: a quote, a backslash, a control character. Bits after
/// the first set one may be wrong, so only the first is used. Source: "Determine if a word has a byte less than n", Bit
/// Twiddling Hacks.
#[inline(always)]
fn special(word: u64) -> u64 {
    let quote = word ^ (EACH * 0x22);
    let slash = word ^ (EACH * 0x5c);
    let found = (quote.wrapping_sub(EACH) & !quote)
        | (slash.wrapping_sub(EACH) & !slash)
        | (word.wrapping_sub(EACH * 0x20) & !word);
    found & (EACH * 0x80)
}

/// Index of the first byte at or after `at` that ends a run of plain text.
#[inline(always)]
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    let word = |at: usize| -> Option<u64> {
        let eight: [u8; 8] = bytes.get(at..at + 8)?.try_into().ok()?;
        Some(special(u64::from_le_bytes(eight)))
    };
    // Names and ids are short; long texts, the bulk of a session, are scanned 32 bytes at a time.
    for _ in 0..2 {
        match word(at) {
            Some(0) => at += 8,
            Some(found) => return at + found.trailing_zeros() as usize / 8,
            None => break,
        }
    }
    while let Some(chunk) = bytes.get(at..at + 32) {
        let mut found = 0u8;
        for &byte in chunk {
            found |= u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte < 0x20);
        }
        if found != 0 {
            break;
        }
        at += 32;
    }
    while let Some(found) = word(at) {
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes
        .get(at)
        .is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20))
    {
        at += 1;
    }
    at
}

/// Index after the string whose opening quote is at `at`.
fn string_end(bytes: &[u8], at: usize) -> Scan<usize> {
    let mut i = at + 1;
    loop {
        i = plain_end(bytes, i);
        match bytes.get(i) {
            None => return fault(at, "unterminated string"),
            Some(b'"') => return Ok(i + 1),
            Some(b'\\') => match bytes.get(i + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => i += 2,
                Some(b'u') => {
                    let digits = bytes.get(i + 2..i + 6);
                    if !digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) {
                        return fault(i, "a \\u escape requires four hex digits");
                    }
                    i += 6;
                }
                None => return fault(at, "unterminated string"),
                Some(_) => return fault(i, "unknown escape in a string"),
            },
            Some(_) => return fault(i, "raw control character in a string"),
        }
    }
}

/// Like [`string_end`] for a string that was checked before: its end is the first quote that no backslash escapes.
fn checked_string_end(bytes: &[u8], at: usize) -> Scan<usize> {
    let mut from = at + 1;
    while let Some(quote) = memchr::memchr(b'"', &bytes[from..]) {
        let end = from + quote;
        let slashes = bytes[from..end].iter().rev().take_while(|byte| **byte == b'\\');
        if slashes.count().is_multiple_of(2) {
            return Ok(end + 1);
        }
        from = end + 1;
    }
    fault(at, "unterminated string")
}

fn digits(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

fn number_end(bytes: &[u8], at: usize) -> Scan<usize> {
    let mut i = at + usize::from(bytes[at] == b'-');
    let whole = digits(bytes, i);
    if whole == i || (bytes[i] == b'0' && whole > i + 1) {
        return fault(at, "malformed number");
    }
    i = whole;
    if bytes.get(i) == Some(&b'.') {
        let end = digits(bytes, i + 1);
        if end == i + 1 {
            return fault(at, "malformed number");
        }
        i = end;
    }
    if let Some(b'e' | b'E') = bytes.get(i) {
        let sign = usize::from(matches!(bytes.get(i + 1), Some(b'+' | b'-')));
        let end = digits(bytes, i + 1 + sign);
        if end == i + 1 + sign {
            return fault(at, "malformed number");
        }
        i = end;
    }
    Ok(i)
}

fn scalar_end(bytes: &[u8], at: usize, dialect: Dialect) -> Scan<usize> {
    let word = |text: &[u8]| bytes[at..].starts_with(text).then_some(at + text.len());
    let end = match bytes.get(at) {
        None => return fault(at, "unexpected end, expected a value"),
        Some(b'"') if dialect == Dialect::Checked => return checked_string_end(bytes, at),
        Some(b'"') => return string_end(bytes, at),
        Some(b't') => word(b"true"),
        Some(b'f') => word(b"false"),
        Some(b'n') => word(b"null"),
        Some(b'N') if dialect == Dialect::Python => word(b"NaN"),
        Some(b'I') if dialect == Dialect::Python => word(b"Infinity"),
        Some(b'-') if dialect == Dialect::Python && bytes.get(at + 1) == Some(&b'I') => word(b"-Infinity"),
        Some(b'-' | b'0'..=b'9') => return number_end(bytes, at),
        Some(_) => None,
    };
    end.map_or(fault(at, "not a JSON value"), Ok)
}

/// One bit per nesting level: set for an object.
#[derive(Default)]
struct Levels {
    low: u64,
    more: Vec<u64>,
    depth: usize,
}

impl Levels {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.more.push(self.low);
        }
        self.low = self.low << 1 | u64::from(object);
        self.depth += 1;
    }
    fn pop(&mut self) {
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.low = self.more.pop().unwrap_or_default();
        } else {
            self.low >>= 1;
        }
    }
    fn in_object(&self) -> bool {
        self.low & 1 == 1
    }
}

/// Index after the member name that starts at `at`, and index of the value.
fn key_end(bytes: &[u8], at: usize) -> Scan<(usize, usize)> {
    if bytes.get(at) != Some(&b'"') {
        return fault(at, "missing member name");
    }
    let end = string_end(bytes, at)?;
    let colon = skip_space(bytes, end);
    if bytes.get(colon) != Some(&b':') {
        return fault(colon, "missing colon after a member name");
    }
    Ok((end, skip_space(bytes, colon + 1)))
}

/// Index after the value that starts at `at` (no white space before it).
pub fn value_end(bytes: &[u8], at: usize, dialect: Dialect) -> Scan<usize> {
    if !matches!(bytes.get(at), Some(b'{' | b'[')) {
        return scalar_end(bytes, at, dialect);
    }
    let mut levels = Levels::default();
    let mut i = at;
    loop {
        // Start of a value.
        match bytes.get(i) {
            Some(&open @ (b'{' | b'[')) => {
                let object = open == b'{';
                let inside = skip_space(bytes, i + 1);
                levels.push(object);
                if bytes.get(inside) != Some(if object { &b'}' } else { &b']' }) {
                    i = if object { key_end(bytes, inside)?.1 } else { inside };
                    continue;
                }
                levels.pop();
                i = inside + 1;
            }
            _ => i = scalar_end(bytes, i, dialect)?,
        }
        // End of a value.
        loop {
            if levels.depth == 0 {
                return Ok(i);
            }
            i = skip_space(bytes, i);
            match (bytes.get(i), levels.in_object()) {
                (Some(b','), true) => {
                    i = key_end(bytes, skip_space(bytes, i + 1))?.1;
                    break;
                }
                (Some(b','), false) => {
                    i = skip_space(bytes, i + 1);
                    break;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    levels.pop();
                    i += 1;
                }
                (None, _) => return fault(at, "unterminated object or array"),
                _ => return fault(i, "missing comma or closing bracket"),
            }
        }
    }
}

/// Whether the bytes are one value of RFC 8259, without white space around it.
pub fn is_value(bytes: &[u8]) -> bool {
    value_end(bytes, 0, Dialect::Strict) == Ok(bytes.len())
}

/// Whether the bytes are one object of RFC 8259, without white space around it.
pub fn is_object(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{") && is_value(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_validity_agrees_with_serde() {
        let cases = [
            "{}", "[]", "null", "true", "1", "-0", "01", "1.", "1.5e+3", "1e", "-", "\"a\\u00e9\"",
            "\"\\x\"", "{\"a\":1,}", "{\"a\" : [1, {\"b\":[]}]}", "[1 2]", "{\"a\"}", "[", "{", "\"",
            "{\"a\":}", "nul", "[[[[]]]]", "[,]", "{,}", "{\"a\":1 \"b\":2}", "[}", "{]", "\"\\u12\"", "[]]",
        ];
        for case in cases {
            let ours = value_end(case.as_bytes(), 0, Dialect::Strict) == Ok(case.len());
            let theirs = serde_json::from_str::<serde_json::Value>(case).is_ok();
            assert_eq!(ours, theirs, "{case}");
        }
    }

    #[test]
    fn a_checked_value_ends_where_it_ended_before() {
        for case in [
            r#""""#,
            r#""\\""#,
            r#""\"\\\"\\""#,
            r#"{"a\"":["\"",{"b":"}"}],"c":"\\"}"#,
            r#"[-1.5e3,null,""]"#,
        ] {
            let followed = format!("{case}\"x\"");
            for dialect in [Dialect::Strict, Dialect::Checked] {
                let end = value_end(followed.as_bytes(), 0, dialect);
                assert_eq!(end, Ok(case.len()), "{case} {dialect:?}");
            }
        }
        assert!(value_end(br#""\""#, 0, Dialect::Checked).is_err());
    }

    #[test]
    fn an_object_is_written_within_another_one() {
        let mut built = ObjectBuilder::default();
        built
            .object("a", |inner| {
                inner.text("b", "{").raw("c", "{}");
            })
            .object("d", |_| {})
            .raw("e", "[1]");
        assert_eq!(built.finish(), br#"{"a":{"b":"{","c":{}},"d":{},"e":[1]}"#);
    }

    #[test]
    fn nesting_depth_is_unlimited() {
        let deep = format!(
            "{{\"a\":{}1{}}}",
            "[{\"b\":".repeat(200_000),
            "}]".repeat(200_000)
        );
        assert_eq!(value_end(deep.as_bytes(), 0, Dialect::Strict), Ok(deep.len()));
        let broken = deep.replacen("1}]}", "1}]]", 1);
        assert!(value_end(broken.as_bytes(), 0, Dialect::Strict).is_err());
    }

    #[test]
    fn python_numbers_and_lone_surrogates() {
        assert_eq!(value_end(b"[NaN,-Infinity]", 0, Dialect::Python), Ok(15));
        assert!(value_end(b"[NaN]", 0, Dialect::Strict).is_err());
        assert_eq!(text(br#""a\ud83d b""#).unwrap(), "a\u{fffd} b");
        assert_eq!(text(br#""\ud83d\ude00""#).unwrap(), "\u{1f600}");
        assert_eq!(
            compact(b"{ \"a b\" : [ NaN , -1 , -Infinity ] }"),
            (b"{\"a b\":[null,-1,null]}".to_vec(), 2)
        );
        assert_eq!(
            compact(b"[ 1e-05, -2.5E-07 , -0 ]"),
            (b"[1e-05,-2.5E-07,-0]".to_vec(), 0)
        );
    }

    #[test]
    fn members_are_added_after_unchanged_bytes() {
        let object = b" {\"a\" : [1, 2] ,\"b\":{} } \t";
        let mut built = ObjectBuilder::continued(object, 0).unwrap();
        built.text("id", "x").raw("n", b"1");
        assert_eq!(
            String::from_utf8(built.finish()).unwrap(),
            " {\"a\" : [1, 2] ,\"b\":{} ,\"id\":\"x\",\"n\":1}"
        );
        assert!(ObjectBuilder::continued(b"[1]", 0).is_none());
    }

    #[test]
    fn members_are_replaced_in_place() {
        let object = br#"{"a":1, "b":12345678901234567890,"a":3}"#;
        let changed = with_members(object, &[("a", Some(b"9")), ("c", Some(b"null"))]).unwrap();
        assert_eq!(
            String::from_utf8(changed).unwrap(),
            r#"{"a":9,"b":12345678901234567890,"c":null}"#
        );
        assert_eq!(
            with_members(object, &[("a", None)]).unwrap(),
            br#"{"b":12345678901234567890}"#
        );
        assert_eq!(member(object, "a"), Some(&b"3"[..]));
    }
}
