//! What items of OpenAI's Responses, and requests and responses with such, look like.

use crate::format::detect::{Shape, Signature};

/// What they look like. Plain messages look like anyone's.
pub(in crate::format) const SIGNATURE: Signature = Signature {
    name: super::FORM.name,
    what: "OpenAI Responses items",
    document: |shape| {
        let response = shape.is_array("output") && shape.says("object", "response");
        response || (!shape.has("messages") && is_request(shape))
    },
    line: |shape| shape.text("type").is_some_and(|kind| is_item(&kind, shape)),
    message: |said| said.has_part(&["input_text", "output_text", "input_image", "input_file"]),
    takes_plain: true,
    ..Signature::BLANK
};

/// Members of a request beside its input, that tell it from an embedding's or from speech.
const REQUEST: [&str; 9] = [
    "instructions",
    "previous_response_id",
    "include",
    "store",
    "stream",
    "tools",
    "reasoning",
    "max_output_tokens",
    "metadata",
];

/// Whether it is a request: with a model, or with nothing that is no part of one.
fn is_request(shape: &Shape<'_>) -> bool {
    let own = |name: &str| name == "input" || REQUEST.contains(&name);
    let model = shape.has("model");
    match shape.get("input").and_then(|input| input.first()) {
        // Text alone may be the input of anything.
        Some(b'"') => model && shape.any(&REQUEST),
        Some(b'[') if model || shape.names().all(own) => shape
            .list("input")
            .iter()
            .any(|item| item.is_text("role") || item.is_text("type")),
        _ => false,
    }
}

/// Items beside messages.
fn is_item(kind: &str, item: &Shape<'_>) -> bool {
    match kind {
        "reasoning" => item.any(&["summary", "encrypted_content", "content"]),
        "compaction" => item.has("encrypted_content"),
        "item_reference" => item.has("id"),
        _ if kind.ends_with("_call_output") => item.all(&["call_id", "output"]),
        _ if kind.ends_with("_call") => {
            item.any(&["call_id", "id"]) && !item.any(&["session_id", "sessionId"])
        }
        _ => false,
    }
}
