//! The residue of an element: data that encoding its messages does not reproduce. Invariant: `restore(encoded,
//! residue(source, encoded))` is the same JSON value as `source`.
//!
//! A residue never overwrites content that has changed since. Where it replaces or removes a value, it has a checksum
//! of that value; an object or array is only restored if all its checksums match.
//!
//! | residue of | members |
//! |---|---|
//! | an object | `+` members to add, `~` residues of members, `=` a checksum and the original value, `-` checksums of members to remove |
//! | an array | for each element of the source the key of the encoded element, `[key, residue]`, `{"=": [key, checksum, value]}` or `{"+": value}`; then `{"-": [key, checksum]}` for each element to remove |

use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::key;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// Deeper values are compared as a whole.
const DEEPEST: usize = 48;

/// Longer values are checked by their hash; length in bytes.
const SHORT: usize = 24;

/// The residue of `source` relative to `encoded`; `None` if they are equal, or not both objects or both arrays.
pub fn residue(source: &[u8], encoded: &[u8]) -> Option<Vec<u8>> {
    match compare(source, encoded, 0) {
        ResidueDifference::Inside(residue) => Some(residue),
        ResidueDifference::None | ResidueDifference::Other => None,
    }
}

/// The annotation from which an element is restored, given the encoding of its messages.
pub fn note(raw: &[u8], encoded: Option<Vec<u8>>) -> (&'static str, Vec<u8>) {
    let note = encoded.and_then(|encoded| match compare(raw, &encoded, 0) {
        ResidueDifference::None => Some(b"null".to_vec()),
        ResidueDifference::Inside(found) => json::same(raw, &restore(&encoded, &found)).then_some(found),
        ResidueDifference::Other => None,
    });
    match note {
        Some(residue) => ("residue", residue),
        None => ("raw", raw.to_vec()),
    }
}

/// Restores the element of messages with this annotation.
pub fn noted(note: &[u8], encode: impl FnOnce() -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    match json::member(note, "raw") {
        Some(raw) => Some(raw.to_vec()),
        None => Some(restore(
            &encode()?,
            json::member(note, "residue").unwrap_or(b"null"),
        )),
    }
}

/// Restores the source value from `encoded`, with changes to `encoded` preserved.
pub fn restore(encoded: &[u8], residue: &[u8]) -> Vec<u8> {
    restore_changed(None, encoded, residue)
}

/// As [`restore`], with the value `then` that the residue was relative to: elements without ids are recognized by their
/// content if others are missing.
pub fn restore_changed(then: Option<&[u8]>, encoded: &[u8], residue: &[u8]) -> Vec<u8> {
    let restored = match (encoded.first(), residue.first()) {
        (Some(b'{'), Some(b'{')) => restore_object(then, encoded, residue),
        (Some(b'['), Some(b'[')) => restore_array(then, encoded, residue),
        _ => None,
    };
    restored.unwrap_or_else(|| encoded.to_vec())
}

enum ResidueDifference {
    None,
    Inside(Vec<u8>),
    Other,
}

fn compare(source: &[u8], encoded: &[u8], depth: usize) -> ResidueDifference {
    if json::same(source, encoded) {
        return ResidueDifference::None;
    }
    let inside = match (source.first(), encoded.first()) {
        _ if depth == DEEPEST => None,
        (Some(b'{'), Some(b'{')) => compare_objects(source, encoded, depth + 1),
        (Some(b'['), Some(b'[')) => compare_arrays(source, encoded, depth + 1),
        _ => None,
    };
    inside.map_or(ResidueDifference::Other, ResidueDifference::Inside)
}

fn members(object: &[u8]) -> Option<Vec<(Cow<'_, str>, &[u8])>> {
    json::members(object, Dialect::Strict)
}

fn elements(list: &[u8]) -> Option<Vec<&[u8]>> {
    json::elements(list, Dialect::Strict)
}

/// The value if it is short, otherwise its hash.
fn check(value: &[u8]) -> Vec<u8> {
    match value.len() <= SHORT {
        true => value.to_vec(),
        false => quoted(&key::sha256(value)[..16]),
    }
}

