//! Helpers for reading and writing messages and calls.

use crate::model::json::{self, ObjectBuilder};

/// How strictly messages are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParseRules {
    /// A line of a log: rejected if PicoClaw rejects it, so that the views are equal.
    Log,
    /// A message of a legacy document. PicoClaw ignores a document with any wrong type, so this reads what it can: an
    /// array as content, an object as arguments, an invalid time.
    Document,
}

/// A deviation that PicoClaw would not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deviation {
    /// Offset in the message.
    pub offset: usize,
    /// Description.
    pub what: &'static str,
    pub damage: bool,
}

/// An empty string as it is written.
pub(super) const EMPTY: &[u8] = b"\"\"";

/// A string that is not blank.
pub(super) fn filled(value: Option<&[u8]>) -> Option<&[u8]> {
    value.filter(|raw| *raw != EMPTY)
}

/// Adds an object of raw members, including repeated ones.
pub(super) fn push_members(built: &mut ObjectBuilder, name: &str, members: &[&[u8]]) {
    if members.is_empty() {
        return;
    }
    let mut object = vec![b'{'];
    for (index, member) in members.iter().enumerate() {
        if index > 0 {
            object.push(b',');
        }
        object.extend_from_slice(&json::compact(member).0);
    }
    object.push(b'}');
    built.raw(name, object);
}
