//! Messages without their long values. A session of reduced lines has the roles, ids and events of a log and replays as
//! the log does, with a small part of its memory.

use super::json::{Dialect, Members};
use super::key;
use super::record::Record;
use crate::error::Position;
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::LazyLock;

/// Longest value that is kept, in bytes.
const LONGEST: usize = 64;

/// Number of bytes of a digest: enough, because nobody can choose values by a digest with a secret key.
const DIGEST: usize = 10;

/// Members that are always kept, because they define the kind of a line or its id.
const ALWAYS_KEPT: [&str; 4] = ["role", "id", "type", "category"];

/// A random per-process key, so that no log can contain a forged digest.
static SECRET: LazyLock<[u8; 8]> = LazyLock::new(|| RandomState::new().hash_one(0_u8).to_ne_bytes());

/// The replacement of a value: a string, array or object (as the value is) with a prefix of its SHA-256.
fn digest_value(value: &[u8]) -> Vec<u8> {
    let digest = key::hex(&key::digest([&SECRET[..], value])[..DIGEST]);
    let built = match value.first() {
        Some(b'[') => format!("[\"{digest}\"]"),
        Some(b'{') => format!("{{\"sha256\":\"{digest}\"}}"),
        _ => format!("\"{digest}\""),
    };
    built.into_bytes()
}

/// Appends a message to `out`, with each long value replaced by its digest, or by an empty string.
pub(super) fn reduce_into(message: &[u8], digests: bool, out: &mut Vec<u8>) {
    let mut from = 0;
    let Ok(mut members) = Members::new(message, Dialect::Strict) else {
        return out.extend_from_slice(message);
    };
    while let Ok(Some(member)) = members.next() {
        if member.value.len() > LONGEST && !ALWAYS_KEPT.contains(&member.name().as_ref()) {
            out.extend_from_slice(&message[from..member.end - member.value.len()]);
            match digests {
                true => out.extend_from_slice(&digest_value(member.value)),
                false => out.extend_from_slice(b"\"\""),
            }
            from = member.end;
        }
    }
    out.extend_from_slice(&message[from..]);
}

/// A line without the long values of its message.
pub fn line(full: &[u8]) -> Cow<'_, [u8]> {
    let record = Record::parse(full, Position { line: 0, offset: 1 });
    if record.message().is_none() {
        return Cow::Borrowed(full);
    }
    let mut out = Vec::new();
    reduce_into(record.body, true, &mut out);
    out.push(b'\n');
    Cow::Owned(out)
}

/// Restores the long values of a reduced message from the original.
pub fn expand(reduced: &[u8], message: &[u8]) -> Vec<u8> {
    let mut long: HashMap<Vec<u8>, &[u8]> = HashMap::new();
    if let Ok(mut members) = Members::new(message, Dialect::Strict) {
        while let Ok(Some(member)) = members.next() {
            if member.value.len() > LONGEST {
                long.insert(digest_value(member.value), member.value);
            }
        }
    }
    let (mut out, mut from) = (Vec::new(), 0);
    if let Ok(mut members) = Members::new(reduced, Dialect::Strict) {
        while let Ok(Some(member)) = members.next() {
            if let Some(value) = long.get(member.value) {
                out.extend_from_slice(&reduced[from..member.end - member.value.len()]);
                out.extend_from_slice(value);
                from = member.end;
            }
        }
    }
    out.extend_from_slice(&reduced[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json;

    #[test]
    fn a_reduced_message_is_restored_with_its_changes() {
        let long = "x".repeat(2 * LONGEST);
        let message = format!(
            r#" {{ "role" : "user", "content":"{long}","id":"{long}","a\u0062":[ "{long}" ], "metadata":{{"k":"{long}"}} ,"n":1}}"#
        );
        let mut small = Vec::new();
        reduce_into(message.as_bytes(), true, &mut small);
        assert!(small.len() < message.len() - 2 * LONGEST, "{small:?}");
        assert_eq!(expand(&small, message.as_bytes()), message.as_bytes());
        let changes = [("n", Some(&b"2"[..])), ("metadata", None), ("more", Some(b"[]"))];
        let edited = json::with_members(&small, &changes).unwrap();
        let expected = json::with_members(message.as_bytes(), &changes).unwrap();
        assert_eq!(expand(&edited, message.as_bytes()), expected);
    }
}
