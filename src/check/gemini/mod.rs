//! The rules of the Gemini API.

mod facts;
mod parts;
mod repair;
mod responses;

use super::finding::{ApiViolation, Findings};
use super::history::{History, Provider};
use super::raw::short_id;
use super::rules::TableRule;
use crate::format::request::Api;
use facts::{GeminiFacts, GeminiPart, GeminiRole};
pub(super) use parts::GeminiRules;
use std::collections::HashSet;

impl Provider for GeminiRules {
    type Facts = GeminiFacts;
    const API: Api = Api::Gemini;
    const ORDER: &'static [&'static str] = &["GE01", "GE05", "GE06", "GE02", "GE04", "GE03", "GE08", "GE07"];
    const CONTENT: &'static str = "parts";

    fn facts(raw: &[u8]) -> GeminiFacts {
        facts::read(raw)
    }

    fn speaker(facts: &GeminiFacts) -> Option<u8> {
        Some(facts.role as u8)
    }

    fn turn(facts: &GeminiFacts) -> Option<u8> {
        facts.responses().next().is_none().then_some(facts.role as u8)
    }

    fn find_violations(elements: &[&GeminiFacts], findings: &mut Findings<'_>) {
        for (index, piece) in elements.iter().enumerate() {
            let facts = piece;
            alone(index, facts, findings);
            let before = index.checked_sub(1).map(|before| elements[before]);
            if facts.calls().next().is_some() {
                if before.is_none_or(|before| before.role != GeminiRole::User) {
                    findings.add("GE02", (index, 0), || match before {
                        Some(_) => "content with calls follows content that is not from the user".to_string(),
                        None => "the request starts with content with calls".to_string(),
                    });
                }
                answers(index, elements, findings);
            }
            let called = before
                .is_some_and(|before| before.role == GeminiRole::Model && before.calls().next().is_some());
            if !called && let Some((_, response)) = facts.responses().next() {
                findings.add("GE04", (index, 0), || {
                    format!(
                        "the response of {} follows no content with calls",
                        short_id(&response.name)
                    )
                });
            }
        }
        if elements
            .first()
            .is_some_and(|first| first.role == GeminiRole::Model)
        {
            findings.add("GE06", (0, 0), || {
                "the first content is not from the user".to_string()
            });
        }
        if let Some(last) = elements.last()
            && last.role == GeminiRole::Model
            && last.calls().next().is_none()
            && !findings.options.prefill
        {
            findings.add("GE09", (elements.len() - 1, 0), || {
                "the last content is from the model".to_string()
            });
        }
        if findings.options.gemini >= 3 {
            unsigned(elements, findings);
        }
    }

    fn repair(rule: TableRule, history: &mut History<'_, '_, GeminiRules>, findings: &[&ApiViolation]) {
        repair::repair(rule, history, findings);
    }
}

/// Rules for single turns.
fn alone(index: usize, facts: &GeminiFacts, findings: &mut Findings<'_>) {
    let known = facts.name.is_empty() || matches!(facts.name.as_str(), "user" | "model");
    if !known && !findings.options.roles.contains(&facts.name) {
        findings.add("GE01", (index, 0), || {
            format!("unsupported role {}", short_id(&facts.name))
        });
    }
    if facts.parts.is_empty() {
        findings.add("GE05", (index, 0), || "content without parts".to_string());
    }
    // An empty text next to other parts may have a signature, or end a stream.
    let blank = facts
        .parts
        .iter()
        .all(|part| matches!(part, GeminiPart::Empty | GeminiPart::Blank));
    for (part, kind) in facts.parts.iter().enumerate() {
        if matches!(kind, GeminiPart::Empty) || blank {
            findings.add("GE05", (index, part), || "empty part".to_string());
        }
    }
}

/// Checks the calls of a turn against the responses in the next.
fn answers(index: usize, elements: &[&GeminiFacts], findings: &mut Findings<'_>) {
    let calls = elements[index].calls().count();
    let next = elements
        .get(index + 1)
        .filter(|next| next.role != GeminiRole::Model);
    let responses = next.map_or(0, |next| next.responses().count());
    if responses != calls {
        let only = next.is_none_or(|next| next.responses().count() == next.parts.len());
        let at_end = responses < calls
            && (index + 1 == elements.len() || index + 2 == elements.len() && next.is_some() && only);
        findings.open("GE03", (index, 0), at_end, || {
            format!("{calls} calls, but {responses} responses in the next content")
        });
        return;
    }
    let Some(next) = next else { return };
    if let Some(id) = unmatched_response(elements[index], next) {
        findings.add("GE03", (index, 0), || {
            format!(
                "the response for {} in the next content matches no call",
                short_id(id)
            )
        });
        return;
    }
    let ids = elements[index].calls().any(|(_, call)| !call.id.is_empty())
        || next.responses().any(|(_, response)| !response.id.is_empty());
    let called = elements[index].calls().map(|(_, call)| &call.name);
    if !ids && !called.eq(next.responses().map(|(_, response)| &response.name)) {
        findings.add("GE08", (index + 1, 0), || {
            "the responses are not in the order of the calls".to_string()
        });
    }
}

/// The id of a response that matches none of the calls, if these have ids.
fn unmatched_response<'f>(turn: &GeminiFacts, next: &'f GeminiFacts) -> Option<&'f str> {
    let ids: HashSet<&str> = turn.calls().map(|(_, call)| call.id.as_str()).collect();
    let mut responses = next.responses().map(|(_, response)| response.id.as_str());
    let unrecognized = |id: &&str| !id.is_empty() && !ids.contains("") && !ids.contains(id);
    responses.find(unrecognized)
}

/// After the last user turn, the first call of each turn must be signed.
fn unsigned(elements: &[&GeminiFacts], findings: &mut Findings<'_>) {
    let by_user = |piece: &&GeminiFacts| piece.role == GeminiRole::User && piece.responses().next().is_none();
    let start = elements.iter().rposition(by_user).map_or(0, |at| at + 1);
    for (index, piece) in elements.iter().enumerate().skip(start) {
        if piece.role == GeminiRole::Model
            && let Some((part, call)) = piece.calls().next()
            && !call.signed
        {
            findings.add("GE07", (index, part), || {
                format!("the call of {} has no thoughtSignature", short_id(&call.name))
            });
        }
    }
}
