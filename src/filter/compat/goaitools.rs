//! goaitools: its compactors that exist (message limit, token limit, one after the other), and those that were
//! only designed there (the last exchanges, a token budget, the span of a summary).
//!
//! Deliberate differences under [`Rules::Convo`]:
//!
//! - what the model has not seen yet never goes, nor the exchange that reaches into it;
//! - where no user message is left to begin with, the newest exchange stays whole and the limit counts as not
//!   met; goaitools keeps nothing;
//! - a cut that would part a late result from its call moves inward to the next user message;
//! - a summary counts as a message of the limit and is kept, unless only dropping it meets the limit; goaitools drops it
//!   first.
//!
//! A limit of 0 is off, also when a trigger forces it. As goaitools has it, the message and the token limit keep a
//! mere end of the history: system messages ahead of it go. The designed ones keep them in their places.

use super::super::compact::digest;
use super::super::compact::event::Fate;
use super::choice::{Choice, Rules};
use super::history::{History, Measure, count, said};
use crate::model::message::Role;

/// A compactor that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `MessageLimit`: over this many messages, the last so many stay. 0 and less: off.
    Messages(i64),
    /// `TokenLimit`: over `max` tokens of the last prompt, the oldest third goes, unless the prompt is within
    /// `target`. `max` of 0 and less: off; `target` of 0 and less: three quarters of `max`.
    Tokens {
        /// `max_tokens`.
        max: i64,
        /// `target_tokens`.
        target: i64,
        /// What the last call reported; none: nothing is done.
        prompt: Option<i64>,
    },
}

/// What one compactor after the other keeps: the first that does anything decides. `processed` messages at the
/// front have been seen by the model. With `forced`, a trigger of its own has said that it is time.
pub fn limit(
    history: &History<'_>,
    limits: &[Limit],
    processed: usize,
    forced: bool,
    rules: Rules,
) -> Choice {
    // goaitools keeps a summary as its oldest messages.
    let summaries: Vec<usize> = history.summaries().map(|(at, _)| at).collect();
    let total = history.len() + summaries.len();
    let cuts = limits.iter().filter_map(|limit| cut(total, *limit, forced));
    let Some(cut) = cuts.into_iter().next() else {
        return Choice::unchanged(history);
    };
    let Some(newest) = history.exchanges().last().copied() else {
        return Choice::unchanged(history);
    };
    let is_user = |at: &usize| history.role(*at) == Role::User;
    let without = |mut choice: Choice, gone: usize| {
        for at in &summaries[..gone] {
            choice.reshaping.fates[*at] = Fate::Goes;
        }
        choice
    };
    if rules == Rules::Theirs {
        let gone = cut.first.min(summaries.len());
        let start = match gone == summaries.len() {
            true => (cut.first - gone..history.len())
                .find(is_user)
                .unwrap_or(history.len()),
            false => 0,
        };
        return without(Choice::keeping(history, |message| message >= start), gone);
    }
    let seen = seen_before(history, processed);
    // Before the first exchange there are rules only; they are kept with it.
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
        Choice::keeping(history, |message| message >= start).fitting(fits)
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
    // A summary is dropped only where that meets the limit.
    let bare = keep(history.len().saturating_sub(most), Some(most));
    match bare.fits {
        true => without(bare, summaries.len()),
        false => choice,
    }
}

/// Where a compactor cuts before it looks for a user message.
struct LimitCut {
    /// How many of the oldest messages it drops, summaries included.
    first: usize,
    /// How many messages it allows.
    most: Option<usize>,
}

/// The cut of one compactor in so many messages, summaries included; none when it does nothing.
fn cut(length: usize, limit: Limit, forced: bool) -> Option<LimitCut> {
    match limit {
        Limit::Messages(most) => {
            let most = usize::try_from(most).ok().filter(|most| *most > 0)?;
            (length > most).then(|| LimitCut {
                first: length - most,
                most: Some(most),
            })
        }
        Limit::Tokens { max, target, prompt } => {
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

/// The exchange with which what the model has not seen begins; the end when it has seen everything.
fn seen_before(history: &History<'_>, processed: usize) -> usize {
    if processed >= history.len() {
        return history.len();
    }
    let starts = history.exchanges();
    let exchange = starts.partition_point(|start| *start <= processed);
    // Ahead of the first exchange there are rules only.
    exchange.checked_sub(1).map_or(0, |at| starts[at])
}

/// How a designed strategy says what goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// `KeepLastN`: this many exchanges stay.
    KeepLast(usize),
    /// `TokenBudget`: while it is over this, the oldest exchange goes.
    Budget(u64),
    /// `LLMSummarization`: a summary is to stand for the oldest exchanges, up to half of the messages and at least
    /// one exchange, never the so many newest.
    Summary(usize),
}

/// What a designed strategy keeps. System messages stay in their places, so does the newest exchange. With
/// `digests`, one line for each exchange with tool calls that goes stands at the front.
pub fn design(
    history: &History<'_>,
    design: Design,
    digests: bool,
    processed: usize,
    measure: Measure<'_>,
) -> Choice {
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
        (digests && calls).then(|| said("user", &digest::exchange(&messages)))
    };
    let mut inserts = Vec::new();
    let mut fits = true;
    let gone = match design {
        Design::KeepLast(keep) => may_go.min((newest + 1).saturating_sub(keep)),
        Design::Budget(budget) => {
            let counts = history.counts(measure);
            let mut total = history.fixed(measure) + counts.iter().sum::<u64>();
            let mut gone = 0;
            while total > budget && gone < may_go {
                total -= exchange(gone).iter().map(|at| counts[*at]).sum::<u64>();
                total += digest_of(gone).map_or(0, |line| count(&line, measure));
                gone += 1;
            }
            fits = total <= budget;
            gone
        }
        Design::Summary(keep) => {
            let half = history.len() / 2;
            let within = (1..=newest).take_while(|nth| starts[*nth] <= half).last();
            may_go
                .min((newest + 1).saturating_sub(keep))
                .min(within.unwrap_or(1))
        }
    };
    let mut choice = Choice::unchanged(history).fitting(fits);
    for nth in 0..gone {
        inserts.extend(digest_of(nth).map(|line| (0, line)));
        for message in exchange(nth) {
            choice.reshaping.fates[history.item(message)] = Fate::Goes;
        }
    }
    choice.reshaping.inserts = inserts;
    if matches!(design, Design::Summary(_)) {
        choice = choice.summarising();
    }
    choice
}

/// `processed_length` afterwards: the messages that stay of those that were seen, and what was put in (a summary
/// that is still to be made included).
pub fn processed_after(history: &History<'_>, choice: &Choice, processed: usize) -> usize {
    let seen = (0..processed.min(history.len())).filter(|message| !choice.goes(history.item(*message)));
    seen.count() + choice.reshaping.inserts.len() + usize::from(!choice.summarised.is_empty())
}
