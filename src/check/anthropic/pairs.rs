//! Repairs calls without results, and the reverse.

use super::blocks::{AnthropicHistory, blocks, with_blocks};
use super::facts::{AnthropicFacts, AnthropicRole, CheckedBlock};
use crate::check::finding::{ApiViolation, RepairMode};
use crate::check::raw::{result_text, set, short_id, text_part};
use crate::check::rules::TableRule;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Repairs results without a call in the previous message. If several messages of one role are in between, which the
/// API treats as one, they are merged; otherwise the result is dropped or becomes text.
pub(super) fn orphans(rule: TableRule, history: &mut AnthropicHistory<'_, '_>, findings: &[&ApiViolation]) {
    let mut done = 0;
    let mut rest = findings;
    while let Some(first) = rest.first() {
        let turn = history.turn_range(first.index);
        let end = rest.partition_point(|finding| finding.index < turn.end);
        let of_turn = &rest[..end];
        rest = &rest[end..];
        let before = turn.start.checked_sub(1).map(|before| history.turn_range(before));
        if let Some(before) =
            before.filter(|before| before.start >= done && belongs(history, before, of_turn))
        {
            done = turn.end;
            for range in [before, turn] {
                if range.len() > 1 {
                    history.merge_turn(rule, range);
                }
            }
            continue;
        }
        for of_one in of_turn.chunk_by(|one, other| one.index == other.index) {
            unpaired(rule, history, of_one);
        }
    }
}

/// Whether one of these results belongs to a call of the assistant messages in a range.
fn belongs(history: &AnthropicHistory<'_, '_>, calls: &Range<usize>, results: &[&ApiViolation]) -> bool {
    let pieces = &history.pieces[calls.clone()];
    if pieces[0].facts.role != AnthropicRole::Assistant {
        return false;
    }
    let ids: HashSet<&str> = pieces
        .iter()
        .flat_map(|piece| piece.facts.uses())
        .map(|(_, id)| id)
        .collect();
    results
        .iter()
        .any(|finding| ids.contains(result_of(&history.pieces[finding.index].facts, finding.part)))
}

/// The id of the call that the result in a block answers.
fn result_of(facts: &AnthropicFacts, part: usize) -> &str {
    match facts.blocks.get(part) {
        Some(CheckedBlock::Result(id)) => id,
        _ => "",
    }
}

/// Drops the unmatched results of a message, or turns them into text.
fn unpaired(rule: TableRule, history: &mut AnthropicHistory<'_, '_>, findings: &[&ApiViolation]) {
    let index = findings[0].index;
    let bad: HashSet<usize> = findings.iter().map(|finding| finding.part).collect();
    let text = history.repair.mode == Some(RepairMode::Text) && rule.id == "AN03";
    for finding in findings {
        let id = short_id(result_of(&history.pieces[index].facts, finding.part));
        let what = if text { "converted to text" } else { "dropped" };
        history.record_change(rule, index, format!("the result for {id}: {what}"));
    }
    let raw = history.pieces[index].raw.clone();
    let kept = blocks(&raw).into_iter().enumerate().filter_map(|(part, block)| {
        if !bad.contains(&part) {
            return Some(block);
        }
        let content = json::member(&block, "content").unwrap_or_default();
        text.then(|| Cow::Owned(text_part("text", &quoted(&result_text(content)))))
    });
    with_blocks(history, index, kept.collect());
}

/// Repairs calls without a result in the next message: inserts a result at its start, or drops the call.
pub(super) fn open(rule: TableRule, history: &mut AnthropicHistory<'_, '_>, findings: &[&ApiViolation]) {
    let wanted: HashSet<(usize, usize)> = findings
        .iter()
        .map(|finding| (finding.index, finding.part))
        .collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for index in 0..history.pieces.len() {
        let mut missing: Vec<(usize, String, usize)> = Vec::new();
        for (part, id) in history.pieces[index].facts.uses() {
            let nth = seen.entry(id.to_string()).or_default();
            if wanted.contains(&(index, part)) {
                missing.push((part, id.to_string(), *nth));
            }
            *nth += 1;
        }
        let Some((_, id, nth)) = missing.first() else {
            continue;
        };
        let message = history.ids.message(id, rule.id, *nth);
        let dropping = history.repair.mode == Some(RepairMode::Drop);
        for (_, id, _) in &missing {
            let what = if dropping {
                "dropped the call"
            } else {
                "inserted a result for the call"
            };
            history.record_change(rule, index, format!("{what} {}", short_id(id)));
        }
        if dropping {
            without(history, index, &missing);
            continue;
        }
        let results = missing.iter().map(|(_, id, _)| {
            let mut block = ObjectBuilder::default();
            block
                .text("type", "tool_result")
                .text("tool_use_id", id)
                .text("content", "aborted");
            Cow::Owned(block.finish())
        });
        let results: Vec<Cow<'_, [u8]>> = results.collect();
        match history
            .pieces
            .get(index + 1)
            .map(|piece| (piece.facts.role, piece.raw.clone()))
        {
            Some((AnthropicRole::User, raw)) => {
                with_blocks(
                    history,
                    index + 1,
                    results.into_iter().chain(blocks(&raw)).collect(),
                );
            }
            _ => {
                let mut user = ObjectBuilder::default();
                user.text("role", "user").raw("content", array(results));
                history.insert(index + 1, user.finish(), message);
            }
        }
    }
}

