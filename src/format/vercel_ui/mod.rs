//! Messages of the AI SDK's user interface, in an array, one a line, or in objects with `messages`; of version 5 (`parts`)
//! and of version 4 (`content`, `toolInvocations`). One of them holds a whole exchange: steps of the model, and in each
//! call what came of it.
//!
//! Each step is a message of the model, and one of the tool for each call that has a result. Parts that are shown and not
//! sent (`data-*`, sources) are in the residue alone. A result that failed, or was not allowed, has `metadata.is_error` or
//! `metadata.denied`. A message whose content is not the text of its parts has `metadata.vercel-ui.differs`, one with its
//! reasoning outside of its parts `metadata.vercel-ui.reasoning`. Messages of the role `data` are passthrough records.
//!
//! A tool that the provider ran is a part of the content and not a call. An input that is a text is the arguments as they
//! are, as those that are not JSON are written.

mod codec;
mod encode_new;
mod encode_old;
mod new;
mod old;
mod part;
mod piece;
mod read;
#[cfg(test)]
mod tests;

use super::detect::Signature;
use super::kit;
use super::report::Loss;
use super::{Form, Holds, Reading};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;
use codec::{NEW, OLD};

/// These messages, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "Vercel AI SDK UI messages, version 5 (reads version 4)",
    read: Reading::Sessions(|input| kit::open(&NEW, input)),
    holds: Holds::Many,
    write: Some(|session, view, purpose, out, report| {
        kit::write_as(&NEW, None, (session, view), purpose, out, report)
    }),
    back: Some(|sessions, out, report| kit::back(&NEW, sessions, out, report)),
    loses: LOSSES,
    note: "An exchange is one message. In place, messages of version 4 keep their version.",
    ..Form::BLANK
};

/// The same as version 4 has it.
pub const OLD_FORM: Form = Form {
    name: "vercel-ui-v4",
    about: "Vercel AI SDK UI messages, version 4 (write-only)",
    read: Reading::None,
    write: Some(|session, view, purpose, out, report| {
        kit::write_as(&OLD, None, (session, view), purpose, out, report)
    }),
    loses: LOSSES,
    note: "Read as vercel-ui. Keeps only the time of the first step of an exchange.",
    ..Form::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "vercel-ui";

const LOSSES: &[Loss] = &[
    Loss::Id,
    Loss::Timestamp,
    Loss::Usage,
    Loss::Model,
    Loss::Reasoning,
    Loss::Signature,
    Loss::Arguments,
    Loss::Attachment,
    Loss::Part,
    Loss::Name,
    Loss::Category,
    Loss::Metadata,
    Loss::Summary,
    Loss::Orphan,
    Loss::Event,
    Loss::Header,
    Loss::Unreadable,
];

/// How many messages of a view came with a content that is not the text of their parts; other formats have no place
/// for it.
pub fn differing_contents(session: &Session, view: &View) -> u64 {
    let differs = |body: &[u8]| {
        let note = kit::records::note(body, NAME);
        note.is_some_and(|note| json::member(note, "differs").is_some())
    };
    let bodies = view.items.iter().map(|item| item.body(session));
    bodies.filter(|body| differs(body)).count() as u64
}

/// What they look like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "Vercel AI SDK messages",
    message: |said| {
        let typed = |part: &super::detect::Shape<'_>| {
            part.text("type").is_some_and(|kind| {
                kind == "step-start" || kind == "dynamic-tool" || kind.starts_with("tool-")
            })
        };
        let parts = said.message.list("parts");
        let listed = said.message.has("id") && said.message.has_element("parts", |part| part.is_text("type"));
        said.message.is_array("toolInvocations") || listed || parts.iter().any(typed)
    },
    ..Signature::BLANK
};
