//! A document as a whole: its top-level members and its first elements.

use super::foreign;
use super::lines::{has_body, native_line};
use super::seen::{first_elements, seen_members};
use super::{Detection, Format, Hints, Members, excerpt, get, has, is_text};
use crate::format::{goaitools, penguin};
use crate::model::health::State;
use crate::model::json::{self, Dialect};

/// Judges one JSON value by its top-level members and first elements.
pub(super) fn document(text: &[u8], hints: Hints<'_>) -> Detection {
    if text[0] == b'[' {
        return array(text, hints);
    }
    let (members, broken) = seen_members(text);
    let damaged = broken
        .map(|what| format!("; damaged: {what}"))
        .unwrap_or_default();
    let known = |format, what: &str| Detection::known(format, format!("{what}{damaged}"));
    // What begins on one line, and may go on beyond what can be seen, is a line; a document has several.
    let line = memchr::memchr(b'\n', text).is_none();
    let role = is_text(&members, "role");
    let alone = memchr::memchr(b'\n', text.trim_ascii_end()).is_none();
    if alone && native_line(&members) {
        let what = match get(&members, "type") {
            Some(b"\"session\"") => "a session line begins it",
            _ => "a line of the native stream",
        };
        return known(Format::Native, what);
    }
    if line && role && hints.sidecar {
        return known(Format::Picoclaw, "a message line with a .meta.json beside it");
    }
    if penguin::is_checkpoint(|name| get(&members, name)) {
        return known(Format::Penguin, "a checkpoint of a session");
    }
    if let Some(what) = foreign::beside(&members) {
        return Detection::unknown(format!("{what}, which is no session"));
    }
    if let Some(what) = foreign::named(&members) {
        return foreign::verdict(what);
    }
    if role && has_body(&members) {
        return match line {
            true => known(Format::Jsonl, "a message line"),
            false => known(Format::OpenaiChat, "one message"),
        };
    }
    if has(&members, "skip") && has(&members, "key") && has(&members, "count") {
        return known(Format::Picoclaw, "a PicoClaw sidecar");
    }
    if goaitools::is_state(|name| members.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))) {
        return known(
            Format::Goaitools,
            "a goaitools state, its members spelled otherwise",
        );
    }
    if penguiflow(&members) {
        return known(Format::Penguiflow, "a document with version, health and turns");
    }
    let messages = get(&members, "messages").filter(|value| value.starts_with(b"["));
    let shapes = messages.map(foreign::shapes).unwrap_or_default();
    if is_penguin(&members, shapes.first()) {
        return known(
            Format::Penguin,
            "a document with id, times and messages of categories",
        );
    }
    // What holds messages of no kind is none of those below; of elements that are cut only the first is seen.
    let spoken = shapes.is_empty() || broken.is_some() || shapes.iter().any(|shape| has(shape, "role"));
    if let (Some(_), true) = (messages, spoken) {
        let legacy = ["key", "created", "updated", "summary"]
            .iter()
            .any(|name| has(&members, name));
        if legacy && !has(&members, "model") {
            return known(Format::Picoclaw, "a document with key, messages and summary");
        }
        if has(&members, "system") {
            return foreign::verdict(foreign::ANTHROPIC);
        }
        return known(Format::OpenaiChat, "an object with messages");
    }
    if is_text(&members, "key") && is_text(&members, "summary") {
        return known(Format::Picoclaw, "a document with key and summary");
    }
    if get(&members, "choices").is_some_and(|value| value.starts_with(b"[")) {
        return known(Format::OpenaiChat, "a response with choices");
    }
    if members.is_empty() && broken.is_none() {
        return Detection::unknown("a JSON object with no members");
    }
    let names: Vec<&str> = members.iter().take(6).map(|(name, _)| name.as_ref()).collect();
    let what = format!("a JSON object with the members {}{damaged}", names.join(", "));
    Detection {
        damaged: broken.is_some(),
        ..Detection::unknown(what)
    }
}

/// Whether a document has the marks of Penguin's; `first` is the first of its messages.
fn is_penguin(members: &Members<'_>, first: Option<&Members<'_>>) -> bool {
    let any = |names: [&str; 2]| names.iter().any(|name| has(members, name));
    let id = get(members, "id")
        .and_then(json::text)
        .is_some_and(|id| id.starts_with("session_") || id.starts_with("recovery_"));
    let messages = has(members, "messages");
    first.is_some_and(|first| has(first, "category"))
        || any(["llm_request_lifecycles", "tool_call_records"])
        || (any(["created_at", "last_active"]) && (messages || id))
        || (id && messages)
}

/// Whether a document has the marks of PenguiFlow's memory.
fn penguiflow(members: &Members<'_>) -> bool {
    let version = get(members, "version").is_some_and(|raw| raw.iter().all(u8::is_ascii_digit));
    let health = get(members, "health")
        .and_then(json::text)
        .is_some_and(|name| State::from_name(&name).is_some());
    let listed = |name: &&str| get(members, name).is_some_and(|raw| raw.starts_with(b"["));
    version && health && ["turns", "pending", "backlog"].iter().any(listed)
}

fn array(text: &[u8], hints: Hints<'_>) -> Detection {
    let elements = first_elements(text, 1);
    if elements.is_empty() {
        let damaged = json::value_end(text, 0, Dialect::Python).is_err();
        let what = if damaged {
            "a damaged JSON array"
        } else {
            "an empty JSON array"
        };
        return Detection {
            damaged,
            ..Detection::unknown(what)
        };
    }
    let shapes = foreign::shapes(text);
    let any = |name: &str| shapes.iter().any(|shape| has(shape, name));
    let is = |format, what: &str| Detection::known(format, what);
    if let Some(what) = shapes.iter().find_map(foreign::beside) {
        return Detection::unknown(format!("{what}, which is no session"));
    }
    if let Some(what) = foreign::list(&shapes, foreign::named) {
        return foreign::verdict(what);
    }
    if any("messages") {
        return is(Format::OpenaiChat, "an array of objects with messages");
    }
    if !any("role") {
        return Detection::unknown(format!(
            "a JSON array whose elements have no role: {}",
            excerpt(elements[0])
        ));
    }
    if any("category") || hints.name.is_some_and(|name| name.starts_with("conversation_")) {
        return is(Format::Penguin, "a list of messages in Penguin's older form");
    }
    let decisive = any("tool_calls")
        || any("tool_call_id")
        || any("function_call")
        || shapes.iter().any(|shape| {
            let role = get(shape, "role").unwrap_or_default();
            let content = get(shape, "content").unwrap_or_default();
            [&b"\"system\""[..], b"\"tool\"", b"\"function\"", b"\"developer\""].contains(&role)
                || memchr::memmem::find(content, b"\"image_url\"").is_some()
                || memchr::memmem::find(content, b"\"input_audio\"").is_some()
        });
    let mut verdict = is(Format::OpenaiChat, "an array of messages");
    if !decisive {
        verdict.others = vec!["anthropic"];
    }
    verdict
}
