//! Converts the turns of a record to messages.

use super::call::{self, RecordCalls};
use crate::format::object::Object;
use crate::format::request::draft::{self, AnnotatedDraft, MemberSlot, text_part};
use crate::model::json::{self, Dialect, ObjectBuilder, array, wrapped};

/// The usual sender names and their roles.
pub const SENDERS: [(&str, &str); 4] = [
    ("human", "user"),
    ("gpt", "assistant"),
    ("observation", "tool"),
    ("system", "system"),
];

/// The members of a turn with its sender and its content.
pub fn member_names(has_parts: bool) -> [&'static str; 2] {
    match has_parts {
        false => ["from", "value"],
        true => ["role", "content"],
    }
}

/// The role for a sender name.
pub fn role_of(from: &str) -> &str {
    match from {
        "human" | "user" => "user",
        "gpt" | "chatgpt" | "assistant" | "bing" | "bard" | "function_call" => "assistant",
        "observation" | "tool" | "function_response" => "tool",
        other => other,
    }
}

/// The messages of a record.
pub struct ShareGptOutline {
    /// The message of each turn, if it has one.
    pub messages: Vec<Option<AnnotatedDraft>>,
    /// Remarks on the turns.
    pub remarks: Vec<String>,
}

impl ShareGptOutline {
    /// For the turns of the record with this number.
    pub fn of(turns: &[Vec<u8>], has_parts: bool, number: usize) -> ShareGptOutline {
        let (mut calls, mut remarks) = (RecordCalls::of(number), Vec::new());
        let messages = turns
            .iter()
            .map(|turn| message(turn, has_parts, &mut calls, &mut remarks));
        ShareGptOutline {
            messages: messages.collect(),
            remarks,
        }
    }
}

/// The message of a turn; `None` if it has no sender.
fn message(
    turn: &[u8],
    has_parts: bool,
    calls: &mut RecordCalls,
    remarks: &mut Vec<String>,
) -> Option<AnnotatedDraft> {
    let turn = Object::of(turn)?;
    let [speaker, text] = member_names(has_parts);
    let from = turn.filled(speaker)?;
    let role = role_of(&from);
    if !SENDERS.iter().any(|(_, known)| *known == role) {
        remarks.push(format!("unknown sender '{from}'; used as role"));
    }
    if role == "user" {
        calls.close();
    }
    let mut draft = AnnotatedDraft::new(role);
    let value = turn.get(text).unwrap_or(b"null");
    let is_call = from == "function_call" && !has_parts;
    let called = is_call.then(|| json::text(value)).flatten();
    match called.and_then(|text| call::read(&text)) {
        _ if has_parts => parts(value, &mut draft, calls),
        Some((called, is_array)) => {
            let called = called.iter().map(|one| calls.native_call(one));
            draft.raw("content", "null").raw("tool_calls", array(called));
            draft.note("array", is_array.then(|| b"true".to_vec()));
        }
        None => {
            if is_call {
                remarks.push("a function_call that is not a call; read as text".to_string());
            }
            draft.raw("content", content(value));
        }
    }
    if role == "tool"
        && let Some(call) = calls.answered()
    {
        draft.raw("tool_call_id", call);
    }
    Some(draft)
}

/// A value as content; if it is neither text nor null, it is a part.
fn content(value: &[u8]) -> Vec<u8> {
    match value.first() {
        Some(b'"' | b'n') => value.to_vec(),
        _ => array([value]),
    }
}

/// Converts the parts of a message.
fn parts(value: &[u8], draft: &mut AnnotatedDraft, calls: &mut RecordCalls) {
    let Some(parts) = json::elements(value, Dialect::Strict) else {
        draft.raw("content", content(value));
        return;
    };
    let (mut contents, mut reasoning, mut called, mut order) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut text = None;
    for raw in parts {
        let part = Object::of(raw).unwrap_or_default();
        let kind = part.text("type").unwrap_or_default();
        let value = part.string("value");
        let call = value.filter(|_| kind == "tool_call").and_then(json::text);
        let call = call.and_then(|text| call::read(&text));
        match (kind.as_ref(), value, call) {
            ("reasoning", Some(value), _) => {
                reasoning.push(text_part(value));
                order.push(MemberSlot::Reasoning);
                continue;
            }
            ("tool_call", _, Some((all, false))) => {
                called.extend(all.iter().map(|one| calls.native_call(one)));
                order.push(MemberSlot::Call);
                continue;
            }
            ("text", Some(value), _) => {
                text = Some(value);
                contents.push(text_part(value));
            }
            ("image", Some(value), _) => {
                let mut part = ObjectBuilder::default();
                part.text("type", "image_url")
                    .raw("image_url", wrapped("url", value));
                contents.push(part.finish());
            }
            _ => contents.push(raw.to_vec()),
        }
        order.push(MemberSlot::Content);
    }
    match (&contents[..], text) {
        ([], _) => draft.raw("content", "null"),
        ([_], Some(text)) => draft.raw("content", text),
        (contents, _) => draft.raw("content", array(contents)),
    };
    draft.list("tool_calls", &called);
    draft.list("reasoning", &reasoning);
    draft.note("order", draft::order_note(&order));
}
