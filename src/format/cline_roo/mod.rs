//! Cline and Roo Code: the history of a task, an array of Anthropic messages with further members. Neither removes
//! anything from it: Roo tags what a summary or a cut hides, Cline lists in another file what it omits.
//!
//! With a summary, what is after the last one is sent, without results whose calls are before it and without what a cut
//! in that part hides; without one, what no cut hides. What Cline omits is in `ui_messages.json`, as is what Roo used: both
//! are read if that is next to the history.

mod codec;
mod editor;
mod element;
mod encode;
mod panel;
mod read;
mod tags;
#[cfg(test)]
mod tests;

use super::detect::Signature;
use super::kit;
use super::report::Loss;
use super::{Form, Reading};
use codec::CLINE_ROO;

/// These histories, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "Cline or Roo Code task history (api_conversation_history.json)",
    read: Reading::Document(read::read),
    write: Some(|session, view, purpose, out, report| {
        kit::write_whole(&CLINE_ROO, session, view, purpose, out, report)
    }),
    loses: &[
        Loss::Id,
        Loss::Timestamp,
        Loss::Usage,
        Loss::Model,
        Loss::Reasoning,
        Loss::Signature,
        Loss::Arguments,
        Loss::Attachment,
        Loss::Part,
        Loss::Name,
        Loss::Category,
        Loss::Metadata,
        Loss::Orphan,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    note: "In place, Roo Code messages that are dropped are tagged and kept, and a summary follows the messages that it replaces; Cline, which records this in other files, supports only added messages. ui_messages.json is read but not written.",
    ..Form::BLANK
};

/// What a history looks like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "Cline or Roo messages",
    message: |said| {
        let own = ["condenseId", "condenseParent", "truncationId", "truncationParent"];
        said.message.any(&own) && !said.message.has("parts")
    },
    list: |elements| {
        let any = |name: &str| elements.iter().any(|element| element.has(name));
        any("ts") && any("role") && any("content")
    },
    ..Signature::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "cline-roo";
