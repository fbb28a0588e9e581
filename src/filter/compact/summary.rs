//! Summarizes dropped messages with the extractive summarizer: no model, no network.

use super::event;
use super::facts;
use super::goal::{CompactionGoal, part};
use super::options::CompactOptions;
use super::prefix::SummaryLimit;
use super::sources::{Quoting, days, rules, rules_in, source};
use super::state::{CompactionState, summary_cost};
use super::step;
use crate::error::{Error, ErrorKind, Result};
use crate::filter::summarize::{
    self, GivenRule, InstructionSource, Instructions, SummaryFailure, SummarySource, SummaryStyle,
};
use crate::model::message::Role;
use crate::model::retention::Overflow;
use crate::model::threads::gathered;
use crate::model::view::Item;
use crate::tokens::LineTokens;
use std::borrow::Cow;
use std::collections::HashSet;

/// Summary tokens for a session without a budget (PenguiFlow's `summary_max_tokens`).
pub(in crate::filter) const UNBOUND: u64 = 1000;

/// Drops the oldest exchanges until the others fit together with a summary, and inserts the summary.
pub fn run(
    work: &mut CompactionState<'_>,
    options: &CompactOptions,
    goal: &CompactionGoal,
    protected: usize,
) -> Result<()> {
    if goal.is_met(work) {
        return Ok(());
    }
    let share = match goal.tokens() {
        Some(budget) => {
            // Standing instructions get their tokens even beyond the summary's share.
            let dropped: Vec<usize> = (0..work.atoms.len())
                .filter(|atom| work.may_drop(*atom))
                .collect();
            part(budget, options.summary_share).max(reserve(work, options, budget, &dropped))
        }
        None => UNBOUND,
    };
    let room = maximum_tokens(options).map_or(share, |most| most.min(share));
    let limit = SummaryLimit::of(work, options, goal.tokens());
    let room = limit.map_or(room, |limit| limit.tokens());
    let met = |work: &CompactionState<'_>| goal.is_met_with(work, room);
    step::drop::run(work, options, protected, "summary", &met);
    if !met(work) {
        if options.overflow == Overflow::Error {
            let error = Error::new(ErrorKind::No, "summary and newest exchanges exceed the budget");
            return Err(error.hint(
                "drop older exchanges with --overflow truncate-oldest, or shorten the summary with --overflow truncate-summary",
            ));
        }
        let room = if options.overflow == Overflow::TruncateSummary {
            0
        } else {
            room
        };
        step::drop::run(work, options, 1, "summary", &|work| goal.is_met_with(work, room));
        if options.overflow == Overflow::TruncateOldest {
            // Results of kept messages can be fetched again; dropped messages survive only in the summary.
            let results = work.results();
            step::shrink::run(work, options, &results, &|work| goal.is_met_with(work, room));
        }
    }
    fill(work, options, goal);
    if !goal.is_met(work) {
        // The view has a summary that cannot shrink while replies follow it.
        step::drop::run(work, options, 1, "summary", &|work| goal.is_met(work));
        fill(work, options, goal);
    }
    Ok(())
}

/// The token limit of a summary, if any; a summarizer is never asked for an unlimited one.
fn maximum_tokens(options: &CompactOptions) -> Option<u64> {
    options.summary_budget.or(options.asks.then_some(UNBOUND))
}

/// The most of the budget that the required content of a summary may take, per mille.
const HALF: u64 = 500;

