//! The rules of the OpenAI Chat API.

mod facts;
mod repair;

use super::finding::{ApiViolation, Findings};
use super::history::{History, Provider};
use super::raw::short_id;
use super::rules::TableRule;
use crate::format::request::Api;
pub(super) use facts::ChatRules;
use facts::{ChatContent, ChatFacts, ChatRole, LONGEST, run_end};
use std::collections::HashMap;

impl Provider for ChatRules {
    type Facts = ChatFacts;
    const API: Api = Api::OpenaiChat;
    const ORDER: &'static [&'static str] = &[
        "OC07", "OC06", "OC05", "OC08", "OC09", "OC10", "OC03", "OC04", "OC01", "OC02",
    ];
    const CONTENT: &'static str = "content";

    fn facts(raw: &[u8]) -> ChatFacts {
        facts::read(raw)
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