/// Removes calls from a message, and the message if only thinking is left.
fn without(history: &mut AnthropicHistory<'_, '_>, index: usize, calls: &[(usize, String, usize)]) {
    let bad: HashSet<usize> = calls.iter().map(|(part, ..)| *part).collect();
    let facts = history.pieces[index].facts.blocks.iter().enumerate();
    let speaks = facts
        .filter(|(part, _)| !bad.contains(part))
        .any(|(_, block)| !matches!(block, CheckedBlock::Thinking { .. }));
    if !speaks {
        history.remove(index);
        return;
    }
    let raw = history.pieces[index].raw.clone();
    let kept = blocks(&raw).into_iter().enumerate();
    let kept: Vec<_> = kept
        .filter(|(part, _)| !bad.contains(part))
        .map(|(_, block)| block)
        .collect();
    with_blocks(history, index, kept);
}

/// Gives later calls with a repeated id a new one, and their results in order; drops later results.
pub(super) fn repeated(rule: TableRule, history: &mut AnthropicHistory<'_, '_>, findings: &[&ApiViolation]) {
    let mut taken: HashSet<String> = HashSet::new();
    for piece in &history.pieces {
        taken.extend(piece.facts.uses().map(|(_, id)| id.to_string()));
    }
    let mut next: HashMap<String, usize> = HashMap::new();
    for of_one in findings.chunk_by(|one, other| one.index == other.index) {
        let index = of_one[0].index;
        let is_use = |part: usize| {
            matches!(
                history.pieces[index].facts.blocks.get(part),
                Some(CheckedBlock::Use(_))
            )
        };
        let (calls, results): (Vec<&ApiViolation>, Vec<&ApiViolation>) =
            of_one.iter().partition(|finding| is_use(finding.part));
        if !calls.is_empty() {
            let bad: HashSet<usize> = calls.iter().map(|finding| finding.part).collect();
            // New ids by original id, in call order.
            let mut ids: HashMap<String, Vec<String>> = HashMap::new();
            let mut changed: HashMap<usize, String> = HashMap::new();
            let uses: Vec<(usize, String)> = history.pieces[index]
                .facts
                .uses()
                .map(|(part, id)| (part, id.to_string()))
                .collect();
            for (part, id) in uses {
                let known = ids.entry(id.clone()).or_default();
                if bad.contains(&part) {
                    let nth = next.entry(id.clone()).or_default();
                    let new_id = history.ids.new_id("toolu_", &id, rule.id, nth, &mut taken);
                    history.record_change(
                        rule,
                        index,
                        format!("gave a later call {} a new id", short_id(&id)),
                    );
                    changed.insert(part, new_id.clone());
                    known.push(new_id);
                } else {
                    known.push(id);
                }
            }
            rename(history, index, "id", &changed);
            follow(history, index + 1, &ids);
        }
        if !results.is_empty() {
            unpaired(rule, history, &results);
        }
    }
}

/// Updates the results of a message to the new ids of their calls.
fn follow(history: &mut AnthropicHistory<'_, '_>, index: usize, ids: &HashMap<String, Vec<String>>) {
    let Some(piece) = history.pieces.get(index) else {
        return;
    };
    let mut answered: HashMap<&str, usize> = HashMap::new();
    let mut changed = HashMap::new();
    for (part, id) in piece.facts.results() {
        let nth = answered.entry(id).or_default();
        if let Some(new_id) = ids
            .get(id)
            .and_then(|ids| ids.get(*nth))
            .filter(|new_id| *new_id != id)
        {
            changed.insert(part, new_id.clone());
        }
        *nth += 1;
    }
    rename(history, index, "tool_use_id", &changed);
}

/// Replaces the ids of blocks.
fn rename(history: &mut AnthropicHistory<'_, '_>, index: usize, name: &str, ids: &HashMap<usize, String>) {
    if ids.is_empty() {
        return;
    }
    let raw = history.pieces[index].raw.clone();
    let renamed = blocks(&raw)
        .into_iter()
        .enumerate()
        .map(|(part, block)| match ids.get(&part) {
            Some(id) => Cow::Owned(set(&block, &[(name, Some(&quoted(id)))])),
            None => block,
        });
    with_blocks(history, index, renamed.collect());
}
