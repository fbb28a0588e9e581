//! Claude.ai's export: an array of conversations, each a list or a tree of messages. Read-only, because no program
//! imports such files.
//!
//! | data | stored in |
//! |---|---|
//! | members of a conversation other than messages, name and time | `metadata.claude-ai-export` of the header |
//! | members of a message other than sender, content and time | `metadata.claude-ai-export.message` |
//! | members of a block other than its content, such as times | `.blocks`, for each block |
//! | members of an attachment other than its text | `.attachments`, for each attachment |
//!
//! Tool calls and results are inside an assistant message, which is split after each run of results. The account, which
//! is personal data, is dropped and reported. The member `text` repeats the blocks without tools; it is only used if no
//! block is known, and the blocks are then kept in `.content`.
//!
//! Undocumented cases: the text of an attachment is appended to its message as a part; a result without an open call
//! names none.
//!
//! Not on the kit, which computes residues with an encoder that a read-only format lacks. A document on the kit is one
//! session, but a conversation with branches is several.

mod block;
mod message;
mod read;
#[cfg(test)]
mod tests;

use super::conversation_list::{self, Kinds};
use super::detect::{ObjectShape, Signature};
use super::{Format, FormatSpec, ReadFn, SessionCount};

/// Claude.ai's exports, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: message::NAME,
    about: "Claude.ai data export, conversations.json (read-only)",
    read: ReadFn::Sessions(|input| conversation_list::open(KINDS, input)),
    session_count: SessionCount::Many,
    note: "Extract a zip archive with `unzip -p FILE conversations.json | convo ...`. Read-only; convert with --to openai-chat.",
    ..FormatSpec::BLANK
};

/// The signature of a conversation: messages specific to this format.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a Claude.ai export",
    document: |shape| {
        // A message that is damaged or truncated after its sender shows nothing else.
        let is_message = |message: &ObjectShape<'_>| {
            message.has("sender")
                && (message.any(&["text", "content"]) || message.names().last() == Some("sender"))
        };
        shape.has_element("chat_messages", is_message)
    },
    ..Signature::BLANK
};

/// How the list is read.
const KINDS: Kinds = Kinds {
    format: Format::ClaudeAiExport,
    what: "a conversation of a Claude.ai export",
    read: read::sessions,
};
