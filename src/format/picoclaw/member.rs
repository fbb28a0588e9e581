//! What messages and calls are read and written with alike.

use crate::model::json::{self, ObjectBuilder};

/// How strictly a message is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// A line of a log: what PicoClaw rejects is rejected, so that the view is PicoClaw's.
    Log,
    /// A message of a legacy document. PicoClaw skips a document with one wrong type in it for ever, so what
    /// can be understood is read: an array as content, an object as arguments, a time that is none.
    Document,
}

/// Something that was read although PicoClaw would not have read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Oddity {
    /// Where, from the start of the message.
    pub offset: usize,
    /// What.
    pub what: &'static str,
    /// Whether it is damage.
    pub damage: bool,
}

/// An empty string as it is written.
pub(super) const EMPTY: &[u8] = b"\"\"";

/// A string that says something.
pub(super) fn filled(value: Option<&[u8]>) -> Option<&[u8]> {
    value.filter(|raw| *raw != EMPTY)
}

/// Adds an object of members that are kept as they were written, repeats too.
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

/// An array of these elements.
pub(super) fn array(elements: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut out = vec![b'['];
    for element in elements {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(&element);
    }
    out.push(b']');
    out
}
