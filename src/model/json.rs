//! A validating scanner over raw JSON: it splits objects and arrays into borrowed pieces and builds no tree,
//! so that big integers, float spellings, duplicate members, lone surrogates and member order stay as they
//! were written. Nesting is no limit: nothing here recurses.

use std::borrow::Cow;

/// Why bytes are no JSON, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Offset of the offending byte from the start of the scanned bytes.
    pub offset: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// What is taken for a value beside RFC 8259.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// RFC 8259.
    Strict,
    /// As Python's `json` writes it: also `NaN`, `Infinity`, `-Infinity`.
    Python,
}

type Scan<T> = Result<T, Fault>;

const fn fault<T>(offset: usize, what: &'static str) -> Scan<T> {
    Err(Fault { offset, what })
}

/// Index of the first byte at or after `at` that is no JSON white space.
pub fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The same byte in all eight places.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each byte that ends a run of plain text: a quote, a backslash, a control character. Bits
/// behind the first one may be wrong, which is why only the first is used.
/// Source: "Determine if a word has a byte less than n", Bit Twiddling Hacks.
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
    // Names and ids end soon; long texts, the bulk of a session, are looked at 32 bytes at a time.
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

/// Index behind the string whose opening quote is at `at`.
fn string_end(bytes: &[u8], at: usize) -> Scan<usize> {
    let mut i = at + 1;
    loop {
        i = plain_end(bytes, i);
        match bytes.get(i) {
            None => return fault(at, "a string does not end"),
            Some(b'"') => return Ok(i + 1),
            Some(b'\\') => match bytes.get(i + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => i += 2,
                Some(b'u') => {
                    let digits = bytes.get(i + 2..i + 6);
                    if !digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) {
                        return fault(i, "a \\u escape needs four hex digits");
                    }
                    i += 6;
                }
                None => return fault(at, "a string does not end"),
                Some(_) => return fault(i, "an unknown escape in a string"),
            },
            Some(_) => return fault(i, "a raw control character in a string"),
        }
    }
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
        return fault(at, "a malformed number");
    }
    i = whole;
    if bytes.get(i) == Some(&b'.') {
        let end = digits(bytes, i + 1);
        if end == i + 1 {
            return fault(at, "a malformed number");
        }
        i = end;
    }
    if let Some(b'e' | b'E') = bytes.get(i) {
        let sign = usize::from(matches!(bytes.get(i + 1), Some(b'+' | b'-')));
        let end = digits(bytes, i + 1 + sign);
        if end == i + 1 + sign {
            return fault(at, "a malformed number");
        }
        i = end;
    }
    Ok(i)
}

fn scalar_end(bytes: &[u8], at: usize, dialect: Dialect) -> Scan<usize> {
    let word = |text: &[u8]| bytes[at..].starts_with(text).then_some(at + text.len());
    let end = match bytes.get(at) {
        None => return fault(at, "the text ends where a value should be"),
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
    end.map_or(fault(at, "no JSON value"), Ok)
}

/// One bit a level of nesting: set for an object.
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

/// Index behind the member name that begins at `at`, and index of the value.
fn key_end(bytes: &[u8], at: usize) -> Scan<(usize, usize)> {
    if bytes.get(at) != Some(&b'"') {
        return fault(at, "a member name is missing");
    }
    let end = string_end(bytes, at)?;
    let colon = skip_space(bytes, end);
    if bytes.get(colon) != Some(&b':') {
        return fault(colon, "a colon is missing after a member name");
    }
    Ok((end, skip_space(bytes, colon + 1)))
}

/// Index behind the value that begins at `at` (no white space before it).
pub fn value_end(bytes: &[u8], at: usize, dialect: Dialect) -> Scan<usize> {
    if !matches!(bytes.get(at), Some(b'{' | b'[')) {
        return scalar_end(bytes, at, dialect);
    }
    let mut levels = Levels::default();
    let mut i = at;
    loop {
        // Here a value begins.
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
        // Here a value has ended.
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
                (None, _) => return fault(at, "an object or array does not end"),
                _ => return fault(i, "a comma or a closing bracket is missing"),
            }
        }
    }
}

/// One member of an object, as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The name between its quotes, escapes untouched.
    pub key: &'a [u8],
    /// The value's bytes.
    pub value: &'a [u8],
    /// Offset of the name's opening quote in the object's bytes.
    pub start: usize,
    /// Offset behind the value in the object's bytes.
    pub end: usize,
}

impl Member<'_> {
    /// The name with its escapes decoded.
    pub fn name(&self) -> Cow<'_, str> {
        unescape(self.key)
    }
}

/// The members of an object, one after another; after the last, the end of the object is checked too.
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
    dialect: Dialect,
    state: State,
}

#[derive(PartialEq)]
enum State {
    First,
    Later,
    Done,
}

