//! The signature of pi files.

use super::entry;
use crate::format::detect::signature::has_content;
use crate::format::detect::{LineKind, ObjectShape, Signature};

pub(in crate::format) const SIGNATURE: Signature = Signature {
    name: super::entry::NAME,
    what: "a pi session",
    header: |shape| {
        // Programs built on pi omit the working directory.
        let begun = shape.has("cwd") || (shape.has("version") && shape.has("timestamp"));
        shape.text_equals("type", "session") && begun && shape.get("version") != Some(b"0")
    },
    content: |shape| match shape.text("type").as_deref() {
        Some("message") => LineKind::known(is_message(&shape.object("message"))),
        Some(kind) if entry::is_known(kind) => LineKind::None,
        _ => LineKind::Unknown,
    },
    line: |shape| {
        let message = shape.object("message");
        let own = message.any(&["timestamp", "toolCallId", "stopReason"]);
        shape.text_equals("type", "message") && own && is_message(&message)
    },
    ..Signature::BLANK
};

/// Whether this is a message of pi: a message, a tool result, or a command with its output.
fn is_message(message: &ObjectShape<'_>) -> bool {
    message.is_text("role") && (has_content(message, "content") || message.any(&["command", "summary"]))
}
