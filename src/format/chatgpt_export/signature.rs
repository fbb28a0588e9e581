//! The signature of a ChatGPT export.

use crate::format::detect::{ObjectShape, Signature};

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

/// Whether it has a parent or children.
fn is_node(node: &ObjectShape<'_>) -> bool {
    node.any(&["children", "parent", "message"])
}
