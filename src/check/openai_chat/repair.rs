//! Repairs for OpenAI Chat.

use super::facts::{ChatContent, ChatRole, ChatRules, LONGEST, is_text_part, run_end};
use crate::check::finding::{ApiViolation, RepairMode};
use crate::check::history::History;
use crate::check::raw::{elements, mark, result_text, set, short_id, string, text_member, text_part};
use crate::check::rules::TableRule;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

type ChatHistory<'a, 'o> = History<'a, 'o, ChatRules>;

pub(super) fn repair(rule: TableRule, history: &mut ChatHistory<'_, '_>, findings: &[&ApiViolation]) {
    match rule.id {
        "OC01" => orphans(rule, history, findings),
        "OC02" => open(rule, history, findings),
        "OC03" => repeated(rule, history, findings),
        "OC04" | "OC05" => {
            for finding in findings {
                history.remove(finding.index);
                history.record_change(rule, finding.index, format!("dropped: {}", finding.message));
            }
        }
        "OC06" => {
            for finding in findings {
                let raw = set(&history.pieces[finding.index].raw, &[("tool_calls", None)]);
                history.replace(finding.index, raw);
                history.record_change(rule, finding.index, "removed the empty tool_calls");
            }
        }
        "OC07" => roles(rule, history, findings),
        "OC08" => contents(rule, history, findings),
        "OC09" => arguments(rule, history, findings),
        "OC10" => long(rule, history, findings),
        _ => {}
    }
}

fn orphans(rule: TableRule, history: &mut ChatHistory<'_, '_>, findings: &[&ApiViolation]) {
    let mut end = 0;
    for finding in findings {
        let (index, id) = (
            finding.index,
            short_id(&history.pieces[finding.index].facts.answers),
        );
        if history.repair.mode != Some(RepairMode::Text) {
            history.remove(index);
            history.record_change(rule, index, format!("dropped the result for the call {id}"));
            continue;
        }
        // After the run, so that its results remain adjacent.
        if end <= index {
            end = run_end(index, history.facts(index + 1));
        }
        let content = json::member(&history.pieces[index].raw, "content").unwrap_or_default();
        let mut message = ObjectBuilder::default();
        message
            .text("role", "user")
            .text("content", &result_text(content));
        history.shift(index, end, message.finish());
        history.record_change(
            rule,
            index,
            format!("converted the result for the call {id} to text"),
        );
    }
}

fn open(rule: TableRule, history: &mut ChatHistory<'_, '_>, findings: &[&ApiViolation]) {
    let mut parts: HashMap<usize, HashSet<usize>> = HashMap::new();
    for finding in findings {
        parts.entry(finding.index).or_default().insert(finding.part);
    }
    // A call id may occur in several exchanges, so count its occurrences.
    let mut seen: HashMap<String, usize> = HashMap::new();
    for index in 0..history.pieces.len() {
        let ids: Vec<String> = history.pieces[index]
            .facts
            .calls
            .iter()
            .map(|call| call.id.clone())
            .collect();
        let mut nth = Vec::new();
        for id in &ids {
            let count = seen.entry(id.clone()).or_default();
            nth.push(*count);
            *count += 1;
        }
        let Some(parts) = parts.get(&index) else { continue };
        if history.repair.mode == Some(RepairMode::Drop) {
            without(rule, history, index, parts, &ids);
            continue;
        }
        let end = run_end(index, history.facts(index + 1));
        for (part, id) in ids.iter().enumerate().filter(|(part, _)| parts.contains(part)) {
            let mut result = ObjectBuilder::default();
            result
                .text("role", "tool")
                .text("tool_call_id", id)
                .text("content", "aborted");
            let message = history.ids.message(id, rule.id, nth[part]);
            history.insert(end, result.finish(), message);
            history.record_change(
                rule,
                index,
                format!("inserted a result for the call {}", short_id(id)),
            );
        }
    }
}

