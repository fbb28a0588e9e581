//! Grok Build: the history that a session sends to the model (`chat_history.jsonl`), and its display stream
//! (`updates.jsonl`).
//!
//! Reasoning lines belong to the model message that follows. Adjacent chunks of a stream form one message, and messages
//! that a rewind removed form a branch. Title, directory and model are in `summary.json` next to a session; the times
//! of a history are taken from the stream next to it. Server tools are passthrough records. A message of several lines
//! has `metadata.grok.lines`.

mod chat;
mod codec;
mod sidecar;
#[cfg(test)]
mod tests;
mod updates;

use super::detect::{LineKind, Signature};
use super::report::{Loss, LossSet};
use super::{FormatSpec, kit};
use codec::CHAT;

/// These sessions, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "Grok Build session (chat_history.jsonl, updates.jsonl)",
    ending: ".jsonl",
    model: Some("MODEL"),
    refuses: Some("Grok requires three files of a session that agree"),
    unsupported: LossSet::USUAL.without(&[Loss::Reasoning]).with(&[Loss::Summary]),
    note: "Only in-place changes are written. A change of chat_history.jsonl does not change the display stream next to it (updates.jsonl).",
    ..kit::spec!(&CHAT)
};

/// The signature of a history.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a Grok session",
    line: |shape| {
        let is_enveloped = shape.any(&["uuid", "sessionId", "message", "timestamp", "data", "payload"]);
        let is_reply = shape.is_text("content") && shape.any(&["tool_calls", "model_id"]);
        let is_line = match shape.text("type").as_deref() {
            Some("user") => shape.is_array("content"),
            Some("assistant") => is_reply,
            Some("tool_result") => shape.all(&["tool_call_id", "content"]),
            _ => false,
        };
        is_line && !is_enveloped
    },
    content: |shape| match shape.text("type").as_deref() {
        Some("user") => LineKind::known(shape.has_element("content", |part| part.has("type"))),
        Some("assistant" | "tool_result") => LineKind::known(shape.is_text("content")),
        _ => LineKind::None,
    },
    decisive: true,
    ..Signature::BLANK
};

/// The signature of a display stream.
pub(super) const STREAM: Signature = Signature {
    name: SPEC.name,
    what: "the display stream of a Grok session",
    line: |shape| shape.object("params").object("update").has("sessionUpdate"),
    ..Signature::BLANK
};
