//! The rules of the Anthropic Messages API.

mod blocks;
mod facts;
mod pairs;
mod repair;
mod shape;

use super::finding::{ApiViolation, Findings};
use super::history::{History, Provider};
use super::raw::short_id;
use super::rules::TableRule;
use crate::format::request::Api;
pub(super) use blocks::AnthropicRules;
use facts::{AnthropicContent, AnthropicFacts, AnthropicRole, CheckedBlock, loop_start};
use std::collections::{HashMap, HashSet};

/// Maximum number of `cache_control` marks in a request.
const MARKS: usize = 4;

impl Provider for AnthropicRules {
    type Facts = AnthropicFacts;
    const API: Api = Api::Anthropic;
    const ORDER: &'static [&'static str] = &[
        "AN01", "AN13", "AN12", "AN10", "AN07", "AN08", "AN06", "AN03", "AN02", "AN05", "AN11", "AN04",
        "AN14",
    ];
    const CONTENT: &'static str = "content";

    fn facts(raw: &[u8]) -> AnthropicFacts {
        facts::read(raw)
    }

    fn speaker(facts: &AnthropicFacts) -> Option<u8> {
        Some(facts.role as u8)
    }

    fn turn(facts: &AnthropicFacts) -> Option<u8> {
        (!facts.is_results()).then_some(facts.role as u8)
    }

    fn find_violations(elements: &[&AnthropicFacts], findings: &mut Findings<'_>) {
        let last = elements.len().saturating_sub(1);
        let mut uses = HashSet::new();
        for (index, piece) in elements.iter().enumerate() {
            alone(index, index == last, piece, findings);
            for (part, id) in piece.uses() {
                if !uses.insert(id) {
                    findings.add("AN06", (index, part), || {
                        format!("duplicate call {}", short_id(id))
                    });
                }
            }
            let before = index.checked_sub(1).map(|before| elements[before]);
            results(index, before, piece, findings);
            let at_end = index == last || index + 1 == last && elements[last].is_results();
            open(index, piece, elements.get(index + 1).copied(), at_end, findings);
        }
        check_ends(elements, findings);
        if findings.options.thinking
            && let Some(index) = reply_without_thinking(elements)
        {
            findings.add("AN11", (index, 0), || {
                "the open tool loop does not start with a thinking block".to_string()
            });
        }
        marks(elements, findings);
    }

    fn repair(rule: TableRule, history: &mut History<'_, '_, AnthropicRules>, findings: &[&ApiViolation]) {
        repair::repair(rule, history, findings);
    }
}

/// Rules for single messages.
fn alone(index: usize, is_last: bool, facts: &AnthropicFacts, findings: &mut Findings<'_>) {
    let options = findings.options;
    let taken = matches!(facts.role, AnthropicRole::User | AnthropicRole::Assistant);
    if !taken && !options.roles.contains(&facts.name) {
        findings.add("AN01", (index, 0), || {
            format!("unsupported role {}", short_id(&facts.name))
        });
    }
    let empty = match facts.content {
        AnthropicContent::Blank => {
            findings.add("AN07", (index, 0), || "blank text".to_string());
            false
        }
        AnthropicContent::Nothing => true,
        AnthropicContent::Text => false,
    };
    if empty && !(is_last && facts.role == AnthropicRole::Assistant) {
        findings.add("AN08", (index, 0), || "message without content".to_string());
    }
    let mut others = false;
    for (part, block) in facts.blocks.iter().enumerate() {
        let at = (index, part);
        match block {
            CheckedBlock::Text { blank: true } => findings.add("AN07", at, || "blank text block".to_string()),
            CheckedBlock::Thinking { .. } if facts.role != AnthropicRole::Assistant => {
                findings.add("AN10", at, || {
                    "thinking block outside an assistant message".to_string()
                });
            }
            CheckedBlock::Thinking { signed: false } if options.thinking => {
                findings.add("AN10", at, || "thinking block without signature".to_string());
            }
            CheckedBlock::Compaction { whole: false } => {
                findings.add("AN13", at, || "incomplete compaction block".to_string());
            }
            CheckedBlock::Use(_) | CheckedBlock::Result(_) if options.no_tools => {
                findings.add("AN12", at, || "tool block in a request without tools".to_string());
            }
            _ => {}
        }
        match block {
            CheckedBlock::Result(id) if others => {
                findings.add("AN05", at, || {
                    format!("the result for {} follows other blocks", short_id(id))
                });
            }
            CheckedBlock::Result(_) => {}
            _ => others = true,
        }
    }
}

