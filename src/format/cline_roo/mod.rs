//! Cline and Roo Code: the history of a task, an array of Anthropic messages with a few members more. Neither takes
//! anything out of it: Roo tags what a summary or a cut hides, Cline notes beside it which elements it leaves out.
//!
//! | what | where it is kept |
//! |---|---|
//! | members of an element beside role and content | `metadata.cline-roo.members` of its first message |
//! | whether a message is of the element of the one before | `metadata.cline-roo.more` |
//! | how its blocks lay | `metadata.anthropic`, as for any message of that interface |
//! | the element of a summary or of a cut | `metadata.cline-roo.raw` of the event |
//! | an element that is no message | a `foreign` event |
//!
//! With a summary, what stands from the last one on is sent, without results whose calls stand ahead of it and without what
//! a cut in that part hides; without one, what no cut hides. What Cline leaves out is said in `ui_messages.json`, as is what
//! Roo used: both are read where that lies beside the history.

mod element;
mod panel;
mod read;
mod tags;
#[cfg(test)]
mod tests;
mod write;

use super::detect::Signature;
use super::report::Loss;
use super::{Form, Reading};

/// These histories, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "Cline or Roo Code task history (api_conversation_history.json)",
    read: Reading::Document(read::read),
    write: Some(write::write),
    loses: &[
        Loss::Id,
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
