//! ShareGPT: training sets, of which every record is a session. There are two forms of a record: `conversations` of turns
//! (`from`, `value`), and `messages` whose content is parts with a `value`.
//!
//! | what | where it is kept |
//! |---|---|
//! | the definitions of tools, as they are written | `metadata.tools` of the header |
//! | which form it is, and any other member of a record | `metadata.sharegpt.form`, `.members` of the header |
//! | that the instructions are the record's `system` and no turn | `metadata.sharegpt.system` |
//! | who speaks, where that is not the usual word | `metadata.sharegpt.from` |
//! | that calls stood in one turn together, the order of parts | `metadata.sharegpt.array`, `.order` |
//! | any other member of a turn | `metadata.sharegpt.members` |
//! | a turn that could not be made again of all that | `metadata.sharegpt.raw`, for as long as it says what is there |
//!
//! What documents do not say, and how it is done here: a question ends the calls that nothing has answered. A message that calls
//! several tools is written as a turn for each, with its result behind it, so that those who speak take turns. The record's
//! `id` is the session's, where it came from elsewhere.

mod call;
mod lost;
mod parts;
mod read;
mod record;
mod signature;
mod spell;
#[cfg(test)]
mod tests;
mod turn;
mod write;

pub(super) use signature::SIGNATURE;

use super::collection::{self, Kinds};
use super::report::Loss;
use super::{Form, Format, Holds, Reading};

/// Training sets, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "ShareGPT training data",
    read: Reading::Sessions(|input| collection::open(KINDS, input)),
    holds: Holds::Many,
    write: Some(write::write),
    back: Some(write::back),
    joins: true,
    loses: &[
        Loss::Id,
        Loss::Timestamp,
        Loss::Usage,
        Loss::Model,
        Loss::Reasoning,
        Loss::Signature,
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
        Loss::Order,
    ],
    note: "Each record is a session: an array, or one record per line. Written as one record per line; in place, an array remains an array and unchanged records keep their bytes. `order` reports consecutive user messages, which trainers drop.",
    ..Form::BLANK
};

/// How a list of them is read.
const KINDS: Kinds = Kinds {
    format: Format::Sharegpt,
    what: "a ShareGPT record",
    read: read::sessions,
};

/// The word under which leftovers are kept.
const NAME: &str = "sharegpt";
