//! What a Claude.ai export looks like.

use crate::format::detect::{Shape, Signature};

/// Conversations with messages of their own kind.
pub const SIGNATURE: Signature = Signature {
    name: super::NAME,
    what: "a Claude.ai export",
    document: |shape| {
        // Of a message that is damaged or cut behind its sender, nothing else is seen.
        let spoken = |message: &Shape<'_>| {
            message.has("sender")
                && (message.any(&["text", "content"]) || message.names().last() == Some("sender"))
        };
        shape.has_element("chat_messages", spoken)
    },
    ..Signature::BLANK
};
