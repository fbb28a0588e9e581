//! Keeps the newest request and as many of the newest messages after it as fit next to a summary of the rest. Shortens
//! long kept messages, and may cut an exchange after its request.

use super::goal::CompactionGoal;
use super::kept_atoms::KeptAtoms;
use super::options::{CompactOptions, CompactOverflow};
use super::prefix::{self, SummaryLimit};
use super::spend::{self, KeptAtom};
use super::state::{AtomLevel, CompactionState, summary_cost};
use super::step::cap::{AnsweredCalls, CAPS, Cap, LOWEST, capped};
use super::step::mask;
use super::{facts, summary};
use std::collections::HashSet;

/// Whether the options allow shortening messages and dropping the others.
pub fn is_allowed(options: &CompactOptions, target: &CompactionGoal) -> bool {
    let steps = &options.steps;
    // With `CompactOverflow::Error` nothing may be dropped for a summary.
    options.overflow != CompactOverflow::Error
        && steps.mask
        && steps.head_tail
        && (steps.summary || steps.drop)
        && target.is_tokens_alone()
}

/// A choice that leaves more than this part of the budget is made again.
const SPARE: u64 = 20;

/// Most items of a view for a second choice, which needs a copy of the view. With many small messages, the first choice
/// leaves few tokens.
const MANY: usize = 10_000;

/// Drops the messages that do not fit, and summarizes them.
pub fn run(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) {
    let Some(budget) = target.tokens() else { return };
    // The summary can hold more than digests of exchanges.
    for exchange in work.inserts.keys().copied().collect::<Vec<_>>() {
        work.drop_exchange(exchange, "summary");
    }
    // Earlier steps dropped messages before they shortened any. An order of categories is the user's choice.
    if options.drop_order.is_empty() && options.shares.is_empty() {
        work.take_back();
    }
    let start = (work.items.len() <= MANY).then(|| work.clone());
    let answered: AnsweredCalls = work
        .owners
        .values()
        .map(|owner| (owner.caller, owner.nth))
        .collect();
    let mut places = KeptAtoms::of(work);
    // No model has seen these messages: drop them only for a summary, and only if the budget cannot be reached otherwise, or
    // if the earlier summary, which may quote such messages, would be lost.
    let mut with_all = None;
    if places.has_unseen() && options.steps.summary {
        let lowest = |atom| shortened_atom(work, options, &answered, atom, Some(LOWEST)).tokens;
        if work.aside() + places.fixed + places.all().map(lowest).sum::<u64>() <= budget {
            choose(work, options, target, &places, (&answered, start.as_ref()));
            let is_met = target.is_met(work);
            if is_met && (start.is_none() || !work.has_lost_summary()) {
                return;
            }
            with_all = is_met.then(|| work.clone());
            reset(work, start.as_ref());
        }
        places.release_unseen();
    }
    choose(work, options, target, &places, (&answered, start.as_ref()));
    if let Some(with_all) = with_all
        && (work.summary.is_none() || !target.is_met(work))
    {
        *work = with_all;
    }
}

/// Undoes a choice: messages that it shortened remain so without `start`.
fn reset<'s>(work: &mut CompactionState<'s>, start: Option<&CompactionState<'s>>) {
    match start {
        Some(start) => work.clone_from(start),
        None => work.take_back(),
    }
    work.remove_new_summary();
}

