//! What leaves the view is summed up, by the extractive summariser: no model, no network.

use super::event;
use super::facts;
use super::mark;
use super::options::{Options, Overflow};
use super::shorten::{Limit, shorten};
use super::step;
use super::target::Target;
use super::work::{Work, summary_cost};
use crate::error::{Error, Kind, Result};
use crate::filter::summarize::{self, Failure, Source, Style};
use crate::model::message::{Message, Part, Role};
use crate::model::session::Class;
use crate::model::view::Item;
use std::borrow::Cow;
use std::collections::HashSet;

/// Tokens of a summary that is meant for a session without a budget (PenguiFlow's `summary_max_tokens`).
pub(in crate::filter) const UNBOUND: u64 = 1000;

/// Lets the oldest exchanges go until they fit together with a summary, and puts that in.
pub fn run(work: &mut Work<'_>, options: &Options, goal: &Target, protected: usize) -> Result<()> {
    if goal.is_met(work) {
        return Ok(());
    }
    let share = match goal.tokens() {
        Some(budget) => {
            // Standing instructions have their place whatever the share is.
            let leaving: Vec<usize> = (0..work.atoms.len())
                .filter(|atom| work.may_leave(*atom))
                .collect();
            part(budget, options.summary_share).max(reserve(work, options, budget, &leaving))
        }
        None => UNBOUND,
    };
    let room = most(options).map_or(share, |most| most.min(share));
    let met = |work: &Work<'_>| goal.is_met_with(work, room);
    step::drop::run(work, options, protected, "summary", &met);
    if !met(work) {
        if options.overflow == Overflow::Error {
            let error = Error::new(Kind::No, "summary and newest exchanges exceed the budget");
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
            // Results of what stays can be had again; what left can only be read in the summary.
            let results = work.results();
            step::shrink::run(work, options, &results, &|work| goal.is_met_with(work, room));
        }
    }
    fill(work, options, goal);
    if !goal.is_met(work) {
        // There is one that cannot become smaller as long as it stands ahead of replies.
        step::drop::run(work, options, 1, "summary", &|work| goal.is_met(work));
        fill(work, options, goal);
    }
    Ok(())
}

/// Most tokens of a summary, where that is limited: nobody is asked for one of unknown length.
fn most(options: &Options) -> Option<u64> {
    options.summary_budget.or(options.asks.then_some(UNBOUND))
}

/// What a summary needs is no reason to take more of the budget than this, per mille.
const HALF: u64 = 500;

/// A share of this, per mille.
pub fn part(whole: u64, share: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(share) / 1000).unwrap_or(u64::MAX)
}

/// Puts in a summary of what has left, as large as there is room; what nothing can be said of is left out.
pub fn fill(work: &mut Work<'_>, options: &Options, goal: &Target) {
    let covered: Vec<usize> = (0..work.items.len())
        .filter(|at| work.is_gone(*at) && !work.is_digested(*at))
        .collect();
    let before = work.summary_item;
    work.unmake_summary();
    // Nothing has left, and there is no summary that would have to become smaller.
    if covered.is_empty() && (before.is_none() || !goal.asks() || goal.is_met(work)) {
        return;
    }
    let text = before.and_then(|at| Some((at, work.view.items[at].summary(work.session)?)));
    let freed = before.map_or(0, |at| work.items[at].now);
    let rest = work.total - freed;
    let room = goal
        .tokens()
        .map_or(u64::MAX, |budget| budget.saturating_sub(rest));
    let room = match (most(options), goal.tokens()) {
        (Some(most), _) => room.min(most),
        (None, Some(_)) => room,
        // Without a budget, its share is one of what it stands for.
        (None, None) => {
            let covers: u64 = covered.iter().map(|at| work.items[*at].before).sum::<u64>() + freed;
            room.min(UNBOUND).min(part(covers, options.summary_share))
        }
    };
    if options.asks {
        leave_room(work, options, &covered, freed, room);
        return;
    }
    // One that the view begins with and cannot do without is not exchanged for less than it.
    if before.is_some() && room < freed && !work.may_drop_summary() {
        return;
    }
    let span = Span {
        covered: &covered,
        before: text.as_ref().map(|(at, text)| (*at, text.as_ref())),
        stays: &|at| !work.is_gone(at),
        room,
        whole: goal.tokens(),
        must_shrink: true,
    };
    if let Some((summary, tokens)) = made(work, &options.style, &span) {
        work.summarize(summary, tokens);
    }
    // What it says, or the one before, is worth no more than the budget.
    if goal.asks() && !goal.is_met(work) {
        work.drop_summary();
    }
}

/// Puts in the place of a summary that somebody else will write: as large as there is room, and no text yet. Where there is
/// no room to say anything, or nothing has left, the summary before stands.
fn leave_room(work: &mut Work<'_>, options: &Options, covered: &[usize], freed: u64, room: u64) {
    let gained: u64 = covered.iter().map(|at| work.items[*at].before).sum::<u64>() + freed;
    let room = room.min(gained.saturating_sub(1));
    if covered.is_empty() || room < summary_cost(work.counter, "") + LEAST {
        return;
    }
    let place = place(work);
    let covers = work
        .summary_item
        .into_iter()
        .chain(covered.iter().copied())
        .collect();
    let summary = event::Summary {
        before: place,
        content: String::new(),
        covers,
        by: String::new(),
        role: options.style.role.clone(),
    };
    work.summarize(summary, room);
}

