//! Qwen Code: logs in the envelope of Claude Code, with contents of the Gemini API. The records form a tree: the path
//! to the last record is the main session, all other records are branches.
//!
//! Records with the same `uuid` form a message. A compression replaces all earlier messages: its first content, if it
//! has the user role, is a summary, and further ones are inserted messages. `metadata.qwen-code.lines` has the number
//! of parts in each record of a message. System records are passthrough records.

mod codec;
mod compression;
mod editor;
mod encode;
mod record;
#[cfg(test)]
mod tests;
mod tree;

use super::detect::{LineKind, Signature};
use super::report::{Loss, LossSet};
use super::{FormatSpec, kit};
use codec::QwenCode;

/// These logs, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "Qwen Code session",
    ending: ".jsonl",
    model: Some("MODEL"),
    unsupported: LossSet::USUAL
        .without(&[Loss::Id, Loss::Timestamp])
        .with(&[Loss::Orphan]),
    note: "System messages become messages of the user. Qwen Code resumes a session in its directory (metadata.cwd), from a file that is named by its id.",
    ..kit::spec!(&QwenCode)
};

/// The types of records.
const KINDS: [&str; 4] = ["user", "assistant", "tool_result", "system"];

/// The signature of a log.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a Qwen Code session",
    line: |shape| {
        let has_parts = shape.object("message").is_array("parts");
        let is_event = shape.is_text("subtype") && shape.is_object("systemPayload");
        shape.has("sessionId")
            && KINDS.iter().any(|kind| shape.text_equals("type", kind))
            && (has_parts || is_event)
    },
    content: |shape| match shape.is_object("message") {
        true => LineKind::known(shape.object("message").is_array("parts")),
        false => LineKind::None,
    },
    ..Signature::BLANK
};
