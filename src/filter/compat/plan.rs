//! Plans a compaction as another system would do it: one event with the system's choice and a summary, which
//! `restore` can undo.

use super::super::compact::event::{About, Reshaping, Size};
use super::super::compact::summary::{Span, UNBOUND, made};
use super::super::compact::work::Work;
use super::super::compact::{self, NO_GAIN, Options, Outcome};
use super::super::summarize;
use super::super::{Plan, Stamp};
use super::choice::{Choice, Rules};
use super::history::History;
use super::report;
use super::way::{System, Way};
use super::{openai_agents, penguiflow};
use crate::error::{Error, Kind, Result};
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
/// [`Kind::No`] when the limit cannot be met, with the smallest possible size; the errors of [`Way::choose`].
pub fn plan(
    session: &Session,
    way: &Way,
    rules: Rules,
    counter: Counter,
    options: &Options,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Outcome> {
    let view = View::replay(session);
    let work = Work::new(session, &view, counter, &HashSet::new());
    if !compact::is_due(&work, options) {
        return Ok(compact::nothing(&work, options, compact::BELOW.to_string()));
    }
    let system = way.system();
    if way.goes_on() && !options.retry && had_the_last_word(session, system) {
        let why = format!("no new messages since the last compaction by {}", system.name());
        return Ok(compact::nothing(&work, options, why));
    }
    let history = History::of(session, &view).unseen_from((options.unseen)(session));
    if let (Way::Candidates, None) = (way, &options.when) {
        let items = openai_agents::candidates(&history, rules).1;
        if items < openai_agents::DUE {
            let why = format!("{items} items; compacts from {} items", openai_agents::DUE);
            return Ok(compact::nothing(&work, options, why));
        }
    }
    let measure = |message: &crate::model::message::Message<'_>| counter.message(message);
    let mut choice = way.choose(&history, rules, &measure, &shorten)?;
    // PenguiFlow has its own summary limit.
    let limit = match way {
        Way::Penguiflow(options) => Some((options.summary, penguiflow::room(&history, options, &choice))),
        _ => None,
    };
    let spoken = sum_up(&work, &mut choice, options, limit);
    let now = size(&work, &choice.reshaping);
    let smallest = (!choice.fits).then_some(now.tokens);
    if let Some(smallest) = smallest
        && !options.best_effort
    {
        return Err(unmet(system, smallest));
    }
    let unchanged = |why: &str| {
        Ok(Outcome {
            smallest,
            ..compact::nothing(&work, options, why.to_string())
        })
    };
    let was = work.was();
    if !choice.changes() {
        return unchanged(&format!("{} would keep all messages", system.name()));
    }
    if !spoken || now.tokens >= was.tokens {
        return unchanged(NO_GAIN);
    }
    let about = About {
        strategy: system.name().to_string(),
        sizes: Some((counter.tokenizer().name().to_string(), was, now)),
    };
    let stamp = stamp(&about.strategy)?;
    let line = choice.reshaping.event(session, &view, &about, &stamp)?;
    Ok(Outcome {
        report: report::of(&work, &history, way, &choice, now),
        plan: Plan::Lines(vec![line], told(was, now, &choice, &history)),
        smallest,
    })
}

/// Shortens a PenguiFlow summary by whole sentences to at most `most` of its tokens, if possible.
fn shorten(summary: &str, most: u64) -> String {
    summarize::shorten(summary, most, &penguiflow::estimate).unwrap_or_else(|_| summary.to_string())
}

/// Adds the requested summary to the choice; false if no shorter text was found. Without a summarizer the items are
/// dropped anyway. `limit`: maximum tokens, and maximum code points as PenguiFlow encodes the summary.
fn sum_up(work: &Work<'_>, choice: &mut Choice, options: &Options, limit: Option<(u64, u64)>) -> bool {
    if choice.summarised.is_empty() || !options.steps.summary {
        return true;
    }
    let text = work
        .summary_item
        .and_then(|at| Some((at, work.view.items[at].summary(work.session)?)));
    let shortened = choice.reshaping.summary.take().map(|summary| summary.content);
    let fates = &choice.reshaping.fates;
    let most = limit.map_or(UNBOUND, |(tokens, _)| tokens);
    let mut span = Span {
        covered: &choice.summarised,
        before: text
            .as_ref()
            .map(|(at, text)| (*at, shortened.as_deref().unwrap_or(text))),
        stays: &|at| fates[at] != compact::event::Fate::Goes,
        room: options.summary_budget.unwrap_or(most),
        whole: None,
        must_shrink: true,
        further: false,
    };
    let mut found = made(work, &options.style, &span);
    while let (Some((summary, tokens)), Some((_, most))) = (&found, limit) {
        let spelled = penguiflow::quoted(&summary.content);
        if spelled <= most {
            break;
        }
        let share = u128::from(*tokens) * u128::from(most) / u128::from(spelled);
        span.room = u64::try_from(share).unwrap_or(0); // smaller than before, because spelled > most
        found = made(work, &options.style, &span);
    }
    let spoken = found.is_some();
    choice.reshaping.summary = found.map(|(summary, _)| summary);
    spoken
}

/// The messages and tokens that remain.
fn size(work: &Work<'_>, reshaping: &Reshaping) -> Size {
    let mut size = Size::default();
    let mut add = |tokens: u64| {
        size.messages += 1;
        size.tokens += tokens;
    };
    for at in 0..reshaping.fates.len() {
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
        add(compact::work::summary_cost(work.counter, &summary.content));
    }
    size
}

/// Describes the change, including drops that convo itself would never make.
fn told(was: Size, now: Size, choice: &Choice, history: &History<'_>) -> String {
    let mut told = compact::told(&was, &now);
    let losses = choice.losses(history);
    if losses.rules > 0 {
        told.push_str(&format!("; dropped system messages: {}", losses.rules));
    }
    if losses.newest_user {
        told.push_str("; dropped the newest user message");
    }
    told
}

fn unmet(system: System, smallest: u64) -> Error {
    let name = system.name();
    let what = format!("cannot reach the limit of {name}; the minimum is {smallest} tokens");
    Error::new(Kind::No, what).hint("accept the minimum with --best-effort")
}

/// Whether the newest event of the session is a compaction by this system.
fn had_the_last_word(session: &Session, system: System) -> bool {
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
        let strategy = json::member(record.body, "strategy").and_then(json::text);
        record.event().map(Event::name).as_deref() == Some("compact")
            && strategy.as_deref() == Some(system.name())
    })
}