/// Fewest tokens of text that are worth asking somebody for.
pub(in crate::filter) const LEAST: u64 = 16;

/// What a summary is to stand for.
pub(in crate::filter) struct Span<'s> {
    /// Its items, in order, the summary before excepted.
    pub covered: &'s [usize],
    /// The summary before, which the new one takes in: its item and its text.
    pub before: Option<(usize, &'s str)>,
    /// Whether an item stays in view, so that the rules in it need not be said again.
    pub stays: &'s dyn Fn(usize) -> bool,
    /// Most tokens of the summary.
    pub room: u64,
    /// Most tokens of the view, of which standing instructions have a share; none: of the summary itself.
    pub whole: Option<u64>,
    /// Whether it must be shorter than what it stands for.
    pub must_shrink: bool,
}

/// The summary of a span and its tokens; none when nothing can be said that is shorter.
pub(in crate::filter) fn made(
    work: &Work<'_>,
    style: &Style,
    span: &Span<'_>,
) -> Option<(event::Summary, u64)> {
    let freed = span.before.map_or(0, |(at, _)| work.items[at].now);
    let gained = match span.must_shrink {
        true => span.covered.iter().map(|at| work.items[*at].before).sum::<u64>() + freed,
        false => u64::MAX,
    };
    let room = span.room.min(gained.saturating_sub(1));
    let days = days(work);
    let texts = span.covered.iter().filter_map(|at| source(work, *at, days[*at]));
    let texts: Vec<Source<'_>> = texts.collect();
    let rules = rules(work, span.stays);
    let facts = facts::of(work, span.stays);
    let previous = span.before.map(|(_, text)| text);
    let hands_over = facts.hands_over() || previous.is_some_and(summarize::is_handoff);
    let count = |text: &str| work.counter.tokenizer().count(text);
    let mut budget = room.saturating_sub(summary_cost(work.counter, ""));
    while budget > 0 {
        let wanted = summarize::Options {
            style: Style {
                instruction_share: share(style.instruction_share, span.whole, budget),
                ..style.clone()
            },
            covered: Some(gained),
            ..summarize::Options::new(budget)
        };
        let made = match hands_over {
            true => summarize::hand_over(facts.clone(), &texts, &rules, previous, &wanted, &count),
            false => summarize::extract(&texts, &rules, previous, &wanted, &count),
        };
        let made = made.map_err(|_: Failure| ()).ok()?;
        let tokens = summary_cost(work.counter, &made.text);
        if tokens > room {
            // At the seam between frame and text a tokenizer may need one more.
            budget = budget
                .saturating_sub((tokens - room).max(1))
                .min(made.tokens.saturating_sub(1));
            continue;
        }
        let mut covers = span.covered.to_vec();
        covers.extend(span.before.map(|(at, _)| at));
        covers.sort_unstable();
        let summary = event::Summary {
            before: place(work),
            content: made.text,
            covers,
            by: "extract".to_string(),
            role: style.role.clone(),
        };
        return Some((summary, tokens));
    }
    None
}

/// Whether a view has something to hand over: files, commands or a plan.
pub fn hands_over(work: &Work<'_>) -> bool {
    let earlier = work
        .summary_item
        .and_then(|at| work.view.items[at].summary(work.session));
    earlier.is_some_and(|text| summarize::is_handoff(&text)) || facts::of(work, &|_| false).hands_over()
}

/// Per cent of a summary of `budget` tokens that standing instructions may take: their share is one of the whole view.
pub(in crate::filter) fn share(per_cent: u32, whole: Option<u64>, budget: u64) -> u32 {
    let whole = whole.unwrap_or(budget).max(budget);
    let share = u128::from(per_cent) * u128::from(whole) / u128::from(budget.max(1));
    u32::try_from(share.min(100)).unwrap_or(100)
}

/// Tokens that a summary needs at least when these atoms may leave: for the standing instructions in them, and for
/// what the summary before says, within the summary's share.
pub fn reserve(work: &Work<'_>, options: &Options, budget: u64, leaving: &[usize]) -> u64 {
    if !options.steps.summary {
        return 0;
    }
    let most = part(budget, options.summary_share).min(most(options).unwrap_or(u64::MAX));
    let leaving: HashSet<usize> = leaving.iter().copied().collect();
    let stays = |at: usize| work.items[at].atom.is_none_or(|atom| !leaving.contains(&atom));
    let rules = rules(work, stays);
    let count = |text: &str| work.counter.tokenizer().count(text);
    let previous = work
        .summary_item
        .and_then(|at| work.view.items[at].summary(work.session));
    let wanted = summarize::Options {
        style: Style {
            instruction_share: 100,
            ..options.style.clone()
        },
        covered: Some(u64::MAX),
        ..summarize::Options::new(most)
    };
    summarize::extract(&[], &rules, previous.as_deref(), &wanted, &count).map_or(0, |made| {
        summary_cost(work.counter, &made.text).min(part(budget, HALF))
    })
}

