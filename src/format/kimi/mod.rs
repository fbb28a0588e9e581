//! Kimi: logs of Kimi Code (`wire.jsonl`), and contexts and display streams of the older Kimi CLI (`context.jsonl`,
//! `wire.jsonl`).
//!
//! The lines of a step form one message (`metadata.kimi.lines`). A step without content belongs to the previous
//! message. Messages that an undo removes form a branch; a compaction keeps the last messages that the user typed.
//! Title and directory are in `state.json`. Other records are passthrough records.

mod codec;
mod context;
mod line;
mod log;
mod message;
mod sidecar;
mod stream;
#[cfg(test)]
mod tests;

use super::detect::Signature;
use super::report::{Loss, LossSet};
use super::{FormatSpec, kit};
use codec::LOG;

/// These sessions, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "Kimi Code or Kimi CLI session (wire.jsonl, context.jsonl)",
    ending: ".jsonl",
    model: Some("MODEL"),
    refuses: Some("each version of Kimi Code has another version of its log"),
    unsupported: LossSet::USUAL
        .without(&[Loss::Timestamp, Loss::Reasoning, Loss::Attachment, Loss::Part])
        .with(&[Loss::Model, Loss::Summary]),
    note: "Only in-place changes are written. The state file next to a session is read but not written.",
    ..kit::spec!(&LOG)
};

/// The signature of the first lines of a log or stream, and of context lines of Kimi CLI.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a Kimi session",
    header: |shape| shape.text_equals("type", "metadata") && shape.is_text("protocol_version"),
    message: |message| {
        let roles = ["_system_prompt", "_checkpoint", "_usage"];
        roles.iter().any(|role| message.message.text_equals("role", role))
    },
    decisive: true,
    ..Signature::BLANK
};