impl<'a> Members<'a> {
    /// Over an object's bytes; white space around it is allowed, anything behind it is a fault.
    pub fn new(bytes: &'a [u8], dialect: Dialect) -> Scan<Self> {
        Ok(Members {
            bytes,
            at: opened(bytes, b'{', "not an object")?,
            dialect,
            state: State::First,
        })
    }

    /// The next member.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator cannot end with the fault it met"
    )]
    pub fn next(&mut self) -> Scan<Option<Member<'a>>> {
        let Some(start) = step(self.bytes, &mut self.at, &mut self.state, b'}')? else {
            return Ok(None);
        };
        let (name_end, value) = key_end(self.bytes, start)?;
        let end = value_end(self.bytes, value, self.dialect)?;
        self.at = end;
        Ok(Some(Member {
            key: &self.bytes[start + 1..name_end - 1],
            value: &self.bytes[value..end],
            start,
            end,
        }))
    }
}

/// The elements of an array, one after another.
pub struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
    dialect: Dialect,
    state: State,
}

impl<'a> Elements<'a> {
    /// Over an array's bytes.
    pub fn new(bytes: &'a [u8], dialect: Dialect) -> Scan<Self> {
        Ok(Elements {
            bytes,
            at: opened(bytes, b'[', "not an array")?,
            dialect,
            state: State::First,
        })
    }

    /// The next element and its offset in the array's bytes.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator cannot end with the fault it met"
    )]
    pub fn next(&mut self) -> Scan<Option<(usize, &'a [u8])>> {
        let Some(start) = step(self.bytes, &mut self.at, &mut self.state, b']')? else {
            return Ok(None);
        };
        self.at = value_end(self.bytes, start, self.dialect)?;
        Ok(Some((start, &self.bytes[start..self.at])))
    }
}

fn opened(bytes: &[u8], bracket: u8, what: &'static str) -> Scan<usize> {
    let start = skip_space(bytes, 0);
    if bytes.get(start) == Some(&bracket) {
        Ok(start + 1)
    } else {
        fault(start, what)
    }
}

/// Moves over a comma, or over the closing bracket and what white space follows it.
fn step(bytes: &[u8], at: &mut usize, state: &mut State, close: u8) -> Scan<Option<usize>> {
    if *state == State::Done {
        return Ok(None);
    }
    let mut i = skip_space(bytes, *at);
    if bytes.get(i) == Some(&close) {
        i = skip_space(bytes, i + 1);
        if i < bytes.len() {
            return fault(i, "something follows the value");
        }
        *state = State::Done;
        return Ok(None);
    }
    if *state == State::First {
        *state = State::Later;
    } else {
        match bytes.get(i) {
            Some(b',') => i = skip_space(bytes, i + 1),
            None => return fault(i, "an object or array does not end"),
            Some(_) => return fault(i, "a comma or a closing bracket is missing"),
        }
    }
    if i >= bytes.len() {
        return fault(i, "an object or array does not end");
    }
    Ok(Some(i))
}

/// The value of the last member with this name (the last one counts, as in most parsers); none when the bytes
/// are no object or have no such member.
pub fn member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut members = Members::new(object, Dialect::Python).ok()?;
    let mut found = None;
    while let Some(member) = members.next().ok()? {
        if member.key == name.as_bytes() || (member.key.contains(&b'\\') && member.name() == name) {
            found = Some(member.value);
        }
    }
    found
}

/// All members of an object by name; for repeats the last value, at the first one's place. None when the
/// bytes are no object.
pub fn members<'a>(object: &'a [u8], dialect: Dialect) -> Option<Vec<(Cow<'a, str>, &'a [u8])>> {
    let mut scan = Members::new(object, dialect).ok()?;
    let mut all: Vec<(Cow<'a, str>, &'a [u8])> = Vec::new();
    while let Some(member) = scan.next().ok()? {
        let name = unescape(member.key);
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = member.value,
            None => all.push((name, member.value)),
        }
    }
    Some(all)
}

/// The elements of an array; none when the bytes are no array.
pub fn elements(array: &[u8], dialect: Dialect) -> Option<Vec<&[u8]>> {
    let mut scan = Elements::new(array, dialect).ok()?;
    let mut all = Vec::new();
    while let Some((_, element)) = scan.next().ok()? {
        all.push(element);
    }
    Some(all)
}

/// The text of a string value (with its quotes); none for any other value. Lone surrogates and bytes that are
/// no UTF-8 become U+FFFD: this is for looking at text, not for carrying it on.
pub fn text(value: &[u8]) -> Option<Cow<'_, str>> {
    match value {
        [b'"', inner @ .., b'"'] => Some(unescape(inner)),
        _ => None,
    }
}

/// Decodes the escapes of a string's inside.
pub fn unescape(inner: &[u8]) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', inner) else {
        return String::from_utf8_lossy(inner);
    };
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&String::from_utf8_lossy(&rest[..at]));
        let (decoded, length) = escape(&rest[at..]);
        out.push(decoded);
        rest = &rest[at + length..];
        next = memchr::memchr(b'\\', rest);
    }
    out.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(out)
}

