//! Fits a session into a budget: the view is laid out, levels are chosen for its atoms, and what becomes of it is one
//! event that `restore` takes back.

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

/// Why nothing changes when it would gain too little.
pub const NO_GAIN: &str = "no gain";

/// Why nothing changes before it is time.
pub(super) const BELOW: &str = "below trigger";

/// What a compaction comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The event, or why there is none.
    pub plan: Plan,
    /// What becomes of each atom.
    pub report: Report,
    /// The smallest size that can be reached, when the budget cannot.
    pub smallest: Option<u64>,
}

/// Plans a compaction of one session.
///
/// # Errors
/// [`Kind::No`] when the budget cannot be reached, with the smallest size that can; when the last compactions followed
/// each other closely; when a pinned message is not in view.
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

/// Tokens behind the first change, which a provider has to read anew, where it has read them before.
fn broken(work: &Work<'_>, options: &Options, now: u64) -> u64 {
    let repeated = options.keep_prefix && work.summary_item.is_some();
    match repeated {
        true => now.saturating_sub(Prefix::of(work).tokens),
        false => 0,
    }
}

/// What is chosen.
pub(super) enum Chosen<'w> {
    /// Nothing.
    Nothing(Outcome),
    /// This becomes of the view. With it, the smallest size that can be reached, when the budget cannot.
    Change(Box<Work<'w>>, Option<u64>),
}

/// Chooses what becomes of a view.
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
    // A summary that is yet to be written may be short.
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

/// The event of what was chosen.
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

/// The change in one line.
pub(super) fn told(was: &Size, now: &Size) -> String {
    format!(
        "compacted from {} to {} tokens ({} to {} messages)",
        was.tokens, now.tokens, was.messages, now.messages
    )
}

impl Options {
    /// Whether so many tokens in place of so many are worth a change that has so many read anew: a token that a cache holds costs
    /// about a tenth of another.
    pub(super) fn gains(&self, was: u64, now: u64, broken: impl FnOnce() -> u64) -> bool {
        let gained = was.saturating_sub(now);
        let asked = self.budget.is_some_and(|budget| was > budget);
        if gained == 0 || asked {
            return gained > 0;
        }
        let gained = gained.saturating_sub(broken() / 10);
        gained > 0 && u128::from(gained) * 1000 >= u128::from(was) * u128::from(self.min_gain)
    }

    /// What the event names as its strategy.
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

/// The items that stay because they were asked for.
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

/// The item with which the exchange begins that reaches this line; the number of items when none does.
fn reaching(session: &Session, view: &View, line: usize) -> usize {
    let behind = |item: &crate::model::view::Item| item.line().is_some_and(|own| own >= line);
    let Some(first) = view.items.iter().position(behind) else {
        return view.items.len();
    };
    let starts = Cuts::of(session, view).exchange_starts();
    let begun = starts.partition_point(|start| *start <= first);
    begun.checked_sub(1).map_or(first, |nth| starts[nth])
}

/// Looks for the messages that a file of rules names.
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

/// What is to be reached, or why nothing is to be done.
fn target(work: &Work<'_>, options: &Options) -> std::result::Result<Target, String> {
    let measures = measures(work, options);
    let own = work.total;
    // What the provider counts as more than is counted here must become smaller in the same proportion.
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

/// What triggers look at, of the view of a session.
pub fn measured(session: &Session, counter: Counter, window: Option<u64>) -> Measures {
    let view = View::replay(session);
    let mut measures = Work::new(session, &view, counter, &HashSet::new()).measures(window);
    measures.failures = Health::of(session).failures;
    measures
}

/// What triggers look at, the provider's count believed where that is asked for.
fn measures(work: &Work<'_>, options: &Options) -> Measures {
    let mut measures = work.measures(options.window);
    measures.failures = Health::of(work.session).failures;
    if options.trust_usage {
        measures.tokens = measures.tokens.max(reported(work).unwrap_or(0));
    }
    measures
}

/// Whether the trigger says that it is time; without one it always is.
pub(super) fn is_due(work: &Work<'_>, options: &Options) -> bool {
    let fired = |when: &When| when.fired(&measures(work, options)).is_some();
    options.when.as_ref().is_none_or(fired)
}

/// The prompt count that a provider reported last, and what it answered then.
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

/// Compactions in a row that followed each other within this many exchanges are refused.
const THRASH: usize = 3;

/// Refuses to compact a session again and again without effect: something in it is too big for the budget.
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
                    exchanges += 1; // a run of questions begins one exchange
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

/// Whether a compaction is what another program hid in its own file: it says so by the name of its format.
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
