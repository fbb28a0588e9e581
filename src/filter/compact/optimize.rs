//! Chooses the levels of all message groups at once: a multiple-choice knapsack, filled greedily by information per
//! token. The levels of a group are placeholders for its results, results without their middle, and the whole. The
//! value of a text is that of its terms as the extractive summarizer weighs them; each chosen group that contains a
//! term halves the term's value. Of a group's steps the densest is tried first, which walks the upper hull of its
//! levels. Dialog comes before results. A group that is kept in place keeps its question and its answer; the summary
//! quotes the other chosen groups, under their dates.

use super::goal::{CompactionGoal, part};
use super::level_options::{LevelChoices, LevelOption, read};
use super::levels::set;
use super::options::CompactOptions;
use super::prefix::SummaryLimit;
use super::state::{AtomLevel, CompactionState};
use super::step::mask::MaskCandidates;
use super::summary;
use super::{keep_newest, step, tiered, unused};
use crate::error::Result;
use crate::filter::summarize::{GreedyOffer, OfferSource, take_best};
use std::cell::LazyCell;
use std::collections::HashSet;

/// Per mille of the budget that the exchanges of `keep_last` may take besides the newest exchange.
const NEWEST: u64 = 300;

/// Tokens below which a request is short.
const SHORT: u64 = 16;

/// Chooses levels, and summarizes dropped messages in the remaining tokens.
pub fn run(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) -> Result<()> {
    // If nothing may be dropped, there is little to choose.
    let may_leave = options.steps.summary || options.steps.drop;
    let Some(budget) = target.tokens().filter(|_| may_leave && target.is_tokens_alone()) else {
        return tiered::run(work, options, target);
    };
    // Steps that remove no unique content come first: repeats, old media, closed reasoning.
    tiered::run_lossless_steps(work, options, &|work| target.is_met(work));
    if target.is_met(work) {
        return Ok(());
    }
    // In a session with an earlier summary, or with tool calls, the newest exchanges are worth more than older ones.
    let repeated = SummaryLimit::of(work, options, Some(budget)).is_some();
    if keep_newest::is_allowed(options, target) && (repeated || summary::hands_over(work, &options.style)) {
        if !only_marks(work, options, target) {
            keep_newest::run(work, options, target);
        }
        return Ok(());
    }
    let mut first = kept_exchanges(work, options, budget);
    let previous = work.summary_item.map_or(0, |at| work.items[at].now);
    let results: u64 = work.results().into_iter().map(|at| work.items[at].now).sum();
    let (free, free_tokens, reserve) = loop {
        let free: Vec<usize> = (0..work.atoms.len())
            .filter(|atom| work.may_drop(*atom) && work.atoms[*atom].exchange < first)
            .collect();
        let free_tokens: u64 = free.iter().map(|atom| work.atom_tokens(*atom)).sum();
        let reserve = LazyCell::new(|| summary::reserve(work, options, budget, &free));
        let all_rules = summary::all_rules_tokens(work, options, &free);
        // Without an earlier summary, only rules need tokens of their own, and no part of them needs more than all.
        let wanted = match all_rules > 0 && work.summary_item.is_none() {
            true => all_rules,
            false => all_rules.max(*reserve),
        };
        // Standing instructions come before exchanges older than the newest one. Results can shrink.
        let fixed = work.total.saturating_sub(free_tokens + previous + results);
        let mut over = fixed.saturating_add(wanted).saturating_sub(budget);
        if over == 0 {
            break (free, free_tokens, wanted);
        }
        if first + 1 >= work.exchanges.len() {
            let reserve = *reserve;
            break (free, free_tokens, reserve);
        }
        while over > 0 && first + 1 < work.exchanges.len() {
            over = over.saturating_sub(work.exchange_tokens(first));
            first += 1;
        }
    };
    let leaving = free_tokens + previous;
    // Results of the newest exchanges can be fetched again, earlier dialog cannot: the older results give way to all of
    // the dialog, the newest ones only to the summary's share.
    let maskable = if options.steps.mask {
        step::mask::candidates(work, &options.mask)
    } else {
        MaskCandidates::new()
    };
    let stays = |at: &usize| {
        work.items[*at]
            .atom()
            .is_some_and(|atom| work.atoms[atom].exchange >= first)
    };
    let newest: Vec<usize> = work.results().into_iter().filter(stays).collect();
    let older: Vec<usize> = newest
        .iter()
        .copied()
        .filter(|at| maskable.contains_key(at))
        .collect();
    let dialog_tokens: u64 = free
        .iter()
        .flat_map(|atom| &work.atoms[*atom].items)
        .filter(|at| !work.is_result(**at))
        .map(|at| work.items[*at].now)
        .sum();
    let share = part(budget, options.summary_share)
        .min(free_tokens + previous)
        .max(reserve);
    for (results, room) in [(older, share.max(dialog_tokens)), (newest, share)] {
        step::shrink::run(work, options, &results, &|work| {
            work.total - leaving + room <= budget
        });
    }
    let fixed = work.total - leaving;
    let room = budget.saturating_sub(fixed + reserve);
    let least = summary::minimum_tokens(work, options, budget).saturating_sub(reserve);
    let mut levels = match options.steps.summary && is_better_summarized(work, &free, room) {
        true => vec![AtomLevel::Dropped; free.len()],
        false => choose(work, options, &maskable, &free, (room, least)),
    };
    if options.steps.summary {
        drop_separated_groups(work, &free, &mut levels);
    }
    for (atom, level) in free.into_iter().zip(levels) {
        set(work, options, &maskable, atom, level);
    }
    if options.steps.summary {
        summary::fill(work, options, target);
    }
    step::drop::drop_leading_replies(work, "drop");
    if target.is_met(work) {
        unused::spend(work, options, target);
    }
    // The kept messages exceed the budget: continue step after step from here.
    if !target.is_met(work) {
        tiered::run(work, options, target)?;
    }
    Ok(())
}

