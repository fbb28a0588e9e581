//! The signature of a Claude.ai export.

use crate::format::detect::{ObjectShape, Signature};

/// Conversations with messages specific to this format.
pub const SIGNATURE: Signature = Signature {
    name: super::NAME,
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
