//! Lines of a session that is made from another one: members of its header, and copies that name their originals.
//! Ids are derived from what they are made of, so that the same sessions always give the same bytes.

use crate::model::chain::COPIED_FROM;
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use crate::model::session::Session;

/// An id with this prefix, derived from a text; `digits` of it are hexadecimal.
pub fn derived_id(prefix: &str, from: &str, digits: usize) -> String {
    format!("{prefix}{}", &key::sha256(from.as_bytes())[..digits])
}

/// A text as JSON.
pub fn quoted(text: &str) -> Vec<u8> {
    let mut raw = Vec::new();
    json::push_text(&mut raw, text);
    raw
}

/// A member of a session's header.
pub fn header_member(session: &Session, name: &str) -> Option<Vec<u8>> {
    let mut members = session.header().into_iter();
    members.find(|(known, _)| known == name).map(|(_, raw)| raw)
}

/// A copy of a message: with an id of its own, the id of what it is a copy of, and these members changed.
pub fn copy_message(body: &[u8], of: &str, id: &str, changes: &[(&str, Option<&[u8]>)]) -> Option<Vec<u8>> {
    let (of, id) = (quoted(of), quoted(id));
    let metadata = json::member(body, "metadata").filter(|raw| raw.first() == Some(&b'{'));
    let noted = metadata.and_then(|raw| json::with_members(raw, &[(COPIED_FROM, Some(&of))]).ok());
    let noted = noted.unwrap_or_else(|| {
        let mut metadata = ObjectBuilder::default();
        metadata.raw(COPIED_FROM, &of);
        metadata.finish()
    });
    let mut all: Vec<(&str, Option<&[u8]>)> = vec![("id", Some(&id)), ("metadata", Some(&noted))];
    all.extend_from_slice(changes);
    json::with_members(body, &all).ok()
}