/// Tokens that a summary needs to say anything of what leaves: its frame, and a twentieth of the budget.
pub fn least(work: &Work<'_>, options: &Options, budget: u64) -> u64 {
    match options.steps.summary {
        true => summary_cost(work.counter, "") + part(budget, 50).max(LEAST),
        false => 0,
    }
}

/// The first item that is no rule: the summary stands ahead of it. One that replies lean on stays where it is.
fn place(work: &Work<'_>) -> usize {
    if let Some(at) = work.summary_item.filter(|_| !work.may_drop_summary()) {
        return at;
    }
    let movable =
        |at: &usize| work.items[*at].atom.is_some() || matches!(work.view.items[*at], Item::Summary(_));
    (0..work.items.len()).find(movable).unwrap_or(work.items.len())
}

/// The time of each item: its own; without one that of its neighbours, where those on both sides are of one day.
fn days<'w>(work: &'w Work<'_>) -> Vec<Option<&'w str>> {
    let own: Vec<Option<&str>> = (0..work.items.len())
        .map(|at| {
            work.original(at)
                .and_then(|message| message.timestamp)
                .and_then(plain)
        })
        .collect();
    let day = |time: &'w str| time.get(..10);
    let mut days = own.clone();
    let mut before: Option<usize> = None;
    for at in 0..own.len() {
        let Some(time) = own[at] else { continue };
        if let Some(before) = before
            && own[before].and_then(day) == day(time)
        {
            days[before + 1..at].fill(own[before]);
        }
        before = Some(at);
    }
    days
}

fn source<'w>(work: &'w Work<'_>, at: usize, time: Option<&'w str>) -> Option<Source<'w>> {
    let message = work.original(at)?;
    let text = text(&message);
    Some(Source {
        id: work.id(at).into(),
        role: message.role(),
        tool: (message.role() == Role::Tool).then(|| work.tool(at)),
        timestamp: time,
        text,
    })
}

/// A string's inside where it has no escapes: times have none.
fn plain(raw: &[u8]) -> Option<&str> {
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    std::str::from_utf8(inner).ok()
}

/// What a message says: media as marks, a result without its middle.
pub(in crate::filter) fn text<'m>(message: &Message<'m>) -> Cow<'m, str> {
    let text = whole_text(message);
    if message.role() == Role::Tool {
        return Cow::Owned(looked_at(&text).into_owned());
    }
    text
}

/// All that a message says: media as marks.
pub(in crate::filter) fn whole_text<'m>(message: &Message<'m>) -> Cow<'m, str> {
    let mut text = message.text();
    let media = message.parts().into_iter().filter_map(|part| match part {
        Part::Other(kind, _) => Some(format!(" [{}: ]", kind.split('_').next().unwrap_or("part"))),
        Part::Text(_) => None,
    });
    let media: String = media.collect();
    if !media.is_empty() {
        text.to_mut().push_str(&media);
    }
    text
}

/// What of a tool's result is looked at: head and tail of a long one, and no marks.
pub fn looked_at(text: &str) -> Cow<'_, str> {
    let short = shorten(text, LOOKED_AT).map_or(Cow::Borrowed(text), Cow::Owned);
    if !short.contains(mark::BEGINNING) {
        return short;
    }
    let kept: Vec<&str> = short.lines().filter(|line| !mark::is_mark(line)).collect();
    Cow::Owned(kept.join("\n"))
}

/// The limit of what is looked at in a result.
const LOOKED_AT: Limit = Limit {
    bytes: 10_240,
    lines: 256,
};

/// What may hold standing instructions: users, system and developer messages of the log that the view does not show
/// afterwards.
pub(in crate::filter) fn rules<'w>(work: &'w Work<'_>, stays: impl Fn(usize) -> bool) -> Vec<Source<'w>> {
    let shown: HashSet<usize> = work
        .view
        .items
        .iter()
        .enumerate()
        .filter(|(at, _)| stays(*at))
        .filter_map(|(_, item)| match item {
            Item::Line(index) | Item::Edited(index, _) => Some(*index),
            Item::Inserted(_) | Item::Summary(_) => None,
        })
        .collect();
    let session = work.session;
    let speaks = |index: &usize| {
        matches!(session.class(*index), Class::Message(traits)
            if matches!(traits.role, Role::User | Role::System | Role::Developer))
    };
    let lines = (0..session.len())
        .filter(|index| !shown.contains(index))
        .filter(speaks);
    lines
        .filter_map(|index| {
            let record = session.record(index);
            let message = record.message()?;
            Some(Source {
                id: work.line_id(index, message).into(),
                role: message.role(),
                tool: None,
                timestamp: message.timestamp.and_then(plain),
                text: message.text(),
            })
        })
        .collect()
}
