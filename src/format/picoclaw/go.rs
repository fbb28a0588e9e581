//! What Go's `encoding/json` takes for a value of a type: by these rules PicoClaw accepts a line or rejects it.

use crate::format::go::folded;
use crate::model::json::{self, Dialect, Elements, Fault, Members};
use std::borrow::Cow;

/// A value, or why Go would not have taken it; offsets count from the start of the line or document.
pub(super) type Accepted<T> = Result<T, Fault>;

/// One member of an object.
pub(super) struct Field<'a> {
    /// The name as Go compares names: without regard to case.
    pub name: Cow<'a, [u8]>,
    /// The value as written.
    pub value: &'a [u8],
    /// Where the value begins.
    pub at: usize,
    /// Name, colon and value as written.
    pub raw: &'a [u8],
}

impl Field<'_> {
    /// Whether the value is null, which for Go is "no change" to anything but a list or a pointer.
    pub fn is_null(&self) -> bool {
        self.value == b"null"
    }
}

fn shifted(fault: Fault, by: usize) -> Fault {
    Fault {
        offset: fault.offset + by,
        ..fault
    }
}

/// Hands out the members of the object that begins at `at` of its line, in order; repeats are handed out too.
pub(super) fn fields<'a>(
    object: &'a [u8],
    at: usize,
    mut each: impl FnMut(Field<'a>) -> Accepted<()>,
) -> Accepted<()> {
    let mut members = Members::new(object, Dialect::Strict).map_err(|fault| shifted(fault, at))?;
    while let Some(member) = members.next().map_err(|fault| shifted(fault, at))? {
        each(Field {
            name: folded(member.key),
            value: member.value,
            at: at + member.end - member.value.len(),
            raw: &object[member.start..member.end],
        })?;
    }
    Ok(())
}

/// Takes a string. Null leaves what was there before, anything else is refused.
pub(super) fn string<'a>(slot: &mut Option<&'a [u8]>, field: &Field<'a>, what: &'static str) -> Accepted<()> {
    match field.value.first() {
        Some(b'"') => *slot = Some(field.value),
        _ if field.is_null() => {}
        _ => {
            return Err(Fault {
                offset: field.at,
                what,
            });
        }
    }
    Ok(())
}

/// The elements of a list and where they begin; null is an empty one.
pub(super) fn list<'a>(field: &Field<'a>, what: &'static str) -> Accepted<Vec<(usize, &'a [u8])>> {
    let mut all = Vec::new();
    if field.is_null() {
        return Ok(all);
    }
    let mut elements = Elements::new(field.value, Dialect::Strict).map_err(|_| Fault {
        offset: field.at,
        what,
    })?;
    while let Some((offset, element)) = elements.next().map_err(|fault| shifted(fault, field.at))? {
        all.push((field.at + offset, element));
    }
    Ok(all)
}

/// Checks an object (or null) of which these members have to be strings.
pub(super) fn strings_in(value: &[u8], at: usize, names: &[&[u8]], what: &'static str) -> Accepted<()> {
    if value == b"null" {
        return Ok(());
    }
    if value.first() != Some(&b'{') {
        return Err(Fault { offset: at, what });
    }
    fields(value, at, |field| {
        if names.contains(&field.name.as_ref()) {
            string(&mut None, &field, what)
        } else {
            Ok(())
        }
    })
}

/// The text of a time that is strict RFC 3339; like Go, escapes in it are not decoded.
pub(super) fn is_time(value: &[u8]) -> bool {
    match value {
        [b'"', inner @ .., b'"'] => std::str::from_utf8(inner).is_ok_and(crate::model::time::is_rfc3339),
        _ => false,
    }
}

/// A whole number that fits Go's `int`.
pub(super) fn integer(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value)
        .ok()
        .filter(|text| !text.starts_with('+'))?
        .parse()
        .ok()
}

/// Whether a string value is empty but for Unicode white space; an absent one is.
pub(super) fn is_blank(value: Option<&[u8]>) -> bool {
    value.is_none_or(|raw| json::text(raw).is_some_and(|text| text.trim().is_empty()))
}

/// The bytes as UTF-8: each byte that is none becomes one U+FFFD, as in Go (Rust's own lossy reading makes one
/// of a whole cut character).
pub(super) fn repaired(bytes: Vec<u8>) -> Vec<u8> {
    if std::str::from_utf8(&bytes).is_ok() {
        return bytes;
    }
    let mut out = Vec::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        out.extend(chunk.invalid().iter().flat_map(|_| "\u{fffd}".bytes()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_as_in_go() {
        for name in ["tool_calls", "TOOL_Calls", "tool_call\u{17f}", r"tool\u005fcalls"] {
            assert_eq!(folded(name.as_bytes()).as_ref(), b"tool_calls", "{name}");
        }
        assert_eq!(folded("\u{212a}ey".as_bytes()).as_ref(), b"key");
        assert_ne!(
            folded("\u{e9}".as_bytes()),
            folded("\u{c9}".as_bytes()),
            "no known name has such a letter"
        );
    }

    #[test]
    fn every_bad_byte_is_one_replacement() {
        let read = |bytes: &[u8]| String::from_utf8(repaired(bytes.to_vec())).unwrap();
        assert_eq!(read(b"a\xe2\x82b"), "a\u{fffd}\u{fffd}b");
        assert_eq!(read(b"\xed\xa0\x80"), "\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(read(b"\xf0\x90\x80"), "\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(read("\u{1f600}".as_bytes()), "\u{1f600}");
    }

    #[test]
    fn integers_are_whole_numbers_only() {
        assert_eq!(integer(b"-3"), Some(-3));
        for bad in ["1.0", "1e3", "9223372036854775808", "\"1\"", "+1"] {
            assert_eq!(integer(bad.as_bytes()), None, "{bad}");
        }
    }
}