/// Whether less than two thirds of a conversation fit: a summary in sentences then holds more than whole exchanges would.
fn is_better_summarized(work: &CompactionState<'_>, free: &[usize], room: u64) -> bool {
    let calls = |atom: &usize| work.atoms[*atom].items.len() > 1;
    let tokens: u64 = free.iter().map(|atom| work.atom_tokens(*atom)).sum();
    tokens > room.saturating_mul(3) / 2 && !free.iter().any(calls)
}

/// Tries to reach the target by shortening long results and replacing older ones with placeholders; whether that
/// sufficed.
fn only_marks(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) -> bool {
    let enough = |work: &CompactionState<'_>| target.is_met(work);
    step::head_tail::run(work, options.tool_output, &enough);
    let over = work.total.saturating_sub(target.tokens().unwrap_or(0));
    if over > 0 && work.measures(None).tool_tokens > over && step::mask::gain(work, &options.mask) >= over {
        step::mask::run(work, &options.mask, 0, &enough);
    }
    target.is_met(work)
}

/// Drops the remaining groups of an exchange that has lost its question or its answer, because they would look like
/// replies to something else; the summary quotes them.
fn drop_separated_groups(work: &CompactionState<'_>, free: &[usize], levels: &mut [AtomLevel]) {
    let stays: HashSet<usize> = (0..work.atoms.len())
        .filter(|atom| free.binary_search(atom).is_err() && work.atoms[*atom].level < AtomLevel::Digest)
        .collect();
    let level = |atom: &usize, levels: &[AtomLevel]| match free.binary_search(atom) {
        Ok(nth) => levels[nth],
        Err(_) if stays.contains(atom) => AtomLevel::Full,
        Err(_) => AtomLevel::Dropped,
    };
    for exchange in &work.exchanges {
        let ends = [exchange.atoms.start, exchange.atoms.end - 1];
        if ends.iter().all(|atom| level(atom, levels) < AtomLevel::Digest) {
            continue;
        }
        for atom in exchange.atoms.clone() {
            if let Ok(nth) = free.binary_search(&atom) {
                levels[nth] = AtomLevel::Dropped;
            }
        }
    }
}

