//! Fits a session into a budget: lays out the view, chooses a level for each message group, and writes one event, which
//! `restore` undoes.

pub mod digest;
pub mod event;
pub(super) mod explain;
pub(in crate::filter) mod facts;
mod goal;
pub mod head_tail;
mod keep_newest;
mod kept_atom;
mod level_options;
mod levels;
mod optimize;
mod options;
mod pins;
pub mod placeholders;
mod prefix;
mod reduce;
pub(super) mod sources;
mod spend;
pub(super) mod state;
mod step;
pub(super) mod summary;
#[cfg(test)]
pub(super) mod tests;
mod tiered;
pub mod trigger;
mod unused;

pub use explain::{AtomReport, CompactionReport};
pub use goal::CompactionGoal;
pub use options::{CompactOptions, LevelAlgorithm, Mask, Media, Steps, ThinkingOption};
pub use prefix::Prefix;
pub use state::AtomLevel;

use super::{Plan, Stamp};
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::model::event::Event;
use crate::model::health::Health;
use crate::model::json;
use crate::model::message::{Category, Role};
use crate::model::session::{Class, Session};
use crate::model::view::View;
use crate::tokens::Counter;
use event::{CompactionInfo, Size};
use pins::pins;
use state::CompactionState;
use std::collections::HashSet;
use trigger::{Goal, Measures, TriggerExpression};

/// The reason for no change when the gain is too small.
pub const NO_GAIN: &str = "no gain";

/// The reason for no change when the trigger has not fired.
pub(super) const BELOW: &str = "below trigger";

/// The result of planning a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionOutcome {
    /// The event, or why there is none.
    pub plan: Plan,
    /// The level of each message group, and the sizes before and after.
    pub report: CompactionReport,
    /// The smallest reachable size if the budget is unreachable.
    pub smallest: Option<u64>,
}

/// Plans a compaction of one session.
///
/// # Errors
/// [`ErrorKind::No`] when the budget is unreachable (the error names the smallest reachable size), when the last compactions
/// followed each other closely, or when a pinned message is not in the view.
pub fn plan(
    session: &Session,
    counter: Counter,
    options: &CompactOptions,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<CompactionOutcome> {
    let view = View::replay(session);
    match choose_changes(session, &view, counter, options)? {
        ChosenChange::Nothing(outcome) => Ok(outcome),
        ChosenChange::Change(work, smallest) => build_event(*work, smallest, options, stamp),
    }
}

/// Tokens after the first change that a provider has to read again. Zero unless a repeated compaction keeps the prefix.
fn invalidated_tokens(work: &CompactionState<'_>, options: &CompactOptions, now: u64) -> u64 {
    let repeated = options.keep_prefix && work.summary_item.is_some();
    match repeated {
        true => now.saturating_sub(Prefix::of(work).tokens),
        false => 0,
    }
}

/// The chosen change.
pub(super) enum ChosenChange<'w> {
    /// No change.
    Nothing(CompactionOutcome),
    /// Change the view like this. The second field is the smallest reachable size if the budget is unreachable.
    Change(Box<CompactionState<'w>>, Option<u64>),
}

/// Chooses the changes to a view.
pub(super) fn choose_changes<'w>(
    session: &'w Session,
    view: &'w View,
    counter: Counter,
    options: &CompactOptions,
) -> Result<ChosenChange<'w>> {
    let pins = pins(session, view, options)?;
    let mut work = CompactionState::new(session, view, counter, &pins);
    let target = match target(&work, options) {
        Ok(target) => target,
        Err(why) => return Ok(ChosenChange::Nothing(unchanged_outcome(&work, options, why))),
    };
    if !options.retry {
        refuse_repeated(&work)?;
    }
    reduce::reach(&mut work, options, &pins, &target)?;
    let is_unreached = |work: &CompactionState<'_>| target.asks() && !target.is_met(work);
    // Without a target, only a least gain above zero ends repeated compactions. A model's summary is not written yet.
    let repeats = is_unreached(&work) || !target.asks() && options.min_gain == 0;
    if repeats && !options.asks {
        reduce::repeat(&mut work, options, &target);
    }
    let smallest = is_unreached(&work).then_some(work.total);
    if let Some(smallest) = smallest
        && !options.best_effort
    {
        return Err(unreachable(&work, options, &target, smallest));
    }
    let was = work.was().tokens;
    // A summary that is not written yet may turn out short.
    let open = work.summary.as_ref().filter(|_| options.asks);
    let least = work.total - open.map_or(0, |(_, room)| room - room.min(&state::summary_cost(counter, "")));
    if !options.gains(was, least, || invalidated_tokens(&work, options, least)) {
        return Ok(ChosenChange::Nothing(CompactionOutcome {
            smallest,
            ..unchanged_outcome(&work, options, NO_GAIN.to_string())
        }));
    }
    Ok(ChosenChange::Change(Box::new(work), smallest))
}