/// Keeps these groups, in their shortest form if no other fits, and as many others as fit. `start` is a copy of the
/// state, if it has few items.
fn choose<'s>(
    work: &mut CompactionState<'s>,
    options: &CompactOptions,
    target: &CompactionGoal,
    places: &KeptAtoms,
    (answered, start): (&AnsweredCalls, Option<&CompactionState<'s>>),
) {
    let Some(budget) = target.tokens() else { return };
    let room = budget.saturating_sub(work.aside() + places.fixed);
    let lowest = |atom| shortened_atom(work, options, answered, atom, Some(LOWEST));
    let shortest: Vec<KeptAtom> = places.all().map(lowest).collect();
    let least: u64 = shortest.iter().map(|kept| kept.tokens).sum();
    // A consolidated summary is smaller than the earlier records: consolidate only if those could have been kept.
    let limit = SummaryLimit::of(work, options, Some(budget));
    let freed = work.summary_item.map_or(0, |at| work.items[at].before);
    work.exchanges_summary = matches!(limit, Some(SummaryLimit::One(_))) && least + freed <= room;
    let summary = summary_reserve(work, options, limit, (room.saturating_sub(least), room));
    let fit = |work: &mut CompactionState<'_>, summary: u64| {
        let room = (room.saturating_sub(summary), least);
        if let Some(row) = row(work, options, answered, places, room) {
            apply(work, places, row);
            fill(work, options, target, places);
        }
    };
    fit(work, summary);
    if target.is_met(work) {
        let Some(start) = start else { return };
        // A summary that needs less than its reserve leaves the rest to messages.
        let needs = work.summary_tokens();
        if budget - work.total > budget / SPARE
            && needs < summary
            && work.now().messages < start.now().messages
        {
            let mut again = start.clone();
            fit(&mut again, needs);
            let is_summarized = again.summary.is_some() || work.summary.is_none();
            if target.is_met(&again) && again.total > work.total && is_summarized {
                *work = again;
            }
        }
        spend::run(
            work,
            start,
            budget,
            places.all().chain(places.others()),
            &|atom, cap| shortened_atom(start, options, answered, atom, cap),
        );
        return;
    }
    work.exchanges_summary = false;
    apply(work, places, shortest);
    fill(work, options, target, places);
    if !target.is_met(work) {
        work.drop_summary();
    }
}

fn fill(
    work: &mut CompactionState<'_>,
    options: &CompactOptions,
    target: &CompactionGoal,
    places: &KeptAtoms,
) {
    if options.steps.summary {
        summary::fill(work, options, target);
    }
    // Without a summary, the view begins with the request or with an earlier user message.
    for atom in 0..places.asked.unwrap_or(0) {
        let kept = &work.atoms[atom];
        let first = kept.items[0];
        if kept.level >= AtomLevel::Digest {
            continue;
        }
        let stays = kept.pinned || work.waits(atom) || places.newest.contains(&atom);
        if stays || work.items[first].is_user() || work.has_record_before(first) {
            break;
        }
        work.drop_atom(atom, AtomLevel::Dropped, "drop");
    }
    super::step::drop::drop_leading_replies(work, "drop");
}

/// Tokens to reserve for the summary, of `beside` tokens that are free next to the groups that must be kept.
fn summary_reserve(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    limit: Option<SummaryLimit>,
    (extra, room): (u64, u64),
) -> u64 {
    // A summary that the view cannot do without is kept unless another one replaces it.
    let standing = work.summary_item.filter(|_| !work.can_drop_summary());
    let standing = standing.map_or(0, |at| work.items[at].now);
    if !options.steps.summary {
        return standing;
    }
    let most = prefix::first(work, room).min(extra);
    let (most, standing) = match (limit, work.summary_item) {
        (Some(SummaryLimit::Further(tokens)), Some(at)) => (tokens.min(extra), work.items[at].before),
        (Some(limit), _) if work.exchanges_summary => (limit.tokens().min(extra), 0),
        (Some(limit), _) => (limit.tokens().min(extra), standing),
        (None, _) => (most, standing),
    };
    let most = options.summary_budget.map_or(most, |budget| most.min(budget));
    let most = if options.asks {
        most.min(options.summary_budget.unwrap_or(summary::UNBOUND))
    } else {
        most
    };
    // Few texts need a token for fewer than three bytes; long lists of facts are cut anyway.
    if !summary::hands_over(work, &options.style) {
        return most.max(standing);
    }
    let before = work
        .summary_item
        .and_then(|at| work.view.items[at].summary(work.session));
    let before = before.map_or(0, |text| text.len() as u64);
    let bytes = facts::bytes(work, most.saturating_mul(3)) + before;
    let need = (bytes / 3).saturating_add(summary_cost(work.counter, "") + 64);
    need.min(most).max(standing)
}

