//! The rules of the OpenAI Responses API.

mod facts;
mod parts;
mod repair;

use super::finding::{ApiViolation, Findings};
use super::history::{History, Provider};
use super::raw::short_id;
use super::rules::TableRule;
use crate::format::request::Api;
use facts::ResponsesFacts;
pub(super) use facts::ResponsesRules;
use parts::{ItemKind, PartFault};
use std::collections::HashSet;

impl Provider for ResponsesRules {
    type Facts = ResponsesFacts;
    const API: Api = Api::OpenaiResponses;
    const ORDER: &'static [&'static str] = &[
        "OR06", "OR09", "OR07", "OR05", "OR01", "OR02", "OR03", "OR04", "OR08",
    ];
    const CONTENT: &'static str = "content";

    fn facts(raw: &[u8]) -> ResponsesFacts {
        facts::read(raw)
    }

    fn speaker(facts: &ResponsesFacts) -> Option<u8> {
        match facts.kind {
            ItemKind::Message(role) => Some(role),
            ItemKind::Assistant => Some(b'a'),
            _ => None,
        }
    }

    fn text_type(facts: &ResponsesFacts) -> &'static str {
        parts::text_type(facts.kind)
    }

    fn find_violations(elements: &[&ResponsesFacts], findings: &mut Findings<'_>) {
        for (index, piece) in elements.iter().enumerate() {
            alone(index, piece, findings);
        }
        outputs(elements, findings);
        calls(elements, findings);
        reasoning(elements, findings);
        let mut ids = HashSet::new();
        for (index, piece) in elements.iter().enumerate() {
            let Some(id) = piece.id.as_deref() else {
                continue;
            };
            if piece.kind != ItemKind::Reference && !ids.insert(id) {
                findings.add("OR08", (index, 0), || format!("duplicate item {}", short_id(id)));
            }
        }
    }

    fn repair(rule: TableRule, history: &mut History<'_, '_, ResponsesRules>, findings: &[&ApiViolation]) {
        repair::repair(rule, history, findings);
    }
}

/// Rules for single items.
fn alone(index: usize, facts: &ResponsesFacts, findings: &mut Findings<'_>) {
    if facts.bereft && facts.kind == ItemKind::Assistant && facts.id.is_some() {
        findings.add("OR04", (index, 0), || {
            "has an id, but no reasoning item".to_string()
        });
    }
    if facts.kind == ItemKind::Reasoning && !facts.encrypted && findings.options.stateless {
        findings.add("OR05", (index, 0), || {
            "reasoning without encrypted_content".to_string()
        });
    }
    if facts.kind == ItemKind::Compaction && !facts.encrypted {
        findings.add("OR07", (index, 0), || {
            "compaction without encrypted_content".to_string()
        });
    }
    for (part, fault) in &facts.faults {
        match fault {
            PartFault::Type => findings.add("OR06", (index, *part), || {
                "the type of a part does not match the role".to_string()
            }),
            PartFault::Source => findings.add("OR09", (index, *part), || {
                "image or file without source".to_string()
            }),
        }
    }
}

fn outputs(elements: &[&ResponsesFacts], findings: &mut Findings<'_>) {
    let mut called = HashSet::new();
    for (index, piece) in elements.iter().enumerate() {
        let call = piece.call.as_str();
        match piece.kind {
            ItemKind::Call(kind) => _ = called.insert((kind, call)),
            ItemKind::Output(kind)
                if !called.contains(&(kind, call)) && !findings.options.previous_response =>
            {
                findings.add("OR01", (index, 0), || {
                    format!("the output for the call {} has no call before it", short_id(call))
                });
            }
            _ => {}
        }
    }
}

fn calls(elements: &[&ResponsesFacts], findings: &mut Findings<'_>) {
    let mut answered = HashSet::new();
    let mut at_end = true;
    for (index, piece) in elements.iter().enumerate().rev() {
        let call = piece.call.as_str();
        match piece.kind {
            ItemKind::Output(kind) => _ = answered.insert((kind, call)),
            ItemKind::Call(kind) if !answered.contains(&(kind, call)) => {
                findings.open("OR02", (index, 0), at_end, || {
                    format!("the call {} has no output after it", short_id(call))
                });
            }
            ItemKind::Message(_) | ItemKind::Assistant => at_end = false,
            _ => {}
        }
    }
}

fn reasoning(elements: &[&ResponsesFacts], findings: &mut Findings<'_>) {
    let mut followed = false;
    for (index, piece) in elements.iter().enumerate().rev() {
        if piece.kind != ItemKind::Reasoning {
            followed = piece.is_from_model();
        } else if !followed {
            findings.add("OR03", (index, 0), || {
                "no output item follows the reasoning item".to_string()
            });
        }
    }
}
