//! The formats that other programs write and this version does not read. They are tested ahead of its own, so
//! that what can be named is refused by its name and never read as something that it is not.

use super::seen::{first_elements, seen_members};
use super::{Detection, Format, Members, get, has, is_text};
use crate::model::json;
use std::borrow::Cow;

pub(super) const ANTHROPIC: &str = "Anthropic messages";
const CHATGPT: &str = "a ChatGPT export";
const CLAUDE_AI: &str = "a Claude.ai export";
const CLAUDE_CODE: &str = "a Claude Code log";
const CLINE: &str = "Cline or Roo messages";
const CODEX: &str = "a Codex log";
const CONTINUE: &str = "a Continue session";
const GEMINI: &str = "Gemini contents";
const GEMINI_CLI: &str = "a Gemini CLI log";
const GOAITOOLS: &str = "a goaitools state";
const GOOSE: &str = "a goose session";
const LANGCHAIN: &str = "LangChain messages";
const OPENCODE: &str = "an opencode record";
const PI: &str = "a pi session";
const RESPONSES: &str = "OpenAI Responses items";
const SHAREGPT: &str = "ShareGPT records";
const VERCEL: &str = "Vercel AI SDK messages";

/// Elements that are looked at.
const SEEN: usize = 20;

/// The verdict on a format that was named; most are known by their name only.
pub(super) fn verdict(what: &str) -> Detection {
    let format = match what {
        ANTHROPIC => Some(Format::Anthropic),
        GEMINI => Some(Format::Gemini),
        GOAITOOLS => Some(Format::Goaitools),
        RESPONSES => Some(Format::OpenaiResponses),
        _ => None,
    };
    format.map_or_else(|| unread(what), |format| Detection::known(format, what))
}

/// The verdict on a format that is known by name only.
fn unread(what: &str) -> Detection {
    Detection::unknown(format!("{what}, a format that this version does not read"))
}

fn begins(members: &Members<'_>, name: &str, byte: u8) -> bool {
    get(members, name).is_some_and(|value| value.first() == Some(&byte))
}

fn any_of(members: &Members<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| has(members, name))
}

/// The members of the first elements of an array.
pub(super) fn shapes(array: &[u8]) -> Vec<Members<'_>> {
    first_elements(array, SEEN)
        .into_iter()
        .map(|element| seen_members(element).0)
        .collect()
}

