//! goose: a session as a document, which its `export` prints and its `import` takes, or as lines, as it was kept before:
//! the first of them tells of the session, if it is there. Nothing is ever taken out of a session: what a model is not
//! sent is marked so.
//!
//! | what | where it is kept |
//! |---|---|
//! | what a message has beside role and content | `metadata.goose.message` of its first record; the others name it in `of` |
//! | what a block has beside what it says | `metadata.goose.content`, in their order |
//! | a message that could not be made again of that | `metadata.goose.raw` |
//! | what is said of the session, and whether that is a document | `metadata.goose.session`, `form` of the header |
//! | a message of notifications, and any element that is no message | a `foreign` event |
//! | which messages the model is not sent | one `compact` event behind the last message |
//! | whether the user is not shown one | `metadata.visibility`: `agent`, or `none` where the model is not sent it either |
//!
//! Only the model is shown a message of the category `context`. A message without an id has `msg_` and its number: that of its
//! line, or of its place in the list. A summary that this program put in is that summary again, as long as it is sent.

mod block;
mod change;
mod element;
mod fresh;
mod held;
mod read;
mod record;
mod spell;
#[cfg(test)]
mod tests;
mod write;

use super::detect::signature::has_content;
use super::detect::{Content, Shape, Signature};
use super::report::Loss;
use super::{Form, Holds, Reading};

/// goose's sessions, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "goose session export or older JSON Lines",
    read: Reading::Sessions(read::open),
    holds: Holds::Many,
    model: Some("MODEL"),
    write: Some(write::write),
    back: Some(write::back),
    joins: true,
    loses: LOSSES,
    note: "In place, dropped messages are kept and hidden from the model. Read the database with `convo sqlite`.",
    ..Form::BLANK
};

/// The same as lines, whatever it came as.
pub const LINES: Form = Form {
    name: "goose-jsonl",
    about: "goose JSON Lines (write-only)",
    ending: ".jsonl",
    write: Some(write::write_lines),
    loses: LOSSES,
    ..Form::BLANK
};

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
    Loss::Message,
    Loss::Event,
    Loss::Header,
    Loss::Unreadable,
];

/// What a session looks like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "a goose session",
    header: |shape| shape.all(&["working_dir", "message_count"]),
    content: |shape| match shape.has("working_dir") {
        true => Content::None,
        false => Content::known(shape.is_text("role") && has_content(shape, "content")),
    },
    document: |shape: &Shape<'_>| {
        let spoken = |message: &Shape<'_>| message.is_text("role") && message.has("content");
        let begun = shape.has("message_count") && !shape.has("conversation");
        shape.has("working_dir") && (begun || shape.has_element("conversation", spoken))
    },
    message: |said| {
        let parts = said.message.has("parts");
        let created = said.message.has("created") && said.is_typed();
        !parts && (created || said.has_part(&["toolRequest", "toolResponse"]))
    },
    ..Signature::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "goose";
