//! What a Claude.ai export looks like.

use crate::format::detect::Signature;

/// Conversations with messages of their own kind.
pub const SIGNATURE: Signature = Signature {
    name: super::NAME,
    what: "a Claude.ai export",
    document: |shape| shape.is_array("chat_messages"),
    ..Signature::BLANK
};