/// A message group shortened to a cap; without a cap, unchanged.
fn shortened_atom(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    answered: &AnsweredCalls,
    atom: usize,
    cap: Option<Cap>,
) -> KeptAtom {
    let mut kept = KeptAtom {
        atom,
        changes: Vec::new(),
        tokens: 0,
    };
    for at in &work.atoms[atom].items {
        let mut changed = cap.and_then(|cap| capped(work, options, answered, *at, cap));
        // A placeholder may be even smaller.
        if cap == Some(LOWEST)
            && work.is_result(*at)
            && work.may_change(*at)
            && !mask::excludes(work, &options.mask, *at)
        {
            let marked = mask::result(work, *at);
            let tokens =
                |kept: &Option<(Vec<u8>, u64)>| kept.as_ref().map_or(u64::MAX, |(_, tokens)| *tokens);
            changed = if tokens(&marked) < tokens(&changed) {
                marked
            } else {
                changed
            };
        }
        match changed {
            Some((body, tokens)) => {
                kept.tokens += tokens;
                kept.changes.push((*at, body, tokens));
            }
            None => kept.tokens += work.items[*at].now,
        }
    }
    kept
}

/// Chooses the groups to keep in addition to the fixed ones: the request, the newest groups, and earlier ones until one
/// does not fit. None if not even the smallest choice fits.
fn row(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    answered: &AnsweredCalls,
    places: &KeptAtoms,
    (room, least): (u64, u64),
) -> Option<Vec<KeptAtom>> {
    let mut left = room.checked_sub(least)?;
    let lowest = |atom: usize| shortened_atom(work, options, answered, atom, Some(LOWEST)).tokens;
    let protected = work
        .exchanges
        .len()
        .saturating_sub(options.keep_last.unwrap_or(0));
    let fit = |atom: usize, left: u64| {
        // Wide caps use at most a third of the remaining tokens, so that one message does not crowd out all others.
        let third = match work.atoms[atom].exchange >= protected {
            true => left,
            false => left / 3,
        };
        let full =
            Some(shortened_atom(work, options, answered, atom, None)).filter(|kept| kept.tokens <= third);
        full.or_else(|| {
            let caps = CAPS.iter().enumerate();
            let fits = |(nth, cap): (usize, &Cap)| {
                let kept = shortened_atom(work, options, answered, atom, Some(*cap));
                (kept.tokens <= if nth < 2 { third } else { left }).then_some(kept)
            };
            caps.into_iter().find_map(fits)
        })
    };
    let mut row = Vec::new();
    for atom in places.all() {
        // `least` already includes the smallest form of this group.
        left += lowest(atom);
        let kept = fit(atom, left)?;
        left -= kept.tokens;
        row.push(kept);
    }
    let mut more = Vec::new();
    let mut whole = 0;
    let free = |atom: &usize| {
        let kept = &work.atoms[*atom];
        kept.level < AtomLevel::Digest && !kept.pinned && Some(*atom) != places.request
    };
    for atom in places.others().filter(free) {
        if work.waits(atom) {
            continue;
        }
        let Some(kept) = fit(atom, left) else { break };
        left -= kept.tokens;
        more.push(kept);
        if places.begins[atom] {
            whole = more.len();
        }
    }
    more.truncate(whole);
    row.append(&mut more);
    Some(row)
}

fn apply(work: &mut CompactionState<'_>, places: &KeptAtoms, row: Vec<KeptAtom>) {
    let stays: HashSet<usize> = row.iter().map(|kept| kept.atom).collect();
    for kept in row {
        kept.apply(work);
    }
    for atom in 0..work.atoms.len() {
        let fixed = work.atoms[atom].pinned || work.waits(atom);
        if !fixed && work.atoms[atom].level < AtomLevel::Digest && !stays.contains(&atom) {
            work.drop_atom(atom, AtomLevel::Dropped, "summary");
        }
    }
    debug_assert!(places.newest.iter().all(|atom| stays.contains(atom)));
}
