//! What a Claude.ai export looks like.

use crate::format::detect::{Shape, Signature};

/// Conversations with messages of their own kind.
pub const SIGNATURE: Signature = Signature {
    name: super::NAME,
    what: "a Claude.ai export",
    document: |shape| {
        let spoken = |message: &Shape<'_>| message.has("sender") && message.any(&["text", "content"]);
        shape.has_element("chat_messages", spoken)
    },
    ..Signature::BLANK
};
