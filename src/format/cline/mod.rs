//! Cline: session documents of its command line and desktop programs, with messages in Anthropic blocks. The older task
//! histories are another format.
//!
//! Title, directory and model are in a manifest next to the session. If the manifest names a compaction file, the model
//! receives its messages: all others are hidden, and its text is a summary. `system_prompt` is a system message.

mod codec;
mod element;
mod read;
#[cfg(test)]
mod tests;

use super::detect::Signature;
use super::report::{Loss, LossSet};
use super::{FormatSpec, ReadFn, kit};
use codec::CLINE;

/// These sessions, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: kit::name(&CLINE),
    about: "Cline session (ID.messages.json)",
    read: ReadFn::Document(read::read),
    write: Some(|session, view, target| {
        read::check(session, target.0)?;
        kit::write_whole(&CLINE, session, view, target)
    }),
    refuses: Some("Cline lists sessions by manifests that a running program keeps"),
    unsupported: LossSet::USUAL
        .without(&[Loss::Id])
        .with(&[Loss::Summary, Loss::Message]),
    note: "The manifest and the compaction file next to a session are read but not written. Only in-place changes are written.",
    ..FormatSpec::BLANK
};

/// The signature of a session.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a Cline session",
    document: |shape| {
        let is_number = |raw: &[u8]| raw.iter().all(u8::is_ascii_digit);
        let is_message =
            |message: &super::detect::ObjectShape<'_>| message.is_text("role") && message.has("content");
        shape.get("version").is_some_and(is_number)
            && shape.is_text("sessionId")
            && shape.is_text("agent")
            && shape.has_element("messages", is_message)
    },
    ..Signature::BLANK
};
