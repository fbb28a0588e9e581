//! GitHub Copilot: event logs of its command line program, and transcripts of its extension for VS Code.
//!
//! The events of a subagent are a side session, as are those that a rewind removed. A message in several chunks is one
//! message, with the chunk sizes in `metadata.copilot-cli.chunks`. A summary covers the messages before the start of
//! its compaction. The start of a call that no message requests is a message (`metadata.copilot-cli.made`); other
//! events are passthrough records.

mod codec;
mod encode;
mod event;
mod sessions;
#[cfg(test)]
mod tests;

use super::detect::{LineKind, Signature};
use super::report::{Loss, LossSet};
use super::{FormatSpec, kit};
use codec::Copilot;

/// These logs, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "GitHub Copilot event log (CLI, VS Code)",
    ending: ".jsonl",
    model: Some("MODEL"),
    refuses: Some("Copilot keeps an index of its sessions in a database"),
    unsupported: LossSet::USUAL
        .without(&[Loss::Id, Loss::Timestamp, Loss::Reasoning, Loss::Signature])
        .with(&[Loss::Summary]),
    note: "Only in-place changes are written. Images in results are kept but not shown; the session's totals of tokens remain in its last event.",
    ..kit::spec!(&Copilot)
};

/// Prefixes of event types.
const FAMILIES: [&str; 7] = [
    "session", "user", "assistant", "tool", "system", "subagent", "hook",
];

/// The signature of a log.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a GitHub Copilot event log",
    header: |shape| {
        let data = shape.object("data");
        shape.text_equals("type", "session.start")
            && data.has("sessionId")
            && data.any(&["producer", "copilotVersion"])
    },
    line: |shape| {
        let kind = shape.text("type").unwrap_or_default();
        let family = kind.split_once('.').map(|(family, _)| family);
        shape.all(&["id", "timestamp", "parentId"])
            && shape.is_object("data")
            && family.is_some_and(|family| FAMILIES.contains(&family))
    },
    content: |shape| match shape.text("type").as_deref() {
        Some("user.message" | "assistant.message" | "system.message") => {
            LineKind::known(shape.object("data").is_text("content"))
        }
        _ => LineKind::None,
    },
    ..Signature::BLANK
};