/// The number of calls by id.
fn call_counts(facts: Option<&AnthropicFacts>) -> HashMap<&str, usize> {
    let mut count = HashMap::new();
    for (_, id) in facts.into_iter().flat_map(AnthropicFacts::uses) {
        *count.entry(id).or_default() += 1;
    }
    count
}

/// Checks each result against the calls of the previous message.
fn results(
    index: usize,
    before: Option<&AnthropicFacts>,
    facts: &AnthropicFacts,
    findings: &mut Findings<'_>,
) {
    if facts.results().next().is_none() {
        return;
    }
    let mut left = call_counts(before.filter(|_| facts.role != AnthropicRole::Assistant));
    for (part, id) in facts.results() {
        match left.get_mut(id) {
            None => findings.add("AN03", (index, part), || {
                format!(
                    "the result for {} matches no call of the message before",
                    short_id(id)
                )
            }),
            Some(0) => findings.add("AN06", (index, part), || {
                format!("duplicate result for {}", short_id(id))
            }),
            Some(left) => *left -= 1,
        }
    }
}

/// Checks each call against the results of the next message.
fn open(
    index: usize,
    facts: &AnthropicFacts,
    after: Option<&AnthropicFacts>,
    at_end: bool,
    findings: &mut Findings<'_>,
) {
    let mut left = call_counts(Some(facts));
    if left.is_empty() {
        return;
    }
    for (_, id) in after
        .filter(|after| after.role != AnthropicRole::Assistant)
        .into_iter()
        .flat_map(AnthropicFacts::results)
    {
        if let Some(left) = left.get_mut(id) {
            *left = left.saturating_sub(1);
        }
    }
    // With repeated ids, the first calls are those with results.
    let uses: Vec<_> = facts.uses().collect();
    for (part, id) in uses.into_iter().rev() {
        if let Some(left) = left.get_mut(id).filter(|left| **left > 0) {
            *left -= 1;
            findings.open("AN04", (index, part), at_end, || {
                format!("the call {} has no result in the next message", short_id(id))
            });
        }
    }
}

/// Checks the first and the last message.
fn check_ends(elements: &[&AnthropicFacts], findings: &mut Findings<'_>) {
    if elements
        .first()
        .is_some_and(|first| first.role == AnthropicRole::Assistant)
    {
        findings.add("AN02", (0, 0), || {
            "the first message is not from the user".to_string()
        });
    }
    if let Some(last) = elements.last()
        && last.role == AnthropicRole::Assistant
        && last.uses().next().is_none()
        && !findings.options.prefill
    {
        findings.add("AN09", (elements.len() - 1, 0), || {
            "the last message is from the assistant".to_string()
        });
    }
}

/// The first assistant message of an open loop, if it does not start with thinking.
fn reply_without_thinking(elements: &[&AnthropicFacts]) -> Option<usize> {
    let start = loop_start(elements)?;
    let first = elements[start..]
        .iter()
        .position(|piece| piece.role == AnthropicRole::Assistant)?
        + start;
    let thinks = matches!(
        elements[first].blocks.first(),
        Some(CheckedBlock::Thinking { .. })
    );
    (!thinks).then_some(first)
}

/// Reports excess `cache_control` marks, starting with the first.
fn marks(elements: &[&AnthropicFacts], findings: &mut Findings<'_>) {
    let all: usize = elements.iter().map(|piece| piece.marks.len()).sum();
    let mut surplus = all.saturating_sub(MARKS.saturating_sub(findings.options.marks));
    for (index, piece) in elements.iter().enumerate() {
        for part in piece.marks.iter().take(surplus) {
            findings.add("AN14", (index, *part), || {
                format!("more than {MARKS} cache_control markers")
            });
        }
        surplus = surplus.saturating_sub(piece.marks.len());
        if surplus == 0 {
            break;
        }
    }
}
