//! Codex: session logs, which record most data twice: as items of the OpenAI Responses API, which form the history, and
//! as display events. Messages are read from the items; data that only display events have, such as usage and the exit
//! status of commands, is added to the messages that it belongs to.
//!
//! | data | stored in |
//! |---|---|
//! | members of items without a native equivalent | `metadata.openai-responses`, as for any items |
//! | unusual envelopes of a message's items, and the number of other lines between them | `metadata.codex.lines` |
//! | members of a user message's display event other than the text | `metadata.codex.event` |
//! | the session line | `metadata.codex` of the header |
//! | members of a compaction other than its items | `metadata.codex` of the event |
//! | any other line | a `foreign` event |
//!
//! Codex leaves two cases open. Here, user messages are read from display events if no item was written by a user; and
//! a fork's own first turn starts with `task_started`, if present.
//!
//! The format uses the kit's losses and records, but is not one of its codecs, because the kit
//!
//! - copies each line into an element, and encodes each message again for its residue: it needs twice to three times the
//!   time per message, which long logs would pay;
//! - does not record which lines are between those of a message: a record stream would return them after the message;
//! - stores a summary's whole element in its event: a compaction would contain its history twice, as items and as
//!   messages;
//! - covers by a summary only messages with ids, and no system messages. Here, messages have no ids, and a compaction
//!   replaces everything;
//! - asks for each line alone whether it starts another session: a fork starts with the session lines of its ancestors.

mod compaction;
mod encode_new;
mod header;
mod items;
mod line;
mod message;
mod planned_line;
mod read;
mod signature;
mod slim;
mod steps;
#[cfg(test)]
mod tests;
mod turns;
mod usage;
mod uuid;
mod write;

pub(super) use signature::SIGNATURE;

use super::report::{Loss, LossSet};
use super::{FormatSpec, ReadFn};
pub use usage::totals;

/// Codex's logs, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: line::NAME,
    about: "Codex session log",
    ending: ".jsonl",
    read: ReadFn::Sessions(read::open),
    model: Some("MODEL"),
    write: Some(write::write),
    write_back: Some(write::write_back),
    unsupported: LossSet::USUAL
        .without(&[Loss::Timestamp, Loss::Arguments])
        .with(&[Loss::Summary, Loss::Message, Loss::Orphan]),
    note: "In place, dropped records are removed together with their display events. A summary is a compaction of the program.",
    slims: Some(slim::SLIMMING),
    ..FormatSpec::BLANK
};
