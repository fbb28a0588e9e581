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
use crate::model::message::ToolCall;
use crate::model::threads::{self, over_cores};
use std::borrow::Cow;

/// Most characters and tokens of the error line in a placeholder.
const LINE: (usize, u64) = (100, 40);

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

    /// The placeholder of a result, with the facts of the message in the log.
    pub fn elided(
        &self,
        at: usize,
        id: String,
        mark: fn(&placeholders::ResultPlaceholder<'_>) -> String,
    ) -> Option<Vec<u8>> {
        let original = self.original(at)?;
        let text = placeholders::content(&original)?;
        let text = mark(&placeholders::ResultPlaceholder {
            tool: &self.tool(at),
            outcome: &self.failure(at),
            tokens: content_tokens(self, at, &original)
                .unwrap_or_else(|| self.counter.tokenizer().count(&text)),
            text: &text,
            id: &id,
        });
        Some(json::quoted(&text))
    }
}