/// Inserts a summary of the dropped messages, as large as fits; omits it if nothing fits.
pub fn fill(work: &mut CompactionState<'_>, options: &CompactOptions, goal: &CompactionGoal) {
    let mut covered: Vec<usize> = (0..work.items.len())
        .filter(|at| work.is_dropped(*at) && !work.is_digested(*at))
        .collect();
    covered.shrink_to_fit();
    let before = work.summary_item;
    work.remove_new_summary();
    // Nothing was dropped, and no earlier summary has to shrink.
    if covered.is_empty() && (before.is_none() || !goal.asks() || goal.is_met(work)) {
        return;
    }
    let text = before.and_then(|at| Some((at, work.view.items[at].summary(work.session)?)));
    let freed = before.map_or(0, |at| work.items[at].now);
    let rest = work.total - freed;
    let room = goal
        .tokens()
        .map_or(u64::MAX, |budget| budget.saturating_sub(rest));
    let room = match (maximum_tokens(options), goal.tokens()) {
        (Some(most), _) => room.min(most),
        (None, Some(_)) => room,
        // Without a budget, the share is one of the covered messages.
        (None, None) => {
            let covers: u64 = covered.iter().map(|at| work.items[*at].before).sum::<u64>() + freed;
            room.min(UNBOUND).min(part(covers, options.summary_share))
        }
    };
    if options.asks {
        reserve_summary(work, options, &covered, freed, room);
        return;
    }
    // If the view begins with the summary and cannot do without it, do not replace it with a smaller one.
    if before.is_some() && room < freed && !work.can_drop_summary() && !work.exchanges_summary {
        return;
    }
    let limit = SummaryLimit::of(work, options, goal.tokens()).filter(|_| !covered.is_empty());
    let room = limit.map_or(room, |limit| room.min(limit.tokens()));
    let further = matches!(limit, Some(SummaryLimit::Further(_))) && room > freed + MINIMUM;
    let span = SummarySpan {
        covered: &covered,
        before: text.as_ref().map(|(at, text)| (*at, text.as_ref())),
        stays: &|at| !work.is_dropped(at),
        room,
        whole: goal.tokens(),
        must_shrink: true,
        further,
    };
    let mut found = summary_of_span(work, &options.style, &span);
    if found.is_none() && further {
        // The tokens left for a further record are too few: consolidate instead.
        let span = SummarySpan {
            further: false,
            ..span
        };
        found = summary_of_span(work, &options.style, &span);
    }
    if let Some((summary, tokens)) = found {
        work.summarize(summary, tokens);
    }
    // Neither the new summary nor the earlier one is worth exceeding the budget.
    if goal.asks() && !goal.is_met(work) {
        work.drop_summary();
    }
}

/// Reserves the place of a summary that an external summarizer will write: as large as fits, without text. If too
/// little fits, or nothing was dropped, the earlier summary is kept.
fn reserve_summary(
    work: &mut CompactionState<'_>,
    options: &CompactOptions,
    covered: &[usize],
    freed: u64,
    room: u64,
) {
    let gained: u64 = covered.iter().map(|at| work.items[*at].before).sum::<u64>() + freed;
    let room = room.min(gained.saturating_sub(1));
    if covered.is_empty() || room < summary_cost(work.counter, "") + MINIMUM {
        return;
    }
    let place = summary_position(work);
    let covers = work
        .summary_item
        .into_iter()
        .chain(covered.iter().copied())
        .collect();
    let summary = event::InsertedSummary {
        before: place,
        content: String::new(),
        covers,
        by: String::new(),
        role: options.style.role.clone(),
    };
    work.summarize(summary, room);
}

/// Tokens of a text from which one is reserved for the seam to its frame.
const LONG: u64 = 10_000;

/// Fewest text tokens for which it is worth asking a summarizer.
pub(in crate::filter) const MINIMUM: u64 = 16;

/// The input of a summary.
pub(in crate::filter) struct SummarySpan<'s> {
    /// The covered items, in order, without the earlier summary.
    pub covered: &'s [usize],
    /// The earlier summary, which the new one absorbs: its item and its text.
    pub before: Option<(usize, &'s str)>,
    /// Whether an item is still in the view, so that the summary need not repeat its rules.
    pub stays: &'s dyn Fn(usize) -> bool,
    /// Most tokens of the summary.
    pub room: u64,
    /// Most tokens of the view, of which standing instructions get a share; none: a share of the summary.
    pub whole: Option<u64>,
    /// Whether the summary must be shorter than the covered messages.
    pub must_shrink: bool,
    /// Whether to keep the earlier summary unchanged and append to it.
    pub further: bool,
}

