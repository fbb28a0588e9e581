//! Records that are kept whole on the first of their messages, because they could not be made again of these.

use super::message;
use super::spell::noted;
use crate::format::request::Api;
use crate::model::json;

/// Whether a message still says what it said when it was read.
fn agrees(then: &[u8], now: &[u8]) -> bool {
    let names = ["role", "content", "tool_calls", "tool_call_id", "reasoning"];
    let failed = |body| json::member(body, "metadata").and_then(|raw| json::member(raw, "is_error"));
    names
        .iter()
        .all(|name| json::member(then, name) == json::member(now, name))
        && failed(then) == failed(now)
}

/// The record that was kept whole on the first of these messages, while they still are what it reads as; and how many of
/// them it is.
pub fn kept<'b>(bodies: &[&'b [u8]]) -> Option<(&'b [u8], usize)> {
    let raw = noted(bodies.first()?, "raw")?;
    let drafts = message::read(raw, false)?;
    let whole = drafts.len() <= bodies.len()
        && drafts
            .iter()
            .zip(bodies)
            .all(|(draft, body)| agrees(&draft.body(Api::Gemini), body));
    whole.then_some((raw, drafts.len()))
}