/// Removes calls from a message; removes the message if nothing is left.
fn without(
    rule: TableRule,
    history: &mut ChatHistory<'_, '_>,
    index: usize,
    parts: &HashSet<usize>,
    ids: &[String],
) {
    let piece = &history.pieces[index];
    let nothing = piece.facts.content == ChatContent::Nothing && !piece.facts.speaks;
    let calls = json::member(&piece.raw, "tool_calls")
        .map(elements)
        .unwrap_or_default();
    let kept: Vec<&[u8]> = (0..calls.len())
        .filter(|part| !parts.contains(part))
        .map(|part| calls[part])
        .collect();
    if kept.is_empty() && nothing {
        history.remove(index);
    } else {
        let kept = (!kept.is_empty()).then(|| array(kept));
        let raw = set(&piece.raw, &[("tool_calls", kept.as_deref())]);
        history.replace(index, raw);
    }
    for part in (0..ids.len()).filter(|part| parts.contains(part)) {
        history.record_change(rule, index, format!("dropped the call {}", short_id(&ids[part])));
    }
}

/// Gives all calls with a repeated id but the first a new one, and updates their results in order.
fn repeated(rule: TableRule, history: &mut ChatHistory<'_, '_>, findings: &[&ApiViolation]) {
    let mut taken: HashSet<String> = HashSet::new();
    for piece in &history.pieces {
        taken.extend(piece.facts.calls.iter().map(|call| call.id.clone()));
    }
    let mut next: HashMap<String, usize> = HashMap::new();
    let mut last = None;
    for finding in findings {
        if last.replace(finding.index) == Some(finding.index) {
            continue;
        }
        let index = finding.index;
        // New ids by original id, in call order.
        let mut ids: HashMap<String, Vec<String>> = HashMap::new();
        let calls: Vec<String> = history.pieces[index]
            .facts
            .calls
            .iter()
            .map(|call| call.id.clone())
            .collect();
        let mut changed = Vec::new();
        for id in calls {
            let known = ids.entry(id.clone()).or_default();
            if known.is_empty() {
                known.push(id);
                changed.push(None);
                continue;
            }
            let nth = next.entry(id.clone()).or_default();
            let new_id = history.ids.new_id("call_", &id, rule.id, nth, &mut taken);
            history.record_change(
                rule,
                index,
                format!("gave the second call {} a new id", short_id(&id)),
            );
            known.push(new_id.clone());
            changed.push(Some(new_id));
        }
        rename_calls(history, index, &changed);
        let mut answered: HashMap<String, usize> = HashMap::new();
        for result in index + 1..run_end(index, history.facts(index + 1)) {
            let id = history.pieces[result].facts.answers.clone();
            let nth = answered.entry(id.clone()).or_default();
            if *nth > 0
                && let Some(new_id) = ids.get(&id).and_then(|ids| ids.get(*nth))
            {
                let raw = set(
                    &history.pieces[result].raw,
                    &[("tool_call_id", Some(&quoted(new_id)))],
                );
                history.replace(result, raw);
            }
            *nth += 1;
        }
    }
}

/// Replaces call ids of a message, where a new one is given.
fn rename_calls(history: &mut ChatHistory<'_, '_>, index: usize, ids: &[Option<String>]) {
    let raw = &history.pieces[index].raw;
    let calls = json::member(raw, "tool_calls").map(elements).unwrap_or_default();
    let renamed = calls.iter().zip(ids).map(|(call, id)| match id {
        Some(id) => set(call, &[("id", Some(&quoted(id)))]),
        None => call.to_vec(),
    });
    let calls = array(renamed.collect::<Vec<_>>());
    let raw = set(raw, &[("tool_calls", Some(&calls))]);
    history.replace(index, raw);
}

fn roles(rule: TableRule, history: &mut ChatHistory<'_, '_>, findings: &[&ApiViolation]) {
    for finding in findings {
        let raw = &history.pieces[finding.index].raw;
        let name = text_member(raw, "role").unwrap_or_default().to_ascii_lowercase();
        let role = match name.as_str() {
            "human" => "user",
            "model" | "bot" | "ai" | "gpt" => "assistant",
            "system" | "developer" | "user" | "assistant" | "tool" | "function" => &name,
            _ => continue,
        };
        let raw = set(raw, &[("role", Some(&quoted(role)))]);
        history.record_change(rule, finding.index, format!("changed the role {name} to {role}"));
        history.replace(finding.index, raw);
    }
}

