//! Converts an entry that the model receives to a message.

use super::entry::{EntryKind, LINK, NAME, PiEntry};
use super::{encode, message};
use crate::format::content;
use crate::format::kit::records::annotated_messages;
use crate::format::kit::residue;
use crate::format::report::Report;
use crate::format::request::draft::AnnotatedDraft;
use crate::format::request::request_part::extra_object;
use crate::model::json::quoted;

/// Why the message of an entry cannot be read completely.
pub enum RecordProblem {
    /// Its role is unknown, or it lacks members that the role requires.
    Unsupported,
    /// A fault in its content.
    Fault(String),
}

/// The problem of an entry's message, if any. This converts the message: call it once per entry.
pub fn problem(entry: &PiEntry<'_>) -> Option<RecordProblem> {
    let message = entry.message()?;
    match message::of_message(message) {
        None => Some(RecordProblem::Unsupported),
        Some(_) => content::fault(message, &["command", "summary", "errorMessage"]).map(RecordProblem::Fault),
    }
}

/// The message of an entry, with the residue of the entry unless it is only displayed; `None` if it is not a message.
pub fn of_entry(entry: &PiEntry<'_>, is_displayed: bool) -> Option<AnnotatedDraft> {
    let mut draft = match entry.kind {
        EntryKind::Message => message::of_message(entry.message()?)?,
        EntryKind::CustomMessage => message::context(message::content(entry.get("content")?)),
        EntryKind::BranchSummary => message::context(entry.get("summary")?.to_vec()),
        _ => return None,
    };
    let kind = entry.text("type").filter(|_| entry.kind != EntryKind::Message);
    draft.note("type", kind.map(|kind| quoted(&kind)));
    if is_displayed {
        return Some(draft);
    }
    let bodies = [draft.body_of(NAME)];
    let encoded = annotated_messages(&bodies, NAME)
        .first()
        .map(|annotated| encode::entry(annotated, &mut Report::default()));
    let (name, note) = residue::note(&extra_object(entry.body, &LINK)?, encoded);
    draft.note(name, Some(note));
    Some(draft)
}
