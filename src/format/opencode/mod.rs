//! opencode: the document that its `export` prints and its `import` takes, `{info, messages: [{info, parts}]}`. A message
//! of the model holds several steps, each of which is a message here, and the results of its calls behind it.
//!
//! | what | where it is kept |
//! |---|---|
//! | what the message says of itself | `metadata.opencode.info` of its first record; the others name it in `of` |
//! | what a part has beside what it says | `metadata.opencode.parts`, in their order |
//! | a message that could not be made again of that | `metadata.opencode.raw` |
//! | what the document says of the session | `metadata.opencode.session` of the header, `members` what stands beside |
//! | the question for a compaction, and any element that is no message | a `foreign` event |
//! | what was ignored, cleared or failed, and is not sent | one `compact` event behind the last message |
//! | the answer to it | a `summary` event with the message in `metadata.opencode.raw` |
//!
//! Messages and parts stand in an export in their order. A compaction counts when its answer is finished and without
//! error, and keeps what stands from the message on that it names; only the last one counts. Of a result that was
//! cleared the text stays in the log. A step without anything said or called belongs to the one before it.

mod change;
mod compaction;
mod content;
mod element;
mod fresh;
mod held;
mod make;
mod part;
mod read;
mod spell;
mod step;
pub mod storage;
#[cfg(test)]
mod tests;
mod write;

use super::detect::Signature;
use super::report::Loss;
use super::{Form, Holds, Reading};

/// opencode's exports, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "opencode session export",
    read: Reading::Sessions(read::open),
    holds: Holds::Many,
    model: Some("MODEL"),
    write: Some(write::write),
    back: Some(write::back),
    joins: true,
    loses: &[
        Loss::Id,
        Loss::Timestamp,
        Loss::Usage,
        Loss::Signature,
        Loss::Arguments,
        Loss::Attachment,
        Loss::Part,
        Loss::Name,
        Loss::Category,
        Loss::Metadata,
        Loss::Message,
        Loss::Orphan,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    note: "In place, cuts and summaries are added as a compaction after the last message; other changes edit the messages. `opencode import` adds messages to a session but does not change any: delete the session there first. Read the database with `convo sqlite`. Session files of the older storage directory are read with their messages, and are read-only.",
    ..Form::BLANK
};

/// What an export looks like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "an opencode session",
    document: |shape| {
        let spoken = |message: &super::detect::Shape<'_>| message.all(&["info", "parts"]);
        shape.is_object("info") && shape.has_element("messages", spoken)
    },
    list: |elements| {
        let any = |name: &str| elements.iter().any(|element| element.has(name));
        any("info") && any("parts")
    },
    ..Signature::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "opencode";
