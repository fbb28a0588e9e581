//! Detects the format of a document by its top-level members and first elements.

use super::head::{Hints, excerpt, is_cut};
use super::lines::{has_body, native_line};
use super::order::{self, named};
use super::other_files::{RUN_STATE, describe_other_file};
use super::shape::{ObjectShape, first_elements, seen_members};
use super::signature::has_role;
use super::verdict::Detection;
use crate::format::{Format, anthropic, goaitools, penguin};
use crate::model::health::HealthState;
use crate::model::json::{self, Dialect};

/// Detects the format of one JSON value by its top-level members and first elements; `whole` if it is not truncated.
pub(super) fn document(text: &[u8], whole: bool, hints: Hints<'_>) -> Detection {
    if text[0] == b'[' {
        return array(text, hints);
    }
    let (members, broken) = seen_members(text);
    // A value truncated by the end of the head is not damaged.
    let fault = json::value_end(text, 0, Dialect::Python).err();
    let damage = broken.filter(|_| !fault.is_some_and(|fault| is_cut(&fault, text, whole)));
    let damaged = damage
        .map(|what| format!("; damaged: {what}"))
        .unwrap_or_default();
    let known = |format, what: &str| Detection::known(format, format!("{what}{damaged}"));
    // A value on one line, which may extend beyond the head, is a line of a log; a document has several lines.
    let line = memchr::memchr(b'\n', text).is_none();
    let role = members.is_text("role");
    let alone = memchr::memchr(b'\n', text.trim_ascii_end()).is_none();
    if alone && native_line(&members) {
        let what = match members.get("type") {
            Some(b"\"session\"") => "starts with a header",
            Some(b"\"packed\"") => "starts with a packed session",
            _ => "a record of the native format",
        };
        return known(Format::Native, what);
    }
    if line && role && hints.sidecar {
        return known(Format::Picoclaw, "a message with a .meta.json next to it");
    }
    if penguin::is_checkpoint(|name| members.get(name)) {
        return known(Format::Penguin, "a checkpoint of a session");
    }
    if let Some(what) = describe_other_file(&members) {
        let verdict = Detection::unknown(format!("{what}, not a session"));
        return match what == RUN_STATE {
            true => verdict.hint("read the items of the session from session_items"),
            false => verdict,
        };
    }
    if let Some(signature) = named(&members) {
        return Detection::named(signature);
    }
    if has_role(&members) && has_body(&members) {
        return match line {
            true => known(Format::Jsonl, "a message on one line"),
            false => known(Format::OpenaiChat, "one message"),
        };
    }
    if members.has("skip") && members.has("key") && members.has("count") {
        return known(Format::Picoclaw, "a PicoClaw sidecar");
    }
    let messages = members.get("messages").filter(|value| value.starts_with(b"["));
    let shapes = messages.map(ObjectShape::elements).unwrap_or_default();
    // A list without any message fits none of the formats below; if the elements are truncated, only the first is
    // known.
    let may_have_messages = shapes.is_empty() || broken.is_some() || shapes.iter().any(is_message);
    if goaitools::is_state(|name| {
        members
            .0
            .iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(name))
    }) {
        return known(Format::Goaitools, "a goaitools state with other capitalization");
    }
    if penguiflow(&members) {
        return known(Format::Penguiflow, "a document with version, health and turns");
    }
    if is_penguin(&members, &shapes, broken.is_some()) {
        return known(
            Format::Penguin,
            "a document with id, times and messages of categories",
        );
    }
    if let (Some(_), true) = (messages, may_have_messages) {
        let is_bare = members
            .0
            .iter()
            .all(|(name, _)| matches!(name.as_ref(), "messages" | "metadata"));
        if is_bare && has_older_name(hints) {
            return known(Format::Penguin, "a conversation in Penguin's older form");
        }
        let legacy = ["key", "created", "updated", "summary"]
            .iter()
            .any(|name| members.has(name));
        if legacy && !members.has("model") {
            return known(Format::Picoclaw, "a document with key, messages and summary");
        }
        if members.has("system") {
            return Detection::named(&anthropic::SIGNATURE);
        }
        return known(Format::OpenaiChat, "an object with messages");
    }
    if members.is_text("key") && members.is_text("summary") {
        return known(Format::Picoclaw, "a document with key and summary");
    }
    if members
        .get("choices")
        .is_some_and(|value| value.starts_with(b"["))
    {
        return known(Format::OpenaiChat, "a response with choices");
    }
    if members.0.is_empty() && broken.is_none() {
        return Detection::unknown("empty JSON object");
    }
    let names: Vec<&str> = members.0.iter().take(6).map(|(name, _)| name.as_ref()).collect();
    let what = format!("JSON object with members: {}{damaged}", names.join(", "));
    Detection {
        damaged: damage.is_some(),
        ..Detection::unknown(what)
    }
}

