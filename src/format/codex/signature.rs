//! What a log of Codex looks like.

use crate::format::detect::Signature;

/// What it looks like.
pub(in crate::format) const SIGNATURE: Signature = Signature {
    name: super::NAME,
    what: "a Codex log",
    header: |shape| {
        let typed = shape.says("type", "session_meta") && shape.has("payload");
        let older = !shape.is_text("type") && !shape.has("role");
        typed || (older && shape.all(&["id", "timestamp", "instructions"]))
    },
    line: |shape| shape.has("record_type") || (shape.is_text("type") && shape.is_object("payload")),
    ..Signature::BLANK
};
