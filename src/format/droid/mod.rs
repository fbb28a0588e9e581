//! Factory Droid: session logs, and the output of `droid exec --output-format stream-json`.
//!
//! A log begins with a line about the session; its messages have the blocks of the Anthropic interface, and may name the
//! message before them. Where several name the same one, the path from the last message back is the session, and the
//! rest are branches. A compaction covers everything before it. Hooks, todo lists and outcomes are passthrough records.

mod codec;
mod line;
mod log;
mod stream;
#[cfg(test)]
mod tests;

use super::detect::{ObjectShape, Signature};
use super::report::{Loss, LossSet};
use super::{FormatSpec, kit};
use codec::LOG;

/// These logs, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "Factory Droid session or stream",
    ending: ".jsonl",
    model: Some("MODEL"),
    refuses: Some("it is not documented what Droid requires of a session that it resumes"),
    unsupported: LossSet::USUAL
        .without(&[Loss::Id, Loss::Timestamp])
        .with(&[Loss::Summary, Loss::Message]),
    note: "Only in-place changes are written. The settings file next to a session is read but not written; its totals of tokens are in the header.",
    ..kit::spec!(&LOG)
};

/// The signature of a log.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a Factory Droid session",
    header: |shape| shape.text_equals("type", "session_start") && shape.any(&["id", "session"]),
    line: |shape| {
        let message = shape.object("message");
        let is_tool = |block: &ObjectShape<'_>| {
            block.text_equals("type", "tool_use") || block.text_equals("type", "tool_result")
        };
        shape.text_equals("type", "message")
            && shape.is_text("id")
            && message.list("content").iter().any(is_tool)
    },
    decisive: true,
    ..Signature::BLANK
};

pub(super) const STREAM: Signature = Signature {
    name: SPEC.name,
    what: "a Factory Droid stream",
    line: |shape| {
        let kinds = ["tool_call", "tool_result", "completion"];
        let is_kind = kinds.iter().any(|kind| shape.text_equals("type", kind));
        is_kind && shape.any(&["session_id", "sessionId"]) && !shape.any(&["message", "uuid"])
    },
    message: |message| {
        message.message.text_equals("type", "message") && message.message.all(&["session_id", "text"])
    },
    decisive: true,
    ..Signature::BLANK
};
