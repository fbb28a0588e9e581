//! ShareGPT: training sets in which every record is a session. A record has either `conversations` with turns (`from`,
//! `value`), or `messages` whose content is parts with a `value`.
//!
//! | data | stored in |
//! |---|---|
//! | the definitions of tools, unchanged | `metadata.tools` of the header |
//! | the form of the record, and its other members | `metadata.sharegpt.form`, `.members` of the header |
//! | whether the instructions are the record's `system`, not a turn | `metadata.sharegpt.system` |
//! | an unusual name of the sender | `metadata.sharegpt.from` |
//! | whether calls share a turn, the order of parts | `metadata.sharegpt.array`, `.order` |
//! | other members of a turn | `metadata.sharegpt.members` |
//! | a turn that cannot be restored from all that | `metadata.sharegpt.raw`, as long as the message is unchanged |
//!
//! Undocumented cases: a user message closes all open calls. A message with several calls is written as a turn per
//! call, each followed by its result, so that senders alternate. A session of another format gives the record its `id`.

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

/// How the list is read.
const KINDS: Kinds = Kinds {
    format: Format::Sharegpt,
    what: "a ShareGPT record",
    read: read::sessions,
};

/// The name of the format's annotations.
const NAME: &str = "sharegpt";
