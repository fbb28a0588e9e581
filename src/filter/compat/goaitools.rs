//! Imitates goaitools: its existing compactors (message limit, token limit, applied in turn) and those that were only
//! designed (last exchanges, token budget, summary range).
//!
//! Deliberate differences under [`Precedence::Convo`]:
//!
//! - messages that the model has not seen are never dropped, nor the exchange that contains the first of them;
//! - when no user message remains to start with, the newest exchange is kept whole and the limit counts as not met;
//!   goaitools keeps nothing;
//! - a cut between a call and its late result moves inward to the next user message;
//! - a summary counts toward the message limit and is kept unless the limit cannot be met otherwise;
//!   goaitools drops it first.
//!
//! A limit of 0 is off, even with `forced`. As in goaitools, the message and token limits keep only the end of the
//! history and drop earlier system messages. The designed strategies keep system messages in place.

use super::super::compact::digest;
use super::super::compact::event::ItemChange;
use super::choice::{Precedence, ViewChanges};
use super::history::{CompatHistory, MeasureFn, count, encode_message};
use crate::model::message::Role;

/// An existing compactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactorLimit {
    /// `MessageLimit`: keeps the last N messages; 0 or less is off.
    Messages(i64),
    /// `TokenLimit`: when the last prompt had more than `max` tokens, drops the oldest third, unless the prompt is
    /// within `target`. `max` of 0 or less is off; `target` of 0 or less means three quarters of `max`.
    Tokens {
        /// `max_tokens`.
        max: i64,
        /// `target_tokens`.
        target: i64,
        /// Prompt tokens reported by the last call; none disables the limit.
        prompt: Option<i64>,
    },
}

/// Applies compactors in turn; the first that drops anything decides. The model has seen the first `processed`
/// messages. `forced` means that an external trigger fired.
pub fn limit(
    history: &CompatHistory<'_>,
    limits: &[CompactorLimit],
    processed: usize,
    forced: bool,
    rules: Precedence,
) -> ViewChanges {
    // goaitools stores a summary as its oldest messages.
    let summaries: Vec<usize> = history.summaries().map(|(at, _)| at).collect();
    let total = history.len() + summaries.len();
    let cuts = limits.iter().filter_map(|limit| cut(total, *limit, forced));
    let Some(cut) = cuts.into_iter().next() else {
        return ViewChanges::unchanged(history);
    };
    let Some(newest) = history.exchanges().last().copied() else {
        return ViewChanges::unchanged(history);
    };
    let is_user = |at: &usize| history.role(*at) == Role::User;
    let without = |mut choice: ViewChanges, removed: usize| {
        for at in &summaries[..removed] {
            choice.reshaping.changes[*at] = ItemChange::Drop;
        }
        choice
    };
    if rules == Precedence::Theirs {
        let removed = cut.first.min(summaries.len());
        let start = match removed == summaries.len() {
            true => (cut.first - removed..history.len())
                .find(is_user)
                .unwrap_or(history.len()),
            false => 0,
        };
        return without(ViewChanges::keeping(history, |message| message >= start), removed);
    }
    let seen = seen_before(history, processed);
    // Only instructions precede the first exchange; they are kept with it.
    let oldest = seen.min(newest);
    let whole = match history.exchanges().first() == Some(&oldest) {
        true => 0,
        false => oldest,
    };
    let last = seen.min(history.len().saturating_sub(1));
    let keep = |first: usize, most: Option<usize>| {
        let mut starts = (first..=last).filter(is_user);
        let start = starts.find(|at| history.is_whole(*at)).unwrap_or(whole);
        let fits = most.is_none_or(|most| history.len() - start <= most) && start >= first;
        ViewChanges::keeping(history, |message| message >= start).fitting(fits)
    };
    let Some(most) = cut.most else {
        return keep(history.len() / 3, None);
    };
    let beside_summaries = most.saturating_sub(summaries.len());
    let choice = keep(
        history.len().saturating_sub(beside_summaries),
        Some(beside_summaries),
    );
    if choice.fits || summaries.is_empty() {
        return choice;
    }
    // Drop a summary only if that meets the limit.
    let bare = keep(history.len().saturating_sub(most), Some(most));
    match bare.fits {
        true => without(bare, summaries.len()),
        false => choice,
    }
}

