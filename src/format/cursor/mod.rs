//! Cursor: agent transcripts with one message per line, in Anthropic blocks.
//!
//! Calls have no ids, and only some files have results. A call without an id gets one derived from its position, and a
//! result that names no call answers the oldest open one. A line without a role is a passthrough record.

mod codec;
mod pairs;
#[cfg(test)]
mod tests;

use super::detect::{Signature, has_content};
use super::report::{Loss, LossSet};
use super::{FormatSpec, kit};
use codec::CursorTranscript;

/// These transcripts, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "Cursor agent transcript",
    ending: ".jsonl",
    refuses: Some("Cursor does not resume sessions from transcripts"),
    unsupported: LossSet::USUAL.with(&[Loss::Model, Loss::Summary, Loss::Message]),
    omits_results: true,
    note: "Most transcripts contain no results of calls. Only in-place changes are written: Cursor does not resume from transcripts. Read the database of the editor with `convo sqlite`.",
    ..kit::spec!(&CursorTranscript)
};

/// The signature of a transcript.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a Cursor transcript",
    message: |message| {
        let others = ["type", "uuid", "sessionId", "content", "parts"];
        !message.message.any(&others)
            && message.message.is_object("message")
            && has_content(&message.message.object("message"), "content")
    },
    ..Signature::BLANK
};
