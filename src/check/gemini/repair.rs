//! Repairs for Gemini.

use super::facts::{GeminiPart, GeminiRole};
use super::parts::{TurnHistory, parts, with_parts};
use super::responses;
use crate::check::finding::ApiViolation;
use crate::check::history::BEGINNING;
use crate::check::raw::set;
use crate::check::rules::TableRule;
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use std::collections::HashSet;

/// The value that the API accepts in place of a missing signature (gemini-cli, `geminiChat.ts`).
const PLACEHOLDER: &[u8] = b"\"skip_thought_signature_validator\"";

pub(super) fn repair(rule: TableRule, history: &mut TurnHistory<'_, '_>, findings: &[&ApiViolation]) {
    match rule.id {
        "GE01" => roles(rule, history, findings),
        "GE02" => neighbors(rule, history, findings),
        "GE03" => responses::equalize_counts(rule, history, findings),
        "GE04" => responses::orphans(rule, history, findings),
        "GE05" => empty(rule, history, findings),
        "GE06" => beginning(rule, history),
        "GE07" => signatures(rule, history, findings),
        "GE08" => responses::ordered(rule, history, findings),
        _ => {}
    }
}

fn roles(rule: TableRule, history: &mut TurnHistory<'_, '_>, findings: &[&ApiViolation]) {
    let mut leading = 0;
    for finding in findings {
        let index = finding.index;
        let name = history.pieces[index].facts.name.clone();
        let role = match name.to_ascii_lowercase().as_str() {
            "system" | "developer" if index == leading => {
                leading += 1;
                let parts = parts(&history.pieces[index].raw).into_iter().map(<[u8]>::to_vec);
                history
                    .system
                    .push(wrapped("parts", array(parts.collect::<Vec<_>>())));
                history.remove(index);
                history.record_change(rule, index, "moved leading system content to the instructions");
                continue;
            }
            "assistant" | "model" | "bot" | "ai" | "gpt" => "model",
            "function" | "tool" | "user" | "human" | "system" | "developer" => "user",
            _ => continue,
        };
        let raw = set(&history.pieces[index].raw, &[("role", Some(&quoted(role)))]);
        history.replace(index, raw);
        history.record_change(rule, index, format!("changed the role {name} to {role}"));
    }
}

/// Merges a turn with calls with the preceding model turns.
fn neighbors(rule: TableRule, history: &mut TurnHistory<'_, '_>, findings: &[&ApiViolation]) {
    let mut done = 0;
    for finding in findings {
        if finding.index < done {
            continue;
        }
        let turn = history.turn_range(finding.index);
        // Only up to the last turn with calls; later ones may remain separate.
        let calls = |index: &usize| history.pieces[*index].facts.calls().next().is_some();
        let end = turn.clone().rev().find(calls).map_or(turn.end, |last| last + 1);
        done = turn.end;
        if turn.start + 1 < end && history.pieces[turn.start].facts.role == GeminiRole::Model {
            history.merge_turn(rule, turn.start..end);
        }
    }
}

fn empty(rule: TableRule, history: &mut TurnHistory<'_, '_>, findings: &[&ApiViolation]) {
    for of_one in findings.chunk_by(|one, other| one.index == other.index) {
        let index = of_one[0].index;
        let bad: HashSet<usize> = of_one.iter().map(|finding| finding.part).collect();
        let raw = history.pieces[index].raw.clone();
        let kept = parts(&raw)
            .into_iter()
            .enumerate()
            .filter(|(part, _)| !bad.contains(part));
        let kept: Vec<&[u8]> = kept.map(|(_, part)| part).collect();
        let what = if kept.is_empty() {
            "dropped an empty content"
        } else {
            "dropped empty parts"
        };
        with_parts(history, index, kept);
        history.record_change(rule, index, what);
    }
}

/// Begins with the first turn that the user wrote.
fn beginning(rule: TableRule, history: &mut TurnHistory<'_, '_>) {
    let own = |part: &GeminiPart| !matches!(part, GeminiPart::Response(_));
    let first = history.facts(0).position(|facts| {
        facts.role == GeminiRole::User && (facts.parts.is_empty() || facts.parts.iter().any(own))
    });
    let mut turn = ObjectBuilder::default();
    turn.text("role", "user")
        .raw("parts", array([wrapped("text", quoted(BEGINNING))]));
    let what = "dropped the contents before the first of the user";
    history.begin(rule, first, |_| true, what, turn.finish());
}

fn signatures(rule: TableRule, history: &mut TurnHistory<'_, '_>, findings: &[&ApiViolation]) {
    for finding in findings {
        let raw = history.pieces[finding.index].raw.clone();
        let all = parts(&raw);
        let Some(part) = all.get(finding.part) else {
            continue;
        };
        let name = match json::member(part, "function_call") {
            Some(_) => "thought_signature",
            None => "thoughtSignature",
        };
        let signed = set(part, &[(name, Some(PLACEHOLDER))]);
        let mut all = all;
        all[finding.part] = &signed;
        with_parts(history, finding.index, all);
        history.record_change(rule, finding.index, "inserted the placeholder signature");
    }
}
