//! Plans a compaction as another system would do it: one event with the system's choice and a summary, which
//! `restore` can undo.

use super::super::compact::event::{CompactionInfo, Size, ViewEdit};
use super::super::compact::state::CompactionState;
use super::super::compact::summary::{SummarySpan, UNBOUND, summary_of_span};
use super::super::compact::{self, CompactOptions, CompactionOutcome, NO_GAIN};
use super::super::{Plan, Stamp, summarize};
use super::choice::{Precedence, ViewChanges};
use super::history::CompatHistory;
use super::strategy::{CompatStrategy, CompatSystem};
use super::{openai_agents, penguiflow, report};
use crate::error::{Error, ErrorKind, Result};
use crate::model::event::Event;
use crate::model::json;
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use std::collections::HashSet;

/// Plans the compaction of one session with a strategy of a system. Of the options, only the trigger, the summary
/// options and whether to accept a result over the limit apply.
///
/// # Errors
/// [`ErrorKind::No`] when the limit cannot be met, with the smallest possible size; the errors of [`CompatStrategy::choose`].
pub fn plan(
    session: &Session,
    strategy: &CompatStrategy,
    rules: Precedence,
    counter: Counter,
    options: &CompactOptions,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<CompactionOutcome> {
    let view = View::replay(session);
    let work = CompactionState::new(session, &view, counter, &HashSet::new());
    if !compact::is_due(&work, options) {
        return Ok(compact::unchanged_outcome(
            &work,
            options,
            compact::BELOW.to_string(),
        ));
    }
    let system = strategy.system();
    if strategy.drops_repeatedly() && !options.retry && compacted_last(session, system) {
        let why = format!("no new messages since the last compaction by {}", system.name());
        return Ok(compact::unchanged_outcome(&work, options, why));
    }
    let history = CompatHistory::of(session, &view).unseen_from((options.unseen)(session));
    if let (CompatStrategy::Candidates, None) = (strategy, &options.when) {
        let items = openai_agents::candidates(&history, rules).1;
        if items < openai_agents::DUE {
            let why = format!("{items} items; compacts from {} items", openai_agents::DUE);
            return Ok(compact::unchanged_outcome(&work, options, why));
        }
    }
    let measure = |message: &crate::model::message::Message<'_>| counter.message(message);
    let mut choice = strategy.choose(&history, rules, &measure, &shorten)?;
    // PenguiFlow has its own summary limit.
    let limit = match strategy {
        CompatStrategy::Penguiflow(options) => Some((
            options.summary,
            penguiflow::maximum_summary(&history, options, &choice),
        )),
        _ => None,
    };
    let is_complete = sum_up(&work, &mut choice, options, limit);
    let now = size(&work, &choice.reshaping);
    let smallest = (!choice.fits).then_some(now.tokens);
    if let Some(smallest) = smallest
        && !options.best_effort
    {
        return Err(unmet(system, smallest));
    }
    let unchanged = |why: &str| {
        Ok(CompactionOutcome {
            smallest,
            ..compact::unchanged_outcome(&work, options, why.to_string())
        })
    };
    let was = work.was();
    if !choice.changes() {
        return unchanged(&format!("{} would keep all messages", system.name()));
    }
    if !is_complete || now.tokens >= was.tokens {
        return unchanged(NO_GAIN);
    }
    let about = CompactionInfo {
        strategy: system.name().to_string(),
        sizes: Some((counter.tokenizer().name().to_string(), was, now)),
    };
    let stamp = stamp(&about.strategy)?;
    let line = choice.reshaping.event(session, &view, &about, &stamp)?;
    let mut change = describe_change(was, now, &choice, &history);
    if let Some(budget) = strategy.estimated_budget().filter(|budget| now.tokens > *budget) {
        let name = system.name();
        change.push_str(&format!(
            "; more than the budget of {budget}, which {name} compares with an estimate without tool calls"
        ));
    }
    Ok(CompactionOutcome {
        report: report::of(&work, &history, strategy, &choice, now),
        plan: Plan::Lines(vec![line], change),
        smallest,
    })
}

/// Shortens a PenguiFlow summary by whole sentences to at most `most` of its tokens, if possible.
fn shorten(summary: &str, most: u64) -> String {
    summarize::shorten(summary, most, &penguiflow::estimate).unwrap_or_else(|_| summary.to_string())
}

/// Adds the requested summary to the choice; false if no shorter text was found. Without a summarizer the items are
/// dropped anyway. `limit`: maximum tokens, and maximum code points as PenguiFlow encodes the summary.
fn sum_up(
    work: &CompactionState<'_>,
    choice: &mut ViewChanges,
    options: &CompactOptions,
    limit: Option<(u64, u64)>,
) -> bool {
    if choice.summarised.is_empty() || !options.steps.summary {
        return true;
    }
    let text = work
        .summary_item
        .and_then(|at| Some((at, work.view.items[at].summary(work.session)?)));
    let shortened = choice.reshaping.summary.take().map(|summary| summary.content);
    let changes = &choice.reshaping.changes;
    let most = limit.map_or(UNBOUND, |(tokens, _)| tokens);
    let mut span = SummarySpan {
        covered: &choice.summarised,
        before: text
            .as_ref()
            .map(|(at, text)| (*at, shortened.as_deref().unwrap_or(text))),
        stays: &|at| changes[at] != compact::event::ItemChange::Drop,
        room: options.summary_budget.unwrap_or(most),
        whole: None,
        must_shrink: true,
        further: false,
    };
    let mut found = summary_of_span(work, &options.style, &span);
    while let (Some((summary, tokens)), Some((_, most))) = (&found, limit) {
        let encoded = penguiflow::quoted(&summary.content);
        if encoded <= most {
            break;
        }
        let share = u128::from(*tokens) * u128::from(most) / u128::from(encoded);
        span.room = u64::try_from(share).unwrap_or(0); // smaller than before, because encoded > most
        found = summary_of_span(work, &options.style, &span);
    }
    let is_summarized = found.is_some();
    choice.reshaping.summary = found.map(|(summary, _)| summary);
    is_summarized
}

/// The messages and tokens that remain.
fn size(work: &CompactionState<'_>, reshaping: &ViewEdit) -> Size {
    let mut size = Size::default();
    let mut add = |tokens: u64| {
        size.messages += 1;
        size.tokens += tokens;
    };
    for at in 0..reshaping.changes.len() {
        let replaced = reshaping.summary.is_some() && matches!(work.view.items[at], Item::Summary(_));
        if let (Some(tokens), false) = (report::after(work, reshaping, at), replaced) {
            add(tokens);
        }
    }
    reshaping
        .inserts
        .iter()
        .for_each(|(_, line)| add(work.cost(line)));
    if let Some(summary) = &reshaping.summary {
        add(compact::state::summary_cost(work.counter, &summary.content));
    }
    size
}

/// Describes the change, including drops that convo itself would never make.
fn describe_change(was: Size, now: Size, choice: &ViewChanges, history: &CompatHistory<'_>) -> String {
    let mut reported = compact::describe_change(&was, &now);
    let losses = choice.losses(history);
    if losses.rules > 0 {
        reported.push_str(&format!("; dropped system messages: {}", losses.rules));
    }
    if losses.newest_user {
        reported.push_str("; dropped the newest user message");
    }
    reported
}

fn unmet(system: CompatSystem, smallest: u64) -> Error {
    let name = system.name();
    let what = format!("cannot reach the limit of {name}; the minimum is {smallest} tokens");
    Error::new(ErrorKind::No, what).hint("accept the minimum with --best-effort")
}

/// Whether the newest event of the session is a compaction by this system.
fn compacted_last(session: &Session, system: CompatSystem) -> bool {
    let live = session.live_events();
    let newest = (0..session.len())
        .rev()
        .find(|index| match session.class(*index) {
            Class::Message(_) => true,
            Class::Event => live.binary_search(index).is_ok(),
            _ => false,
        });
    newest.is_some_and(|index| {
        let record = session.record(index);
        let strategy = json::member_text(record.body, "strategy");
        record.event().map(Event::name).as_deref() == Some("compact")
            && strategy.as_deref() == Some(system.name())
    })
}
