//! Fits a session into a budget: lays out the view, chooses a level for each message group, and writes one event, which
//! `restore` undoes.

pub mod digest;
pub mod event;
pub(super) mod explain;
pub(in crate::filter) mod facts;
mod ladder;
mod levels;
pub mod mark;
mod optimize;
mod options;
mod prefix;
mod row;
pub mod shorten;
pub(super) mod sources;
mod step;
pub(super) mod summary;
mod target;
#[cfg(test)]
pub(super) mod tests;
mod tiered;
pub mod when;
pub(super) mod work;

pub use explain::{AtomReport, Report};
pub use options::{Choice, Mask, Media, Options, Overflow, Steps, Thinking};
pub use prefix::Prefix;
pub use target::Target;
pub use work::Level;

use super::{Plan, Stamp};
use crate::error::{Error, Kind, Result};
use crate::filter::summarize::{Instructions, Rule};
use crate::format::Format;
use crate::model::event::Event;
use crate::model::exchange::Cuts;
use crate::model::health::Health;
use crate::model::json;
use crate::model::message::{Category, Role};
use crate::model::session::{Class, Session};
use crate::model::view::View;
use crate::tokens::Counter;
use event::{About, Size};
use std::borrow::Cow;
use std::collections::HashSet;
use when::{Goal, Measures, When};
use work::Work;

/// The reason for no change when the gain is too small.
pub const NO_GAIN: &str = "no gain";

/// The reason for no change when the trigger has not fired.
pub(super) const BELOW: &str = "below trigger";

/// The result of planning a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The event, or why there is none.
    pub plan: Plan,
    /// The level of each message group, and the sizes before and after.
    pub report: Report,
    /// The smallest reachable size if the budget is unreachable.
    pub smallest: Option<u64>,
}

/// Plans a compaction of one session.
///
/// # Errors
/// [`Kind::No`] when the budget is unreachable (the error names the smallest reachable size), when the last compactions
/// followed each other closely, or when a pinned message is not in the view.
pub fn plan(
    session: &Session,
    counter: Counter,
    options: &Options,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Outcome> {
    let view = View::replay(session);
    match chosen(session, &view, counter, options)? {
        Chosen::Nothing(outcome) => Ok(outcome),
        Chosen::Change(work, smallest) => carried_out(*work, smallest, options, stamp),
    }
}

/// Tokens after the first change that a provider has to read again. Zero unless a repeated compaction keeps the prefix.
fn broken(work: &Work<'_>, options: &Options, now: u64) -> u64 {
    let repeated = options.keep_prefix && work.summary_item.is_some();
    match repeated {
        true => now.saturating_sub(Prefix::of(work).tokens),
        false => 0,
    }
}

/// The chosen change.
pub(super) enum Chosen<'w> {
    /// No change.
    Nothing(Outcome),
    /// Change the view like this. The second field is the smallest reachable size if the budget is unreachable.
    Change(Box<Work<'w>>, Option<u64>),
}

/// Chooses the changes to a view.
pub(super) fn chosen<'w>(
    session: &'w Session,
    view: &'w View,
    counter: Counter,
    options: &Options,
) -> Result<Chosen<'w>> {
    let pins = pins(session, view, options)?;
    let mut work = Work::new(session, view, counter, &pins);
    let target = match target(&work, options) {
        Ok(target) => target,
        Err(why) => return Ok(Chosen::Nothing(nothing(&work, options, why))),
    };
    if !options.retry {
        thrash(&work)?;
    }
    match options.choice {
        Choice::Optimize => optimize::run(&mut work, options, &target)?,
        Choice::Tiered => tiered::run(&mut work, options, &target)?,
    }
    if target.asks() && !target.is_met(&work) {
        tiered::last_resort(&mut work, options, &target);
    }
    if options.steps.summary || options.steps.drop {
        step::drop::lead(&mut work, "drop");
    }
    let smallest = (target.asks() && !target.is_met(&work)).then_some(work.total);
    if let Some(smallest) = smallest
        && !options.best_effort
    {
        return Err(unreachable(&work, options, &target, smallest));
    }
    let was = work.was().tokens;
    // A summary that is not written yet may turn out short.
    let open = work.summary.as_ref().filter(|_| options.asks);
    let least = work.total - open.map_or(0, |(_, room)| room - room.min(&work::summary_cost(counter, "")));
    if !options.gains(was, least, || broken(&work, options, least)) {
        return Ok(Chosen::Nothing(Outcome {
            smallest,
            ..nothing(&work, options, NO_GAIN.to_string())
        }));
    }
    Ok(Chosen::Change(Box::new(work), smallest))
}