/// Builds the event for a choice.
pub(super) fn build_event(
    work: CompactionState<'_>,
    smallest: Option<u64>,
    options: &CompactOptions,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<CompactionOutcome> {
    let (session, view, was, now) = (work.session, work.view, work.was(), work.now());
    let about = CompactionInfo {
        strategy: options.name().to_string(),
        sizes: Some((work.counter.tokenizer().name().to_string(), was, now)),
    };
    let stamp = stamp(&about.strategy)?;
    let report = CompactionReport::of(&work, None, options.explains);
    let line = work.into_reshaping().event(session, view, &about, &stamp)?;
    Ok(CompactionOutcome {
        report,
        plan: Plan::Lines(vec![line], describe_change(&was, &now)),
        smallest,
    })
}

/// Describes the change in one line.
pub(super) fn describe_change(was: &Size, now: &Size) -> String {
    format!(
        "compacted from {} to {} tokens ({} to {} messages)",
        was.tokens, now.tokens, was.messages, now.messages
    )
}

impl CompactOptions {
    /// Whether shrinking from `was` to `now` tokens is worth having a provider read `broken` tokens again: a cached
    /// token costs about a tenth of an uncached one.
    pub(super) fn gains(&self, was: u64, now: u64, broken: impl FnOnce() -> u64) -> bool {
        let gained = was.saturating_sub(now);
        let requested = self.budget.is_some_and(|budget| was > budget);
        if gained == 0 || requested {
            return gained > 0;
        }
        let gained = gained.saturating_sub(broken() / 10);
        gained > 0 && u128::from(gained) * 1000 >= u128::from(was) * u128::from(self.min_gain)
    }

    /// The strategy name in the event.
    pub(super) fn name(&self) -> &'static str {
        match (self.steps == Steps::ALL, self.choice) {
            (true, LevelAlgorithm::Tiered) => "tiered",
            (true, LevelAlgorithm::Optimize) => "optimize",
            (false, _) => "steps",
        }
    }
}

/// Nothing changes.
pub(super) fn unchanged_outcome(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    why: String,
) -> CompactionOutcome {
    CompactionOutcome {
        report: CompactionReport::of(work, Some(&why), options.explains),
        plan: Plan::Nothing(why),
        smallest: None,
    }
}

/// The target of a compaction, or why nothing has to be done.
fn target(
    work: &CompactionState<'_>,
    options: &CompactOptions,
) -> std::result::Result<CompactionGoal, String> {
    let measures = measures(work, options);
    let own = work.total;
    // If the provider counts more tokens than convo does, scale the target down in proportion.
    let seen = measures.tokens;
    let scaled = |tokens: u64| match seen {
        0 => tokens,
        seen => u64::try_from(u128::from(tokens) * u128::from(own) / u128::from(seen)).unwrap_or(tokens),
    };
    let mut goal = Goal {
        tokens: options.budget,
        ..Goal::default()
    };
    if let Some(when) = &options.when {
        let Some(fired) = when.fired(&measures) else {
            return Err(BELOW.to_string());
        };
        if options.budget.is_none() {
            goal = TriggerExpression::goal(fired, options.hysteresis, options.window);
        }
    }
    goal.tokens = goal.tokens.map(scaled);
    let target = CompactionGoal::new(goal);
    if target.is_met(work) {
        let place = if options.budget.is_some() {
            "budget"
        } else {
            "target"
        };
        return Err(format!("{} tokens fit the {place}", work.total));
    }
    Ok(target)
}

