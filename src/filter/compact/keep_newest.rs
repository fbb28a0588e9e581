//! Keeps the newest request and as many of the newest messages after it as fit next to a summary of the rest. Shortens
//! long kept messages, and may cut an exchange after its request.

use super::goal::CompactionGoal;
use super::kept_atom::{KeptAtom, ShortenedAtoms, shortened_atom};
use super::options::CompactOptions;
use super::prefix::{self, SummaryLimit};
use super::spend;
use super::state::{AtomLevel, CompactionState, ViewEntry, summary_cost};
use super::step::cap::{AnsweredCalls, CAPS, Cap, LOWEST};
use super::step::media::newest_user;
use super::{facts, summary};
use crate::model::json;
use crate::model::message::{Message, Role};
use crate::model::retention::Overflow;
use std::collections::HashSet;

/// Whether the options allow shortening messages and dropping the others.
pub fn is_allowed(options: &CompactOptions, target: &CompactionGoal) -> bool {
    let steps = &options.steps;
    // With `Overflow::Error` nothing may be dropped for a summary.
    options.overflow != Overflow::Error
        && steps.mask
        && steps.head_tail
        && (steps.summary || steps.drop)
        && target.is_tokens_alone()
}

/// A choice that leaves more than this part of the budget is made again.
const SPARE: u64 = 20;

/// Most items of a view for a second choice, which needs a copy of the view. With many small messages, the first choice
/// leaves few tokens.
pub const MANY: usize = 10_000;

/// The message groups that are kept in any case.
struct KeptAtoms {
    /// The newest request, unless it is pinned.
    request: Option<usize>,
    /// The newest request, pinned or not; the newest groups begin after it.
    asked: Option<usize>,
    /// The newest groups, which can only be kept together, oldest first.
    newest: Vec<usize>,
    /// The index of the first of these groups; earlier ones are kept if they fit.
    first: usize,
    /// Whether the kept messages may begin at each group; in an open tool loop with reasoning, only at groups with reasoning.
    begins: Vec<bool>,
    /// Tokens of the groups that cannot change.
    fixed: u64,
}

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
    let answered: AnsweredCalls = work
        .owners
        .values()
        .map(|owner| (owner.caller, owner.nth))
        .collect();
    let waiting = shorten_waiting(work, options, &answered, budget);
    let start = (work.items.len() <= MANY).then(|| work.clone());
    let of_start = start
        .as_ref()
        .map(|start| ShortenedAtoms::of(start, options, &answered));
    let places = kept_atoms(work);
    let room = budget.saturating_sub(work.undroppable_tokens() + places.fixed);
    let floor: Vec<KeptAtom> = places
        .request
        .iter()
        .chain(&places.newest)
        .map(|atom| match &of_start {
            Some(of_start) => of_start.get(*atom, Some(LOWEST)),
            None => shortened_atom(work, options, &answered, *atom, Some(LOWEST)),
        })
        .collect();
    let least: u64 = floor.iter().map(|kept| kept.tokens).sum();
    // A consolidated summary is smaller than the earlier records: consolidate only if those could have been kept.
    let limit = SummaryLimit::of(work, options, Some(budget));
    let freed = work.summary_item.map_or(0, |at| work.items[at].before);
    work.exchanges_summary = matches!(limit, Some(SummaryLimit::One(_))) && least + freed <= room;
    let summary = summary_reserve(work, options, limit, (room.saturating_sub(least), room));
    let choose = |work: &mut CompactionState<'_>, summary: u64, of_start: Option<&ShortenedAtoms<'_, '_>>| {
        let room = (room.saturating_sub(summary), least);
        let shorten = |atom, cap| match of_start {
            Some(of_start) => of_start.get(atom, cap),
            None => shortened_atom(work, options, &answered, atom, cap),
        };
        if let Some(newest) = newest(work, options, &shorten, &places, room) {
            apply(work, &places, newest);
            fill(work, options, target, &places);
        }
    };
    choose(work, summary, of_start.as_ref());
    // If an earlier summary is too large to be kept, a smaller one may replace it.
    let most = prefix::first(work, room).min(room.saturating_sub(least));
    if !target.is_met(work) && most < summary {
        work.exchanges_summary = true;
        choose(work, most, None);
    }
    if target.is_met(work) {
        let Some(of_start) = of_start else { return };
        let start = of_start.work;
        // A summary that needs less than its reserve leaves the rest to messages.
        let needs = work.summary_tokens();
        if budget - work.total > budget / SPARE
            && needs < summary
            && work.now().messages < start.now().messages
        {
            let mut again = start.clone();
            choose(&mut again, needs, Some(&of_start));
            let is_complete = again.now().messages == start.now().messages;
            let is_summarized = again.summary.is_some() || work.summary.is_none();
            if target.is_met(&again) && again.total > work.total && (is_summarized || is_complete) {
                *work = again;
            }
        }
        if let Some((atoms, start)) = waiting {
            let shorten = |atom, cap| shortened_atom(&start, options, &answered, atom, cap);
            spend::run(work, &start, budget, atoms.into_iter(), &shorten);
        }
        let atoms = places.request.iter().chain(places.newest.iter().rev()).copied();
        let atoms = atoms.chain((0..places.first).rev());
        spend::run(work, start, budget, atoms, &|atom, cap| of_start.get(atom, cap));
        return;
    }
    work.exchanges_summary = false;
    // So that the smallest size does not depend on the budget.
    for atom in waiting_groups(work) {
        let before = waiting.as_ref().map_or(&*work, |(_, start)| start);
        shortened_atom(before, options, &answered, atom, Some(LOWEST)).apply(work);
    }
    apply(work, &places, floor);
    fill(work, options, target, &places);
    if !target.is_met(work) {
        work.drop_summary();
    }
}

