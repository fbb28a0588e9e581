//! opencode: documents that its `export` prints and its `import` reads, `{info, messages: [{info, parts}]}`. A model
//! message has several steps, each of which becomes a message, with the results of its calls.
//!
//! A compaction request is a passthrough record, its answer a summary. A compaction is effective if its answer is
//! finished and without error; it keeps the messages from the named one on, and only the last one is effective.
//! Ignored, cleared and failed content is hidden. A step without content belongs to the previous one.

mod codec;
mod compaction;
mod content;
mod decode;
mod editor;
mod element;
mod encode;
mod new_messages;
pub mod storage;
#[cfg(test)]
mod tests;

use super::detect::Signature;
use super::report::{Loss, LossSet};
use super::{FormatSpec, SessionCount, kit};
use codec::Opencode;

/// opencode's exports, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "opencode session export",
    session_count: SessionCount::Many,
    model: Some("MODEL"),
    concatenable: true,
    unsupported: LossSet::USUAL
        .without(&[Loss::Reasoning])
        .with(&[Loss::Model, Loss::Message, Loss::Orphan]),
    note: "In place, cuts and summaries are added as a compaction after the last message; other changes edit the messages. `opencode import` adds messages to a session but does not change any: delete the session there first. Read the database with `convo sqlite`. Session files of the older storage directory are read with their messages, and are read-only.",
    ..kit::spec!(&Opencode)
};

/// The signature of an export.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "an opencode session",
    document: |shape| {
        let is_message = |message: &super::detect::ObjectShape<'_>| message.all(&["info", "parts"]);
        shape.is_object("info") && shape.has_element("messages", is_message)
    },
    list: |elements| {
        let any = |name: &str| elements.iter().any(|element| element.has(name));
        any("info") && any("parts")
    },
    ..Signature::BLANK
};
