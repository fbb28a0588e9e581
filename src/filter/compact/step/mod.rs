//! The steps of a compaction, one file each. A step changes the oldest messages first, and ends as soon as `enough`
//! returns true.

pub mod cap;
pub mod dedupe;
pub mod digest;
pub mod drop;
pub mod head_tail;
pub mod mask;
pub mod media;
pub mod shrink;
pub mod thinking;

use super::facts::outcome::CallOutcome;
use super::placeholders;
use super::sources::content_tokens;
use super::state::{CompactionState, ResultCall};
use crate::filter::phrase::one_line;
use crate::model::json;
use crate::model::message::{Message, ToolCall};
use crate::model::threads::{self, over_cores};
use crate::model::view::Item;
use std::borrow::Cow;

/// Most characters and tokens of the error line in a placeholder.
const LINE: (usize, u64) = (100, 40);

/// Fewest tokens that a placeholder of a result must save. The placeholders of a text and of its edited version differ by
/// fewer: in the digits of the sizes and of the fingerprint.
const LEAST_GAIN: u64 = 8;

/// Most tokens by which the sizes and the fingerprint of a text make its placeholder longer than that of an empty text.
const SIZES: u64 = 16;

/// Writes the placeholder of a result.
pub type PlaceholderFn = fn(&placeholders::ResultPlaceholder<'_>) -> String;

/// Whether the view is small enough.
pub type EnoughFn<'e> = &'e dyn Fn(&CompactionState<'_>) -> bool;

/// The items of sessions of fewer bytes are changed one by one: computing more than is needed would take longer.
const SMALL: usize = if cfg!(test) { 1 } else { threads::SMALL };

/// How many items are computed together; a step may end after any of them.
const BLOCK: usize = 256;

/// Work to change an item, per token of it, in bytes for [`over_cores`].
const BYTES: u64 = if cfg!(test) { 1 << 20 } else { 64 };

/// Changes items one after the other until it is enough. `planned` computes the changes of a block of items over all
/// cores, and sees none of them yet; `apply` makes them.
fn change_each<R: Send>(
    work: &mut CompactionState<'_>,
    items: &[usize],
    enough: EnoughFn<'_>,
    planned: impl Fn(&CompactionState<'_>, usize) -> Option<R> + Sync,
    mut apply: impl FnMut(&mut CompactionState<'_>, usize, R),
) {
    let block = if work.session.size() < SMALL { 1 } else { BLOCK };
    for items in items.chunks(block) {
        if enough(work) {
            return;
        }
        let plans = computed(work, items, &planned);
        for (at, plan) in items.iter().zip(plans) {
            if enough(work) {
                return;
            }
            if let Some(plan) = plan {
                apply(work, *at, plan);
            }
        }
    }
}

/// The result for each item, computed over all cores.
fn computed<R: Send>(
    work: &CompactionState<'_>,
    items: &[usize],
    each: impl Fn(&CompactionState<'_>, usize) -> R + Sync,
) -> Vec<R> {
    let tokens: u64 = items.iter().map(|at| work.items[*at].now).sum();
    let bytes = usize::try_from(tokens.saturating_mul(BYTES)).unwrap_or(usize::MAX);
    over_cores(items.len(), work.counter.tokenizer().work(bytes), |nth| {
        each(work, items[nth])
    })
}

impl CompactionState<'_> {
    /// The results in the view that are neither pinned nor waiting for others, oldest first.
    pub fn results(&self) -> Vec<usize> {
        let is_result = |at: &usize| self.is_result(*at) && self.may_change(*at);
        (0..self.items.len()).filter(is_result).collect()
    }

    /// The call of a result, in the view before the compaction.
    pub fn call(&self, at: usize) -> Option<ToolCall<'_>> {
        self.owners.get(&at).map(ResultCall::call)
    }

    /// The tool name of a result.
    pub fn tool(&self, at: usize) -> Cow<'_, str> {
        let own = || {
            self.view.items[at]
                .message(self.session)?
                .name
                .and_then(json::text)
        };
        match self.call(at) {
            Some(call) => call.name,
            None => own().unwrap_or_default(),
        }
    }

    /// The current text of a result; none if it is empty or a placeholder.
    pub fn unmarked(&self, at: usize) -> Option<Cow<'_, str>> {
        let text = placeholders::content(&self.message(at)?)?;
        (!text.is_empty() && !placeholders::is_mark(&text)).then_some(text)
    }

    /// Exit status and error line of a failed call, for the placeholder of its result; empty if it succeeded.
    fn failure(&self, at: usize) -> String {
        let message = self.described(at);
        let outcome = message.as_ref().map(CallOutcome::of).unwrap_or_default();
        if !outcome.failed {
            return String::new();
        }
        let failure = one_line(&outcome.failure(LINE.0));
        match self.counter.tokenizer().count(&failure) <= LINE.1 {
            true => failure,
            false => outcome.failure(0),
        }
    }

    /// A result as a placeholder with the facts of the message in the log, and its tokens; none if that saves too little.
    pub fn elided(&self, at: usize, id: &str, mark: PlaceholderFn) -> Option<(Vec<u8>, u64)> {
        match self.elided_in_view(at, id, mark)? {
            (Some(body), tokens) if matches!(self.view.items[at], Item::Line(_)) => Some((body, tokens)),
            _ => self.with_placeholder(at, Some(&self.original(at)?), id, mark),
        }
    }

    /// The tokens that a placeholder of a result saves; none if they are too few.
    ///
    /// The placeholder describes the message in the log, which a stream lacks. Store and stream compute these tokens from the
    /// text in the view, so that they decide alike.
    pub fn elision_gain(&self, at: usize, id: &str, mark: PlaceholderFn) -> Option<u64> {
        let (_, tokens) = self.elided_in_view(at, id, mark)?;
        Some(self.items[at].now - tokens)
    }

    /// A result as a placeholder with the facts of its text in the view, before any change of it, and its tokens; none if that
    /// saves too little. If that text is partly elided, size and outcome depend on the message in the log: there is no
    /// placeholder then, but an upper bound of its tokens.
    fn elided_in_view(&self, at: usize, id: &str, mark: PlaceholderFn) -> Option<(Option<Vec<u8>>, u64)> {
        self.unmarked(at)?;
        let message = self.view.items[at].message(self.session)?;
        let is_partly_elided = placeholders::content(&message)?.contains(placeholders::BEGINNING);
        let (body, tokens) = match is_partly_elided {
            true => {
                let (_, tokens) = self.with_placeholder(at, None, id, mark)?;
                (None, tokens + LINE.1 + SIZES)
            }
            false => {
                let (body, tokens) = self.with_placeholder(at, Some(&message), id, mark)?;
                (Some(body), tokens)
            }
        };
        (self.items[at].now >= tokens + LEAST_GAIN).then_some((body, tokens))
    }

    /// The line of a result with a placeholder that describes this message, or an empty one, and its tokens; none if it is
    /// not smaller.
    fn with_placeholder(
        &self,
        at: usize,
        described: Option<&Message<'_>>,
        id: &str,
        mark: PlaceholderFn,
    ) -> Option<(Vec<u8>, u64)> {
        let text = described.map_or(Some(Cow::Borrowed("")), placeholders::content)?;
        let count = |message| {
            content_tokens(self, at, message).unwrap_or_else(|| self.counter.tokenizer().count(&text))
        };
        let outcome = described.map(|_| self.failure(at)).unwrap_or_default();
        let text = mark(&placeholders::ResultPlaceholder {
            tool: &self.tool(at),
            outcome: &outcome,
            tokens: described.map_or(0, count),
            text: &text,
            id,
        });
        self.tried(at, &[("content", Some(&json::quoted(&text)))])
    }
}
