//! An entry that a model is told of, as a record, with what it takes to make the entry of it again.

use super::entry::{Entry, Kind};
use super::{NAME, message, spell};
use crate::format::report::Report;
use crate::format::request::Api;
use crate::format::request::draft::Draft;
use crate::format::request::piece::rest_object;
use crate::model::json::{self, ObjectBuilder};

/// Members of an entry that are told otherwise.
const ENTRY: [&str; 5] = ["type", "id", "parentId", "timestamp", "message"];

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
