//! Continue: a session as one document with a `history` of items. What the model thought is an item of its own ahead of
//! what it said; what a tool gave stands in the state of its call, in an item of its own, or in both.
//!
//! | what | where it is kept |
//! |---|---|
//! | what was attached to a message | `metadata.continue.context` |
//! | what else an item has beside its message | `metadata.continue.item` |
//! | members of a message that have no place | `metadata.continue.message` |
//! | that thoughts are a copy for display | `metadata.continue.shown` |
//! | that a result stands in the state of its call alone | `metadata.continue.state` |
//! | items that could not be made again of that | `metadata.continue.raw` |
//! | members of the document beside the history | `metadata.continue.session` of the header |
//! | an item that is no message | a `foreign` event |
//!
//! A summary stands on the last item that it stands for. Items have no times, and as a rule no ids: theirs are made of
//! their places. When the session began is said in `sessions.json`, where that lies beside it.

mod item;
mod read;
mod spell;
#[cfg(test)]
mod tests;
mod write;

use super::detect::Signature;
use super::report::Loss;
use super::{Form, Reading};

/// The documents, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "Continue session",
    read: Reading::Document(read::read),
    model: Some("MODEL"),
    write: Some(write::write),
    loses: &[
        Loss::Id,
        Loss::Timestamp,
        Loss::Usage,
        Loss::Model,
        Loss::Reasoning,
        Loss::Signature,
        Loss::Attachment,
        Loss::Part,
        Loss::Name,
        Loss::Category,
        Loss::Metadata,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    note: "A summary follows the messages that it replaces; dropped messages are removed from the document. The index (sessions.json) is read but not written: the program lists a new session after it has searched for it.",
    ..Form::BLANK
};

/// What a document looks like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "a Continue session",
    document: |shape| {
        let spoken = |item: &super::detect::Shape<'_>| item.object("message").is_text("role");
        shape.has("sessionId") && shape.has_element("history", spoken)
    },
    ..Signature::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "continue";
