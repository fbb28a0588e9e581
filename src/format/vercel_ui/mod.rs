//! Messages of the AI SDK's user interface, in an array, one a line, or in objects with `messages`; of version 5 (`parts`)
//! and of version 4 (`content`, `toolInvocations`). One of them holds a whole exchange: steps of the model, and in each
//! call what came of it.
//!
//! | what | where it is kept |
//! |---|---|
//! | each step | a message of the model, and one of the tool for each call that has a result |
//! | the id | of the first of them |
//! | `metadata`, and what else a message has | `metadata.vercel-ui.metadata`, `metadata.vercel-ui.members` of the first |
//! | parts that are shown and not sent (`data-*`, sources) | `metadata.vercel-ui.shown` of their step |
//! | what a call has beside name, input and output | `metadata.vercel-ui.calls` |
//! | a result that failed, or was not allowed | `metadata.is_error`, `metadata.denied` |
//! | a message that could not be made again of that | `metadata.vercel-ui.raw` |
//! | messages of the role `data` | a `foreign` event |
//!
//! A tool that the provider ran is a part of the content and no call. An input that is a text is the arguments as they
//! are, as those that are no JSON are written.

mod new;
mod old;
mod part;
mod piece;
mod read;
mod spell_new;
mod spell_old;
#[cfg(test)]
mod tests;

use super::content;
use super::detect::Signature;
use super::listed::{self, Kind};
use super::report::Loss;
use super::{Form, Format, Holds, Reading};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;

/// These messages, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "Vercel AI SDK UI messages, version 5 (reads version 4)",
    read: Reading::Sessions(|input| listed::open(&KIND, input)),
    holds: Holds::Many,
    write: Some(|session, view, purpose, out, report| {
        listed::write(&KIND, Some(NEW), (session, view), purpose, out, report)
    }),
    back: Some(|sessions, out, report| listed::back(&KIND, sessions, out, report)),
    loses: &[
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
    ],
    note: "An exchange is one message. In place, messages of version 4 keep their version.",
    ..Form::BLANK
};

/// The same as version 4 has it.
pub const OLD_FORM: Form = Form {
    name: "vercel-ui-v4",
    about: "Vercel AI SDK UI messages, version 4 (write-only)",
    read: Reading::None,
    write: Some(|session, view, purpose, out, report| {
        listed::write(&KIND, Some(OLD), (session, view), purpose, out, report)
    }),
    loses: &[
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
    ],
    note: "Read as vercel-ui. Keeps only the time of the first step of an exchange.",
    ..Form::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "vercel-ui";

/// The form of version 5.
const NEW: &str = "v5";

/// The form of version 4.
const OLD: &str = "v4";

/// How its lists are read and written.
static KIND: Kind = Kind {
    format: Format::VercelUi,
    name: NAME,
    read: read::drafts,
    fault,
    others: |element| json::member(element, "role") == Some(b"\"data\""),
    form: |element| match ["content", "toolInvocations"].map(|name| json::member(element, name)) {
        [None, None] => NEW,
        _ => OLD,
    },
    forms: &[NEW, OLD],
    spell: |said, spelling| match spelling.form {
        OLD => spell_old::elements(said, spelling),
        _ => spell_new::elements(said, spelling),
    },
    rows: false,
    joins: true,
};

/// How many messages of a view came with a content that is not the text of their parts; other formats have no place
/// for it.
pub fn differing_contents(session: &Session, view: &View) -> u64 {
    let differs = |body: &[u8]| {
        let notes = json::member(body, "metadata").and_then(|metadata| json::member(metadata, NAME));
        notes
            .and_then(|notes| json::member(notes, "raw"))
            .is_some_and(old::differs)
    };
    let bodies = view.items.iter().map(|item| item.body(session));
    bodies.filter(|body| differs(body)).count() as u64
}

/// What is wrong with a message of which no part is known.
fn fault(element: &[u8]) -> Option<String> {
    let said = json::member(element, "content").is_some_and(|raw| raw != b"\"\"");
    match json::member(element, "parts") {
        Some(parts) => content::unknown_parts(parts).filter(|_| !said),
        None => content::fault(element, &["toolInvocations", "reasoning"]),
    }
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
