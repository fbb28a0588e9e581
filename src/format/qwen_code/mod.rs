//! Qwen Code: records in the envelope of Claude Code's logs, with the contents of the Gemini interface. They are a tree; the
//! session is the way from the last record back, and all other records are branches.
//!
//! Records with one `uuid` are a message. A compression replaces all before it: its first content, if the user says it, is
//! a summary, and further ones are messages that it inserts. `metadata.qwen-code.lines` counts the parts in each record of
//! a message. Records of the system are passthrough records.

mod codec;
mod compression;
mod editor;
mod encode;
mod record;
#[cfg(test)]
mod tests;
mod tree;

use super::Form;
use super::detect::{Content, Signature};
use super::kit;
use super::report::Loss;
use codec::QwenCode;

/// These logs, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "Qwen Code session",
    ending: ".jsonl",
    model: Some("MODEL"),
    loses: &[
        Loss::Usage,
        Loss::Reasoning,
        Loss::Signature,
        Loss::Arguments,
        Loss::Attachment,
        Loss::Part,
        Loss::Name,
        Loss::Category,
        Loss::Metadata,
        Loss::Orphan,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    note: "System messages become messages of the user. Qwen Code resumes a session in its directory (metadata.cwd), from a file that is named by its id.",
    ..kit::form!(&QwenCode)
};

/// The word under which residues are kept.
const NAME: &str = "qwen-code";

/// The kinds of records.
const KINDS: [&str; 4] = ["user", "assistant", "tool_result", "system"];

/// What a log looks like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "a Qwen Code session",
    line: |shape| {
        let has_parts = shape.object("message").is_array("parts");
        let is_event = shape.is_text("subtype") && shape.is_object("systemPayload");
        shape.has("sessionId") && KINDS.iter().any(|kind| shape.says("type", kind)) && (has_parts || is_event)
    },
    content: |shape| match shape.is_object("message") {
        true => Content::known(shape.object("message").is_array("parts")),
        false => Content::None,
    },
    ..Signature::BLANK
};
