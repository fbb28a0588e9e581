//! The signature of training sets.

use crate::format::detect::{Shape, Signature};

/// Turns, or messages whose parts have values.
pub const SIGNATURE: Signature = Signature {
    name: super::NAME,
    what: "ShareGPT records",
    document: |shape| {
        let turn = |turn: &Shape<'_>| turn.any(&["from", "role"]) && turn.any(&["value", "content"]);
        shape.has_element("conversations", turn)
    },
    message: |said| {
        let valued = |part: &Shape<'_>| part.is_text("type") && part.is_text("value");
        !said.message.has("parts") && said.parts.iter().any(valued)
    },
    ..Signature::BLANK
};
