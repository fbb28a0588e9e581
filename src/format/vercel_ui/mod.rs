//! UI messages of the AI SDK, in an array, one per line, or in objects with `messages`; of version 5 (`parts`) and
//! version 4 (`content`, `toolInvocations`). A message contains a whole exchange: the steps of the model, with the
//! result in each call.
//!
//! Each step becomes an assistant message, and a tool message per call with a result. Parts that are displayed but not
//! sent (`data-*`, sources) are only in the residue. A failed or denied result has `metadata.is_error` or
//! `metadata.denied`. A message whose content differs from the text of its parts has `metadata.vercel-ui.differs`, one
//! with its reasoning outside of its parts `metadata.vercel-ui.reasoning`. Messages of role `data` are passthrough
//! records.
//!
//! A tool that the provider ran is a content part, not a call. If an input is a string, it is used as the arguments
//! unchanged; arguments that are not JSON are written that way.

mod codec;
mod encode_new;
mod encode_old;
mod new;
mod old;
mod part;
mod read;
#[cfg(test)]
mod tests;
mod ui_part;

use super::detect::Signature;
use super::report::{Loss, LossSet};
use super::{FormatSpec, ReadFn, SessionCount, kit};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;
use codec::{NEW, OLD};

/// These messages, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "Vercel AI SDK UI messages, version 5 (reads version 4)",
    session_count: SessionCount::Many,
    write: Some(|session, view, target| kit::write_as(&NEW, None, (session, view), target)),
    unsupported: LOSSES,
    note: "An exchange is one message. In place, messages of version 4 keep their version.",
    ..kit::spec!(&NEW)
};

/// UI messages of version 4, as a format.
pub const OLD_FORM: FormatSpec = FormatSpec {
    name: "vercel-ui-v4",
    about: "Vercel AI SDK UI messages, version 4 (write-only)",
    read: ReadFn::None,
    write: Some(|session, view, target| kit::write_as(&OLD, None, (session, view), target)),
    unsupported: LOSSES,
    note: "Read as vercel-ui. Keeps only the time of the first step of an exchange.",
    ..FormatSpec::BLANK
};

const LOSSES: LossSet = LossSet::USUAL.with(&[Loss::Model, Loss::Summary, Loss::Orphan]);

/// Number of visible messages whose content differs from the text of their parts, which other formats cannot represent.
pub fn differing_contents(session: &Session, view: &View) -> u64 {
    let differs = |body: &[u8]| {
        let note = kit::records::note(body, SPEC.name);
        note.is_some_and(|note| json::member(note, "differs").is_some())
    };
    let bodies = view.items.iter().map(|item| item.body(session));
    bodies.filter(|body| differs(body)).count() as u64
}

pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "Vercel AI SDK messages",
    message: |message| {
        let typed = |part: &super::detect::ObjectShape<'_>| {
            part.text("type").is_some_and(|kind| {
                kind == "step-start" || kind == "dynamic-tool" || kind.starts_with("tool-")
            })
        };
        let parts = message.message.list("parts");
        let listed =
            message.message.has("id") && message.message.has_element("parts", |part| part.is_text("type"));
        message.message.is_array("toolInvocations") || listed || parts.iter().any(typed)
    },
    ..Signature::BLANK
};
