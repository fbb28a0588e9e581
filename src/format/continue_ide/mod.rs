//! Continue: a session is a document with a `history` of items. Reasoning is a separate item before its reply; a tool
//! result is in the state of its call, in a separate item, or in both.
//!
//! A result that is only in the state of its call has `metadata.continue.state`; a message whose reasoning is a copy
//! for display has `metadata.continue.shown`. An item that is not a message is a passthrough record.
//!
//! A summary is on the last item that it covers. Items have no times and usually no ids. The creation time of a session
//! is in `sessions.json`, if that is next to it.

mod codec;
mod decode;
mod editor;
mod encode;
mod read;
#[cfg(test)]
mod tests;

use super::detect::Signature;
use super::report::{Loss, LossSet};
use super::{FormatSpec, ReadFn, kit};
use codec::CONTINUE;

/// The documents, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: kit::name(&CONTINUE),
    about: "Continue session",
    read: ReadFn::Document(read::read),
    model: Some("MODEL"),
    write: Some(|session, view, target| kit::write_whole(&CONTINUE, session, view, target)),
    unsupported: LossSet::USUAL
        .without(&[Loss::Arguments])
        .with(&[Loss::Model, Loss::Orphan]),
    note: "A summary follows the messages that it replaces; dropped messages are removed from the document. The index (sessions.json) is read but not written: the program lists a new session after it has searched for it.",
    ..FormatSpec::BLANK
};

/// The signature of a document.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a Continue session",
    document: |shape| {
        let is_message = |item: &super::detect::ObjectShape<'_>| item.object("message").is_text("role");
        shape.has("sessionId") && shape.has_element("history", is_message)
    },
    ..Signature::BLANK
};