/// Measures the view of a session for triggers.
pub fn measured(session: &Session, counter: Counter, window: Option<u64>) -> Measures {
    let view = View::replay(session);
    let mut measures = CompactionState::new(session, &view, counter, &HashSet::new()).measures(window);
    measures.failures = Health::of(session).failures;
    measures
}

/// Measures a view for triggers; uses the provider's token count if the options trust it.
fn measures(work: &CompactionState<'_>, options: &CompactOptions) -> Measures {
    let mut measures = work.measures(options.window);
    measures.failures = Health::of(work.session).failures;
    if options.trust_usage {
        measures.tokens = measures.tokens.max(reported(work).unwrap_or(0));
    }
    measures
}

/// Whether the trigger fires; without a trigger, always true.
pub(super) fn is_due(work: &CompactionState<'_>, options: &CompactOptions) -> bool {
    let fired = |when: &TriggerExpression| when.fired(&measures(work, options)).is_some();
    options.when.as_ref().is_none_or(fired)
}

/// The prompt tokens of the last reported usage plus the tokens of its reply.
fn reported(work: &CompactionState<'_>) -> Option<u64> {
    let number = |usage: &[u8], names: &[&str]| -> Option<u64> {
        let mut values = names.iter().filter_map(|name| json::member(usage, name));
        values.find_map(json::number)
    };
    (0..work.items.len()).rev().find_map(|at| {
        let usage = json::member(work.view.items[at].body(work.session), "usage")?;
        let prompt = number(usage, &["prompt_tokens", "input_tokens", "promptTokenCount"])?;
        let answer = number(
            usage,
            &["completion_tokens", "output_tokens", "candidatesTokenCount"],
        );
        Some(prompt + answer.unwrap_or(0))
    })
}

/// After this many compactions in a row, each within this many exchanges, the next one is refused.
const MAX_REPEATED: usize = 3;

/// Refuses to compact a session repeatedly without effect: a message in it is too large for the budget.
fn refuse_repeated(work: &CompactionState<'_>) -> Result<()> {
    let session = work.session;
    let mut close = 0;
    let mut exchanges = 0;
    let mut before = None;
    let mut has_grown = false;
    let live = session.live_events();
    for index in (0..session.len()).rev() {
        match session.class(index) {
            Class::Message(traits) => {
                has_grown = true;
                let asks = traits.role == Role::User && traits.category != Category::Context;
                if asks {
                    before = Some(index);
                } else if before.take().is_some() {
                    exchanges += 1; // consecutive user messages begin one exchange
                }
            }
            Class::Event if live.binary_search(&index).is_ok() => {
                let record = session.record(index);
                if record.event().map(Event::name).as_deref() != Some("compact")
                    || is_by_another_program(record.body)
                {
                    continue;
                }
                // The next compaction of the same messages has a smaller budget.
                if !std::mem::take(&mut has_grown) {
                    continue;
                }
                if exchanges + usize::from(before.is_some()) > MAX_REPEATED {
                    return Ok(());
                }
                close += 1;
                exchanges = 0;
                before = None;
                if close == MAX_REPEATED {
                    let error = Error::new(
                        ErrorKind::No,
                        "compacted three times within three exchanges each; the session grows too fast for this budget",
                    );
                    return Err(
                        error.hint(format!("{}; retry with --ignore-backoff", explain::largest(work)))
                    );
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether another program compacted the session in its own file: the strategy is then the name of its format.
fn is_by_another_program(event: &[u8]) -> bool {
    let strategy = json::member_text(event, "strategy");
    strategy.is_some_and(|name| Format::from_name(&name).is_some())
}

fn unreachable(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    target: &CompactionGoal,
    smallest: u64,
) -> Error {
    let what = match target.tokens() {
        Some(budget) if target.is_tokens_alone() => {
            format!("cannot reach {budget} tokens; the minimum is {smallest}")
        }
        _ => {
            let least = work.now().messages;
            format!("cannot reach {target}; the minimum is {smallest} tokens in {least} messages")
        }
    };
    Error::new(ErrorKind::No, what).hint(format!(
        "{}; {}",
        explain::floor(work),
        explain::remedy(work, options, smallest)
    ))
}
