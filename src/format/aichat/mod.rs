//! aichat: YAML sessions with compressed and live messages. Supports the YAML that aichat writes: block lists and maps,
//! and strings on one line, quoted or as a `|` block. Anchors, tags, folded strings and lists in brackets are rejected
//! with their line.
//!
//! Not on the kit, whose documents and elements are JSON, while the lines of a YAML element depend on its indentation.
//! The two lists are not one list of elements either: a compaction moves messages from one to the other.
//!
//! | data | stored in |
//! |---|---|
//! | the members next to the messages | `metadata.aichat` of the header |
//! | compressed messages | messages covered by a `summary`, which is the first live one; with system messages among them, which a summary cannot cover, a `compact` event with a summary |
//! | an element that its records do not restore, such as calls without ids | `metadata.aichat.raw` of the first |
//! | an element that is not a message, or is damaged | a `foreign` event, the latter as text |
//!
//! A tool element is an assistant message with its calls, and one message per result. If there is only one live
//! message, aichat also sends the last compressed question; here, only the summary is visible.

mod element;
mod encode;
mod layout;
mod message;
mod read;
mod scalar;
#[cfg(test)]
mod tests;
mod write;
mod yaml;

use super::detect::Signature;
use super::detect::signature::has_line;
use super::report::{Loss, LossSet};
use super::{FormatSpec, ReadFn};

/// aichat's sessions, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: message::NAME,
    about: "aichat session in YAML",
    read: ReadFn::Document(read::read),
    model: Some("CLIENT:MODEL"),
    write: Some(write::write),
    write_back: Some(write::write_back),
    unsupported: LossSet::USUAL
        .without(&[Loss::Arguments])
        .with(&[Loss::Model, Loss::Orphan]),
    note: "A new file has a model only with --model CLIENT:MODEL. Reads the YAML that aichat writes; anchors, tags and folded strings are rejected. Call arguments are reformatted.",
    ..FormatSpec::BLANK
};

/// The signature of a file.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "an aichat session",
    text: |text| {
        let messages = has_line(text, "messages:") || has_line(text, "compressed_messages:");
        // Files of other programs may lack the model, but have aichat's elements.
        let has_role = || {
            text.split(|byte| *byte == b'\n')
                .any(|line| line.trim_ascii().starts_with(b"- role: "))
        };
        messages && (has_line(text, "model:") || has_role())
    },
    ..Signature::BLANK
};
