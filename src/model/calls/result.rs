//! Status and output of tool results.

use crate::model::json::{self, Dialect};
use crate::model::message::Message;
use std::borrow::Cow;

/// Whether a tool result is from a failed or rejected call.
pub fn has_failed(message: &Message<'_>) -> bool {
    let is_set = |name| message.metadata.and_then(|raw| json::member(raw, name)) == Some(b"true");
    is_set("is_error") || is_set("denied") || output(&message.text()).1.is_some_and(|status| status != 0)
}

/// A program's output and exit status, if a result wraps both in an object.
pub fn output(text: &str) -> (Cow<'_, str>, Option<i64>) {
    let unwrapped = || {
        let [b'{', ..] = text.as_bytes() else { return None };
        let members = json::members(text.trim_end().as_bytes(), Dialect::Python)?;
        let [(first, output), (second, metadata)] = &members[..] else {
            return None;
        };
        let status = json::number(json::member(metadata, "exit_code")?);
        let is_run = first == "output" && second == "metadata";
        Some((json::text(output).filter(|_| is_run)?.into_owned(), status))
    };
    match unwrapped() {
        Some((output, status)) => (output.into(), status),
        None => (text.into(), None),
    }
}
