//! ChatGPT's export: an array of conversations, each a tree of nodes with one active path. Read-only, because no
//! program imports such files.
//!
//! | data | stored in |
//! |---|---|
//! | members of a conversation other than nodes, name and time | `metadata.chatgpt-export` of the header |
//! | members of a message other than role, name, content, time and model | `metadata.chatgpt-export.message` |
//! | members of its content other than texts and parts | `metadata.chatgpt-export.content`, for each part `.parts` |
//! | nodes with reasoning or its duration | the `reasoning` of the following answer, and its `.thoughts`, `.recaps` |
//! | further nodes of a tool for the same call | parts of the first one's result, and `.nodes` |
//! | a value that is not a node | a `foreign` event |
//!
//! Messages have the ids of their nodes. Null and empty values are dropped. Alternative answers and prompts are
//! branches, sorted by the time of their last node, because the order of nodes in the file is arbitrary.
//!
//! Undocumented cases: a tool node is a result without a call if its call was already answered and another message
//! followed, or if no call precedes it. Reasoning without a following answer is a message without content.
//!
//! Not on the kit, which computes residues with an encoder that a read-only format lacks. Nodes are not the elements of
//! a list but members of an object in arbitrary order, and several of them become one message.

mod content;
mod node;
mod read;
#[cfg(test)]
mod tests;

use super::conversation_list::{self, Kinds};
use super::detect::{ObjectShape, Signature};
use super::{Format, FormatSpec, ReadFn, SessionCount};

/// ChatGPT's exports, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: read::NAME,
    about: "ChatGPT data export, conversations.json (read-only)",
    read: ReadFn::Sessions(|input| conversation_list::open(KINDS, input)),
    session_count: SessionCount::Many,
    note: "Includes the branches of each conversation. Extract a zip archive with `unzip -p FILE conversations.json | convo ...`. Conversations are read one at a time. Read-only; convert with --to openai-chat.",
    ..FormatSpec::BLANK
};

/// The signature of a conversation: a tree of nodes.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a ChatGPT export",
    document: |shape| {
        let is_named = shape.any(&["current_node", "conversation_id", "title"]);
        let is_node = |node: ObjectShape<'_>| node.any(&["children", "parent", "message"]);
        shape.is_object("mapping") && (is_named || shape.inner("mapping").is_some_and(is_node))
    },
    ..Signature::BLANK
};

/// How the list is read.
const KINDS: Kinds = Kinds {
    format: Format::ChatgptExport,
    what: "a conversation of a ChatGPT export",
    read: read::sessions,
};
