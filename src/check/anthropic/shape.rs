//! Repairs roles, and the start and end of a history.

use super::blocks::AnthropicHistory;
use super::facts::{AnthropicFacts, AnthropicRole, CheckedBlock, loop_start};
use crate::check::finding::ApiViolation;
use crate::check::history::BEGINNING;
use crate::check::raw::set;
use crate::check::rules::TableRule;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use std::collections::{HashSet, VecDeque};

/// Repairs invalid roles: results of role `tool` become user messages; instructions move to the system field or, after
/// the start, become user messages.
pub(super) fn roles(rule: TableRule, history: &mut AnthropicHistory<'_, '_>, findings: &[&ApiViolation]) {
    let wanted: HashSet<usize> = findings.iter().map(|finding| finding.index).collect();
    // The unanswered calls, in order.
    let (mut open, mut answered): (VecDeque<String>, HashSet<String>) = Default::default();
    let mut leading = true;
    for index in 0..history.pieces.len() {
        let facts = &history.pieces[index].facts;
        if facts.role == AnthropicRole::Assistant {
            open = facts.uses().map(|(_, id)| id.to_string()).collect();
            answered.clear();
        }
        answered.extend(facts.results().map(|(_, id)| id.to_string()));
        if !wanted.contains(&index) {
            leading &= facts.role == AnthropicRole::System;
            continue;
        }
        let name = facts.name.clone();
        let role = match (facts.role, name.to_ascii_lowercase().as_str()) {
            (AnthropicRole::System, _) if leading => {
                let content = json::member(&history.pieces[index].raw, "content").unwrap_or(b"\"\"");
                let content = content.to_vec();
                history.system.push(content);
                history.remove(index);
                history.record_change(rule, index, "moved a leading system message to the system field");
                continue;
            }
            (AnthropicRole::Tool, _) | (_, "function") => {
                let mut id = facts.answers.clone();
                while id.is_empty()
                    && let Some(next) = open.pop_front()
                {
                    if !answered.contains(&next) {
                        id = next;
                    }
                }
                answered.insert(id.clone());
                leading = false;
                let raw = as_result(&history.pieces[index].raw, &id, facts.results().next().is_some());
                history.replace(index, raw);
                history.record_change(
                    rule,
                    index,
                    "converted a tool message to a user message with a result",
                );
                continue;
            }
            (AnthropicRole::System, _) | (_, "human" | "user") => "user",
            (_, "model" | "bot" | "ai" | "gpt" | "assistant") => "assistant",
            _ => continue,
        };
        leading = false;
        let raw = set(&history.pieces[index].raw, &[("role", Some(&quoted(role)))]);
        history.replace(index, raw);
        history.record_change(rule, index, format!("changed the role {name} to {role}"));
    }
}

/// A message of role `tool` in the form of the API.
fn as_result(raw: &[u8], id: &str, is_result: bool) -> Vec<u8> {
    if is_result {
        return set(raw, &[("role", Some(b"\"user\""))]);
    }
    let mut block = ObjectBuilder::default();
    block.text("type", "tool_result").text("tool_use_id", id);
    if let Some(content) = json::member(raw, "content").filter(|content| *content != b"null") {
        block.raw("content", content);
    }
    let content = array([block.finish()]);
    let changes: [(&str, Option<&[u8]>); 5] = [
        ("role", Some(b"\"user\"")),
        ("content", Some(&content)),
        ("tool_use_id", None),
        ("tool_call_id", None),
        ("name", None),
    ];
    set(raw, &changes)
}

/// Begins with the first message that the user wrote.
pub(super) fn beginning(rule: TableRule, history: &mut AnthropicHistory<'_, '_>) {
    let own = |block: &CheckedBlock| !matches!(block, CheckedBlock::Result(_));
    let first = history.facts(0).position(|facts| {
        facts.role == AnthropicRole::User && (facts.blocks.is_empty() || facts.blocks.iter().any(own))
    });
    let mut message = ObjectBuilder::default();
    message.text("role", "user").text("content", BEGINNING);
    let is_droppable = |facts: &AnthropicFacts| facts.role != AnthropicRole::System;
    let what = "dropped the messages before the first user message";
    history.begin(rule, first, is_droppable, what, message.finish());
}

/// Drops an open loop that does not start with thinking.
pub(super) fn open_loop(rule: TableRule, history: &mut AnthropicHistory<'_, '_>) {
    let Some(start) = loop_start(&history.facts(0).collect::<Vec<_>>()) else {
        return;
    };
    for index in start..history.pieces.len() {
        history.remove(index);
    }
    history.record_change(
        rule,
        start,
        "dropped the open tool loop, which does not start with thinking",
    );
}
