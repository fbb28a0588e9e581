//! Builds header members and message copies for sessions derived from others. Ids are derived from their sources, so
//! equal input gives equal bytes.

use crate::model::chain::COPIED_FROM;
use crate::model::json::{self, quoted, wrapped};

/// Copies a message with a new id, the id of the original, and changed members.
pub fn copy_message(body: &[u8], of: &str, id: &str, changes: &[(&str, Option<&[u8]>)]) -> Option<Vec<u8>> {
    let (of, id) = (quoted(of), quoted(id));
    let metadata = json::member(body, "metadata").filter(|raw| raw.first() == Some(&b'{'));
    let noted = metadata.and_then(|raw| json::with_members(raw, &[(COPIED_FROM, Some(&of))]).ok());
    let noted = noted.unwrap_or_else(|| wrapped(COPIED_FROM, &of));
    let mut all: Vec<(&str, Option<&[u8]>)> = vec![("id", Some(&id)), ("metadata", Some(&noted))];
    all.extend_from_slice(changes);
    json::with_members(body, &all).ok()
}