/// Whether an element is a message, as far as visible.
fn is_message(shape: &ObjectShape<'_>) -> bool {
    has_role(shape) && has_body(shape)
}

/// Whether a document is Penguin's; `shapes` are its first messages.
fn is_penguin(members: &ObjectShape<'_>, shapes: &[ObjectShape<'_>], broken: bool) -> bool {
    let any = |names: [&str; 2]| names.iter().any(|name| members.has(name));
    let id = members
        .get("id")
        .and_then(json::text)
        .is_some_and(|id| id.starts_with("session_") || id.starts_with("recovery_"));
    let messages = members.has("messages");
    // Penguin's reader drops messages without content; their category still identifies the format.
    let is_message =
        |shape: &ObjectShape<'_>| shape.is_text("role") && (has_body(shape) || shape.is_text("category"));
    if !shapes.is_empty() && !broken && !shapes.iter().any(is_message) {
        return false;
    }
    shapes.first().is_some_and(|first| first.has("category"))
        || any(["llm_request_lifecycles", "tool_call_records"])
        || (any(["created_at", "last_active"]) && (messages || id))
        || (id && messages)
}

/// Whether a document is PenguiFlow's memory.
fn penguiflow(members: &ObjectShape<'_>) -> bool {
    let version = members
        .get("version")
        .is_some_and(|raw| raw.iter().all(u8::is_ascii_digit));
    let health = members
        .get("health")
        .and_then(json::text)
        .is_some_and(|name| HealthState::from_name(&name).is_some());
    let listed = |name: &&str| members.get(name).is_some_and(|raw| raw.starts_with(b"["));
    version && health && ["turns", "pending", "backlog"].iter().any(listed)
}

/// Whether this is a file name of older Penguin versions.
fn has_older_name(hints: Hints<'_>) -> bool {
    hints.name.is_some_and(|name| name.starts_with("conversation_"))
}

fn array(text: &[u8], hints: Hints<'_>) -> Detection {
    let elements = first_elements(text, 1);
    if elements.is_empty() {
        let damaged = json::value_end(text, 0, Dialect::Python).is_err();
        let what = if damaged {
            "damaged JSON array"
        } else {
            "empty JSON array"
        };
        return Detection {
            damaged,
            ..Detection::unknown(what)
        };
    }
    let shapes = ObjectShape::elements(text);
    let any = |name: &str| shapes.iter().any(|shape| shape.has(name));
    let is = |format, what: &str| Detection::known(format, what);
    if let Some(what) = shapes.iter().find_map(describe_other_file) {
        return Detection::unknown(format!("{what}, not a session"));
    }
    if let Some(signature) = order::list(&shapes, named) {
        return Detection::named(signature);
    }
    if shapes
        .iter()
        .any(|shape| shape.has_element("messages", is_message))
    {
        return is(Format::OpenaiChat, "an array of objects with messages");
    }
    if !shapes.iter().any(has_role) {
        return Detection::unknown(format!(
            "JSON array whose elements have no known role: {}",
            excerpt(elements[0])
        ));
    }
    if any("category") || has_older_name(hints) {
        return is(Format::Penguin, "a list of messages in Penguin's older form");
    }
    let decisive = any("tool_calls")
        || any("tool_call_id")
        || any("function_call")
        || shapes.iter().any(|shape| {
            let role = shape.get("role").unwrap_or_default();
            let content = shape.get("content").unwrap_or_default();
            [&b"\"system\""[..], b"\"tool\"", b"\"function\"", b"\"developer\""].contains(&role)
                || memchr::memmem::find(content, b"\"image_url\"").is_some()
                || memchr::memmem::find(content, b"\"input_audio\"").is_some()
        });
    if !shapes.iter().any(has_body) {
        return Detection::unknown(format!(
            "JSON array whose elements have a role, but no content: {}",
            excerpt(elements[0])
        ));
    }
    let mut verdict = is(Format::OpenaiChat, "an array of messages");
    if !decisive {
        verdict.others = vec!["anthropic"];
    }
    verdict
}
