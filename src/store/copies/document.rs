//! Compares documents that programs rewrite as a whole: whether a new version contains everything of the old one.

use serde_json::Value;

/// Maximum size for a comparison in bytes; larger documents always get a new version.
pub const LARGEST: u64 = 256 << 20;

/// Whether a document extends another one: its lists begin with the same elements, and its objects have the same
/// members.
pub fn continues(old: &[u8], new: &[u8]) -> bool {
    let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    let both = parsed(old).zip(parsed(new));
    both.is_some_and(|(old, new)| has(&old, &new) && (old.is_array() || has_list(&old)))
}

/// Whether a stream of records continues another one: it has the same lines, but for the header, whose times and title
/// change.
pub fn continues_records(old: &[u8], new: &[u8]) -> bool {
    let body = |stream: &'_ [u8]| memchr::memchr(b'\n', stream).map_or(stream.len(), |end| end + 1);
    new[body(new)..].starts_with(&old[body(old)..])
}

fn has(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Array(old), Value::Array(new)) => new.starts_with(old),
        (Value::Object(old), Value::Object(new)) => old
            .iter()
            .all(|(name, old)| new.get(name).is_some_and(|new| has(old, new))),
        (Value::Array(_) | Value::Object(_), _) => false,
        // Titles, counts and times may change.
        _ => !new.is_array() && !new.is_object(),
    }
}

/// Whether the document contains a list of objects, such as messages.
fn has_list(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(Value::is_object),
        Value::Object(members) => members.values().any(has_list),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_at_the_end_continue_a_stream() {
        let old = b"{\"title\":\"a\"}\n{\"id\":1}\n";
        assert!(continues_records(
            old,
            b"{\"title\":\"b\"}\n{\"id\":1}\n{\"id\":2}\n"
        ));
        assert!(!continues_records(old, b"{\"title\":\"a\"}\n{\"id\":2}\n"));
        assert!(!continues_records(old, b"{\"title\":\"a\"}\n"));
        assert!(continues_records(b"{}\n", old) && continues_records(b"", old));
    }

    #[test]
    fn a_longer_list_of_messages_continues_a_document() {
        let old = r#"{"title":"a","history":[{"role":"user","content":"x"}]}"#;
        for (new, expected) in [
            (
                r#"{"title":"b","history":[{"role":"user","content":"x"},{"role":"assistant"}],"n":1}"#,
                true,
            ),
            (
                r#"{"title":"a","history":[{"role":"user","content":"y"}]}"#,
                false,
            ),
            (r#"{"title":"a","history":[]}"#, false),
            (r#"{"history":[{"role":"user","content":"x"}]}"#, false),
            ("{", false),
        ] {
            assert_eq!(continues(old.as_bytes(), new.as_bytes()), expected, "{new}");
        }
        assert!(continues(b"[1]", b"[1,2]") && !continues(br#"{"a":1}"#, br#"{"a":2}"#));
    }
}
