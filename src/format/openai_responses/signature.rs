//! The signature of items, requests and responses of the OpenAI Responses API.

use crate::format::detect::{ObjectShape, Signature};

/// The signature. Plain messages match several formats.
pub(in crate::format) const SIGNATURE: Signature = Signature {
    name: super::SPEC.name,
    what: "OpenAI Responses items",
    document: |shape| {
        let response = shape.is_array("output") && shape.text_equals("object", "response");
        response || (!shape.has("messages") && is_request(shape))
    },
    line: |shape| shape.text("type").is_some_and(|kind| is_item(&kind, shape)),
    message: |message| message.has_part(&["input_text", "output_text", "input_image", "input_file"]),
    takes_plain: true,
    ..Signature::BLANK
};

/// Members of a request other than its input that distinguish it from embedding and speech requests.
const REQUEST: [&str; 9] = [
    "instructions", "previous_response_id", "include", "store", "stream", "tools", "reasoning",
    "max_output_tokens", "metadata",
];

/// Whether it is a request: it has a model, or only known members.
fn is_request(shape: &ObjectShape<'_>) -> bool {
    let own = |name: &str| name == "input" || REQUEST.contains(&name);
    let model = shape.has("model");
    match shape.get("input").and_then(|input| input.first()) {
        // A string may be the input of any API.
        Some(b'"') => model && shape.any(&REQUEST),
        Some(b'[') if model || shape.names().all(own) => shape
            .list("input")
            .iter()
            .any(|item| item.is_text("role") || item.is_text("type")),
        _ => false,
    }
}

/// Whether this is an item other than a message.
fn is_item(kind: &str, item: &ObjectShape<'_>) -> bool {
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
