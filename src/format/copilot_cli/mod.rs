//! GitHub Copilot: the event log of its command line program, and the transcripts of its extension for VS Code.
//!
//! Events of a subagent are a session beside the main one; so are those that a rewind removed. A message in several chunks
//! is one, and `metadata.copilot-cli.chunks` has the sizes of these. A summary covers the messages before the beginning of its
//! compaction. The start of a call that no message requests is a message (`metadata.copilot-cli.made`); other events are
//! passthrough records.

mod codec;
mod encode;
mod event;
mod sessions;
#[cfg(test)]
mod tests;

use super::Form;
use super::detect::{Content, Signature};
use super::kit;
use super::report::Loss;
use codec::Copilot;

/// These logs, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "GitHub Copilot event log (CLI, VS Code)",
    ending: ".jsonl",
    model: Some("MODEL"),
    refuses: Some("Copilot keeps an index of its sessions in a database"),
    loses: &[
        Loss::Usage,
        Loss::Arguments,
        Loss::Attachment,
        Loss::Part,
        Loss::Name,
        Loss::Category,
        Loss::Metadata,
        Loss::Summary,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    note: "Only in-place changes are written. Images in results are kept but not shown; the session's totals of tokens remain in its last event.",
    ..kit::form!(&Copilot)
};

/// The word under which residues are kept.
const NAME: &str = "copilot-cli";

/// The families of events.
const FAMILIES: [&str; 7] = [
    "session",
    "user",
    "assistant",
    "tool",
    "system",
    "subagent",
    "hook",
];

/// What a log looks like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "a GitHub Copilot event log",
    header: |shape| {
        let data = shape.object("data");
        shape.says("type", "session.start")
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
            Content::known(shape.object("data").is_text("content"))
        }
        _ => Content::None,
    },
    ..Signature::BLANK
};