/// The groups with a call that waits for its result.
fn waiting_groups(work: &CompactionState<'_>) -> Vec<usize> {
    let waits = |atom: &usize| work.waits(*atom) && !work.atoms[*atom].pinned;
    (0..work.atoms.len()).filter(waits).collect()
}

/// Shortens the results of groups that wait for others, if they take more than half of the tokens; returns these groups
/// and the state before.
fn shorten_waiting<'s>(
    work: &mut CompactionState<'s>,
    options: &CompactOptions,
    answered: &AnsweredCalls,
    budget: u64,
) -> Option<(Vec<usize>, CompactionState<'s>)> {
    let waiting = waiting_groups(work);
    let most = budget.saturating_sub(work.undroppable_tokens()) / 2 / (waiting.len() as u64).max(1);
    if waiting.iter().all(|atom| work.atom_tokens(*atom) <= most) {
        return None;
    }
    let start = work.clone();
    for atom in &waiting {
        let shorten = |cap| shortened_atom(&start, options, answered, *atom, cap);
        spend::widest(most, shorten)
            .unwrap_or_else(|| shorten(Some(LOWEST)))
            .apply(work);
    }
    Some((waiting, start))
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
    let active = work.summary_item.filter(|_| !work.can_drop_summary());
    let active = active.map_or(0, |at| work.items[at].now);
    if !options.steps.summary {
        return active;
    }
    let most = prefix::first(work, room).min(extra);
    let (most, active) = match (limit, work.summary_item) {
        (Some(SummaryLimit::Further(tokens)), Some(at)) => (tokens.min(extra), work.items[at].before),
        (Some(limit), _) if work.exchanges_summary => (limit.tokens().min(extra), 0),
        (Some(limit), _) => (limit.tokens().min(extra), active),
        (None, _) => (most, active),
    };
    let most = options.summary_budget.map_or(most, |budget| most.min(budget));
    let most = if options.asks {
        most.min(options.summary_budget.unwrap_or(summary::UNBOUND))
    } else {
        most
    };
    // Few texts need a token for fewer than three bytes; long lists of facts are cut anyway.
    if !summary::hands_over(work, &options.style) {
        return most.max(active);
    }
    let before = work
        .summary_item
        .and_then(|at| work.view.items[at].summary(work.session));
    let before = before.map_or(0, |text| text.len() as u64);
    let bytes = facts::bytes(work, most.saturating_mul(3)) + before;
    let need = (bytes / 3).saturating_add(summary_cost(work.counter, "") + 64);
    need.min(most).max(active)
}

