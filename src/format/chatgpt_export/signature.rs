//! What a ChatGPT export looks like.

use crate::format::detect::{Shape, Signature};

/// Conversations with a tree of nodes.
pub const SIGNATURE: Signature = Signature {
    name: super::NAME,
    what: "a ChatGPT export",
    document: |shape| {
        let named = shape.any(&["current_node", "conversation_id", "title"]);
        shape.is_object("mapping") && (named || shape.inner("mapping").is_some_and(|node| is_node(&node)))
    },
    ..Signature::BLANK
};

/// Whether something hangs on it, or it hangs on something.
fn is_node(node: &Shape<'_>) -> bool {
    node.any(&["children", "parent", "message"])
}
