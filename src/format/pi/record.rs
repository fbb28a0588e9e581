//! Converts an entry that the model receives to a message.

use super::entry::{Entry, Kind};
use super::{NAME, message, spell};
use crate::format::content;
use crate::format::kit::records::said;
use crate::format::kit::residue;
use crate::format::report::Report;
use crate::format::request::draft::Draft;
use crate::format::request::piece::{quoted, rest_object};

/// Members that describe the position of an entry.
const LINK: [&str; 3] = ["id", "parentId", "timestamp"];

/// Whether an entry has a supported message.
pub fn is_message(entry: &Entry<'_>) -> bool {
    !is_foreign(entry) && fault(entry).is_none()
}

/// Whether an entry has a message with an unknown role, or without members that the role requires.
pub fn is_foreign(entry: &Entry<'_>) -> bool {
    let said = entry.get("message").filter(|_| entry.kind == Kind::Message);
    said.is_some_and(|said| message::of_message(said).is_none())
}

/// The fault in the content of an entry's message, if any.
pub fn fault(entry: &Entry<'_>) -> Option<String> {
    let said = entry.get("message").filter(|_| entry.kind == Kind::Message)?;
    let known = message::of_message(said).is_some();
    known
        .then(|| content::fault(said, &["command", "summary", "errorMessage"]))
        .flatten()
}

/// The message of an entry, with the residue of the entry; `None` if it is not a message.
pub fn of_entry(entry: &Entry<'_>) -> Option<Draft> {
    let (mut draft, kind) = match entry.kind {
        Kind::Message => (message::of_message(entry.get("message")?)?, None),
        Kind::CustomMessage => {
            let content = message::content(entry.get("content")?);
            (message::context(content), Some("custom_message"))
        }
        Kind::BranchSummary => (
            message::context(entry.get("summary")?.to_vec()),
            Some("branch_summary"),
        ),
        _ => return None,
    };
    draft.note("type", kind.map(quoted));
    let bodies = [draft.body_of(NAME)];
    let encoded = said(&bodies, NAME)
        .first()
        .map(|said| spell::entry(said, &mut Report::default()));
    let (name, note) = residue::note(&rest_object(entry.body, &LINK)?, encoded);
    draft.note(name, Some(note));
    Some(draft)
}