/// Whether a message has a thinking block, which Anthropic requires where a tool loop begins.
fn has_thinking(message: &Message<'_>) -> bool {
    json::items(message.reasoning).into_iter().any(|part| {
        let kind = json::member_text(part, "type");
        kind.is_some_and(|kind| kind == "thinking" || kind == "redacted_thinking")
    })
}

fn kept_atoms(work: &CompactionState<'_>) -> KeptAtoms {
    let there = |atom: &usize| work.atoms[*atom].level < AtomLevel::Digest;
    let fixed: Vec<usize> = (0..work.atoms.len())
        .filter(|atom| there(atom) && (work.atoms[*atom].pinned || work.waits(*atom)))
        .collect();
    let free = |atom: &usize| there(atom) && fixed.binary_search(atom).is_err();
    // Without a request, use the last user message of any category: a view begins with a user message.
    let asked = newest_user(work).or_else(|| work.items.iter().rposition(ViewEntry::is_user));
    let asked = asked.and_then(|at| work.items[at].atom()).filter(there);
    let request = asked.filter(free);
    // Without a pinned request either, the first of the newest groups takes its place.
    let after = asked.map_or(0, |atom| atom + 1);
    let reasons = |atom: usize, is_one: fn(&Message<'_>) -> bool| {
        let mut items = work.atoms[atom].items.iter();
        items.any(|at| {
            work.message(*at)
                .is_some_and(|message| message.role() == Role::Assistant && is_one(&message))
        })
    };
    let open: Vec<usize> = (after..work.atoms.len()).filter(there).collect();
    // If the loop has thinking blocks, do not begin it at reasoning that only another provider can read.
    let is_one = match open.iter().any(|atom| reasons(*atom, has_thinking)) {
        true => has_thinking,
        false => |message: &Message<'_>| message.reasoning.is_some(),
    };
    let reasons = |atom: usize| reasons(atom, is_one);
    let loops = open.iter().any(|atom| reasons(*atom));
    let begins: Vec<bool> = (0..work.atoms.len())
        .map(|atom| atom < after || !loops || reasons(atom))
        .collect();
    // If the last group is fixed, no other group counts as newest, unless a loop is open.
    let last = (after..work.atoms.len()).rev().find(there);
    let last = match last.filter(free) {
        None if loops => (after..work.atoms.len()).rev().find(free),
        last => last,
    };
    // An open loop with fixed groups begins at the first of these or before it.
    let held = fixed.iter().copied().find(|atom| loops && *atom >= after);
    let start = held.map(|held| (after..=held).rev().find(|atom| begins[*atom]).unwrap_or(after));
    let first = match start {
        Some(start) => Some(start),
        None => last.and_then(|last| (after..=last).rev().find(|atom| begins[*atom] && free(atom))),
    };
    let mut newest: Vec<usize> = match (first.or(last), last) {
        (Some(first), Some(last)) => (first..=last).filter(free).collect(),
        _ => Vec::new(),
    };
    // The model has not seen user and context messages after the newest reply.
    let replies = |atom: &usize| {
        let mut items = work.atoms[*atom].items.iter();
        items.any(|at| {
            work.items[*at]
                .traits
                .is_some_and(|traits| traits.role == Role::Assistant)
        })
    };
    let seen = (0..work.atoms.len())
        .rev()
        .find(replies)
        .map_or(0, |atom| atom + 1);
    let happened = |atom: &usize| work.items[work.atoms[*atom].items[0]].is_user();
    newest.extend(
        (seen..work.atoms.len()).filter(|atom| free(atom) && happened(atom) && Some(*atom) != request),
    );
    // A late result may come last, long after its call, which may follow a question of its own. The same holds for a
    // call that waits for another result.
    let end = work.items.iter().rev().find_map(|entry| entry.atom());
    let end = end.filter(|atom| free(atom) && Some(*atom) != request);
    newest.extend(end);
    let before = |atom: &usize| asked.is_some_and(|asked| *atom < asked);
    let waits = fixed.iter().copied().find(|atom| !work.atoms[*atom].pinned);
    if let Some(first) = waits.into_iter().chain(end).filter(before).min() {
        newest.extend((0..first).rev().find(|atom| there(atom) && happened(atom)));
        newest.retain(free);
    }
    // A call after the request and before later events would belong to the open turn, in which some
    // providers want calls signed.
    let happened = work.items.iter().rposition(ViewEntry::is_user);
    let happened = happened.and_then(|at| work.items[at].atom()).filter(free);
    let parted = |last: &usize| {
        let mut stays = newest.iter().chain(&fixed);
        stays.any(|atom| (after..*last).contains(atom) && work.atoms[*atom].items.len() > 1)
    };
    newest.extend(happened.filter(|last| Some(*last) != request && parted(last)));
    newest.sort_unstable();
    newest.dedup();
    let first = newest.first().copied().into_iter().chain(start).min();
    KeptAtoms {
        first: first.or(asked).unwrap_or(0),
        request,
        asked,
        newest,
        begins,
        fixed: fixed.iter().map(|atom| work.atom_tokens(*atom)).sum(),
    }
}

