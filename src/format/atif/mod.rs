//! Agent Trajectory Interchange Format: a document with steps. An agent step is a message with the results of its
//! calls.
//!
//! A result that names no call is a user message (`metadata.atif.observation`). Trajectories of subagents within a
//! document become sessions after the main one; referenced files are not opened. Token ids and log probabilities are
//! kept, but are not part of messages.

mod codec;
mod decode;
mod editor;
mod encode;
#[cfg(test)]
mod tests;

use super::detect::{ObjectShape, Signature};
use super::report::{Loss, LossSet};
use super::{FormatSpec, SessionCount, kit};
use codec::Atif;

/// Trajectories, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "Agent Trajectory Interchange Format 1.0 to 1.7 (ATIF)",
    session_count: SessionCount::Many,
    concatenable: true,
    model: Some("MODEL"),
    unsupported: LossSet::USUAL.with(&[Loss::Orphan]),
    note: "Version 1.4 is written. Trajectories of subagents within a document are read but not changed in place. A step that compacts the context is read without effect: the document does not name the messages that it removes.",
    ..kit::spec!(&Atif)
};

/// The signature of a document.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "an ATIF trajectory",
    document: |shape| {
        let version = shape.text("schema_version");
        let is_step = |step: &ObjectShape<'_>| step.has("source") && step.has("message");
        version.is_some_and(|version| version.starts_with("ATIF-v"))
            && shape.is_object("agent")
            && (shape.has_element("steps", is_step) || shape.get("steps") == Some(b"[]"))
    },
    ..Signature::BLANK
};
