//! ChatGPT's export: an array of conversations, each of them a tree of nodes of which one path is in view. Read only: no
//! program reads such a file back.
//!
//! | what | where it is kept |
//! |---|---|
//! | members of a conversation beside its nodes, name and time | `metadata.chatgpt-export` of the header |
//! | members of a message beside role, name, content, time and model | `metadata.chatgpt-export.message` |
//! | what its content has beside texts and parts | `metadata.chatgpt-export.content`, for each part `.parts` |
//! | nodes that only think, or tell how long that took | the `reasoning` of the answer they are for, and `.thoughts`, `.recaps` of it |
//! | further nodes of a tool under one call | parts of the first one's result, and `.nodes` |
//! | a node that is none | a `foreign` event |
//!
//! Ids are those of the nodes. What is null, or an object or array of nothing, is not kept. The other answers and prompts are
//! branches, ordered by the time of their last node, as the order of the nodes in the file says nothing.
//!
//! What documents do not say, and how it is read here: a tool's node whose call has been answered before, and something else
//! was said since, is a result without a call, as is one ahead of every call. Thoughts that no answer follows are a message
//! of their own, without content.

mod content;
mod node;
mod read;
mod signature;
#[cfg(test)]
mod tests;

pub(super) use signature::SIGNATURE;

use super::collection::{self, Kinds};
use super::{Form, Format, Holds, Reading};

/// ChatGPT's exports, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "ChatGPT data export, conversations.json (read-only)",
    read: Reading::Sessions(|input| collection::open(KINDS, input)),
    holds: Holds::Many,
    note: "Includes the branches of each conversation. Extract a zip archive with `unzip -p FILE conversations.json | convo ...`. Conversations are read one at a time. Read-only; convert with --to openai-chat.",
    ..Form::BLANK
};

/// How a list of them is read.
const KINDS: Kinds = Kinds {
    format: Format::ChatgptExport,
    what: "a conversation of a ChatGPT export",
    read: read::sessions,
};

/// The word under which leftovers are kept.
const NAME: &str = "chatgpt-export";