/// The first exchange that is kept regardless of its content: the newest, and those of `keep_last` as far as they fit.
fn kept_exchanges(work: &CompactionState<'_>, options: &CompactOptions, budget: u64) -> usize {
    let mut first = work.exchanges.len().saturating_sub(1);
    // A short request refers to the exchange before: "yes, go on". The answer to a question may be anywhere.
    let is_short = |newest: usize| work.atom_tokens(work.exchanges[newest].atoms.start) < SHORT;
    let refers_back = || options.style.questions.is_empty() && work.newest().is_some_and(is_short);
    let kept = options
        .keep_last
        .unwrap_or_else(|| 1 + usize::from(refers_back()))
        .max(1);
    let oldest = work.exchanges.len().saturating_sub(kept);
    let mut tokens = 0;
    while first > oldest {
        tokens += work.exchange_tokens(first - 1);
        if tokens > part(budget, NEWEST) {
            break;
        }
        first -= 1;
    }
    first
}

/// Chooses the level of each of these groups.
fn choose(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    maskable: &MaskCandidates,
    free: &[usize],
    (mut room, least): (u64, u64),
) -> Vec<AtomLevel> {
    let mut groups = read(work, options, maskable, free);
    let all = 0..groups.len();
    // If not even the lowest levels fit, some groups are dropped, and the summary needs tokens to cover them.
    let lowest = all.clone().filter_map(|nth| groups.options(nth).first());
    if lowest.map(|choice| choice.tokens).sum::<u64>() > room {
        room = room.saturating_sub(least);
    }
    // Dialog comes first: a result can be fetched again from its tool or by its placeholder, dialog cannot.
    for results in [false, true] {
        let mut search = LevelSearch {
            groups: &mut groups,
            room,
            results,
        };
        take_best(&mut search, all.clone());
        room = search.room;
    }
    let level = |nth: usize| match usize::from(groups.get(nth).on) {
        0 => AtomLevel::Dropped,
        on => groups.options(nth)[on - 1].level,
    };
    all.map(level).collect()
}

/// Steps up, the densest first, until none fits: up to the choices for results, or all the way.
struct LevelSearch<'l> {
    groups: &'l mut LevelChoices,
    room: u64,
    results: bool,
}

impl OfferSource for LevelSearch<'_> {
    fn touch(&self, nth: usize) -> u32 {
        self.groups.touch(nth)
    }

    /// The step from a group's current choice with the largest gain per token, of those that fit.
    fn offer(&self, nth: usize) -> Option<GreedyOffer> {
        let (group, choices) = (self.groups.get(nth), self.groups.options(nth));
        let end = if self.results {
            choices.len()
        } else {
            group.dialog.into()
        };
        let on = usize::from(group.on);
        let current = on.checked_sub(1).map_or(0, |on| choices[on].tokens);
        let cost = |choice: &LevelOption| choice.tokens.saturating_sub(current).max(1);
        // Choices above the highest one that fits can be skipped.
        let end = (on..end).rev().find(|to| cost(&choices[*to]) <= self.room)? + 1;
        let mut gain = 0;
        let mut best: Option<GreedyOffer> = None;
        for (to, choice) in choices.iter().enumerate().take(end).skip(on) {
            let cost = cost(choice);
            gain += self.groups.gain(nth, to);
            let offer = GreedyOffer::new((nth, to + 1), gain, cost);
            if cost <= self.room && best.is_none_or(|best| offer > best) {
                best = Some(offer);
            }
        }
        best
    }

    fn take(&mut self, offer: GreedyOffer) -> bool {
        let (nth, to) = (offer.of as usize, offer.to as usize);
        self.groups.raise(nth, to);
        self.room -= offer.tokens.min(self.room);
        true
    }
}
