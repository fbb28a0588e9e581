//! The parts of a message that rules depend on.

use crate::check::raw::{each, elements, is_empty_array, string, text_member};
use crate::model::json;

/// The API.
pub(in crate::check) struct ChatRules;

/// Maximum length of a call id, in characters.
pub(super) const LONGEST: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum ChatRole {
    System,
    User,
    Assistant,
    Tool,
    Function,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum ChatContent {
    /// Null, absent or an empty list.
    Nothing,
    /// A string, or text parts.
    Text,
    /// Anything else.
    Other,
}

#[derive(Debug)]
pub(in crate::check) struct ChatCall {
    pub(super) id: String,
    /// Whether its arguments are a valid string.
    pub(super) arguments: bool,
}

#[derive(Debug)]
pub(in crate::check) struct ChatFacts {
    pub(super) role: ChatRole,
    pub(super) content: ChatContent,
    /// Whether content is an object, a number or a boolean.
    pub(super) malformed: bool,
    pub(super) calls: Vec<ChatCall>,
    /// Whether `tool_calls` is present and empty.
    pub(super) no_calls: bool,
    /// The id of the call that a result answers.
    pub(super) answers: String,
    /// Whether it has output other than content: a refusal, audio, or a legacy call.
    pub(super) speaks: bool,
}

/// Reads a message.
pub(super) fn read(raw: &[u8]) -> ChatFacts {
    let mut facts = ChatFacts {
        role: ChatRole::Other,
        content: ChatContent::Nothing,
        malformed: false,
        calls: Vec::new(),
        no_calls: false,
        answers: String::new(),
        speaks: false,
    };
    each(raw, |name, value| match name {
        "role" => facts.role = role(&string(value)),
        "content" => {
            facts.content = content(value);
            facts.malformed = !matches!(value.first(), Some(b'"' | b'[' | b'n') | None);
        }
        "tool_calls" => {
            facts.no_calls = is_empty_array(value);
            facts.calls = elements(value).into_iter().map(call).collect();
        }
        "tool_call_id" => facts.answers = string(value),
        "refusal" | "audio" | "function_call" => facts.speaks |= value != b"null",
        _ => {}
    });
    facts
}

fn role(name: &str) -> ChatRole {
    match name {
        "system" | "developer" => ChatRole::System,
        "user" => ChatRole::User,
        "assistant" => ChatRole::Assistant,
        "tool" => ChatRole::Tool,
        "function" => ChatRole::Function,
        _ => ChatRole::Other,
    }
}

fn content(raw: &[u8]) -> ChatContent {
    match raw.first() {
        Some(b'"') => ChatContent::Text,
        Some(b'[') if is_empty_array(raw) => ChatContent::Nothing,
        Some(b'[') if elements(raw).into_iter().all(is_text_part) => ChatContent::Text,
        Some(b'n') | None => ChatContent::Nothing,
        Some(_) => ChatContent::Other,
    }
}

pub(super) fn is_text_part(part: &[u8]) -> bool {
    text_member(part, "type").is_some_and(|kind| kind == "text")
        && json::member(part, "text").is_some_and(|text| text.first() == Some(&b'"'))
}

fn call(raw: &[u8]) -> ChatCall {
    let (mut id, mut arguments, mut custom) = (String::new(), false, false);
    each(raw, |name, value| match name {
        "id" => id = string(value),
        "custom" => custom = true,
        "function" => {
            arguments = json::member_text(value, "arguments").is_some_and(|text| {
                let text = text.as_bytes();
                let start = json::skip_space(text, 0);
                json::value_end(text, start, json::Dialect::Strict)
                    .is_ok_and(|end| json::skip_space(text, end) == text.len())
            });
        }
        _ => {}
    });
    ChatCall {
        id,
        arguments: arguments || custom,
    }
}

/// The end of the run of results after a message.
pub(super) fn run_end<'f>(index: usize, after: impl Iterator<Item = &'f ChatFacts>) -> usize {
    index + 1 + after.take_while(|facts| facts.role == ChatRole::Tool).count()
}
