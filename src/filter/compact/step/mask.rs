//! Replaces results with placeholders; call and result remain a pair.

use super::super::options::Mask;
use super::super::placeholders;
use super::super::state::{AtomLevel, CompactionState};
use super::{EnoughFn, change_each, computed};
use crate::model::json::{self, Dialect};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Replaces results with placeholders, except the newest, until it is enough and at least `min_gain` tokens are saved.
/// Changes nothing if that gain is impossible.
pub fn run(work: &mut CompactionState<'_>, mask: &Mask, min_gain: u64, enough: EnoughFn<'_>) {
    if enough(work) {
        return;
    }
    let candidates = candidates(work, mask);
    // Stop adding once the gain is large enough.
    let mut sum = 0;
    let suffices = |gain: u64| {
        sum += gain;
        sum >= min_gain
    };
    let mut gains = candidates.iter().map(|(at, calls)| gain_of(work, *at, calls));
    if min_gain > 0 && !gains.any(suffices) {
        return;
    }
    let before = work.total;
    let items: Vec<usize> = candidates.keys().copied().collect();
    change_each(
        work,
        &items,
        &|work| enough(work) && before - work.total >= min_gain,
        |work, at| marked(work, at, &candidates[&at]),
        |work, at, (body, tokens)| work.mark(at, body, tokens, "mask"),
    );
}

/// The gain of replacing all candidates.
pub fn gain(work: &CompactionState<'_>, mask: &Mask) -> u64 {
    let candidates = candidates(work, mask);
    let items: Vec<usize> = candidates.keys().copied().collect();
    let gains = computed(work, &items, |work, at| gain_of(work, at, &candidates[&at]));
    gains.into_iter().sum()
}

fn gain_of(work: &CompactionState<'_>, at: usize, calls: &BTreeSet<usize>) -> u64 {
    if calls.is_empty() {
        return work
            .elision_gain(at, &work.id(at), placeholders::result)
            .unwrap_or(0);
    }
    marked(work, at, calls).map_or(0, |(_, tokens)| work.items[at].now - tokens)
}

/// Items that may be replaced: results, with an empty set, and calling messages, with the indexes of their calls.
pub type MaskCandidates = BTreeMap<usize, BTreeSet<usize>>;

/// Results and, if arguments are replaced too, their calls: oldest first, with the indexes of the calls in the message.
pub fn candidates(work: &CompactionState<'_>, mask: &Mask) -> MaskCandidates {
    let mut spared = 0;
    let mut found = MaskCandidates::new();
    for (age, at) in work.results().into_iter().rev().enumerate() {
        spared += work.items[at].now;
        let is_new = age < mask.keep || spared <= mask.protect;
        if is_new || excludes(work, mask, at) {
            continue;
        }
        found.entry(at).or_default();
        if let Some(owner) = work
            .owners
            .get(&at)
            .filter(|owner| mask.inputs && work.may_change(owner.caller))
        {
            found.entry(owner.caller).or_default().insert(owner.nth);
        }
    }
    found
}

/// Whether the result's tool is excluded.
pub fn excludes(work: &CompactionState<'_>, mask: &Mask, at: usize) -> bool {
    !mask.exclude.is_empty() && mask.excludes(&work.tool(at))
}

/// The item with placeholders, and its tokens.
pub fn marked(work: &CompactionState<'_>, at: usize, calls: &BTreeSet<usize>) -> Option<(Vec<u8>, u64)> {
    if calls.is_empty() {
        return result(work, at);
    }
    work.tried(at, &[("tool_calls", Some(&arguments(work, at, calls)?))])
}

/// The result as a placeholder, and its tokens.
pub fn result(work: &CompactionState<'_>, at: usize) -> Option<(Vec<u8>, u64)> {
    work.elided(at, &work.id(at), placeholders::result)
}

/// The calls, with placeholders for the arguments of the chosen ones.
fn arguments(work: &CompactionState<'_>, at: usize, masked: &BTreeSet<usize>) -> Option<Vec<u8>> {
    let message = work.message(at)?;
    let calls = message
        .tool_calls
        .and_then(|raw| json::elements(raw, Dialect::Strict))?;
    let id = work.id(at);
    let short = calls.into_iter().enumerate().map(|(nth, call)| {
        let short = masked
            .contains(&nth)
            .then(|| without_arguments(work, call, &id))
            .flatten();
        short.map_or(Cow::Borrowed(call), Cow::Owned)
    });
    Some(json::array(short))
}

/// A call with a placeholder for its arguments, if that is smaller. Each call is judged alone, so that the outcome does
/// not depend on the others.
fn without_arguments(work: &CompactionState<'_>, call: &[u8], id: &str) -> Option<Vec<u8>> {
    let function = json::member(call, "function")?;
    let text = json::member_text(function, "arguments")?;
    let mark = arguments_mark(work, &text, id)?;
    let function = json::with_members(function, &[("arguments", Some(&json::quoted(&mark)))]).ok()?;
    json::with_members(call, &[("function", Some(&function))]).ok()
}

/// The placeholder of a message's arguments; none if it is not smaller.
pub fn arguments_mark(work: &CompactionState<'_>, text: &str, id: &str) -> Option<String> {
    let mark = placeholders::arguments(text, id);
    let count = |text: &str| work.counter.tokenizer().count(text);
    let is_less = mark.len() < text.len() && !placeholders::has_middle(text) && count(&mark) < count(text);
    is_less.then_some(mark)
}

impl CompactionState<'_> {
    /// Replaces the line of an item with one that contains placeholders.
    pub fn mark(&mut self, at: usize, body: Vec<u8>, tokens: u64, reason: &'static str) {
        self.set(at, &body, tokens);
        if let Some(atom) = self.items[at].atom() {
            self.atoms[atom].level = self.atoms[atom].level.max(AtomLevel::Masked);
            self.atoms[atom].reason = reason;
        }
    }
}
