//! Repairs inside a message for Anthropic.

use super::blocks::{AnthropicHistory, blocks, with_blocks};
use super::facts::{AnthropicContent, CheckedBlock};
use super::{pairs, shape};
use crate::check::finding::ApiViolation;
use crate::check::raw::{elements, result_text, set, text_member, text_part};
use crate::check::rules::TableRule;
use crate::model::json::{self, array, quoted};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

pub(super) fn repair(rule: TableRule, history: &mut AnthropicHistory<'_, '_>, findings: &[&ApiViolation]) {
    match rule.id {
        "AN01" => shape::roles(rule, history, findings),
        "AN02" => shape::beginning(rule, history),
        "AN03" => pairs::orphans(rule, history, findings),
        "AN04" => pairs::open(rule, history, findings),
        "AN06" => pairs::repeated(rule, history, findings),
        "AN08" => {
            for finding in findings {
                history.remove(finding.index);
                history.record_change(rule, finding.index, "dropped a message without content");
            }
        }
        "AN11" => shape::open_loop(rule, history),
        _ => {
            for of_one in findings.chunk_by(|one, other| one.index == other.index) {
                inside(rule, history, of_one);
            }
        }
    }
}

/// Repairs that need no other message.
fn inside(rule: TableRule, history: &mut AnthropicHistory<'_, '_>, findings: &[&ApiViolation]) {
    let index = findings[0].index;
    let bad: HashSet<usize> = findings.iter().map(|finding| finding.part).collect();
    let raw = history.pieces[index].raw.clone();
    let all = blocks(&raw).into_iter().enumerate();
    let dropped = |what: &str| format!("dropped {what}");
    let (changed, what): (Vec<Cow<'_, [u8]>>, String) = match rule.id {
        "AN05" => {
            let facts = &history.pieces[index].facts;
            let is_result = |part: &usize| matches!(facts.blocks.get(*part), Some(CheckedBlock::Result(_)));
            let (first, rest): (Vec<_>, Vec<_>) = all.partition(|(part, _)| is_result(part));
            let moved = first.into_iter().chain(rest).map(|(_, block)| block).collect();
            (moved, "moved the results to the front".to_string())
        }
        "AN07" if history.pieces[index].facts.content == AnthropicContent::Blank => {
            let raw = set(&raw, &[("content", Some(NO_TEXT))]);
            history.replace(index, raw);
            history.record_change(rule, index, "replaced a blank text by `(no text)`");
            return;
        }
        "AN07" => {
            let mut kept: Vec<_> = all
                .filter(|(part, _)| !bad.contains(part))
                .map(|(_, block)| block)
                .collect();
            if kept.is_empty() {
                kept.push(Cow::Owned(text_part("text", NO_TEXT)));
            }
            (kept, dropped("blank text blocks"))
        }
        "AN12" => {
            let text = all.map(|(part, block)| {
                if bad.contains(&part) {
                    Cow::Owned(tool_text(&block))
                } else {
                    block
                }
            });
            (text.collect(), "converted tool blocks to text".to_string())
        }
        "AN10" | "AN13" => {
            let kept = all
                .filter(|(part, _)| !bad.contains(part))
                .map(|(_, block)| block);
            let what = if rule.id == "AN10" {
                "thinking blocks"
            } else {
                "compaction blocks"
            };
            (kept.collect(), dropped(what))
        }
        "AN14" => {
            let mut marks: HashMap<usize, usize> = HashMap::new();
            for finding in findings {
                *marks.entry(finding.part).or_default() += 1;
            }
            let bare = all.map(|(part, block)| match marks.get(&part) {
                Some(count) => Cow::Owned(unmarked(&block, *count)),
                None => block,
            });
            (bare.collect(), "removed cache_control markers".to_string())
        }
        _ => return,
    };
    with_blocks(history, index, changed);
    history.record_change(rule, index, what);
}

/// The replacement of missing text.
const NO_TEXT: &[u8] = b"\"(no text)\"";

fn tool_text(block: &[u8]) -> Vec<u8> {
    let text = if text_member(block, "type").is_some_and(|kind| kind == "tool_use") {
        let name = text_member(block, "name").unwrap_or_default();
        match json::member(block, "input") {
            None | Some(b"{}") => format!("[tool use {name}]"),
            Some(input) => format!("[tool use {name}] {}", String::from_utf8_lossy(input)),
        }
    } else {
        result_text(json::member(block, "content").unwrap_or_default())
    };
    text_part("text", &quoted(&text))
}

/// A block with this number of marks removed: first its own, then those of inner parts.
fn unmarked(block: &[u8], mut count: usize) -> Vec<u8> {
    let has = |raw: &[u8]| json::member(raw, "cache_control").is_some_and(|mark| mark != b"null");
    let mut bare = block.to_vec();
    if has(block) {
        bare = set(block, &[("cache_control", None)]);
        count -= 1;
    }
    if count == 0 {
        return bare;
    }
    let inner = json::member(block, "content").map(elements).unwrap_or_default();
    let inner = inner.into_iter().map(|part| {
        if count > 0 && has(part) {
            count -= 1;
            return set(part, &[("cache_control", None)]);
        }
        part.to_vec()
    });
    let inner = array(inner.collect::<Vec<_>>());
    set(&bare, &[("content", Some(&inner))])
}
