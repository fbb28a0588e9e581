//! Repairs for OpenAI Responses.

use super::facts::{CALLS, ResponsesFacts, ResponsesRules};
use super::parts::{self, ItemKind, PartFault};
use crate::check::finding::{ApiViolation, RepairMode};
use crate::check::history::{History, HistoryElement};
use crate::check::raw::{elements, result_text, set, short_id};
use crate::check::rules::TableRule;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use std::collections::{HashMap, HashSet};

type ItemHistory<'a, 'o> = History<'a, 'o, ResponsesRules>;

pub(super) fn repair(rule: TableRule, history: &mut ItemHistory<'_, '_>, findings: &[&ApiViolation]) {
    match rule.id {
        "OR01" => orphans(rule, history, findings),
        "OR02" => open(rule, history, findings),
        "OR03" | "OR05" => reasoning(rule, history, findings),
        "OR04" => {
            for finding in findings {
                nameless(history, finding.index);
                history.record_change(rule, finding.index, "removed the id of the assistant item");
            }
        }
        "OR06" => content(rule, history, findings, PartFault::Type),
        "OR07" => {
            for finding in findings {
                history.remove(finding.index);
                history.record_change(rule, finding.index, "dropped an incomplete compaction");
            }
        }
        "OR08" => repeated(rule, history, findings),
        "OR09" => content(rule, history, findings, PartFault::Source),
        _ => {}
    }
}

fn orphans(rule: TableRule, history: &mut ItemHistory<'_, '_>, findings: &[&ApiViolation]) {
    for finding in findings {
        let piece = &history.pieces[finding.index];
        let call = short_id(&piece.facts.call);
        if history.repair.mode == Some(RepairMode::Text) {
            let output = json::member(&piece.raw, "output").unwrap_or_default();
            let mut message = ObjectBuilder::default();
            message.text("role", "user").text("content", &result_text(output));
            history.replace(finding.index, message.finish());
            history.record_change(
                rule,
                finding.index,
                format!("converted the output for the call {call} to text"),
            );
        } else {
            history.remove(finding.index);
            history.record_change(
                rule,
                finding.index,
                format!("dropped the output for the call {call}"),
            );
        }
    }
}

fn open(rule: TableRule, history: &mut ItemHistory<'_, '_>, findings: &[&ApiViolation]) {
    let wanted: HashSet<usize> = findings.iter().map(|finding| finding.index).collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for index in 0..history.pieces.len() {
        let ItemKind::Call(kind) = history.pieces[index].facts.kind else {
            continue;
        };
        let call = history.pieces[index].facts.call.clone();
        let nth = seen.entry(call.clone()).or_default();
        *nth += 1;
        if !wanted.contains(&index) {
            continue;
        }
        // A screenshot cannot be replaced by text.
        if history.repair.mode == Some(RepairMode::Drop) || CALLS[kind] == "computer_call" {
            history.remove(index);
            // Also remove reasoning to which no other item belongs.
            if !history
                .pieces
                .get(index + 1)
                .is_some_and(|piece| piece.facts.is_from_model())
            {
                let before = (0..index).rev();
                let reasoning = before.take_while(|at| history.pieces[*at].facts.kind == ItemKind::Reasoning);
                for at in reasoning.collect::<Vec<_>>() {
                    history.remove(at);
                }
            }
            history.record_change(rule, index, format!("dropped the call {}", short_id(&call)));
            continue;
        }
        let message = history.ids.message(&call, rule.id, *nth - 1);
        history.insert(index + 1, output(CALLS[kind], &call), message);
        history.record_change(
            rule,
            index,
            format!("inserted an output for the call {}", short_id(&call)),
        );
    }
}

/// A result that reports an aborted call, in the form for the call's type.
fn output(kind: &str, call: &str) -> Vec<u8> {
    let mut item = ObjectBuilder::default();
    item.text("type", &format!("{kind}_output"));
    match kind {
        "local_shell_call" => item.text("id", call).text("output", "aborted"),
        "apply_patch_call" => item
            .text("call_id", call)
            .text("status", "failed")
            .text("output", "aborted"),
        "shell_call" => {
            let shell = br#"[{"stdout":"","stderr":"aborted","outcome":{"type":"exit","exit_code":1}}]"#;
            item.text("call_id", call).raw("output", shell)
        }
        _ => item.text("call_id", call).text("output", "aborted"),
    };
    item.finish()
}

/// Removes reasoning, and the ids of the items that follow from it, which the API rejects without the reasoning.
fn reasoning(rule: TableRule, history: &mut ItemHistory<'_, '_>, findings: &[&ApiViolation]) {
    for finding in findings {
        history.remove(finding.index);
        history.record_change(rule, finding.index, "dropped a reasoning item");
        for index in finding.index + 1..history.pieces.len() {
            let facts = &history.pieces[index].facts;
            if !facts.is_from_model() || facts.kind == ItemKind::Reference {
                break;
            }
            if facts.id.is_some() {
                nameless(history, index);
            }
        }
    }
}

fn nameless(history: &mut ItemHistory<'_, '_>, index: usize) {
    let raw = set(
        &history.pieces[index].raw,
        &[("id", None), ("_had_reasoning", None)],
    );
    history.replace(index, raw);
}

fn content(
    rule: TableRule,
    history: &mut ItemHistory<'_, '_>,
    findings: &[&ApiViolation],
    wanted: PartFault,
) {
    for of_one in findings.chunk_by(|one, other| one.index == other.index) {
        let index = of_one[0].index;
        let HistoryElement { raw, facts, .. } = &history.pieces[index];
        let name = member(facts);
        let bad: HashSet<usize> = of_one.iter().map(|finding| finding.part).collect();
        let kind = facts.kind;
        let repair = |(part, raw): (usize, &[u8])| match wanted {
            _ if !bad.contains(&part) => raw.to_vec(),
            PartFault::Type => parts::fitting(kind, raw),
            PartFault::Source => parts::part_placeholder(kind, raw),
        };
        let parts = json::member(raw, name).map(elements).unwrap_or_default();
        let repaired = array(parts.into_iter().enumerate().map(repair));
        let raw = set(raw, &[(name, Some(&repaired))]);
        history.replace(index, raw);
        let what = match wanted {
            PartFault::Type => "changed the types of parts to match the role",
            PartFault::Source => "replaced parts without source by placeholders",
        };
        history.record_change(rule, index, what);
    }
}

/// The member with the parts.
fn member(facts: &ResponsesFacts) -> &'static str {
    match facts.kind {
        ItemKind::Output(_) => "output",
        _ => "content",
    }
}

fn repeated(rule: TableRule, history: &mut ItemHistory<'_, '_>, findings: &[&ApiViolation]) {
    let mut taken: HashSet<String> = history
        .pieces
        .iter()
        .filter_map(|piece| piece.facts.id.clone())
        .collect();
    let mut next: HashMap<String, usize> = HashMap::new();
    for finding in findings {
        let Some(id) = history.pieces[finding.index].facts.id.clone() else {
            continue;
        };
        let prefix = id
            .split_once('_')
            .map_or(String::new(), |(kind, _)| format!("{kind}_"));
        let nth = next.entry(id.clone()).or_default();
        let new_id = history.ids.new_id(&prefix, &id, rule.id, nth, &mut taken);
        let raw = set(
            &history.pieces[finding.index].raw,
            &[("id", Some(&quoted(&new_id)))],
        );
        history.replace(finding.index, raw);
        history.record_change(
            rule,
            finding.index,
            format!("gave the second item {} a new id", short_id(&id)),
        );
    }
}
