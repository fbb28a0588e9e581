//! `ClearToolUsesEdit`: over a limit, replaces all but the newest tool results with a placeholder.

use super::super::choice::ViewChanges;
use super::super::history::{CompatHistory, MeasureFn, count};
use crate::model::json::{self, Dialect, quoted};
use crate::model::message::Role;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The options of `ClearToolUsesEdit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClearToolUses {
    /// `trigger`: size above which results are cleared.
    pub trigger: u64,
    /// `keep`: how many of the newest results to keep.
    pub keep: usize,
    /// `clear_at_least`: minimum saving; below it nothing changes.
    pub min_gain: u64,
    /// `clear_tool_inputs`: also clears the arguments of the calls.
    pub inputs: bool,
    /// `exclude_tools`: tools whose results are kept.
    pub exclude: Vec<String>,
    /// `placeholder`: the replacement text.
    pub placeholder: String,
}

impl Default for ClearToolUses {
    fn default() -> Self {
        ClearToolUses {
            trigger: 100_000,
            keep: 3,
            min_gain: 0,
            inputs: false,
            exclude: Vec::new(),
            placeholder: "[cleared]".to_string(),
        }
    }
}

/// Clears tool results. A result counts only if the nearest assistant message before it makes the call; others are
/// unchanged.
pub fn clear_tool_uses(
    history: &CompatHistory<'_>,
    options: &ClearToolUses,
    measure: MeasureFn<'_>,
) -> ViewChanges {
    let counts = history.counts(measure);
    let before: u64 = counts.iter().sum::<u64>() + history.fixed(measure);
    if before <= options.trigger {
        return ViewChanges::unchanged(history);
    }
    let results = (0..history.len())
        .filter(|message| history.role(*message) == Role::Tool)
        .count();
    let content = quoted(&options.placeholder);
    let (mut lines, mut cleared) = (BTreeMap::new(), BTreeMap::<usize, HashSet<String>>::new());
    // The nearest assistant message before: its position, and the names of its calls by id.
    let mut caller: Option<(usize, HashMap<String, String>)> = None;
    let mut left = results.saturating_sub(options.keep);
    for index in 0..history.len() {
        let Some(message) = history.message(index) else {
            continue;
        };
        match history.role(index) {
            Role::Assistant => {
                let calls = message.tool_calls().into_iter().rev();
                let names = calls.map(|call| (call.id.into_owned(), call.name.into_owned()));
                caller = Some((index, names.collect()));
            }
            Role::Tool if left > 0 => {
                left -= 1;
                let id = message.tool_call_id().unwrap_or_default();
                let Some((place, name)) = caller
                    .as_ref()
                    .and_then(|(place, names)| Some((*place, names.get(id.as_ref())?)))
                else {
                    continue;
                };
                let own = message.name.and_then(json::text).filter(|own| !own.is_empty());
                if options
                    .exclude
                    .iter()
                    .any(|excluded| *excluded == *own.as_deref().unwrap_or(name))
                {
                    continue;
                }
                if let Ok(line) = emptied(history.body(index), &content) {
                    lines.insert(index, line);
                }
                if options.inputs {
                    cleared.entry(place).or_default().insert(id.into_owned());
                }
            }
            _ => {}
        }
    }
    for (index, ids) in cleared {
        if let Some(line) = without_arguments(history, index, &ids) {
            lines.insert(index, line);
        }
    }
    let gain: u64 = lines
        .iter()
        .map(|(index, line)| counts[*index].saturating_sub(count(line, measure)))
        .sum();
    if gain < options.min_gain {
        return ViewChanges::unchanged(history);
    }
    ViewChanges::rewriting(history, lines)
}

fn emptied(body: &[u8], content: &[u8]) -> Result<Vec<u8>, json::JsonError> {
    if json::member(body, "content") == Some(content) {
        return Ok(body.to_vec());
    }
    json::with_members(body, &[("content", Some(content)), ("tokens", None)])
}

/// Returns the message with empty arguments for the calls with these ids.
fn without_arguments(history: &CompatHistory<'_>, index: usize, ids: &HashSet<String>) -> Option<Vec<u8>> {
    let calls = json::elements(history.message(index)?.tool_calls?, Dialect::Strict)?;
    let call = |raw: &&[u8]| {
        let id = json::member_text(raw, "id").unwrap_or_default();
        let empty = ids.contains(id.as_ref()).then(|| {
            let (kind, name, nothing): (_, _, &[u8]) = match json::member(raw, "function") {
                Some(_) => ("function", "arguments", br#""{}""#),
                None => ("custom", "input", br#""""#),
            };
            let inner = json::with_members(json::member(raw, kind)?, &[(name, Some(nothing))]).ok()?;
            json::with_members(raw, &[(kind, Some(&inner))]).ok()
        });
        empty.flatten().unwrap_or_else(|| raw.to_vec())
    };
    let emptied: Vec<Vec<u8>> = calls.iter().map(call).collect();
    if calls == emptied {
        return None;
    }
    let calls = [b"[", emptied.join(&b","[..]).as_slice(), b"]"].concat();
    json::with_members(
        history.body(index),
        &[("tool_calls", Some(&calls)), ("tokens", None)],
    )
    .ok()
}
