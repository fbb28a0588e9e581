//! Gemini CLI: the recording of a chat. The log is a row of operations on messages by id: a line puts one in or takes the
//! place of the one of its id, `$rewindTo` takes one and all behind it away, `$set` changes what is told of the session or
//! sets all messages anew. What is left at its end is the session. An older recording is one document with `messages`.
//!
//! | what | where it is kept |
//! |---|---|
//! | members of a record that have no place | `metadata.gemini-cli.record` |
//! | what calls have beside name and arguments | `metadata.gemini-cli.calls` |
//! | content that was a list although it is one text | `metadata.gemini-cli.parts` |
//! | content that holds calls and thoughts itself | `metadata.gemini-cli.inline` |
//! | a result that is not as usual | `metadata.gemini-cli.result` |
//! | a record that could not be made again of that | `metadata.gemini-cli.raw` |
//! | what is told of the session | `metadata.gemini-cli.session` of the header |
//! | notes, errors, warnings | `foreign` events |
//!
//! What the program does not send when it goes on (commands, context that it makes anew) is out of view. Which session a
//! subagent belongs to is said by its folder alone, so that none is named.

mod content;
mod kept;
mod line;
mod message;
mod read;
mod replay;
mod spell;
#[cfg(test)]
mod tests;
mod usage;
mod write;

use super::detect::{Content, Signature};
use super::report::Loss;
use super::{Form, Holds, Reading};

/// The recordings, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "Gemini CLI chat recording",
    read: Reading::Sessions(read::open),
    holds: Holds::Many,
    write: Some(write::write),
    back: Some(write::back),
    loses: &[
        Loss::Id,
        Loss::Usage,
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
    note: "In place, only appends lines to a log: a rewind, a replacement record, or a new list of all messages. The program finds sessions by project: an imported session gets the project of its `metadata.cwd`.",
    ..Form::BLANK
};

/// What a recording looks like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "a Gemini CLI log",
    header: |shape| shape.all(&["sessionId", "projectHash"]),
    content: |shape| match shape.text("type").as_deref() {
        Some("user" | "gemini") => Content::known(shape.has("content")),
        Some("info" | "error" | "warning") => Content::None,
        _ if shape.any(&["sessionId", "$set", "$rewindTo"]) => match shape.has("messages") {
            true => Content::known(shape.has_element("messages", |message| message.has("content"))),
            false => Content::None,
        },
        _ => Content::Unknown,
    },
    document: |shape| {
        let whole = shape.all(&["sessionId", "projectHash"]);
        let spoken =
            !shape.has("messages") || shape.has_element("messages", |message| message.has("content"));
        (whole && spoken) || shape.is_object("$set") || shape.is_text("$rewindTo")
    },
    line: |shape| shape.says("type", "gemini") && shape.has("content"),
    ..Signature::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "gemini-cli";