/// Builds the event for a choice.
pub(super) fn carried_out(
    work: Work<'_>,
    smallest: Option<u64>,
    options: &Options,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Outcome> {
    let (session, view, was, now) = (work.session, work.view, work.was(), work.now());
    let about = About {
        strategy: options.name().to_string(),
        sizes: Some((work.counter.tokenizer().name().to_string(), was, now)),
    };
    let stamp = stamp(&about.strategy)?;
    let report = Report::of(&work, None, options.explains);
    let line = work.into_reshaping().event(session, view, &about, &stamp)?;
    Ok(Outcome {
        report,
        plan: Plan::Lines(vec![line], told(&was, &now)),
        smallest,
    })
}

/// Describes the change in one line.
pub(super) fn told(was: &Size, now: &Size) -> String {
    format!(
        "compacted from {} to {} tokens ({} to {} messages)",
        was.tokens, now.tokens, was.messages, now.messages
    )
}

impl Options {
    /// Whether shrinking from `was` to `now` tokens is worth having a provider read `broken` tokens again: a cached
    /// token costs about a tenth of an uncached one.
    pub(super) fn gains(&self, was: u64, now: u64, broken: impl FnOnce() -> u64) -> bool {
        let gained = was.saturating_sub(now);
        let asked = self.budget.is_some_and(|budget| was > budget);
        if gained == 0 || asked {
            return gained > 0;
        }
        let gained = gained.saturating_sub(broken() / 10);
        gained > 0 && u128::from(gained) * 1000 >= u128::from(was) * u128::from(self.min_gain)
    }

    /// The strategy name in the event.
    pub(super) fn name(&self) -> &'static str {
        match (self.steps == Steps::ALL, self.choice) {
            (true, Choice::Tiered) => "tiered",
            (true, Choice::Optimize) => "optimize",
            (false, _) => "steps",
        }
    }
}

/// Nothing changes.
pub(super) fn nothing(work: &Work<'_>, options: &Options, why: String) -> Outcome {
    Outcome {
        report: Report::of(work, Some(&why), options.explains),
        plan: Plan::Nothing(why),
        smallest: None,
    }
}

/// Finds the items that the options pin.
fn pins(session: &Session, view: &View, options: &Options) -> Result<HashSet<usize>> {
    let mut pins = HashSet::new();
    let mut wanted: HashSet<&str> = options.pins.iter().map(String::as_str).collect();
    if !wanted.is_empty() {
        for (at, item) in view.items.iter().enumerate() {
            let own = item.message(session).and_then(|message| message.id());
            let id = match (own, item.line()) {
                (Some(id), _) => id,
                (None, Some(line)) => Cow::Owned(session.derived_id(line).unwrap_or_default()),
                (None, None) => continue,
            };
            if options.pins.iter().any(|pin| *pin == id) {
                pins.insert(at);
                wanted.remove(id.as_ref());
            }
        }
    }
    if let Some(missing) = options.pins.iter().find(|pin| wanted.contains(pin.as_str())) {
        return Err(Error::new(
            Kind::No,
            format!("--pin {missing}: no such message in the view"),
        ));
    }
    given_rules(session, options)?;
    if options.pin_first_user {
        let is_user = |item: &crate::model::view::Item| {
            let traits = item.traits(session);
            traits.is_some_and(|traits| traits.role == Role::User && traits.category != Category::Context)
        };
        pins.extend(view.items.iter().position(is_user));
    }
    if let Some(unseen) = (options.unseen)(session) {
        pins.extend(reaching(session, view, unseen)..view.items.len());
    }
    Ok(pins)
}

