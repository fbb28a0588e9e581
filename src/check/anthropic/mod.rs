//! The rules of the Anthropic Messages API.

mod blocks;
mod facts;
mod pairs;
mod repair;
mod shape;

use super::finding::{Finding, Findings};
use super::history::{History, Provider};
use super::raw::shown;
use super::rules::Rule;
use crate::format::request::Api;
use facts::{Block, Content, Facts, Role};
use std::collections::{HashMap, HashSet};

/// The API.
pub(super) struct Anthropic;

/// Maximum number of `cache_control` marks in a request.
const MARKS: usize = 4;

impl Provider for Anthropic {
    type Facts = Facts;
    const API: Api = Api::Anthropic;
    const ORDER: &'static [&'static str] = &[
        "AN01", "AN13", "AN12", "AN10", "AN07", "AN08", "AN06", "AN03", "AN02", "AN05", "AN11", "AN04",
        "AN14",
    ];
    const CONTENT: &'static str = "content";

    fn facts(raw: &[u8]) -> Facts {
        facts::read(raw)
    }

    fn speaker(facts: &Facts) -> Option<u8> {
        Some(facts.role as u8)
    }

    fn turn(facts: &Facts) -> Option<u8> {
        (!facts.is_results()).then_some(facts.role as u8)
    }

    fn look(elements: &[&Facts], findings: &mut Findings<'_>) {
        let last = elements.len().saturating_sub(1);
        let mut uses = HashSet::new();
        for (index, piece) in elements.iter().enumerate() {
            alone(index, index == last, piece, findings);
            for (part, id) in piece.uses() {
                if !uses.insert(id) {
                    findings.add("AN06", (index, part), || format!("duplicate call {}", shown(id)));
                }
            }
            let before = index.checked_sub(1).map(|before| elements[before]);
            results(index, before, piece, findings);
            let at_end = index == last || index + 1 == last && elements[last].is_results();
            open(index, piece, elements.get(index + 1).copied(), at_end, findings);
        }
        ends(elements, findings);
        if findings.options.thinking
            && let Some(index) = unthought(elements)
        {
            findings.add("AN11", (index, 0), || {
                "the open tool loop does not start with a thinking block".to_string()
            });
        }
        marks(elements, findings);
    }

    fn repair(rule: &'static Rule, history: &mut History<'_, '_, Anthropic>, findings: &[&Finding]) {
        repair::repair(rule, history, findings);
    }
}

/// Rules for single messages.
fn alone(index: usize, is_last: bool, facts: &Facts, findings: &mut Findings<'_>) {
    let options = findings.options;
    let taken = matches!(facts.role, Role::User | Role::Assistant);
    if !taken && !options.roles.contains(&facts.name) {
        findings.add("AN01", (index, 0), || {
            format!("unsupported role {}", shown(&facts.name))
        });
    }
    let empty = match facts.content {
        Content::Blank => {
            findings.add("AN07", (index, 0), || "blank text".to_string());
            false
        }
        Content::Nothing => true,
        Content::Text => false,
    };
    if empty && !(is_last && facts.role == Role::Assistant) {
        findings.add("AN08", (index, 0), || "message without content".to_string());
    }
    let mut others = false;
    for (part, block) in facts.blocks.iter().enumerate() {
        let at = (index, part);
        match block {
            Block::Text { blank: true } => findings.add("AN07", at, || "blank text block".to_string()),
            Block::Thinking { .. } if facts.role != Role::Assistant => {
                findings.add("AN10", at, || {
                    "thinking block outside an assistant message".to_string()
                });
            }
            Block::Thinking { signed: false } if options.thinking => {
                findings.add("AN10", at, || "thinking block without signature".to_string());
            }
            Block::Compaction { whole: false } => {
                findings.add("AN13", at, || "incomplete compaction block".to_string());
            }
            Block::Use(_) | Block::Result(_) if options.no_tools => {
                findings.add("AN12", at, || "tool block in a request without tools".to_string());
            }
            _ => {}
        }
        match block {
            Block::Result(id) if others => {
                findings.add("AN05", at, || {
                    format!("the result for {} follows other blocks", shown(id))
                });
            }
            Block::Result(_) => {}
            _ => others = true,
        }
    }
}

/// The number of calls by id.
fn counted(facts: Option<&Facts>) -> HashMap<&str, usize> {
    let mut count = HashMap::new();
    for (_, id) in facts.into_iter().flat_map(Facts::uses) {
        *count.entry(id).or_default() += 1;
    }
    count
}

/// Checks each result against the calls of the previous message.
fn results(index: usize, before: Option<&Facts>, facts: &Facts, findings: &mut Findings<'_>) {
    if facts.results().next().is_none() {
        return;
    }
    let mut left = counted(before.filter(|_| facts.role != Role::Assistant));
    for (part, id) in facts.results() {
        match left.get_mut(id) {
            None => findings.add("AN03", (index, part), || {
                format!(
                    "the result for {} matches no call of the message before",
                    shown(id)
                )
            }),
            Some(0) => findings.add("AN06", (index, part), || {
                format!("duplicate result for {}", shown(id))
            }),
            Some(left) => *left -= 1,
        }
    }
}

/// Checks each call against the results of the next message.
fn open(index: usize, facts: &Facts, behind: Option<&Facts>, at_end: bool, findings: &mut Findings<'_>) {
    let mut left = counted(Some(facts));
    if left.is_empty() {
        return;
    }
    for (_, id) in behind
        .filter(|behind| behind.role != Role::Assistant)
        .into_iter()
        .flat_map(Facts::results)
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
                format!("the call {} has no result in the next message", shown(id))
            });
        }
    }
}

/// Checks the first and the last message.
fn ends(elements: &[&Facts], findings: &mut Findings<'_>) {
    if elements
        .first()
        .is_some_and(|first| first.role == Role::Assistant)
    {
        findings.add("AN02", (0, 0), || {
            "the first message is not from the user".to_string()
        });
    }
    if let Some(last) = elements.last()
        && last.role == Role::Assistant
        && last.uses().next().is_none()
        && !findings.options.prefill
    {
        findings.add("AN09", (elements.len() - 1, 0), || {
            "the last message is from the assistant".to_string()
        });
    }
}

/// Start of the open loop: after the last user message with more than results. `None` if it is closed or has no calls.
fn loop_start(elements: &[&Facts]) -> Option<usize> {
    let said = |piece: &&Facts| piece.role == Role::User && !piece.is_results();
    let start = elements.iter().rposition(said).map_or(0, |at| at + 1);
    let calls = |piece: &&Facts| piece.uses().next().is_some();
    let last = elements[start..].last()?;
    let closed = last.role == Role::Assistant && last.uses().next().is_none();
    (!closed && elements[start..].iter().any(calls)).then_some(start)
}

/// The first assistant message of an open loop, if it does not start with thinking.
fn unthought(elements: &[&Facts]) -> Option<usize> {
    let start = loop_start(elements)?;
    let first = elements[start..]
        .iter()
        .position(|piece| piece.role == Role::Assistant)?
        + start;
    let thinks = matches!(elements[first].blocks.first(), Some(Block::Thinking { .. }));
    (!thinks).then_some(first)
}

/// Reports excess `cache_control` marks, starting with the first.
fn marks(elements: &[&Facts], findings: &mut Findings<'_>) {
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