fn contents(rule: TableRule, history: &mut ChatHistory<'_, '_>, findings: &[&ApiViolation]) {
    for finding in findings {
        let raw = &history.pieces[finding.index].raw;
        let content = json::member(raw, "content").unwrap_or(b"null");
        let (content, what) = match content.first() {
            Some(b'[') if history.pieces[finding.index].facts.content == ChatContent::Other => {
                let parts = elements(content).into_iter().map(|part| match part.first() {
                    Some(b'"') => text_part("text", part),
                    _ if is_text_part(part) => part.to_vec(),
                    _ => text_part("text", &quoted(&mark(part))),
                });
                (
                    array(parts.collect::<Vec<_>>()),
                    "replaced parts other than text by placeholders",
                )
            }
            Some(b'[' | b'n') | None => (b"\"\"".to_vec(), "replaced a missing result by an empty text"),
            Some(_) => (
                quoted(&String::from_utf8_lossy(content)),
                "converted the content to text",
            ),
        };
        let raw = set(raw, &[("content", Some(&content))]);
        history.replace(finding.index, raw);
        history.record_change(rule, finding.index, what);
    }
}

/// Encodes arguments that are an object as a string; other invalid arguments are replaced and stored next to the
/// message.
fn arguments(rule: TableRule, history: &mut ChatHistory<'_, '_>, findings: &[&ApiViolation]) {
    for of_one in findings.chunk_by(|one, other| one.index == other.index) {
        let index = of_one[0].index;
        let raw = history.pieces[index].raw.clone();
        let listed = json::member(&raw, "tool_calls").map(elements).unwrap_or_default();
        let mut calls: Vec<Cow<'_, [u8]>> = listed.into_iter().map(Cow::Borrowed).collect();
        for finding in of_one {
            let id = history.pieces[index].facts.calls[finding.part].id.clone();
            history.record_change(
                rule,
                index,
                format!(
                    "replaced the arguments of the call {} by valid JSON",
                    short_id(&id)
                ),
            );
            let (call, lost) = with_arguments(&calls[finding.part]);
            calls[finding.part] = Cow::Owned(call);
            if let Some(lost) = lost {
                history.keep(index, id, lost);
            }
        }
        let raw = set(&raw, &[("tool_calls", Some(&array(calls)))]);
        history.replace(index, raw);
    }
}

/// A call with valid JSON arguments, and the original text if it is lost.
fn with_arguments(call: &[u8]) -> (Vec<u8>, Option<String>) {
    let function = json::member(call, "function").unwrap_or(b"{}");
    let arguments = json::member(function, "arguments").unwrap_or(b"null");
    let (text, lost) = match arguments.first() {
        Some(b'{') => (String::from_utf8_lossy(arguments).into_owned(), None),
        Some(b'"') => (
            "{}".to_string(),
            Some(string(arguments)).filter(|text| !text.is_empty()),
        ),
        Some(b'n') | None => ("{}".to_string(), None),
        Some(_) => (
            "{}".to_string(),
            Some(String::from_utf8_lossy(arguments).into_owned()),
        ),
    };
    let function = set(function, &[("arguments", Some(&quoted(&text)))]);
    (set(call, &[("function", Some(&function))]), lost)
}

/// Shortens long ids, consistently for calls and results.
fn long(rule: TableRule, history: &mut ChatHistory<'_, '_>, findings: &[&ApiViolation]) {
    let is_long = |id: &str| id.chars().nth(LONGEST).is_some();
    let short =
        |history: &ChatHistory<'_, '_>, id: &str| format!("call_{}", history.ids.digits(id, rule.id, 0));
    for finding in findings {
        let id = short_id(&history.pieces[finding.index].facts.calls[finding.part].id);
        history.record_change(rule, finding.index, format!("shortened the id of the call {id}"));
    }
    for index in 0..history.pieces.len() {
        let facts = &history.pieces[index].facts;
        if facts.calls.iter().any(|call| is_long(&call.id)) {
            let new = |id: &String| is_long(id).then(|| short(history, id));
            let ids: Vec<Option<String>> = facts.calls.iter().map(|call| new(&call.id)).collect();
            rename_calls(history, index, &ids);
        } else if facts.role == ChatRole::Tool && is_long(&facts.answers) {
            let id = short(history, &facts.answers);
            let raw = set(
                &history.pieces[index].raw,
                &[("tool_call_id", Some(&quoted(&id)))],
            );
            history.replace(index, raw);
        }
    }
}
