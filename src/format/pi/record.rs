//! An entry that a model is told of, as a record, with what it takes to make the entry of it again.

use super::entry::{Entry, Kind};
use super::{NAME, message, spell};
use crate::format::content;
use crate::format::report::Report;
use crate::format::request::Api;
use crate::format::request::draft::Draft;
use crate::format::request::piece::rest_object;
use crate::model::json::{self, ObjectBuilder};

/// Members of an entry that are told otherwise.
const ENTRY: [&str; 5] = ["type", "id", "parentId", "timestamp", "message"];

/// Whether the message of an entry, where it has one, is understood.
pub fn is_message(entry: &Entry<'_>) -> bool {
    !is_foreign(entry) && fault(entry).is_none()
}

/// Whether an entry has a message with a role that pi does not have, or without what the role needs.
pub fn is_foreign(entry: &Entry<'_>) -> bool {
    let said = entry.get("message").filter(|_| entry.kind == Kind::Message);
    said.is_some_and(|said| message::of_message(said).is_none())
}

/// What is wrong with the message of an entry whose content pi does not have.
pub fn fault(entry: &Entry<'_>) -> Option<String> {
    let said = entry.get("message").filter(|_| entry.kind == Kind::Message)?;
    let known = message::of_message(said).is_some();
    known
        .then(|| content::fault(said, &["command", "summary", "errorMessage"]))
        .flatten()
}

/// The message that an entry is; none of what is no message.
pub fn of_entry(entry: &Entry<'_>) -> Option<Draft> {
    let known = |inner: &str| rest_object(entry.body, &[&ENTRY[..4], &[inner]].concat());
    let mut own = ObjectBuilder::default();
    let (mut draft, rest) = match entry.kind {
        Kind::Message => {
            let said = entry.get("message")?;
            let (draft, layout) = message::of_message(said)?;
            let leftovers = message::leftovers(said);
            if is_exact(&draft, &layout, leftovers.as_deref(), said) {
                notes(&mut own, &layout, leftovers.as_deref());
            } else {
                own.raw("raw", said);
            }
            (draft, known("message"))
        }
        Kind::CustomMessage => {
            own.text("type", "custom_message");
            (
                message::context(message::content(entry.get("content")?)),
                known("content"),
            )
        }
        Kind::BranchSummary => {
            own.text("type", "branch_summary");
            (message::context(entry.get("summary")?.to_vec()), known("summary"))
        }
        _ => return None,
    };
    if let Some(rest) = rest {
        own.raw("entry", rest);
    }
    if !own.is_empty() {
        draft.metadata(NAME, Some(own.finish()));
    }
    Some(draft)
}

fn notes(own: &mut ObjectBuilder, layout: &[(&'static str, Vec<u8>)], leftovers: Option<&[u8]>) {
    for (name, value) in layout {
        own.raw(name, value);
    }
    if let Some(rest) = leftovers {
        own.raw("message", rest);
    }
}

/// Whether the message can be made again of its record.
fn is_exact(draft: &Draft, layout: &message::Layout, leftovers: Option<&[u8]>, said: &[u8]) -> bool {
    let mut draft = draft.clone();
    let mut own = ObjectBuilder::default();
    notes(&mut own, layout, leftovers);
    draft.metadata(NAME, Some(own.finish()));
    let body = draft.body(Api::OpenaiChat);
    let made = spell::message(&body, &mut Report::default());
    made.is_some_and(|made| json::same(&made, said))
}
