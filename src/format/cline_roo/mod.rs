//! Cline and Roo Code: task histories, which are arrays of Anthropic messages with further members. Neither program
//! removes messages: Roo tags those that a summary or truncation hides, Cline lists omitted ones in another file.
//!
//! After a summary, the messages following the last one are sent, except results whose calls precede it and messages
//! that a truncation hides. Without one, all messages that no truncation hides are sent. Cline's omitted messages and
//! Roo's usage are in `ui_messages.json`, which is read if it is next to the history.

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
use super::report::{Loss, LossSet};
use super::{FormatSpec, ReadFn, kit};
use codec::CLINE_ROO;

/// These histories, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: kit::name(&CLINE_ROO),
    about: "Cline or Roo Code task history (api_conversation_history.json)",
    read: ReadFn::Document(read::read),
    write: Some(|session, view, target| kit::write_whole(&CLINE_ROO, session, view, target)),
    unsupported: LossSet::USUAL.with(&[Loss::Model, Loss::Message, Loss::Orphan]),
    note: "In place, Roo Code messages that are dropped are tagged and kept, and a summary follows the messages that it replaces; Cline, which records this in other files, supports only added messages. ui_messages.json is read but not written.",
    ..FormatSpec::BLANK
};

/// The signature of a history.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "Cline or Roo messages",
    message: |message| {
        let own = ["condenseId", "condenseParent", "truncationId", "truncationParent"];
        message.message.any(&own) && !message.message.has("parts")
    },
    list: |elements| {
        let any = |name: &str| elements.iter().any(|element| element.has(name));
        any("ts") && any("role") && any("content")
    },
    ..Signature::BLANK
};