/// Where a compactor cuts before it moves to a user message.
struct LimitCut {
    /// How many of the oldest messages to drop, summaries included.
    first: usize,
    /// The message limit, if any.
    most: Option<usize>,
}

/// Computes a compactor's cut for `length` messages, summaries included; none when the limit does not apply.
fn cut(length: usize, limit: CompactorLimit, forced: bool) -> Option<LimitCut> {
    match limit {
        CompactorLimit::Messages(most) => {
            let most = usize::try_from(most).ok().filter(|most| *most > 0)?;
            (length > most).then(|| LimitCut {
                first: length - most,
                most: Some(most),
            })
        }
        CompactorLimit::Tokens { max, target, prompt } => {
            let prompt = prompt?;
            let target = if target <= 0 {
                max.saturating_mul(3) / 4
            } else {
                target
            };
            let due = forced || (max > 0 && prompt > max);
            (due && prompt > target && length > 2).then_some(LimitCut {
                first: length / 3,
                most: None,
            })
        }
    }
}

/// The start of the exchange that contains the first message the model has not seen; the end when it has seen all.
fn seen_before(history: &CompatHistory<'_>, processed: usize) -> usize {
    if processed >= history.len() {
        return history.len();
    }
    let starts = history.exchanges();
    let exchange = starts.partition_point(|start| *start <= processed);
    // Only instructions precede the first exchange.
    exchange.checked_sub(1).map_or(0, |at| starts[at])
}

/// A designed strategy for dropping exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// `KeepLastN`: keeps this many exchanges.
    KeepLast(usize),
    /// `TokenBudget`: drops the oldest exchange while the view exceeds this many tokens.
    Budget(u64),
    /// `LLMSummarization`: summarizes the oldest exchanges, up to half of the messages and at least one exchange, but
    /// never the newest N.
    Summary(usize),
}

/// Applies a designed strategy. System messages and the newest exchange are kept in place. `digests` inserts at the
/// front one line for each dropped exchange with tool calls.
pub fn design(
    history: &CompatHistory<'_>,
    design: Design,
    digests: bool,
    processed: usize,
    measure: MeasureFn<'_>,
) -> ViewChanges {
    let mut starts = history.exchanges();
    let seen = seen_before(history, processed);
    let newest = starts.len().saturating_sub(1);
    let may_go = newest.min(starts.partition_point(|start| *start < seen));
    starts.push(history.len());
    let moves = |message: &usize| history.atom(*message).is_some();
    let exchange = |nth: usize| (starts[nth]..starts[nth + 1]).filter(moves).collect::<Vec<_>>();
    let digest_of = |nth: usize| -> Option<Vec<u8>> {
        let messages: Vec<_> = exchange(nth)
            .into_iter()
            .filter_map(|at| history.message(at))
            .collect();
        let calls = messages.iter().any(|message| message.calls_tools());
        (digests && calls).then(|| encode_message("user", &digest::exchange(&messages, &[])))
    };
    let mut inserts = Vec::new();
    let mut fits = true;
    let removed = match design {
        Design::KeepLast(keep) => may_go.min((newest + 1).saturating_sub(keep)),
        Design::Budget(budget) => {
            let counts = history.counts(measure);
            let mut total = history.fixed(measure) + counts.iter().sum::<u64>();
            let mut removed = 0;
            while total > budget && removed < may_go {
                total -= exchange(removed).iter().map(|at| counts[*at]).sum::<u64>();
                total += digest_of(removed).map_or(0, |line| count(&line, measure));
                removed += 1;
            }
            fits = total <= budget;
            removed
        }
        Design::Summary(keep) => {
            let half = history.len() / 2;
            let within = (1..=newest).take_while(|nth| starts[*nth] <= half).last();
            may_go
                .min((newest + 1).saturating_sub(keep))
                .min(within.unwrap_or(1))
        }
    };
    let mut choice = ViewChanges::unchanged(history).fitting(fits);
    for nth in 0..removed {
        inserts.extend(digest_of(nth).map(|line| (0, line)));
        for message in exchange(nth) {
            choice.reshaping.changes[history.item(message)] = ItemChange::Drop;
        }
    }
    choice.reshaping.inserts = inserts;
    if matches!(design, Design::Summary(_)) {
        choice = choice.summarising();
    }
    choice
}