fn compare_objects(source: &[u8], encoded: &[u8], depth: usize) -> Option<Vec<u8>> {
    let (source, encoded) = (members(source)?, members(encoded)?);
    let mut left: HashMap<&str, &[u8]> = encoded.iter().map(|(name, value)| (&**name, *value)).collect();
    let mut parts: [ObjectBuilder; 4] = Default::default();
    let [added, inside, replaced, removed] = &mut parts;
    for (name, value) in &source {
        let Some(other) = left.remove(&**name) else {
            added.raw(name, value);
            continue;
        };
        match compare(value, other, depth) {
            ResidueDifference::None => {}
            ResidueDifference::Inside(residue) => drop(inside.raw(name, residue)),
            ResidueDifference::Other => drop(replaced.raw(name, array([&check(other)[..], value]))),
        }
    }
    for (name, value) in encoded.iter().filter(|(name, _)| left.contains_key(&**name)) {
        removed.raw(name, check(value));
    }
    let mut residue = ObjectBuilder::default();
    for (name, part) in ["+", "~", "=", "-"].into_iter().zip(parts) {
        residue.members(name, part);
    }
    Some(residue.finish())
}

fn restore_object(then: Option<&[u8]>, encoded: &[u8], residue: &[u8]) -> Option<Vec<u8>> {
    let part = |name| json::member(residue, name).and_then(members).unwrap_or_default();
    let (added, inside) = (part("+"), part("~"));
    let (replaced, removed) = (part("="), part("-"));
    let inside: HashMap<&str, &[u8]> = inside.iter().map(|(name, value)| (&**name, *value)).collect();
    let mut others: HashMap<&str, (&[u8], Option<&[u8]>)> = HashMap::new();
    for (name, pair) in &replaced {
        let pair = elements(pair).filter(|pair| pair.len() == 2)?;
        others.insert(name, (pair[0], Some(pair[1])));
    }
    others.extend(removed.iter().map(|(name, check)| (&**name, (*check, None))));
    let now = members(encoded)?;
    let unchanged = now
        .iter()
        .filter(|(name, value)| others.get(&**name).is_some_and(|(then, _)| check(value) == *then));
    let applies = unchanged.count() == others.len();
    let mut built = ObjectBuilder::default();
    for (name, value) in &now {
        match (others.get(&**name).filter(|_| applies), inside.get(&**name)) {
            (Some((_, Some(other))), _) => drop(built.raw(name, other)),
            (Some((_, None)), _) => {}
            (None, Some(residue)) => {
                let then = then.and_then(|then| json::member(then, name));
                built.raw(name, restore_changed(then, value, residue));
            }
            (None, None) => drop(built.raw(name, value)),
        }
    }
    let known: HashMap<&str, ()> = now.iter().map(|(name, _)| (&**name, ())).collect();
    for (name, value) in added
        .iter()
        .filter(|(name, _)| applies && !known.contains_key(&**name))
    {
        built.raw(name, value);
    }
    Some(built.finish())
}

/// The kind of an element: its `type`, or the kind of JSON value.
fn kind(element: &[u8]) -> Cow<'_, str> {
    let named = ["type", "role"]
        .iter()
        .find_map(|name| json::member(element, name));
    match (element.first(), named.and_then(json::text)) {
        (Some(b'{'), Some(kind)) => kind,
        (first, _) => first
            .map_or("", |first| match first {
                b'{' => "{",
                b'[' => "[",
                b'"' => "\"",
                _ => "0",
            })
            .into(),
    }
}

/// The ids of an element, its own first.
fn ids(element: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    let names = ["id", "callID", "toolCallId", "tool_call_id", "tool_use_id"];
    let names = names.into_iter().filter(|_| element.starts_with(b"{"));
    names.filter_map(|name| json::member_text(element, name))
}

/// The key of an encoded element: its kind, and its id if it has one.
fn key_of(element: &[u8]) -> String {
    match ids(element).next() {
        Some(id) => format!("{}#{id}", kind(element)),
        None => kind(element).into_owned(),
    }
}

/// Indexes of the elements of an encoded list by key, in order.
fn by_key(list: &[&[u8]]) -> HashMap<String, VecDeque<usize>> {
    let mut known: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (nth, element) in list.iter().enumerate() {
        known.entry(key_of(element)).or_default().push_back(nth);
    }
    known
}

fn compare_arrays(source: &[u8], encoded: &[u8], depth: usize) -> Option<Vec<u8>> {
    let (source, encoded) = (elements(source)?, elements(encoded)?);
    let mut known = by_key(&encoded);
    let mut entries: Vec<Vec<u8>> = Vec::new();
    for element in &source {
        let kind = kind(element);
        let named = ids(element).map(|id| format!("{kind}#{id}"));
        let mut keys = named.chain([kind.to_string()]);
        let found = keys.find_map(|key| {
            let nth = known.get_mut(&key).and_then(VecDeque::pop_front)?;
            Some((quoted(&key), nth))
        });
        let Some((key, nth)) = found else {
            entries.push(wrapped("+", element));
            continue;
        };
        entries.push(match compare(element, encoded[nth], depth) {
            ResidueDifference::None => key,
            ResidueDifference::Inside(residue) => array([key, residue]),
            ResidueDifference::Other => wrapped("=", array([&key[..], &check(encoded[nth]), element])),
        });
    }
    let mut left: Vec<usize> = known.into_values().flatten().collect();
    left.sort_unstable();
    for nth in left {
        let removed = array([quoted(&key_of(encoded[nth])), check(encoded[nth])]);
        entries.push(wrapped("-", &removed));
    }
    Some(array(entries))
}

