//! Builds JSON objects and edits their members, leaving all other bytes unchanged.

use super::members::FEW;
use super::{
    Dialect, JsonError, Members, array, member, number_end, push_text, quoted, scalar_end, string_end,
};
use std::collections::HashMap;
use std::ops::Range;

/// Builds an object member by member from raw values.
#[derive(Clone, Debug)]
pub struct ObjectBuilder {
    out: Vec<u8>,
}

impl Default for ObjectBuilder {
    fn default() -> Self {
        ObjectBuilder { out: vec![b'{'] }
    }
}

impl ObjectBuilder {
    /// Continues an object that was read already and has members; its bytes are unchanged. Members that it has must not be
    /// added. `more` is the expected number of further bytes. None if this is not an object.
    pub fn continued(object: &[u8], more: usize) -> Option<ObjectBuilder> {
        let open = object.trim_ascii_end().strip_suffix(b"}")?;
        let mut out = Vec::with_capacity(object.len() + more);
        out.extend_from_slice(open);
        Some(ObjectBuilder { out })
    }

    /// Adds a member with a raw JSON value.
    pub fn raw(&mut self, name: &str, value: impl AsRef<[u8]>) -> &mut Self {
        if !self.is_empty() {
            self.out.push(b',');
        }
        push_text(&mut self.out, name);
        self.out.push(b':');
        self.out.extend_from_slice(value.as_ref());
        self
    }

    /// Adds a member with a raw JSON value, if there is a value.
    pub fn optional(&mut self, name: &str, value: Option<impl AsRef<[u8]>>) -> &mut Self {
        match value {
            Some(value) => self.raw(name, value),
            None => self,
        }
    }

    /// Adds a member with an array, unless it is empty.
    pub fn list<V: AsRef<[u8]>>(&mut self, name: &str, values: &[V]) -> &mut Self {
        self.optional(name, (!values.is_empty()).then(|| array(values)))
    }

    /// Adds a member with an object, unless it is empty.
    pub fn members(&mut self, name: &str, members: ObjectBuilder) -> &mut Self {
        self.optional(name, (!members.is_empty()).then(|| members.finish()))
    }

    /// Adds a member with an object that `write` fills, which may be large: it is not copied.
    pub fn object(&mut self, name: &str, write: impl FnOnce(&mut ObjectBuilder)) -> &mut Self {
        self.raw(name, b"{");
        write(self);
        self.out.push(b'}');
        self
    }

    /// Adds a member with a string value.
    pub fn text(&mut self, name: &str, value: &str) -> &mut Self {
        self.raw(name, b"");
        push_text(&mut self.out, value);
        self
    }

    /// Whether the object has no members yet. No value ends with an opening brace.
    pub fn is_empty(&self) -> bool {
        self.out.last() == Some(&b'{')
    }

    /// The object's bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }
}

/// An object with one member.
pub fn wrapped(name: &str, value: impl AsRef<[u8]>) -> Vec<u8> {
    object([(name, value)])
}

/// An object with these members.
pub fn object<N: AsRef<str>, V: AsRef<[u8]>>(members: impl IntoIterator<Item = (N, V)>) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    for (name, value) in members {
        built.raw(name.as_ref(), value);
    }
    built.finish()
}

