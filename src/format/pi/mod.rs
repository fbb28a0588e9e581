//! pi: a file of entries, each of which names the one before it: a tree. What leads to the last entry is gone on with;
//! what was left for it is a session of its own. The oldest files have no ids: there the entries follow one another.
//!
//! | what | where it is kept |
//! |---|---|
//! | the type of an entry that is not a message, and a role of pi's own | `metadata.pi.type`, `metadata.pi.role` |
//! | what an entry has beside that, its message and its place | `metadata.pi.residue`, see the kit; else the entry as `raw` |
//! | the first line | `metadata.pi.session` of the header |
//! | what a compaction has beside its text | `metadata.pi` of the event |
//! | any other entry | a `foreign` event |
//!
//! A compaction keeps what stands from the entry on that it names; one that is not on its path keeps nothing. Only the
//! last one of a path counts. An entry whose id is another's keeps its place and loses its id.

mod change;
mod entry;
mod fresh;
mod item;
mod made;
mod message;
mod read;
mod record;
mod signature;
mod slim;
mod spell;
#[cfg(test)]
mod tests;
mod tree;
mod write;

pub(super) use signature::SIGNATURE;

use super::report::Loss;
use super::{Form, Holds, Keyed, Reading};

/// pi's files, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "pi session, with branches",
    ending: ".jsonl",
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
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    keyed: Some(Keyed {
        id: "id",
        session: "id",
        time: "timestamp",
        message: "message",
        states: &[],
    }),
    note: "Branches are sessions after the main one. In place, only appends entries: cuts and summaries as a compaction, other changes as a branch, which format version 1 does not support.",
    slims: Some(slim::SLIMMING),
    ..Form::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "pi";
