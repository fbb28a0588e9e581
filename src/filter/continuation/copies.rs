//! Builds the copied lines of a continuation and the marker message.

use super::new_session::{NewSession, SessionLayout};
use crate::filter::copies::copy_message;
use crate::filter::materialize::summary_line;
use crate::format::continuation::marker_metadata;
use crate::model::chain::{self, COPIED_FROM, MARKER};
use crate::model::json::{self, ObjectBuilder, quoted};
use crate::model::key;
use crate::model::message::Category;
use crate::model::session::Session;
use crate::model::view::Item;

/// Derives a stable id for a line of the new session.
fn derived(prefix: &str, new: &NewSession<'_>, of: &str) -> String {
    let digits = match new.layout {
        SessionLayout::Native => 16,
        SessionLayout::Dated => 8,
    };
    format!(
        "{prefix}{}",
        &key::sha256(format!("{}\n{of}", new.id).as_bytes())[..digits]
    )
}

/// Copies a message as shown in the view, with a new id and the id of its original.
pub(super) fn copy(
    session: &Session,
    item: &Item,
    id: Option<String>,
    place: usize,
    new: &NewSession<'_>,
) -> Option<Vec<u8>> {
    let message = item.message(session)?;
    let own = id.or_else(|| message.id().map(|id| id.into_owned()));
    // A copy of a copy names the first original.
    let of = chain::copied_from(&message).or(own).unwrap_or_default();
    let id = derived("msg_", new, &format!("{place} {of}"));
    let time = new.created_at.map(quoted);
    let category = quoted(message.category().name());
    let mut changes: Vec<(&str, Option<&[u8]>)> = Vec::new();
    if new.layout == SessionLayout::Dated {
        changes.extend(time.as_ref().map(|time| ("timestamp", Some(time.as_slice()))));
        // Without a category, a system message is classified by its text.
        if message.category.is_none() {
            changes.push(("category", Some(&category)));
        }
    }
    copy_message(item.body(session), &of, &id, &changes)
}

/// Copies the active summary to the current position.
pub(super) fn summary(session: &Session, index: usize, new: &NewSession<'_>) -> Option<Vec<u8>> {
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

/// The marker message where the continuation begins.
pub(super) fn marker(source: &str, tokens: u64, new: &NewSession<'_>) -> Vec<u8> {
    let mut noted = ObjectBuilder::default();
    noted
        .text("type", MARKER)
        .text("previous_session", source)
        .raw("previous_session_tokens", tokens.to_string());
    let mut noted = noted.finish();
    if new.layout == SessionLayout::Dated {
        noted = marker_metadata(&noted);
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
