//! Converts events to messages.

use crate::format::kit::{Decoded, Draft, SummaryDraft};
use crate::format::object::{text, timestamp};
use crate::format::request::draft;
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};

/// The name of the format, and of its annotations.
pub const NAME: &str = "copilot-cli";

/// The data of an event, if it has this type.
pub fn data<'e>(event: &'e [u8], kind: &str) -> Option<&'e [u8]> {
    let data = json::member(event, "data").filter(|raw| raw.starts_with(b"{"))?;
    json::member_text(event, "type")
        .is_some_and(|own| own == kind)
        .then_some(data)
}

/// A member of the data of any event.
pub fn member<'e>(event: &'e [u8], name: &str) -> Option<&'e [u8]> {
    json::member(json::member(event, "data")?, name)
}

/// Whether an event is a message, provided that no message requests the call that it starts.
pub fn is_message(event: &[u8]) -> bool {
    let kinds = [
        "user.message", "system.message", "assistant.message", "tool.execution_complete",
    ];
    json::member_text(event, "type").is_some_and(|kind| kinds.contains(&kind.as_ref()))
}

/// Decodes the events of a message. `reasoning` is its reasoning from a separate event; `is_requested`: whether a
/// message requests the event's call; `begun`: the start of the event's compaction.
pub fn decode(
    events: &[&[u8]],
    reasoning: Option<&[u8]>,
    is_requested: bool,
    begun: Option<usize>,
) -> Decoded {
    let event = events[0];
    let Some(data) = json::member(event, "data").filter(|raw| raw.starts_with(b"{")) else {
        return Decoded::Unrecognized;
    };
    let string = |name| json::string_member(data, name);
    let draft = match json::member_text(event, "type").as_deref() {
        Some("user.message") => string("content").map(|content| user(data, content)),
        Some("system.message") => string("content").map(|content| message_draft("system", content)),
        Some("assistant.message") => assistant(events, reasoning),
        Some("tool.execution_complete") => result(data),
        Some("tool.execution_start") if !is_requested => call_message(data),
        Some("session.compaction_complete") => return summary(data, begun),
        Some("session.context_cleared") => {
            return Decoded::Summary(SummaryDraft {
                kept: begun,
                ..SummaryDraft::default()
            });
        }
        Some(kind) if kind.contains('.') || kind == "abort" => return Decoded::Passthrough,
        _ => None,
    };
    let Some(mut draft) = draft else {
        return Decoded::Unrecognized;
    };
    draft.optional("timestamp", timestamp(event));
    Decoded::Messages(vec![Draft::from(draft)])
}

fn message_draft(role: &str, content: &[u8]) -> draft::AnnotatedDraft {
    draft::AnnotatedDraft::with_content(role, content)
}

fn user(data: &[u8], content: &[u8]) -> draft::AnnotatedDraft {
    let files = json::list(data, "attachments").into_iter().filter_map(|file| {
        let path = json::string_member(file, "path")?;
        let mut part = ObjectBuilder::default();
        part.text("type", "file").raw("file", wrapped("filename", path));
        Some(part.finish())
    });
    let files: Vec<Vec<u8>> = files.collect();
    let mut draft = match files.is_empty() {
        true => message_draft("user", content),
        false => message_draft(
            "user",
            &array([draft::text_part(content)].into_iter().chain(files)),
        ),
    };
    if text(data, "source").is_some_and(|source| source.starts_with("skill-")) {
        draft.raw("category", "\"context\"");
    }
    draft
}

fn assistant(events: &[&[u8]], reasoning: Option<&[u8]>) -> Option<draft::AnnotatedDraft> {
    let (mut content, mut calls, mut chunks) = (String::new(), Vec::new(), Vec::new());
    for event in events {
        let data = data(event, "assistant.message")?;
        let text = match json::member(data, "content") {
            Some(raw) if raw != b"null" => json::text(raw)?,
            _ => "".into(),
        };
        let requests = json::list(data, "toolRequests");
        chunks.push(array([text.len().to_string(), requests.len().to_string()]));
        content.push_str(&text);
        calls.extend(requests.into_iter().map(call));
    }
    let data = json::member(events[0], "data")?;
    let last = |name, begin: u8| {
        let mut values = events.iter().rev().filter_map(|event| member(event, name));
        values.find(|raw| raw.first() == Some(&begin))
    };
    let mut draft = message_draft("assistant", &quoted(&content));
    let mut thought = ObjectBuilder::default();
    thought.text("type", "thinking");
    let own = last("reasoningText", b'"').or(reasoning);
    let signature = last("reasoningOpaque", b'"');
    let encrypted = last("encryptedContent", b'"');
    let members = [
        ("text", own),
        ("signature", signature),
        ("encrypted_content", encrypted),
    ];
    for (name, value) in members {
        thought.optional(name, value);
    }
    if members.iter().any(|(_, value)| value.is_some()) {
        draft.raw("reasoning", array([thought.finish()]));
    }
    draft.list("tool_calls", &calls);
    draft.optional("model", last("model", b'"'));
    let tokens = events
        .iter()
        .rev()
        .find_map(|event| member(event, "outputTokens"));
    if let Some(tokens) = tokens.filter(|raw| raw[0].is_ascii_digit()) {
        draft.raw("usage", wrapped("outputTokens", tokens));
    }
    if events.len() > 1 {
        draft.note("chunks", Some(array(chunks)));
    }
    json::member(data, "content").or(json::member(data, "toolRequests"))?;
    Some(draft)
}

/// A call; its arguments are an object, a JSON string, or missing.
fn call(request: &[u8]) -> Vec<u8> {
    let member = |name| json::member(request, name);
    let arguments = member("arguments").filter(|raw| *raw != b"null");
    draft::call_of(
        member("toolCallId"),
        member("name").or(member("toolName")),
        arguments,
    )
}

/// The message of a call that no message requests.
fn call_message(data: &[u8]) -> Option<draft::AnnotatedDraft> {
    json::string_member(data, "toolCallId")?;
    let mut draft = message_draft("assistant", b"\"\"");
    draft
        .raw("tool_calls", array([call(data)]))
        .note("made", Some(b"true".to_vec()));
    Some(draft)
}

fn result(data: &[u8]) -> Option<draft::AnnotatedDraft> {
    let id = json::string_member(data, "toolCallId")?;
    let inner = |object, name| json::member(json::member(data, object)?, name);
    let contents = [
        inner("result", "content"),
        inner("result", "text_result_for_llm"),
        inner("error", "message"),
    ];
    let content = contents.into_iter().flatten().find(|raw| raw.starts_with(b"\""));
    let mut draft = message_draft("tool", content.unwrap_or(b"\"\""));
    draft.raw("tool_call_id", id);
    let is_failed = json::member(data, "success") == Some(b"false");
    draft
        .metadata("is_error", is_failed.then(|| b"true".to_vec()))
        .note("no_result", content.is_none().then(|| b"true".to_vec()));
    Some(draft)
}

/// The summary of a compaction; without a text, its covered range is unknown.
fn summary(data: &[u8], begun: Option<usize>) -> Decoded {
    let is_done = json::member(data, "success") != Some(b"false");
    match text(data, "summaryContent").filter(|_| is_done) {
        Some(text) => Decoded::Summary(SummaryDraft {
            text,
            kept: begun,
            members: vec![("by", quoted(NAME))],
            ..SummaryDraft::default()
        }),
        None => Decoded::Passthrough,
    }
}