/// An object with some members replaced (in place) or added (at the end); everything else as it was. `changes`
/// with no value take the member out.
pub fn with_members(object: &[u8], changes: &[(&str, Option<&[u8]>)]) -> Result<Vec<u8>, JsonError> {
    let mut members = Members::new(object, Dialect::Python)?;
    let mut kept: Vec<(usize, usize, Option<usize>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    if changes.len() > FEW {
        for (place, (name, _)) in changes.iter().enumerate() {
            places.entry(name).or_insert(place);
        }
    }
    while let Some(member) = members.next()? {
        let name = member.name();
        let change = match places.is_empty() {
            true => changes.iter().position(|(changed, _)| *changed == name),
            false => places.get(&*name).copied(),
        };
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

/// As [`with_members`], with owned values.
pub fn with_owned_members(object: &[u8], changes: &[(&str, Option<Vec<u8>>)]) -> Result<Vec<u8>, JsonError> {
    let changes = changes.iter().map(|(name, value)| (*name, value.as_deref()));
    with_members(object, &changes.collect::<Vec<_>>())
}

/// The document with a changed, added or removed member. All other bytes are unchanged, except that white space between
/// members is removed with the only or a repeated member, or if a member is added to fewer than two.
pub fn with_member(document: &[u8], name: &str, value: Option<&[u8]>) -> Vec<u8> {
    let object = document.trim_ascii();
    if let (Some(before), Some(now)) = (member(object, name), value) {
        return replaced(document, before, now);
    }
    let (mut spans, mut named, mut separator) = (Vec::new(), Vec::new(), 0..0);
    if let Ok(mut scan) = Members::new(object, Dialect::Python) {
        while let Ok(Some(member)) = scan.next() {
            named.extend((member.name() == name).then_some(spans.len()));
            // The bytes between the name and the value include the colon.
            let colon = member.start + member.key.len() + 2;
            separator = colon..member.end - member.value.len();
            spans.push(member.start..member.end);
        }
    }
    let count = spans.len();
    let with = |part: Range<usize>, by: &[u8]| replaced(document, &object[part], by);
    match (named.as_slice(), value) {
        // With the comma next to it.
        (&[nth], _) if nth + 1 < count => with(spans[nth].start..spans[nth + 1].start, b""),
        (&[nth], _) if nth > 0 => with(spans[nth - 1].end..spans[nth].end, b""),
        ([], Some(value)) if count > 1 => {
            let (last, comma) = (spans[count - 1].end, spans[count - 2].end..spans[count - 1].start);
            with(
                last..last,
                &[&object[comma], &quoted(name), &object[separator], value].concat(),
            )
        }
        _ => match with_members(object, &[(name, value)]) {
            Ok(changed) => replaced(document, object, &changed),
            Err(_) => document.to_vec(),
        },
    }
}

/// The bytes with `part`, a subslice of them, replaced.
pub fn replaced(bytes: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let start = (part.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
    debug_assert!(start + part.len() <= bytes.len());
    [&bytes[..start], by, &bytes[start + part.len()..]].concat()
}

/// The value without white space between tokens, so that it fits on one line; strings and numbers are unchanged. `NaN`
/// and infinities become null; the second result counts them.
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
            // Skip the whole number: the sign of an exponent starts no number.
            b'-' | b'0'..=b'9' if number_end(value, i).is_ok() => {
                let end = number_end(value, i).unwrap_or(i + 1);
                out.extend_from_slice(&value[i..end]);
                i = end;
            }
            b'-' | b'N' | b'I' => {
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
    fn a_member_is_changed_added_or_removed() {
        for (document, name, value, expected) in [
            ("{\"a\":1, \"b\": 2}\n", "a", Some("3"), "{\"a\":3, \"b\": 2}\n"),
            ("{\"a\":1,\"b\":[]}", "c", Some("3"), "{\"a\":1,\"b\":[],\"c\":3}"),
            (
                "{\"a\" : 1,\n \"b\" : 2}\n",
                "c",
                Some("3"),
                "{\"a\" : 1,\n \"b\" : 2,\n \"c\" : 3}\n",
            ),
            ("{ \"a\": 1 }\n", "c", Some("3"), "{\"a\": 1,\"c\":3}\n"),
            ("{ \"a\": 1, \"b\": 2 }", "a", None, "{ \"b\": 2 }"),
            ("{ \"a\": 1, \"b\": 2 }", "b", None, "{ \"a\": 1 }"),
            ("{ \"a\": 1 }\n", "a", None, "{}\n"),
            (
                "{\"a\":1, \"b\":2, \"a\":3}",
                "a",
                Some("4"),
                "{\"a\":1, \"b\":2, \"a\":4}",
            ),
            ("{\"a\":1, \"b\":2, \"a\":3}", "a", None, "{\"b\":2}"),
            ("{\"a\":1", "b", Some("2"), "{\"a\":1"),
        ] {
            let changed = with_member(document.as_bytes(), name, value.map(str::as_bytes));
            assert_eq!(String::from_utf8(changed).unwrap(), expected, "{document} {name}");
        }
    }
}
