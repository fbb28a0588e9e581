//! The rules of the OpenAI Responses API.

mod parts;
mod repair;

use super::finding::{ApiViolation, Findings};
use super::history::{History, Provider};
use super::raw::{each, elements, is_filled, short_id, string};
use super::rules::TableRule;
use crate::format::request::Api;
use parts::PartFault;
use std::collections::HashSet;

/// The API.
pub(super) struct ResponsesRules;

/// Types of calls with results in separate items, whose type is that of the call and `_output`.
const CALLS: [&str; 6] = [
    "function_call", "custom_tool_call", "computer_call", "local_shell_call", "apply_patch_call",
    "shell_call",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// A user message or instructions: first letter of the role.
    Message(u8),
    /// A model message.
    Assistant,
    /// A call; index of its type.
    Call(usize),
    /// A result; index of its call's type.
    Output(usize),
    Reasoning,
    Compaction,
    /// A reference to an item that the provider stores.
    Reference,
    /// Created by the provider: call and result in one.
    Other,
}

#[derive(Debug)]
pub(super) struct ResponsesFacts {
    pub(super) kind: ItemKind,
    /// `call_id`.
    pub(super) call: String,
    pub(super) id: Option<String>,
    encrypted: bool,
    /// Whether its reasoning was removed.
    bereft: bool,
    /// Invalid parts of the content or of a result's output.
    pub(super) faults: Vec<(usize, PartFault)>,
}

impl ResponsesFacts {
    /// Whether the model created it, so that reasoning can belong to it.
    pub(super) fn is_from_model(&self) -> bool {
        matches!(
            self.kind,
            ItemKind::Assistant | ItemKind::Call(_) | ItemKind::Other | ItemKind::Reference
        )
    }
}

impl Provider for ResponsesRules {
    type Facts = ResponsesFacts;
    const API: Api = Api::OpenaiResponses;
    const ORDER: &'static [&'static str] = &[
        "OR06", "OR09", "OR07", "OR05", "OR01", "OR02", "OR03", "OR04", "OR08",
    ];
    const CONTENT: &'static str = "content";

    fn facts(raw: &[u8]) -> ResponsesFacts {
        let mut facts = ResponsesFacts {
            kind: ItemKind::Other,
            call: String::new(),
            id: None,
            encrypted: false,
            bereft: false,
            faults: Vec::new(),
        };
        let (mut kind, mut role) = (None, None);
        let (mut content, mut output): (&[u8], &[u8]) = (b"", b"");
        each(raw, |name, value| match name {
            "type" => kind = Some(string(value)),
            "role" => role = Some(string(value)),
            "call_id" => facts.call = string(value),
            "id" => facts.id = Some(string(value)).filter(|id| !id.is_empty()),
            "encrypted_content" => facts.encrypted = is_filled(Some(value)),
            "_had_reasoning" => facts.bereft = value == b"true",
            "content" => content = value,
            "output" => output = value,
            _ => {}
        });
        facts.kind = kind_of(kind.as_deref(), role.as_deref());
        // The result of a shell call has the id of its call.
        if let (ItemKind::Output(_), true) = (facts.kind, facts.call.is_empty()) {
            facts.call = facts.id.take().unwrap_or_default();
        }
        let parts = match facts.kind {
            ItemKind::Output(_) => output,
            _ => content,
        };
        let faults = elements(parts)
            .into_iter()
            .map(|part| parts::fault(facts.kind, part));
        facts.faults = faults
            .enumerate()
            .filter_map(|(part, fault)| Some((part, fault?)))
            .collect();
        facts
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

fn kind_of(kind: Option<&str>, role: Option<&str>) -> ItemKind {
    match kind {
        None | Some("message") => match role {
            Some("assistant") => ItemKind::Assistant,
            Some(role) => ItemKind::Message(role.bytes().next().unwrap_or_default()),
            None => ItemKind::Other,
        },
        Some("reasoning") => ItemKind::Reasoning,
        Some("compaction") => ItemKind::Compaction,
        Some("item_reference") => ItemKind::Reference,
        Some(kind) => {
            let call = |name: &str| CALLS.iter().position(|call| *call == name);
            let output = kind.strip_suffix("_output").and_then(call).map(ItemKind::Output);
            call(kind)
                .map(ItemKind::Call)
                .or(output)
                .unwrap_or(ItemKind::Other)
        }
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
