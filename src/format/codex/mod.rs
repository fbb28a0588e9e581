//! Codex: the log of a session, with two kinds of lines that tell the same twice: items of OpenAI's Responses, which
//! are the history, and a display log. Messages are made of the items; what only the display log has, as what was used
//! and how a command ended, goes to the messages that it is about.
//!
//! | what | where it is kept |
//! |---|---|
//! | what the items have beside their messages | `metadata.openai-responses`, as for any items |
//! | envelopes of a message's items that are not as usual, and how many other lines stood between them | `metadata.codex.lines` |
//! | what the display log has beside the text of the user's message | `metadata.codex.event` |
//! | the line that tells of the session | `metadata.codex` of the header |
//! | what a compaction has beside its items | `metadata.codex` of the event |
//! | any other line | a `foreign` event |
//!
//! What the format's own program leaves open is decided so: a user's message that is said by the display log alone counts
//! when no item is one that a user wrote; the first turn of a fork's own begins with `task_started` where there is one.

mod compaction;
mod fresh;
mod header;
mod items;
mod line;
mod message;
mod read;
mod signature;
mod slim;
mod slot;
mod steps;
#[cfg(test)]
mod tests;
mod turns;
mod usage;
mod uuid;
mod write;

pub(super) use signature::SIGNATURE;

use super::report::Loss;
use super::{Form, Reading};
use crate::model::json::ObjectBuilder;
use std::borrow::Cow;
pub use usage::totals;

/// Codex's logs, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "Codex session log",
    ending: ".jsonl",
    read: Reading::Sessions(read::open),
    model: Some("MODEL"),
    write: Some(write::write),
    back: Some(write::back),
    loses: &[
        Loss::Id,
        Loss::Usage,
        Loss::Reasoning,
        Loss::Signature,
        Loss::Attachment,
        Loss::Part,
        Loss::Name,
        Loss::Category,
        Loss::Metadata,
        Loss::Summary,
        Loss::Orphan,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    note: "In place, dropped records are removed together with their display events; a summary is appended as a compaction of the program.",
    slims: Some(slim::SLIMMING),
    ..Form::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "codex";

/// An object of these members.
fn object(members: &[(Cow<'_, str>, &[u8])]) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    for (name, value) in members {
        built.raw(name, value);
    }
    built.finish()
}
