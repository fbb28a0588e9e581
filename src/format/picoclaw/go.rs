//! The type rules of Go's `encoding/json`, by which PicoClaw accepts or rejects a line.

use crate::format::go_json::folded;
use crate::model::json::{self, ArrayElements, Dialect, JsonError, Members};
use std::borrow::Cow;

/// A value, or the reason why Go rejects it; offsets are relative to the line or document.
pub(super) type Accepted<T> = Result<T, JsonError>;

/// One member of an object.
pub(super) struct Field<'a> {
    /// The name in lower case, because Go ignores the case of names.
    pub name: Cow<'a, [u8]>,
    /// The raw value.
    pub value: &'a [u8],
    /// Offset of the value.
    pub at: usize,
    /// Name, colon and value, unmodified.
    pub raw: &'a [u8],
}

impl Field<'_> {
    /// Whether the value is null. For Go, null changes nothing, except a list or pointer.
    pub fn is_null(&self) -> bool {
        self.value == b"null"
    }
}

fn shifted(fault: JsonError, by: usize) -> JsonError {
    JsonError {
        offset: fault.offset + by,
        ..fault
    }
}

/// Calls a function for each member of the object at offset `at`, in order, including repeated ones.
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

/// Stores a string. Null leaves the previous value; any other type is rejected.
pub(super) fn string<'a>(slot: &mut Option<&'a [u8]>, field: &Field<'a>, what: &'static str) -> Accepted<()> {
    match field.value.first() {
        Some(b'"') => *slot = Some(field.value),
        _ if field.is_null() => {}
        _ => {
            return Err(JsonError {
                offset: field.at,
                what,
            });
        }
    }
    Ok(())
}

/// The elements of a list with their offsets; null is an empty list.
pub(super) fn list<'a>(field: &Field<'a>, what: &'static str) -> Accepted<Vec<(usize, &'a [u8])>> {
    let mut all = Vec::new();
    if field.is_null() {
        return Ok(all);
    }
    let mut elements = ArrayElements::new(field.value, Dialect::Strict).map_err(|_| JsonError {
        offset: field.at,
        what,
    })?;
    while let Some((offset, element)) = elements.next().map_err(|fault| shifted(fault, field.at))? {
        all.push((field.at + offset, element));
    }
    Ok(all)
}

/// Checks that the value is null or an object whose members of these names are strings.
pub(super) fn strings_in(value: &[u8], at: usize, names: &[&[u8]], what: &'static str) -> Accepted<()> {
    if value == b"null" {
        return Ok(());
    }
    if value.first() != Some(&b'{') {
        return Err(JsonError { offset: at, what });
    }
    fields(value, at, |field| {
        if names.contains(&field.name.as_ref()) {
            string(&mut None, &field, what)
        } else {
            Ok(())
        }
    })
}

/// Whether the value is a strict RFC 3339 time; like Go, without decoding escapes.
pub(super) fn is_time(value: &[u8]) -> bool {
    match value {
        [b'"', inner @ .., b'"'] => std::str::from_utf8(inner).is_ok_and(crate::model::time::is_rfc3339),
        _ => false,
    }
}

/// An integer that fits Go's `int`.
pub(super) fn integer(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value)
        .ok()
        .filter(|text| !text.starts_with('+'))?
        .parse()
        .ok()
}

/// Whether a string value is absent, empty, or only Unicode white space.
pub(super) fn is_blank(value: Option<&[u8]>) -> bool {
    value.is_none_or(|raw| json::text(raw).is_some_and(|text| text.trim().is_empty()))
}

/// Replaces each invalid byte by U+FFFD, as Go does; Rust's lossy conversion would replace a truncated character by a
/// single one.
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
    fn every_invalid_byte_is_one_replacement_character() {
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
