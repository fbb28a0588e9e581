//! The lines of a continuation that are copies, and the one that marks where it goes on.

use super::{Layout, New};
use crate::filter::settle::summary_line;
use crate::model::chain::{self, COPIED_FROM, MARKER};
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use crate::model::message::Category;
use crate::model::session::Session;
use crate::model::view::Item;

/// An id for a line of the new session: the same whenever it is made.
fn derived(prefix: &str, new: &New<'_>, of: &str) -> String {
    let digits = match new.layout {
        Layout::Native => 16,
        Layout::Penguin => 8,
    };
    format!(
        "{prefix}{}",
        &key::sha256(format!("{}\n{of}", new.id).as_bytes())[..digits]
    )
}

pub(super) fn quoted(text: &str) -> Vec<u8> {
    let mut raw = Vec::new();
    json::push_text(&mut raw, text);
    raw
}

/// A message as it stands in the view, with an id of its own and the id of the one that it is a copy of.
pub(super) fn copy(
    session: &Session,
    item: &Item,
    id: Option<String>,
    place: usize,
    new: &New<'_>,
) -> Option<Vec<u8>> {
    let message = item.message(session)?;
    let own = id.or_else(|| message.id().map(|id| id.into_owned()));
    // A copy of a copy is one of the first.
    let of = chain::copied_from(&message).or(own).unwrap_or_default();
    let metadata = message
        .metadata
        .filter(|raw| raw.first() == Some(&b'{'))
        .unwrap_or(b"{}");
    let noted = json::with_members(metadata, &[(COPIED_FROM, Some(&quoted(&of)))]).ok()?;
    let id = quoted(&derived("msg_", new, &format!("{place} {of}")));
    let time = new
        .created_at
        .filter(|_| new.layout == Layout::Penguin)
        .map(quoted);
    let mut changes: Vec<(&str, Option<&[u8]>)> = vec![("id", Some(&id)), ("metadata", Some(&noted))];
    if let Some(time) = &time {
        changes.push(("timestamp", Some(time)));
    }
    // Without one Penguin would go by the text.
    let category = quoted(message.category().name());
    if new.layout == Layout::Penguin && message.category.is_none() {
        changes.push(("category", Some(&category)));
    }
    json::with_members(item.body(session), &changes).ok()
}

/// The summary that stands, standing where it is now.
pub(super) fn summary(session: &Session, index: usize, new: &New<'_>) -> Option<Vec<u8>> {
    let record = session.record(index);
    let line = summary_line(session, index).unwrap_or_else(|| record.body.to_vec());
    let of = json::member(&line, COPIED_FROM).or_else(|| json::member(&line, "id"));
    let of = of.and_then(json::text).unwrap_or_default();
    let id = quoted(&derived("evt_", new, &of));
    let changes: [(&str, Option<&[u8]>); 3] = [
        ("id", Some(&id)),
        ("here", Some(b"true")),
        (COPIED_FROM, Some(&quoted(&of))),
    ];
    json::with_members(&line, &changes).ok()
}

/// The message that marks where the session goes on.
pub(super) fn marker(source: &str, tokens: u64, new: &New<'_>) -> Vec<u8> {
    let mut noted = ObjectBuilder::default();
    noted
        .text("type", MARKER)
        .text("previous_session", source)
        .raw("previous_session_tokens", tokens.to_string());
    let mut noted = noted.finish();
    if new.layout == Layout::Penguin {
        noted = [br#"{"penguin":{"metadata":"#, noted.as_slice(), b"}}"].concat();
    }
    let mut marker = ObjectBuilder::default();
    marker
        .text("role", "system")
        .text("content", &format!("Continuing from session {source}"))
        .text("id", &derived("msg_", new, "marker"));
    if let Some(time) = new.created_at {
        marker.text("timestamp", time);
    }
    marker
        .text("category", Category::System.name())
        .raw("metadata", noted);
    marker.finish()
}
