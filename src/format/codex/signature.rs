//! The signature of Codex logs.

use crate::format::detect::signature::has_content;
use crate::format::detect::{LineKind, Signature};

pub(in crate::format) const SIGNATURE: Signature = Signature {
    name: super::line::NAME,
    what: "a Codex log",
    header: |shape| {
        let typed = shape.text_equals("type", "session_meta") && shape.has("payload");
        let older = !shape.is_text("type") && !shape.has("role");
        typed || (older && shape.all(&["id", "timestamp", "instructions"]))
    },
    content: |shape| {
        let item = shape.object("payload");
        match shape.text("type").as_deref() {
            Some("response_item") if item.text_equals("type", "message") => {
                LineKind::known(has_content(&item, "content"))
            }
            Some("response_item") => match item.text("type") {
                Some(kind) if is_item(&kind) => LineKind::None,
                _ => LineKind::Unknown,
            },
            Some("message") => LineKind::known(has_content(shape, "content")),
            Some(_) if shape.any(&["payload", "record_type"]) => LineKind::None,
            Some(kind) if is_item(kind) => LineKind::None,
            None if shape.any(&["record_type", "instructions"]) => LineKind::None,
            _ => LineKind::Unknown,
        }
    },
    line: |shape| {
        let kind = shape.text("type").unwrap_or_default();
        shape.has("record_type") || (shape.is_object("payload") && KINDS.contains(&kind.as_ref()))
    },
    ..Signature::BLANK
};

/// Types of lines with a payload.
const KINDS: [&str; 6] = [
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "session_state",
];

/// Whether this is a type of item other than a message; older logs have items without an envelope.
fn is_item(kind: &str) -> bool {
    let ends = ["_call", "_output"].iter().any(|end| kind.ends_with(end));
    ends || ["reasoning", "compaction", "ghost_snapshot"].contains(&kind)
}