/// An entry in the residue of an array.
enum ResidueEntry<'r> {
    Same,
    Inside(&'r [u8]),
    Instead(&'r [u8], &'r [u8]),
    Removed(&'r [u8]),
    Added(&'r [u8]),
}

fn entry(raw: &[u8]) -> Option<(Cow<'_, str>, ResidueEntry<'_>)> {
    if let Some(key) = json::text(raw) {
        return Some((key, ResidueEntry::Same));
    }
    if let Some(value) = json::member(raw, "+") {
        return Some((Cow::Borrowed(""), ResidueEntry::Added(value)));
    }
    let list = |raw| elements(raw).filter(|list| !list.is_empty());
    let (list, removed) = match ["=", "-"].map(|name| json::member(raw, name)) {
        [Some(raw), _] => (list(raw)?, false),
        [_, Some(raw)] => (list(raw)?, true),
        _ => (list(raw)?, false),
    };
    let key = json::text(list[0])?;
    Some((
        key,
        match list[1..] {
            [check] if removed => ResidueEntry::Removed(check),
            [residue] => ResidueEntry::Inside(residue),
            [check, value] => ResidueEntry::Instead(check, value),
            _ => return None,
        },
    ))
}

fn restore_array(then: Option<&[u8]>, encoded: &[u8], residue: &[u8]) -> Option<Vec<u8>> {
    let now = elements(encoded)?;
    let entries: Vec<_> = elements(residue)?.into_iter().map(entry).collect::<Option<_>>()?;
    let mut wanted: HashMap<&str, usize> = HashMap::new();
    let keyed = entries
        .iter()
        .filter(|(_, entry)| !matches!(entry, ResidueEntry::Added(_)));
    keyed.for_each(|(key, _)| *wanted.entry(key).or_default() += 1);
    let then = then.and_then(elements).unwrap_or_default();
    let (mut before, known) = (by_key(&then), by_key(&now));
    // The elements of each key. Those without ids are ambiguous if one is missing, unless their content is known.
    let mut found: HashMap<&str, VecDeque<Option<usize>>> = HashMap::new();
    for (key, count) in wanted {
        let mut known = known.get(key).cloned().unwrap_or_default();
        let is_certain = known.len() == count || (count == 1 && key.contains('#'));
        let of_then = before.get(key).filter(|_| !is_certain).into_iter().flatten();
        let equal = of_then.map(|nth| {
            let at = known.iter().position(|at| json::same(now[*at], then[*nth]))?;
            known.drain(..=at).next_back()
        });
        let mut equal: VecDeque<_> = equal.collect();
        if is_certain {
            equal.extend(known.into_iter().take(count).map(Some));
        }
        found.insert(key, equal);
    }
    let mut placed: Vec<(Option<usize>, Vec<u8>)> = Vec::new();
    let mut is_placed = vec![false; now.len()];
    for (key, entry) in &entries {
        if let ResidueEntry::Added(value) = entry {
            placed.push((None, value.to_vec()));
            continue;
        }
        let nth = found.get_mut(&**key).and_then(VecDeque::pop_front).flatten();
        let before = before.get_mut(&**key).and_then(VecDeque::pop_front);
        let is = |then: &[u8]| nth.is_some_and(|nth| check(now[nth]) == then);
        let element = match (entry, nth) {
            (ResidueEntry::Instead(then, value), _) if is(then) => value.to_vec(),
            (ResidueEntry::Removed(then), Some(nth)) if is(then) => {
                is_placed[nth] = true;
                continue;
            }
            // The value to replace or remove has changed, so the residue no longer applies.
            (ResidueEntry::Instead(..) | ResidueEntry::Removed(_), _) => return None,
            (ResidueEntry::Inside(residue), Some(nth)) => {
                restore_changed(before.map(|before| then[before]), now[nth], residue)
            }
            (_, Some(nth)) => now[nth].to_vec(),
            (_, None) => continue,
        };
        if let Some(nth) = nth {
            is_placed[nth] = true;
        }
        placed.push((nth, element));
    }
    for (nth, element) in now.iter().enumerate().filter(|(nth, _)| !is_placed[*nth]) {
        let before = placed
            .iter()
            .rposition(|(other, _)| other.is_some_and(|other| other < nth));
        let after = || placed.iter().position(|(other, _)| other.is_some());
        let at = before
            .map(|before| before + 1)
            .or_else(after)
            .unwrap_or(placed.len());
        placed.insert(at, (Some(nth), element.to_vec()));
    }
    Some(array(placed.into_iter().map(|(_, element)| element)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = serde_json::Value> {
        use serde_json::{Value, json};
        let leaf = prop_oneof![
            any::<u8>().prop_map(Value::from),
            prop::sample::select(vec!["a", "b", "something longer than a short value"]).prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            let name = prop::sample::select(vec!["id", "type", "text", "x", "content"]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(|list| json!(list)),
                prop::collection::vec((name, inner), 0..5).prop_map(|members| members
                    .into_iter()
                    .map(|(name, value)| (name.to_string(), value))
                    .collect::<serde_json::Map<_, _>>()
                    .into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_source_is_restored(source in value(), encoded in value()) {
            let (source, encoded) = (json!([source]).to_string(), json!([encoded]).to_string());
            let restored = match residue(source.as_bytes(), encoded.as_bytes()) {
                Some(residue) => restore(encoded.as_bytes(), &residue),
                None => encoded.clone().into_bytes(),
            };
            prop_assert!(json::same(&restored, source.as_bytes()), "{source}\n{encoded}\n{}", String::from_utf8_lossy(&restored));
        }
    }

    use serde_json::json;

    fn changed(source: &str, encoded: &str, now: &str) -> String {
        let residue = residue(source.as_bytes(), encoded.as_bytes()).unwrap();
        String::from_utf8(restore(now.as_bytes(), &residue)).unwrap()
    }

    #[test]
    fn changed_content_does_not_restore_replaced_members() {
        let (source, encoded) = (
            r#"{"status":"error","error":"secret"}"#,
            r#"{"status":"ok","value":"secret"}"#,
        );
        assert!(json::same(
            changed(source, encoded, encoded).as_bytes(),
            source.as_bytes()
        ));
        let now = r#"{"status":"ok","value":"gone"}"#;
        assert_eq!(changed(source, encoded, now), now);
        let (source, encoded) = (
            r#"["secret",{"type":"x"}]"#,
            r#"[{"type":"text","text":"secret"}]"#,
        );
        assert_eq!(
            changed(source, encoded, r#"[{"type":"text","text":"gone"}]"#),
            r#"[{"type":"text","text":"gone"}]"#
        );
    }

    #[test]
    fn unchanged_elements_keep_their_residue() {
        let source = r#"[{"type":"call","id":"a","s":1},{"type":"text","text":"t","n":2},{"type":"call","id":"b","s":3}]"#;
        let encoded = r#"[{"type":"text","text":"t"},{"type":"call","id":"a"},{"type":"call","id":"b"}]"#;
        assert_eq!(
            changed(
                source,
                encoded,
                r#"[{"type":"text","text":"u"},{"type":"call","id":"b"}]"#
            ),
            r#"[{"type":"text","text":"u","n":2},{"type":"call","id":"b","s":3}]"#
        );
        // With two texts without ids, the remaining one is ambiguous, unless the content of both is known.
        let source = r#"[{"type":"text","text":"a","n":1},{"type":"text","text":"b"}]"#;
        let encoded = r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#;
        assert_eq!(
            changed(source, encoded, r#"[{"type":"text","text":"b"}]"#),
            r#"[{"type":"text","text":"b"}]"#
        );
        let source =
            r#"[{"type":"text","text":"a","n":1},{"id":"c"},{"type":"text","text":"b","n":2},{"s":3}]"#;
        let encoded = r#"[{"type":"text","text":"a"},{"id":"c"},{"type":"text","text":"b"}]"#;
        let now = br#"[{"id":"c"},{"type":"text","text":"b"}]"#;
        let residue = residue(source.as_bytes(), encoded.as_bytes()).unwrap();
        let restored = restore_changed(Some(encoded.as_bytes()), now, &residue);
        let expected = r#"[{"id":"c"},{"type":"text","text":"b","n":2},{"s":3}]"#;
        assert_eq!(String::from_utf8(restored).unwrap(), expected);
        let restored = restore(now, &residue);
        let expected = r#"[{"id":"c"},{"type":"text","text":"b"},{"s":3}]"#;
        assert_eq!(String::from_utf8(restored).unwrap(), expected);
    }
}
