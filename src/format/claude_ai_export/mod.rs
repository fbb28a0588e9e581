//! Claude.ai's export: an array of conversations, each a list of messages or a tree of them. Read only: no program reads
//! such a file back.
//!
//! | what | where it is kept |
//! |---|---|
//! | members of a conversation beside its messages, name and time | `metadata.claude-ai-export` of the header |
//! | members of a message beside sender, content and time | `metadata.claude-ai-export.message` |
//! | what a block has beside what was said, times first of all | `.blocks`, block by block |
//! | what an attachment has beside its text | `.attachments`, one by one |
//!
//! Tools stand inside the message of the assistant: it is cut behind each run of results. The account, which is personal, is left out and told.
//! What `text` says is said by the blocks again, without the tools: it counts where there is no block that is known, and then
//! the blocks are kept in `.content`.
//!
//! What documents do not say, and how it is read here: the text of an attachment is a part of the message that it hangs on,
//! behind what was said; a result for which no call is open names none.

mod block;
mod message;
mod read;
mod signature;
#[cfg(test)]
mod tests;

pub(super) use signature::SIGNATURE;

use super::collection::{self, Kinds};
use super::{Form, Format, Holds, Reading};

/// Claude.ai's exports, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "Claude.ai data export, conversations.json (read-only)",
    read: Reading::Sessions(|input| collection::open(KINDS, input)),
    holds: Holds::Many,
    note: "Extract a zip archive with `unzip -p FILE conversations.json | convo ...`. Read-only; convert with --to openai-chat.",
    ..Form::BLANK
};

/// How a list of them is read.
const KINDS: Kinds = Kinds {
    format: Format::ClaudeAiExport,
    what: "a conversation of a Claude.ai export",
    read: read::sessions,
};

/// The word under which leftovers are kept.
const NAME: &str = "claude-ai-export";
