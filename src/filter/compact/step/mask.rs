//! Results become marks; call and result stay a pair.

use super::super::mark;
use super::super::options::Mask;
use super::super::piece::Level;
use super::super::work::Work;
use super::Enough;
use crate::model::json::{self, Dialect};
use std::borrow::Cow;

/// Makes marks of results, the newest spared: until it is enough, and then on until `min_gain` tokens are gained;
/// none at all when that much is not to be gained.
pub fn run(work: &mut Work<'_>, mask: &Mask, min_gain: u64, enough: Enough<'_>) {
    if enough(work) {
        return;
    }
    let before = work.total;
    let mut edits: Vec<(usize, Vec<u8>, u64)> = Vec::new();
    let mut gained = 0;
    for at in candidates(work, mask) {
        if let Some((body, tokens)) = masked(work, at, mask.inputs) {
            gained += work.items[at].now - tokens;
            edits.push((at, body, tokens));
        }
    }
    if gained < min_gain {
        return;
    }
    for (at, body, tokens) in edits {
        if enough(work) && before - work.total >= min_gain {
            return;
        }
        work.mark(at, body, tokens, "mask");
    }
}

/// What may become a mark: results and, where arguments go too, calls; oldest first.
pub fn candidates(work: &Work<'_>, mask: &Mask) -> Vec<usize> {
    let results = work.results();
    let mut spared = 0;
    let mut found = Vec::new();
    for (age, at) in results.into_iter().rev().enumerate() {
        spared += work.items[at].now;
        let is_new = age < mask.keep || spared <= mask.protect;
        if is_new || mask.exclude.iter().any(|tool| *tool == work.tool(at)) {
            continue;
        }
        found.push(at);
        if mask.inputs
            && let Some((caller, _)) = work.owners.get(&at)
            && found.last() != Some(caller)
        {
            found.push(*caller);
        }
    }
    found.reverse();
    found.dedup();
    found
}

/// What a result or a call would become, and its tokens.
pub fn masked(work: &Work<'_>, at: usize, inputs: bool) -> Option<(Vec<u8>, u64)> {
    if work.items[at].traits?.calls {
        let calls = inputs.then(|| arguments(work, at)).flatten()?;
        return work.tried(at, &[("tool_calls", Some(&calls))]);
    }
    work.unmarked(at)?;
    let content = work.elided(at, work.id(at), mark::result)?;
    work.tried(at, &[("content", Some(&content))])
}

/// The calls with marks for arguments.
fn arguments(work: &Work<'_>, at: usize) -> Option<Vec<u8>> {
    let message = work.message(at)?;
    let calls = message
        .tool_calls
        .and_then(|raw| json::elements(raw, Dialect::Strict))?;
    let id = work.id(at);
    let mut out = vec![b'['];
    for (nth, call) in calls.into_iter().enumerate() {
        if nth > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&without_arguments(call, &id).map_or(Cow::Borrowed(call), Cow::Owned));
    }
    out.push(b']');
    Some(out)
}

fn without_arguments(call: &[u8], id: &str) -> Option<Vec<u8>> {
    let function = json::member(call, "function")?;
    let text = json::member(function, "arguments").and_then(json::text)?;
    let mark = mark::arguments(&text, id);
    if mark.len() >= text.len() {
        return None;
    }
    let mut raw = Vec::new();
    json::push_text(&mut raw, &mark);
    let function = json::with_members(function, &[("arguments", Some(&raw))]).ok()?;
    json::with_members(call, &[("function", Some(&function))]).ok()
}

impl Work<'_> {
    /// Gives an item a line with marks in it.
    pub fn mark(&mut self, at: usize, body: Vec<u8>, tokens: u64, reason: &'static str) {
        self.set(at, body, tokens);
        if let Some(atom) = self.items[at].atom {
            self.atoms[atom].level = self.atoms[atom].level.max(Level::Masked);
            self.atoms[atom].reason = reason;
        }
    }
}
