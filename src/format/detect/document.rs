//! A document as a whole: its top-level members and its first elements.

use super::lines::{foreign_line, unread};
use super::seen::{first_element, first_elements, seen_members};
use super::{Detection, Format, Hints, Members, excerpt, get, has, is_text};
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
    let messages = get(&members, "messages");
    let first = messages
        .and_then(first_element)
        .map(|element| seen_members(element).0)
        .unwrap_or_default();
    // What begins on one line, and may go on beyond what can be seen, is a line; a document has several.
    let line = memchr::memchr(b'\n', text).is_none();
    if is_text(&members, "role") {
        return match (line, hints.sidecar) {
            (true, true) => known(Format::Picoclaw, "a message line with a .meta.json beside it"),
            (true, false) => known(Format::Jsonl, "a message line"),
            (false, _) => known(Format::OpenaiChat, "one message"),
        };
    }
    if line
        && get(&members, "type") == Some(b"\"session\"")
        && has(&members, "version")
        && !has(&members, "cwd")
    {
        return known(Format::Native, "a session line begins it");
    }
    if has(&members, "skip") && has(&members, "key") && has(&members, "count") {
        return known(Format::Picoclaw, "a PicoClaw sidecar");
    }
    let times = ["created_at", "last_active"]
        .iter()
        .any(|name| has(&members, name));
    let records = ["llm_request_lifecycles", "tool_call_records"]
        .iter()
        .any(|name| has(&members, name));
    let penguin_id = get(&members, "id")
        .and_then(json::text)
        .is_some_and(|id| id.starts_with("session_") || id.starts_with("recovery_"));
    if has(&first, "category")
        || records
        || (times && (messages.is_some() || penguin_id))
        || (penguin_id && messages.is_some())
    {
        return known(
            Format::Penguin,
            "a document with id, times and messages of categories",
        );
    }
    if messages.is_some() || has(&members, "summary") {
        let legacy = ["key", "created", "updated", "summary"]
            .iter()
            .any(|name| has(&members, name));
        if legacy && !has(&members, "model") {
            return known(Format::Picoclaw, "a document with key, messages and summary");
        }
    }
    if messages.is_some() {
        return messages_of(&members, &first, &damaged);
    }
    if get(&members, "choices").is_some_and(|value| value.starts_with(b"[")) {
        return known(Format::OpenaiChat, "a response with choices");
    }
    let names: Vec<&str> = members.iter().take(6).map(|(name, _)| name.as_ref()).collect();
    match foreign_line(text) {
        Some(what) => unread(what),
        None if members.is_empty() && broken.is_none() => Detection::unknown("a JSON object with no members"),
        None => {
            let what = format!("a JSON object with the members {}{damaged}", names.join(", "));
            Detection {
                damaged: broken.is_some(),
                ..Detection::unknown(what)
            }
        }
    }
}

/// An object with `messages` that carries no system's own marks.
fn messages_of(members: &Members<'_>, first: &Members<'_>, damaged: &str) -> Detection {
    if has(first, "parts") || has(first, "info") || has(first, "value") || has(first, "data") {
        return unread("messages of another shape");
    }
    let content = get(first, "content").unwrap_or_default();
    if has(members, "system") || block(content) {
        return unread("Anthropic messages");
    }
    Detection::known(Format::OpenaiChat, format!("an object with messages{damaged}"))
}

fn array(text: &[u8], hints: Hints<'_>) -> Detection {
    let elements = first_elements(text, 20);
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
    let shapes: Vec<Members<'_>> = elements.iter().map(|element| seen_members(element).0).collect();
    let any = |name: &str| shapes.iter().any(|shape| has(shape, name));
    let is = |format, what: &str| Detection::known(format, what);
    if any("mapping") {
        return unread("a ChatGPT export");
    }
    if any("chat_messages") {
        return unread("a Claude.ai export");
    }
    if any("lc") || (any("data") && any("type")) {
        return unread("LangChain messages");
    }
    if any("parts") || any("toolInvocations") {
        return unread("messages with parts (Gemini or Vercel)");
    }
    if any("ts") || any("condenseId") || any("truncationId") {
        return unread("Cline or Roo messages");
    }
    if shapes
        .iter()
        .any(|s| get(s, "type").is_some_and(|t| t.starts_with(b"\"function_call") || t == b"\"reasoning\""))
    {
        return unread("OpenAI Responses items");
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
    if shapes
        .iter()
        .any(|shape| get(shape, "content").is_some_and(block))
    {
        return unread("Anthropic messages");
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

/// Whether content holds blocks that only Anthropic's interface has.
fn block(content: &[u8]) -> bool {
    content.first() == Some(&b'[')
        && [&b"\"tool_use\""[..], b"\"tool_result\"", b"\"thinking\""]
            .iter()
            .any(|kind| memchr::memmem::find(content, kind).is_some())
}