/// The character an escape stands for and the escape's length in bytes.
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

/// Appends `text` as a JSON string with its quotes: only what RFC 8259 demands is escaped.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut from = 0;
    for (i, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            8 => b'b',
            9 => b't',
            10 => b'n',
            12 => b'f',
            13 => b'r',
            0..0x20 => b'u',
            _ => continue,
        };
        out.extend_from_slice(&text.as_bytes()[from..i]);
        out.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.extend_from_slice(&[
                b'0',
                b'0',
                HEX[usize::from(byte >> 4)],
                HEX[usize::from(byte & 15)],
            ]);
        }
        from = i + 1;
    }
    out.extend_from_slice(&text.as_bytes()[from..]);
    out.push(b'"');
}

/// Builds one object, member by member, from raw values.
#[derive(Debug)]
pub struct ObjectBuilder {
    out: Vec<u8>,
}

impl Default for ObjectBuilder {
    fn default() -> Self {
        ObjectBuilder { out: vec![b'{'] }
    }
}

impl ObjectBuilder {
    /// Adds a member whose value is JSON already.
    pub fn raw(&mut self, name: &str, value: impl AsRef<[u8]>) -> &mut Self {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        push_text(&mut self.out, name);
        self.out.push(b':');
        self.out.extend_from_slice(value.as_ref());
        self
    }

    /// Adds a member whose value is this text.
    pub fn text(&mut self, name: &str, value: &str) -> &mut Self {
        self.raw(name, b"");
        push_text(&mut self.out, value);
        self
    }

    /// Whether no member was added yet.
    pub fn is_empty(&self) -> bool {
        self.out.len() == 1
    }

    /// The object's bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }
}

/// An object with some members replaced (in place) or added (at the end); everything else as it was. `changes`
/// with no value take the member out.
pub fn with_members(object: &[u8], changes: &[(&str, Option<&[u8]>)]) -> Result<Vec<u8>, Fault> {
    let mut members = Members::new(object, Dialect::Python)?;
    let mut kept: Vec<(usize, usize, Option<usize>)> = Vec::new();
    while let Some(member) = members.next()? {
        let name = member.name();
        let change = changes.iter().position(|(changed, _)| *changed == name);
        kept.push((member.start, member.end, change));
    }
    let mut built = ObjectBuilder::default();
    let mut written = vec![false; changes.len()];
    for (start, end, change) in kept {
        match change {
            None => {
                if built.out.len() > 1 {
                    built.out.push(b',');
                }
                built.out.extend_from_slice(&object[start..end]);
            }
            Some(index) => {
                if let (name, Some(value)) = changes[index]
                    && !written[index]
                {
                    built.raw(name, value);
                }
                written[index] = true;
            }
        }
    }
    for (index, (name, value)) in changes.iter().enumerate() {
        if let (false, Some(value)) = (written[index], value) {
            built.raw(name, value);
        }
    }
    Ok(built.finish())
}

/// The value without white space between its tokens, so that it fits on a line; strings and numbers keep
/// their spelling. `NaN` and the infinities become null; the second value counts them.
pub fn compact(value: &[u8]) -> (Vec<u8>, u64) {
    let mut out = Vec::with_capacity(value.len());
    let mut replaced = 0;
    let mut i = 0;
    while i < value.len() {
        match value[i] {
            b' ' | b'\n' | b'\r' | b'\t' => i += 1,
            b'"' => {
                let end = string_end(value, i).unwrap_or(value.len());
                out.extend_from_slice(&value[i..end]);
                i = end;
            }
            b'-' | b'N' | b'I' if number_end(value, i).is_err() => {
                let end = scalar_end(value, i, Dialect::Python).unwrap_or(i + 1);
                out.extend_from_slice(b"null");
                replaced += 1;
                i = end;
            }
            byte => {
                out.push(byte);
                i += 1;
            }
        }
    }
    (out, replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_serde_on_what_is_json() {
        let cases = [
            "{}",
            "[]",
            "null",
            "true",
            "1",
            "-0",
            "01",
            "1.",
            "1.5e+3",
            "1e",
            "-",
            "\"a\\u00e9\"",
            "\"\\x\"",
            "{\"a\":1,}",
            "{\"a\" : [1, {\"b\":[]}]}",
            "[1 2]",
            "{\"a\"}",
            "[",
            "{",
            "\"",
            "{\"a\":}",
            "nul",
            "[[[[]]]]",
            "[,]",
            "{,}",
            "{\"a\":1 \"b\":2}",
            "[}",
            "{]",
            "\"\\u12\"",
            "[]]",
        ];
        for case in cases {
            let ours = value_end(case.as_bytes(), 0, Dialect::Strict) == Ok(case.len());
            let theirs = serde_json::from_str::<serde_json::Value>(case).is_ok();
            assert_eq!(ours, theirs, "{case}");
        }
    }

    #[test]
    fn nesting_has_no_limit() {
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
    }

    #[test]
    fn members_are_replaced_where_they_stand() {
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
