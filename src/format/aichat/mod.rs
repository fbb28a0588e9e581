//! aichat: a session as YAML, what was compressed and what is live side by side. Read is the YAML that aichat's own
//! writer makes: block lists and maps, texts on a line, quoted or as a `|` block. Anchors, tags, folded texts and lists in
//! brackets are refused by their line, for what they mean is more than what they say.
//!
//! | what | where it is kept |
//! |---|---|
//! | the members beside the messages | `metadata.aichat` of the header |
//! | what was compressed | messages that a `summary` covers, which is the first live one; with rules among them a `compact` event that has it, for no summary covers those |
//! | a message that could not be made again of its records, as calls without ids | `metadata.aichat.raw` of the first |
//! | an element that is no message, or cannot be read | a `foreign` event, the latter with its text |
//!
//! A tool message is one of the assistant with its calls, and one for each result. With one live message only aichat
//! sends the last question of the compressed ones once more; here the summary stands alone then.

mod element;
mod layout;
mod message;
mod read;
mod scalar;
mod spell;
#[cfg(test)]
mod tests;
mod write;
mod yaml;

use super::detect::Signature;
use super::detect::signature::has_line;
use super::report::Loss;
use super::{Form, Reading};

/// aichat's sessions, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "aichat session in YAML",
    read: Reading::Document(read::read),
    model: Some("CLIENT:MODEL"),
    write: Some(write::write),
    back: Some(write::back),
    loses: &[
        Loss::Id,
        Loss::Timestamp,
        Loss::Usage,
        Loss::Model,
        Loss::Reasoning,
        Loss::Signature,
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
    note: "A new file has a model only with --model CLIENT:MODEL. Reads the YAML that aichat writes; anchors, tags and folded strings are rejected. Call arguments are reformatted.",
    ..Form::BLANK
};

/// What such a file looks like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "an aichat session",
    text: |text| {
        let messages = has_line(text, "messages:") || has_line(text, "compressed_messages:");
        // A file without a model is one that another program made; its elements are aichat's all the same.
        let said = || {
            text.split(|byte| *byte == b'\n')
                .any(|line| line.trim_ascii().starts_with(b"- role: "))
        };
        messages && (has_line(text, "model:") || said())
    },
    ..Signature::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "aichat";

/// The list of what was compressed, and that of what is live.
const COMPRESSED: &str = "compressed_messages";
const LIVE: &str = "messages";
