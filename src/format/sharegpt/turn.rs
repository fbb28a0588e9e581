//! Converts a turn of a record to a message, annotated so that the turn can be restored.

use super::call::{self, Calls};
use super::record::Spelling;
use super::{NAME, parts};
use crate::error::Place;
use crate::format::object::Object;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::draft::Draft;
use crate::format::request::piece::{array, rest_object};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::Message;
use crate::model::record::Record;

/// A message with its annotations.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The message.
    pub draft: Draft,
    /// The annotations.
    pub own: ObjectBuilder,
}

/// The usual sender names and their roles.
const USUAL: [(&str, &str); 4] = [
    ("human", "user"),
    ("gpt", "assistant"),
    ("observation", "tool"),
    ("system", "system"),
];

/// The role for a sender name.
pub fn role_of(from: &str) -> &str {
    match from {
        "human" | "user" => "user",
        "gpt" | "chatgpt" | "assistant" | "bing" | "bard" | "function_call" => "assistant",
        "observation" | "tool" | "function_response" => "tool",
        other => other,
    }
}

/// The usual sender name for a role.
pub fn usual(role: &str, spelling: Spelling) -> &str {
    let found = USUAL.iter().find(|(_, known)| *known == role);
    match (spelling, found) {
        (Spelling::Turns, Some((word, _))) => word,
        _ => role,
    }
}

/// Encodes the message as a line.
pub fn body(turn: Turn) -> Vec<u8> {
    let mut draft = turn.draft;
    draft.metadata(NAME, (!turn.own.is_empty()).then(|| turn.own.finish()));
    draft.body(Api::OpenaiChat)
}

/// The message of a turn; `None` if it has no sender.
pub fn draft(raw: &[u8], spelling: Spelling, calls: &mut Calls, report: &mut Report) -> Option<Turn> {
    let turn = Object::of(raw)?;
    let (speaker, said) = match spelling {
        Spelling::Turns => ("from", "value"),
        Spelling::Parts => ("role", "content"),
    };
    let from = turn.filled(speaker)?;
    let role = role_of(&from);
    if !USUAL.iter().any(|(_, known)| *known == role) {
        report.note(Place::default(), format!("unknown sender '{from}'; used as role"));
    }
    if role == "user" {
        calls.close();
    }
    let mut draft = Draft::new(role);
    let mut own = ObjectBuilder::default();
    let value = turn.get(said);
    let mut is_call = false;
    if spelling == Spelling::Parts {
        parts::read(value, &mut draft, &mut own, calls);
    } else if from == "function_call" {
        match value.and_then(json::text).as_deref().and_then(call::read) {
            Some((made, is_array)) => {
                let made = made.iter().map(|one| calls.made(one));
                draft.raw("content", "null").raw("tool_calls", array(made));
                if is_array {
                    own.raw("array", "true");
                }
                is_call = true;
            }
            None => {
                report.lose(Loss::Part, 1);
                content(value, &mut draft);
            }
        }
    } else {
        content(value, &mut draft);
    }
    if role == "tool"
        && let Some(call) = calls.answered()
    {
        draft.raw("tool_call_id", call);
    }
    if from != usual(role, spelling) && !is_call {
        own.text("from", &from);
    }
    if let Some(rest) = rest_object(raw, &[speaker, said]) {
        own.raw("members", rest);
    }
    Some(Turn { draft, own })
}

/// Converts a value to content; a value that is not text is a part.
fn content(value: Option<&[u8]>, draft: &mut Draft) {
    match value {
        Some(raw) if raw.starts_with(b"\"") => draft.raw("content", raw),
        Some(b"null") | None => draft.raw("content", "null"),
        Some(raw) => draft.raw("content", array([raw])),
    };
}

/// Whether a message still equals the turn, ignoring generated call ids.
pub fn still_says(raw: &[u8], spelling: Spelling, message: &Message<'_>) -> bool {
    let turn = draft(raw, spelling, &mut Calls::default(), &mut Report::default());
    let Some(turn) = turn else { return false };
    let body = body(turn);
    let record = Record::parse(&body, Place { line: 0, offset: 1 });
    let Some(read) = record.message() else {
        return false;
    };
    let calls = |message: &Message<'_>| {
        let calls = message.tool_calls().into_iter();
        calls
            .map(|call| (call.name.into_owned(), call.arguments.into_owned()))
            .collect::<Vec<_>>()
    };
    read.role == message.role
        && read.content == message.content
        && read.reasoning == message.reasoning
        && calls(read) == calls(message)
}