/// Chooses the groups to keep in addition to the fixed ones: the request, the newest groups, and earlier ones until one
/// does not fit. None if not even the smallest choice fits.
fn newest(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    shorten: &dyn Fn(usize, Option<Cap>) -> KeptAtom,
    places: &KeptAtoms,
    (room, least): (u64, u64),
) -> Option<Vec<KeptAtom>> {
    let mut left = room.checked_sub(least)?;
    let lowest = |atom: usize| shorten(atom, Some(LOWEST)).tokens;
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
        let full = Some(shorten(atom, None)).filter(|kept| kept.tokens <= third);
        full.or_else(|| {
            let caps = CAPS.iter().enumerate();
            let fits = |(nth, cap): (usize, &Cap)| {
                let kept = shorten(atom, Some(*cap));
                (kept.tokens <= if nth < 2 { third } else { left }).then_some(kept)
            };
            caps.into_iter().find_map(fits)
        })
    };
    let mut newest = Vec::new();
    for atom in places.request.iter().chain(places.newest.iter().rev()) {
        // `least` already includes the smallest form of this group.
        left += lowest(*atom);
        let kept = fit(*atom, left)?;
        left -= kept.tokens;
        newest.push(kept);
    }
    let mut more = Vec::new();
    let mut whole = 0;
    let free = |atom: &usize| {
        let kept = &work.atoms[*atom];
        kept.level < AtomLevel::Digest && !kept.pinned && Some(*atom) != places.request
    };
    for atom in (0..places.first).rev().filter(free) {
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
    // If no earlier group fits, the narrow caps leave tokens that the newest groups can have.
    if more.is_empty() {
        for kept in &mut newest {
            let wider = spend::widest(kept.tokens + left, |cap| shorten(kept.atom, cap));
            if let Some(wider) = wider.filter(|wider| wider.tokens > kept.tokens) {
                left -= wider.tokens - kept.tokens;
                *kept = wider;
            }
        }
    }
    newest.append(&mut more);
    Some(newest)
}

fn apply(work: &mut CompactionState<'_>, places: &KeptAtoms, newest: Vec<KeptAtom>) {
    let kept_atoms: HashSet<usize> = newest.iter().map(|kept| kept.atom).collect();
    for kept in newest {
        kept.apply(work);
    }
    for atom in 0..work.atoms.len() {
        let fixed = work.atoms[atom].pinned || work.waits(atom);
        if !fixed && work.atoms[atom].level < AtomLevel::Digest && !kept_atoms.contains(&atom) {
            work.drop_atom(atom, AtomLevel::Dropped, "summary");
        }
    }
    debug_assert!(places.newest.iter().all(|atom| kept_atoms.contains(atom)));
}