/// The summary of a span and its tokens; none if nothing shorter can be written.
pub(in crate::filter) fn summary_of_span(
    work: &CompactionState<'_>,
    style: &SummaryStyle,
    span: &SummarySpan<'_>,
) -> Option<(event::InsertedSummary, u64)> {
    let freed = span.before.map_or(0, |(at, _)| work.items[at].now);
    let gained = match span.must_shrink {
        true => span.covered.iter().map(|at| work.items[*at].before).sum::<u64>() + freed,
        false => u64::MAX,
    };
    let room = span.room.min(gained.saturating_sub(1));
    // A kept earlier summary is neither repeated nor rewritten.
    let (active, previous) = match span.before {
        Some((_, text)) if span.further => (Some(text), None),
        before => (None, before.map(|(_, text)| text)),
    };
    // A further record begins a new line.
    let line = u64::from(active.is_some());
    let mut budget = room.saturating_sub(summary_cost(work.counter, active.unwrap_or_default()) + line);
    if budget == 0 {
        return None;
    }
    let (rules, style) = match active {
        Some(text) => (
            rules_in(work, style, span.covered, span.stays),
            without_known_rules(style, text),
        ),
        None => (rules(work, style, span.stays), style.clone()),
    };
    let mut facts = facts::of(work, span.stays);
    if let Some(text) = active {
        facts.follow(summarize::recorded_facts(text));
    }
    let hands_over = style.handoff && (facts.hands_over() || previous.is_some_and(summarize::is_handoff));
    let place = (!hands_over)
        .then(|| facts::working_directory(work.session))
        .flatten();
    let quoting = match hands_over {
        true => Quoting::Nothing,
        false => Quoting::Texts(place.as_deref()),
    };
    let days = days(work);
    let texts: Vec<SummarySource<'_>> = gathered(span.covered.len(), work.session.size(), |range| {
        let mut sources = Vec::with_capacity(range.len());
        let items = span.covered[range].iter();
        sources.extend(items.filter_map(|at| source(work, *at, days[*at], quoting)));
        sources
    });
    drop(days);
    // Drafts of the text share most of their lines.
    let lines = LineTokens::of(work.counter.tokenizer());
    let count = |text: &str| lines.count(text);
    // The tokenizer may need one more token at the seams, which the loop below corrects. Planning a long summary again
    // takes longer than one token is worth.
    if budget > LONG {
        budget -= 1;
    }
    let kept = active.map(summarize::instructions_of).unwrap_or_default();
    while budget > 0 {
        let wanted = summarize::ExtractOptions {
            style: SummaryStyle {
                instruction_share: share(style.instruction_share, span.whole, budget),
                ..style.clone()
            },
            covered: Some(gained - if span.further { freed } else { 0 }),
            kept: kept.clone(),
            seam: lines.seam(),
            ..summarize::ExtractOptions::new(budget)
        };
        let built = match hands_over {
            true => summarize::hand_over(facts.clone(), &texts, &rules, previous, &wanted, &count),
            false => summarize::extract(&texts, &rules, previous, &wanted, &count),
        };
        let built = built.map_err(|_: SummaryFailure| ()).ok()?;
        let content = match active {
            Some(text) => format!("{text}\n{}", built.text),
            None => built.text,
        };
        let tokens = lines.quoted_message_tokens(Role::System.name(), &content);
        if tokens > room {
            budget = budget
                .saturating_sub((tokens - room).max(1))
                .min(built.tokens.saturating_sub(1));
            continue;
        }
        let mut covers = span.covered.to_vec();
        covers.extend(span.before.map(|(at, _)| at));
        covers.sort_unstable();
        let summary = event::InsertedSummary {
            before: summary_position(work),
            content,
            covers,
            by: "extract".to_string(),
            role: style.role.clone(),
        };
        return Some((summary, tokens));
    }
    None
}

/// Whether a view has facts to hand over: files, commands or a plan.
pub fn hands_over(work: &CompactionState<'_>, style: &SummaryStyle) -> bool {
    if !style.handoff {
        return false;
    }
    let earlier = work
        .summary_item
        .and_then(|at| work.view.items[at].summary(work.session));
    earlier.is_some_and(|text| summarize::is_handoff(&text)) || facts::hands_over(work)
}

/// The percentage of a summary of `budget` tokens that standing instructions may take; their share is one of the whole
/// view.
pub(in crate::filter) fn share(per_cent: u32, whole: Option<u64>, budget: u64) -> u32 {
    let whole = whole.unwrap_or(budget).max(budget);
    let share = u128::from(per_cent) * u128::from(whole) / u128::from(budget.max(1));
    u32::try_from(share.min(100)).unwrap_or(100)
}

