//! The rules of the OpenAI Chat API.

mod repair;

use super::finding::{ApiViolation, Findings};
use super::history::{History, Provider};
use super::raw::{each, elements, is_empty_array, short_id, string, text_member};
use super::rules::TableRule;
use crate::format::request::Api;
use crate::model::json;
use std::collections::HashMap;

/// The API.
pub(super) struct ChatRules;

/// Maximum length of a call id, in characters.
pub(super) const LONGEST: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatRole {
    System,
    User,
    Assistant,
    Tool,
    Function,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatContent {
    /// Null, absent or an empty list.
    Nothing,
    /// A string, or text parts.
    Text,
    /// Anything else.
    Other,
}

#[derive(Debug)]
pub(super) struct ChatCall {
    pub(super) id: String,
    /// Whether its arguments are a valid string.
    arguments: bool,
}

#[derive(Debug)]
pub(super) struct ChatFacts {
    pub(super) role: ChatRole,
    pub(super) content: ChatContent,
    /// Whether content is an object, a number or a boolean.
    malformed: bool,
    pub(super) calls: Vec<ChatCall>,
    /// Whether `tool_calls` is present and empty.
    no_calls: bool,
    /// The id of the call that a result answers.
    pub(super) answers: String,
    /// Whether it has output other than content: a refusal, audio, or a legacy call.
    pub(super) speaks: bool,
}

impl Provider for ChatRules {
    type Facts = ChatFacts;
    const API: Api = Api::OpenaiChat;
    const ORDER: &'static [&'static str] = &[
        "OC07", "OC06", "OC05", "OC08", "OC09", "OC10", "OC03", "OC04", "OC01", "OC02",
    ];
    const CONTENT: &'static str = "content";

    fn facts(raw: &[u8]) -> ChatFacts {
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

    fn speaker(facts: &ChatFacts) -> Option<u8> {
        (!matches!(facts.role, ChatRole::Tool | ChatRole::Function)).then_some(facts.role as u8)
    }

    fn find_violations(elements: &[&ChatFacts], findings: &mut Findings<'_>) {
        if elements.is_empty() {
            findings.add("OC11", (0, 0), || "the request has no message".to_string());
        }
        let mut run = None;
        for (index, piece) in elements.iter().enumerate() {
            alone(index, piece, findings);
            if piece.role == ChatRole::Tool {
                if run.is_none() {
                    orphan(index, piece, findings);
                }
                continue;
            }
            run = None;
            if piece.role == ChatRole::Assistant && !piece.calls.is_empty() {
                run = Some(index);
                pairs(elements, index, findings);
            }
        }
    }

    fn repair(rule: TableRule, history: &mut History<'_, '_, ChatRules>, findings: &[&ApiViolation]) {
        repair::repair(rule, history, findings);
    }
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

/// Rules for single messages.
fn alone(index: usize, facts: &ChatFacts, findings: &mut Findings<'_>) {
    match facts.role {
        ChatRole::Other => findings.add("OC07", (index, 0), || "unknown role".to_string()),
        ChatRole::User if facts.content == ChatContent::Nothing => {
            findings.add("OC05", (index, 0), || "user message without content".to_string());
        }
        ChatRole::Assistant
            if facts.content == ChatContent::Nothing && facts.calls.is_empty() && !facts.speaks =>
        {
            findings.add("OC05", (index, 0), || {
                "assistant message without content and calls".to_string()
            });
        }
        ChatRole::Tool if facts.content != ChatContent::Text => {
            findings.add("OC08", (index, 0), || {
                "the content of a result is not text".to_string()
            });
        }
        _ if facts.malformed => findings.add("OC08", (index, 0), || {
            "the content is neither text nor a list of parts".to_string()
        }),
        _ => {}
    }
    if facts.no_calls {
        findings.add("OC06", (index, 0), || "tool_calls is an empty list".to_string());
    }
    let mut seen = HashMap::new();
    for (part, call) in facts.calls.iter().enumerate() {
        if !call.arguments {
            findings.add("OC09", (index, part), || {
                format!(
                    "the arguments of the call {} are not a string with valid JSON",
                    short_id(&call.id)
                )
            });
        }
        if call.id.chars().nth(LONGEST).is_some() {
            findings.add("OC10", (index, part), || {
                format!(
                    "the id of the call {} is longer than {LONGEST} characters",
                    short_id(&call.id)
                )
            });
        }
        if seen.insert(call.id.as_str(), part).is_some() {
            findings.add("OC03", (index, part), || {
                format!("duplicate call {} in one message", short_id(&call.id))
            });
        }
    }
}

/// The end of the run of results after a message.
pub(super) fn run_end<'f>(index: usize, after: impl Iterator<Item = &'f ChatFacts>) -> usize {
    index + 1 + after.take_while(|facts| facts.role == ChatRole::Tool).count()
}

/// Checks a message with calls against the results after it.
fn pairs(elements: &[&ChatFacts], index: usize, findings: &mut Findings<'_>) {
    let calls = &elements[index].calls;
    let mut left: HashMap<&str, usize> = HashMap::new();
    for call in calls {
        *left.entry(&call.id).or_default() += 1;
    }
    let end = run_end(index, elements[index + 1..].iter().copied());
    for (result, piece) in elements.iter().enumerate().take(end).skip(index + 1) {
        match left.get_mut(piece.answers.as_str()) {
            None => orphan(result, piece, findings),
            Some(0) => findings.add("OC04", (result, 0), || {
                format!("the call {} already has a result", short_id(&piece.answers))
            }),
            Some(left) => *left -= 1,
        }
    }
    // With repeated ids, the first calls are those with results.
    for (part, call) in calls.iter().enumerate().rev() {
        if let Some(left) = left.get_mut(call.id.as_str()).filter(|left| **left > 0) {
            *left -= 1;
            findings.open("OC02", (index, part), end == elements.len(), || {
                format!(
                    "the call {} has no result before the next message",
                    short_id(&call.id)
                )
            });
        }
    }
}

fn orphan(index: usize, facts: &ChatFacts, findings: &mut Findings<'_>) {
    findings.add("OC01", (index, 0), || {
        format!(
            "the result for the call {} matches no call of the message before",
            short_id(&facts.answers)
        )
    });
}
