//! Session traces (STS), a format for publishing sessions: a header with the name of the harness, then one message per
//! line in an envelope.
//!
//! A line of another type is a passthrough record. A message without a role, or with content that is not text, is
//! damage. Members without a native equivalent are in the residue of their message; those of the header are in
//! `metadata.sts.session`.

mod codec;
mod encode;
#[cfg(test)]
mod tests;

use super::detect::{LineKind, Signature};
use super::report::{Loss, LossSet};
use super::{FormatSpec, kit};
use codec::Trace;

/// These traces, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "session trace (STS), for publishing",
    ending: ".jsonl",
    model: Some("MODEL"),
    unsupported: LossSet::USUAL.with(&[Loss::Summary, Loss::Message]),
    note: "Images and files become placeholders. Redact a session before you publish it: convo redact.",
    ..kit::spec!(&Trace)
};

/// The signature of a trace.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a session trace (STS)",
    header: |shape| shape.text_equals("type", "session") && shape.is_text("harness") && shape.is_text("id"),
    // Entries with an id belong to pi, whose header may have a harness, too.
    content: |shape| match shape.text_equals("type", "message") {
        true => {
            let message = shape.object("message");
            let is_known =
                message.is_text("role") && message.get("content").is_none_or(|raw| raw.starts_with(b"\""));
            LineKind::known(is_known && !shape.any(&["id", "parentId"]))
        }
        false => LineKind::None,
    },
    ..Signature::BLANK
};