/// The first item of the exchange that contains this line; the number of items if no exchange does.
fn reaching(session: &Session, view: &View, line: usize) -> usize {
    let behind = |item: &crate::model::view::Item| item.line().is_some_and(|own| own >= line);
    let Some(first) = view.items.iter().position(behind) else {
        return view.items.len();
    };
    let starts = Cuts::of(session, view).exchange_starts();
    let begun = starts.partition_point(|start| *start <= first);
    begun.checked_sub(1).map_or(first, |nth| starts[nth])
}

/// Checks that the messages named in a rules file exist.
fn given_rules(session: &Session, options: &Options) -> Result<()> {
    let Instructions::Given(rules) = &options.style.instructions else {
        return Ok(());
    };
    for rule in rules {
        if let Rule::Message(id) = rule
            && session.all_of(id).is_empty()
        {
            let what = format!("--pin-rules: no such message in the log: {id}");
            return Err(Error::new(Kind::No, what));
        }
    }
    Ok(())
}

/// The target of a compaction, or why nothing has to be done.
fn target(work: &Work<'_>, options: &Options) -> std::result::Result<Target, String> {
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
            goal = When::goal(fired, options.hysteresis, options.window);
        }
    }
    goal.tokens = goal.tokens.map(scaled);
    let target = Target::new(goal);
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
    let mut measures = Work::new(session, &view, counter, &HashSet::new()).measures(window);
    measures.failures = Health::of(session).failures;
    measures
}

/// Measures a view for triggers; uses the provider's token count if the options trust it.
fn measures(work: &Work<'_>, options: &Options) -> Measures {
    let mut measures = work.measures(options.window);
    measures.failures = Health::of(work.session).failures;
    if options.trust_usage {
        measures.tokens = measures.tokens.max(reported(work).unwrap_or(0));
    }
    measures
}

/// Whether the trigger fires; without a trigger, always true.
pub(super) fn is_due(work: &Work<'_>, options: &Options) -> bool {
    let fired = |when: &When| when.fired(&measures(work, options)).is_some();
    options.when.as_ref().is_none_or(fired)
}

/// The prompt tokens of the last reported usage plus the tokens of its reply.
fn reported(work: &Work<'_>) -> Option<u64> {
    let number = |usage: &[u8], names: &[&str]| {
        let values = names.iter().filter_map(|name| json::member(usage, name));
        values
            .filter_map(|raw| std::str::from_utf8(raw).ok()?.parse::<u64>().ok())
            .next()
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
const THRASH: usize = 3;

/// Refuses to compact a session repeatedly without effect: a message in it is too large for the budget.
fn thrash(work: &Work<'_>) -> Result<()> {
    let session = work.session;
    let mut close = 0;
    let mut exchanges = 0;
    let mut before = None;
    let live = session.live_events();
    for index in (0..session.len()).rev() {
        match session.class(index) {
            Class::Message(traits) => {
                let asks = traits.role == Role::User && traits.category != Category::Context;
                if asks {
                    before = Some(index);
                } else if before.take().is_some() {
                    exchanges += 1; // consecutive user messages begin one exchange
                }
            }
            Class::Event if live.binary_search(&index).is_ok() => {
                let record = session.record(index);
                if record.event().map(Event::name).as_deref() != Some("compact") || is_foreign(record.body) {
                    continue;
                }
                if exchanges + usize::from(before.is_some()) > THRASH {
                    return Ok(());
                }
                close += 1;
                exchanges = 0;
                before = None;
                if close == THRASH {
                    let error = Error::new(
                        Kind::No,
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
fn is_foreign(event: &[u8]) -> bool {
    let strategy = json::member(event, "strategy").and_then(json::text);
    strategy.is_some_and(|name| Format::from_name(&name).is_some())
}

fn unreachable(work: &Work<'_>, options: &Options, target: &Target, smallest: u64) -> Error {
    let what = match target.tokens() {
        Some(budget) if target.is_tokens_alone() => {
            format!("cannot reach {budget} tokens; the minimum is {smallest}")
        }
        _ => {
            let least = work.now().messages;
            format!("cannot reach {target}; the minimum is {smallest} tokens in {least} messages")
        }
    };
    Error::new(Kind::No, what).hint(format!(
        "{}; {}",
        explain::floor(work),
        explain::remedy(work, options, smallest)
    ))
}