/// Least tokens of a summary if these groups are dropped: for their standing instructions and the content of the
/// earlier summary, within the summary's share.
pub fn reserve(work: &CompactionState<'_>, options: &CompactOptions, budget: u64, dropped: &[usize]) -> u64 {
    if !options.steps.summary {
        return 0;
    }
    let most = part(budget, options.summary_share).min(maximum_tokens(options).unwrap_or(u64::MAX));
    let (rules, previous) = required_content(work, options, dropped);
    // Most sessions have nothing that a summary must contain.
    if rules.is_empty() && previous.is_none() && !matches!(options.style.instructions, Instructions::Given(_))
    {
        return 0;
    }
    let count = |text: &str| work.counter.tokenizer().count(text);
    let wanted = summarize::ExtractOptions {
        style: SummaryStyle {
            instruction_share: 100,
            ..options.style.clone()
        },
        covered: Some(u64::MAX),
        ..summarize::ExtractOptions::new(most)
    };
    summarize::extract(&[], &rules, previous.as_deref(), &wanted, &count).map_or(0, |built| {
        summary_cost(work.counter, &built.text).min(part(budget, HALF))
    })
}

/// What a summary has to contain if these groups are dropped: their standing instructions, and the earlier summary.
fn required_content<'w>(
    work: &'w CompactionState<'_>,
    options: &CompactOptions,
    dropped: &[usize],
) -> (Vec<InstructionSource<'w>>, Option<Cow<'w, str>>) {
    let dropped: HashSet<usize> = dropped.iter().copied().collect();
    let is_kept = |at: usize| work.items[at].atom().is_none_or(|atom| !dropped.contains(&atom));
    let previous = work
        .summary_item
        .map(|at| work.view.items[at].summary(work.session));
    (rules(work, &options.style, is_kept), previous.flatten())
}

/// Tokens of a summary with all standing instructions of these groups except doubtful ones. Older exchanges that are kept next
/// to it leave the summary too little for the instructions.
pub fn all_rules_tokens(work: &CompactionState<'_>, options: &CompactOptions, dropped: &[usize]) -> u64 {
    let share = options.style.instruction_share;
    // Given instructions have no share, a limited summary quotes no more without older exchanges, and a requested
    // number of exchanges gives way only to the share.
    let is_limited = !options.steps.summary || share == 0 || maximum_tokens(options).is_some();
    if is_limited || options.keep_last.is_some() || options.style.instructions != Instructions::Auto {
        return 0;
    }
    let (rules, previous) = required_content(work, options, dropped);
    let all = summarize::certain_instructions(&rules, previous.as_deref());
    if all.is_empty() {
        return 0;
    }
    // The first line of a summary takes about the minimum.
    summary_cost(work.counter, &summarize::instruction_block(&all)) + MINIMUM
}

/// Least tokens for a summary with any content: its frame, and a twentieth of the budget.
pub fn minimum_tokens(work: &CompactionState<'_>, options: &CompactOptions, budget: u64) -> u64 {
    match options.steps.summary {
        true => summary_cost(work.counter, "") + part(budget, 50).max(MINIMUM),
        false => 0,
    }
}

/// The item that the summary precedes: the first one that is not a rule. A summary that replies depend on keeps its
/// place.
fn summary_position(work: &CompactionState<'_>) -> usize {
    if let Some(at) = work.summary_item.filter(|_| !work.can_drop_summary()) {
        return at;
    }
    let movable =
        |at: &usize| work.items[*at].atom().is_some() || matches!(work.view.items[*at], Item::Summary(_));
    (0..work.items.len()).find(movable).unwrap_or(work.items.len())
}

/// The style of a further record, without given rules that an earlier record already contains.
fn without_known_rules(style: &SummaryStyle, active: &str) -> SummaryStyle {
    let mut style = style.clone();
    if let Instructions::Given(rules) = &mut style.instructions {
        rules.retain(|rule| match rule {
            GivenRule::Sentence(text) => !active.contains(text.trim()),
            GivenRule::Message(_) => true,
        });
    }
    style
}