/// A first line that settles it, whatever the lines below look like.
pub(super) fn header(members: &Members<'_>) -> Option<&'static str> {
    let all = |names: &[&str]| names.iter().all(|name| has(members, name));
    match get(members, "type").and_then(json::text).as_deref() {
        Some("session") if has(members, "cwd") => Some(PI),
        Some("session_meta") if has(members, "payload") => Some(CODEX),
        None if all(&["id", "timestamp", "instructions"]) && !has(members, "role") => Some(CODEX),
        _ if all(&["sessionId", "projectHash"]) => Some(GEMINI_CLI),
        _ if all(&["working_dir", "message_count"]) => Some(GOOSE),
        _ => None,
    }
}

/// Names the system that a document, a record of a list or a line is of.
pub(super) fn named(members: &Members<'_>) -> Option<&'static str> {
    if is_text(members, "role") {
        return message(members);
    }
    document(members)
        .or_else(|| line(members))
        .or_else(|| list(&shapes(get(members, "messages")?), within))
}

/// The same of an element of `messages`, which holds no further list: so that no depth is without end.
fn within(members: &Members<'_>) -> Option<&'static str> {
    match is_text(members, "role") {
        true => message(members),
        false => line(members),
    }
}

/// Documents and records, by their own members.
fn document(members: &Members<'_>) -> Option<&'static str> {
    let has = |name: &str| has(members, name);
    let array = |name: &str| begins(members, name, b'[');
    let object = |name: &str| begins(members, name, b'{');
    let pair = |list: &str, one: &str, other: &str| {
        let first = shapes(get(members, list).unwrap_or_default());
        first
            .first()
            .is_some_and(|first| super::has(first, one) && super::has(first, other))
    };
    match () {
        () if object("mapping") => Some(CHATGPT),
        () if array("chat_messages") => Some(CLAUDE_AI),
        () if has("sessionId") && has("projectHash") => Some(GEMINI_CLI),
        () if has("$set") || is_text(members, "$rewindTo") => Some(GEMINI_CLI),
        () if has("sessionId") && array("history") => Some(CONTINUE),
        () if object("info") && array("messages") => Some("an opencode session"),
        () if has("sessionID") && has("messageID") && has("type") => Some(OPENCODE),
        () if object("time") && (has("projectID") || has("directory")) => Some(OPENCODE),
        () if has("working_dir") && (array("conversation") || has("message_count")) => Some(GOOSE),
        () if pair("conversations", "from", "value") => Some(SHAREGPT),
        () if has("processed_length") && (has("provider") || has("messages")) => Some(GOAITOOLS),
        () if has("version") && has("provider") && array("messages") => Some(GOAITOOLS),
        () if !has("messages") && request(members) => Some(RESPONSES),
        () if array("output") && get(members, "object") == Some(b"\"response\"") => Some(RESPONSES),
        () if array("contents") => Some(GEMINI),
        () if pair("candidates", "content", "finishReason") => Some(GEMINI),
        () if array("conversations") => Some(SHAREGPT),
        () => None,
    }
}

/// Members of a request of OpenAI's Responses beside its input, that tell it from an embedding's or from speech.
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

/// Whether it is a request of OpenAI's Responses: with a model, or with nothing that is no part of one.
fn request(members: &Members<'_>) -> bool {
    let own = |(name, _): &(Cow<'_, str>, &[u8])| name == "input" || REQUEST.contains(&name.as_ref());
    let model = has(members, "model");
    match get(members, "input").and_then(|input| input.first()) {
        // Text alone may be the input of anything.
        Some(b'"') => model && any_of(members, &REQUEST),
        Some(b'[') if model || members.iter().all(own) => shapes(get(members, "input").unwrap_or_default())
            .iter()
            .any(|item| is_text(item, "role") || is_text(item, "type")),
        _ => false,
    }
}

/// Lines of logs, and elements of lists, that are no messages with a role of their own.
fn line(members: &Members<'_>) -> Option<&'static str> {
    let has = |name: &str| has(members, name);
    if any_of(members, &["leafUuid", "parentUuid"]) {
        return Some(CLAUDE_CODE);
    }
    if begins(members, "lc", b'1') {
        return Some(LANGCHAIN);
    }
    if has("record_type") {
        return Some(CODEX);
    }
    let kind = get(members, "type").and_then(json::text)?;
    match kind.as_ref() {
        _ if begins(members, "payload", b'{') => Some(CODEX),
        "message" if has("message") && !has("sessionId") && !has("uuid") => Some(PI),
        _ if any_of(members, &["uuid", "messageId", "sessionId"]) => Some(CLAUDE_CODE),
        _ if begins(members, "data", b'{') => Some(LANGCHAIN),
        "gemini" if has("content") => Some(GEMINI_CLI),
        _ if item(&kind) => Some(RESPONSES),
        _ => None,
    }
}

/// One message, by the members beside its role and by the parts of its content.
fn message(members: &Members<'_>) -> Option<&'static str> {
    let has = |name: &str| has(members, name);
    let parts = shapes(get(members, "content").unwrap_or_default());
    let kinds: Vec<_> = parts
        .iter()
        .filter_map(|part| get(part, "type").and_then(json::text))
        .collect();
    let kind = |wanted: &[&str]| kinds.iter().any(|kind| wanted.contains(&kind.as_ref()));
    let source = parts.iter().any(|part| {
        super::has(part, "source")
            && get(part, "type").is_some_and(|kind| kind == b"\"image\"" || kind == b"\"document\"")
    });
    let blocks = ["tool_use", "tool_result", "thinking", "redacted_thinking"];
    match () {
        () if has("sessionID") && begins(members, "time", b'{') => Some(OPENCODE),
        () if has("toolInvocations") || (has("parts") && has("id")) => Some(VERCEL),
        () if has("parts") => Some(GEMINI),
        () if has("created") && !kinds.is_empty() => Some(GOOSE),
        () if kind(&["toolRequest", "toolResponse"]) => Some(GOOSE),
        () if parts
            .iter()
            .any(|part| is_text(part, "type") && is_text(part, "value")) =>
        {
            Some(SHAREGPT)
        }
        () if has("data") => Some(LANGCHAIN),
        () if any_of(
            members,
            &["condenseId", "condenseParent", "truncationId", "truncationParent"],
        ) =>
        {
            Some(CLINE)
        }
        () if kind(&["input_text", "output_text", "input_image", "input_file"]) => Some(RESPONSES),
        () if !own(members) && (source || kind(&blocks)) => Some(ANTHROPIC),
        () => None,
    }
}

/// Whether a message has what only OpenAI's chats and this program's own messages have.
pub(super) fn own(members: &Members<'_>) -> bool {
    let role = get(members, "role").unwrap_or_default();
    any_of(
        members,
        &[
            "tool_calls",
            "tool_call_id",
            "function_call",
            "category",
            "metadata",
        ],
    ) || role == b"\"tool\""
        || role == b"\"function\""
}

/// Whether the messages around one of this name may be plain ones, as those of every other format.
pub(super) fn takes_plain(what: &str) -> bool {
    what == ANTHROPIC || what == RESPONSES
}

/// Items of OpenAI's Responses beside messages.
fn item(kind: &str) -> bool {
    ["_call", "_call_output"].iter().any(|end| kind.ends_with(end))
        || [
            "reasoning",
            "compaction",
            "item_reference",
            "function_call_output",
        ]
        .contains(&kind)
}

/// The elements of a list, of which some may be plain messages; `name` judges one of them.
pub(super) fn list<'a>(
    elements: &[Members<'a>],
    name: impl Fn(&Members<'a>) -> Option<&'static str>,
) -> Option<&'static str> {
    let any = |name: &str| elements.iter().any(|element| has(element, name));
    if any("info") && any("parts") {
        return Some("an opencode session");
    }
    if any("ts") && any("role") {
        return Some(CLINE);
    }
    let openai = elements.iter().any(own);
    elements
        .iter()
        .filter_map(name)
        .find(|what| !(openai && *what == ANTHROPIC))
}

/// Files that systems write beside their sessions.
pub(super) fn beside(members: &Members<'_>) -> Option<&'static str> {
    let has = |name: &str| has(members, name);
    let kind = get(members, "type").unwrap_or_default();
    match () {
        () if has("role") || has("messages") || has("conversations") => None,
        () if has("etag") && has("schema_version") => Some("a key-value record of PenguiFlow"),
        () if index(members, &["session_id", "message_id"]) => Some("Penguin's index of checkpoints"),
        () if index(members, &["message_count", "token_count"]) => Some("Penguin's index of sessions"),
        () if has("$schemaVersion") => Some("a run state of the OpenAI Agents SDK"),
        () if has("sessionId") && has("dateCreated") => Some("the index of Continue's sessions"),
        () if has("sessionId") && has("messageId") && is_text(members, "message") => {
            Some("the log of prompts of the Gemini CLI")
        }
        () if has("ts") && (kind == b"\"say\"" || kind == b"\"ask\"") => {
            Some("what Cline or Roo show, not what they send")
        }
        () if has("instruction") && has("output") => Some("Alpaca records"),
        () if has("chosen") && has("rejected") => Some("pairs of a preferred and a rejected answer"),
        () => None,
    }
}

/// Whether the first row of an index has these members.
fn index(members: &Members<'_>, names: &[&str]) -> bool {
    let row = members.first().filter(|(_, row)| row.first() == Some(&b'{'));
    let row = row.map(|(_, row)| seen_members(row).0).unwrap_or_default();
    names.iter().all(|name| super::has(&row, name))
}

/// Text that is no JSON, of systems that write such.
pub(super) fn text(text: &[u8]) -> Option<&'static str> {
    let begins =
        |mark: &[u8]| memchr::memmem::find_iter(text, mark).any(|at| at == 0 || text[at - 1] == b'\n');
    match () {
        () if begins(b"# aider chat started at ") => Some("a chat history of aider"),
        () if begins(b"model:") && (begins(b"messages:") || begins(b"compressed_messages:")) => {
            Some("an aichat session")
        }
        () => None,
    }
}

/// Whose database it is, by the tables that the head shows.
pub(super) fn database(head: &[u8]) -> Option<&'static str> {
    let mark = b"CREATE TABLE ";
    let tables: Vec<&[u8]> = memchr::memmem::find_iter(head, mark)
        .map(|at| {
            let name = &head[at + mark.len()..];
            let name = name.strip_prefix(b"IF NOT EXISTS ").unwrap_or(name);
            let name = name
                .strip_prefix(b"\"")
                .or(name.strip_prefix(b"["))
                .unwrap_or(name);
            let end = name
                .iter()
                .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
            &name[..end.unwrap_or(name.len())]
        })
        .collect();
    let all = |names: &[&str]| names.iter().all(|name| tables.contains(&name.as_bytes()));
    match () {
        () if all(&["messages", "parts", "threads", "turns"]) => Some("llm"),
        () if all(&["responses", "conversations"]) => Some("llm"),
        () if all(&["agent_sessions", "agent_messages"]) => Some("the OpenAI Agents SDK"),
        () if all(&["session", "message", "part"]) => Some("opencode"),
        () if all(&["schema_version", "sessions", "messages"]) => Some("goose"),
        () => None,
    }
}
