//! goose: a session is a document, as `export` prints and `import` reads, or JSON Lines, as stored by older versions,
//! whose first line may describe the session. Nothing is ever removed: messages that the model does not receive are
//! marked.
//!
//! `metadata.visibility` of a message marks that the user does not see it: `agent` if only the model receives it,
//! `none` if neither does. A message for the model only has the category `context`. A message with only notifications
//! is a passthrough record. A summary that this program added is read as a summary again, as long as the model receives
//! it.

mod codec;
mod decode;
mod editor;
mod element;
mod encode;
#[cfg(test)]
mod tests;

use super::detect::signature::has_content;
use super::detect::{LineKind, ObjectShape, Signature};
use super::kit::{self, DocumentLayout};
use super::report::{Loss, LossSet};
use super::{FormatSpec, SessionCount};
use codec::Goose;

/// goose's sessions, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "goose session export or older JSON Lines",
    session_count: SessionCount::Many,
    model: Some("MODEL"),
    concatenable: true,
    unsupported: LOSSES,
    note: "In place, dropped messages are kept and hidden from the model. Read the database with `convo sqlite`.",
    ..kit::spec!(&Goose)
};

/// The session as lines, whatever the source.
pub const LINES: FormatSpec = FormatSpec {
    name: "goose-jsonl",
    about: "goose JSON Lines (write-only)",
    ending: ".jsonl",
    write: Some(|session, view, target| {
        kit::write_as(&Goose, Some(DocumentLayout::Lines), (session, view), target)
    }),
    unsupported: LOSSES,
    ..FormatSpec::BLANK
};

const LOSSES: LossSet = LossSet::USUAL.with(&[Loss::Model, Loss::Message]);

/// The signature of a session.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a goose session",
    header: |shape| shape.all(&["working_dir", "message_count"]),
    content: |shape| match shape.has("working_dir") {
        true => LineKind::None,
        false => LineKind::known(shape.is_text("role") && has_content(shape, "content")),
    },
    document: |shape: &ObjectShape<'_>| {
        let is_message = |message: &ObjectShape<'_>| message.is_text("role") && message.has("content");
        let begun = shape.has("message_count") && !shape.has("conversation");
        shape.has("working_dir") && (begun || shape.has_element("conversation", is_message))
    },
    message: |message| {
        let parts = message.message.has("parts");
        let created = message.message.has("created") && message.is_typed();
        !parts && (created || message.has_part(&["toolRequest", "toolResponse"]))
    },
    ..Signature::BLANK
};
