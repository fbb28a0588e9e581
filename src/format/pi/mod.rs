//! pi: session files with entries that form a tree. The path to the last entry is the main session; each inactive
//! branch is a separate session. Files of the first version have no ids; their entries form a chain.
//!
//! | data | stored in |
//! |---|---|
//! | the type of an entry that is not a message, and roles specific to pi | `metadata.pi.type`, `metadata.pi.role` |
//! | members of an entry other than message and position | `metadata.pi.residue`, see the kit; else the entry as `raw` |
//! | the first line | `metadata.pi.session` of the header |
//! | members of a compaction other than its text | `metadata.pi` of the event |
//! | any other entry | a `foreign` event |
//!
//! A compaction keeps the messages from the entry on that it names; if that is not on its path, it keeps none. Only the
//! last compaction of a path is effective. An entry with a repeated id keeps its position and loses its id.
//!
//! The format uses the kit's residues, records, changes and losses, but is not one of its codecs, because the kit
//!
//! - shows an outline only the elements of its own session: a branch whose compaction names an entry before the branch
//!   point keeps everything, which needs the tree of the whole file;
//! - passes no damaged lines to `Codec::assemble`: a damaged entry with a readable id remains on its path;
//! - orders a session by its lines: a path is in the order of parents;
//! - calls `Editor::appended` once for a file, and refuses edits that move lines to another session. Here each changed
//!   session continues at its own leaf, branches before the main session, with ids that are unique in the file, and the
//!   path before an edit becomes a branch;
//! - restores elements from `form`, `raw` and complete residues; here a residue lacks the position of its entry, which
//!   depends on the chain, and native streams without `form` exist;
//! - numbers messages without ids, or gives them none; here they have none, but a compaction of the first version covers
//!   them by ids that are derived from their content. Its event has the members of the entry, not the entry as `raw`.

mod change;
mod encode;
mod encode_new;
mod entry;
mod item;
mod message;
mod new_entries;
mod read;
mod record;
mod signature;
mod slim;
#[cfg(test)]
mod tests;
mod tree;
mod write;

pub(super) use signature::SIGNATURE;

use super::report::{Loss, LossSet};
use super::{FormatSpec, LineKeys, ReadFn, SessionCount};

/// pi's files, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: entry::NAME,
    about: "pi session, with branches",
    ending: ".jsonl",
    read: ReadFn::Sessions(|input| read::open(input, false)),
    display: Some(|input| read::open(input, true)),
    session_count: SessionCount::Many,
    write: Some(write::write),
    write_back: Some(write::write_back),
    unsupported: LossSet::USUAL.without(&[Loss::Timestamp]),
    keyed: Some(LineKeys {
        id: "id",
        session: "id",
        time: "timestamp",
        message: "message",
        states: &[],
    }),
    note: "Branches are sessions after the main one. In place, only appends entries: cuts and summaries as a compaction, other changes as a branch, which format version 1 does not support.",
    slims: Some(slim::SLIMMING),
    ..FormatSpec::BLANK
};
