//! Applies a retention policy to a session: converts its turns to a [`RetentionState`] and plans what to drop when a turn is
//! added.

use super::super::compact::event::{CompactionInfo, InsertedSummary, ItemChange, ViewEdit};
use super::super::compact::state::summary_cost;
use super::super::{Plan, Stamp};
use super::estimate::{TurnEstimate, shorten, turn_size};
use super::policy::{Cost, RetentionState, ShownMemory};
use super::queue::RetentionPart;
use crate::error::{Error, ErrorKind, Result};
use crate::format::penguiflow::{PenguiflowState, PlacedTurn, TurnZone};
use crate::model::health::{self, Health};
use crate::model::json;
use crate::model::retention::{RetentionPolicy, RetentionStrategy};
use crate::model::session::Session;
use crate::model::view::View;
use crate::tokens::Counter;
use std::collections::HashMap;

/// A turn, as the view items that it consists of.
pub type TurnItems = Vec<usize>;

/// How the size of the context is measured.
enum ContextMeasure {
    /// PenguiFlow's estimate.
    Estimate(TurnEstimate),
    /// Message tokens; `other` counts messages outside turns, which are always sent, as are waiting turns.
    Tokens { counter: Counter, other: u64 },
}

impl Cost for ContextMeasure {
    fn context(&self, shown: &ShownMemory) -> u64 {
        match self {
            ContextMeasure::Estimate(estimate) => estimate.context(shown),
            ContextMeasure::Tokens { other, .. } => {
                other + shown.recent.size + shown.pending.size + shown.backlog.size + shown.summary
            }
        }
    }

    fn summary_size(&self, summary: &str) -> u64 {
        match self {
            ContextMeasure::Estimate(estimate) => estimate.summary_size(summary),
            ContextMeasure::Tokens { .. } if summary.is_empty() => 0,
            ContextMeasure::Tokens { counter, .. } => summary_cost(*counter, summary),
        }
    }

    fn summary(&self, text: &str) -> u64 {
        match self {
            ContextMeasure::Estimate(estimate) => estimate.summary(text),
            ContextMeasure::Tokens { counter, .. } => counter.tokenizer().count(text),
        }
    }

    fn shorten(&self, summary: &str, most: u64) -> Option<String> {
        shorten(summary, most, &|text| self.summary(text))
    }
}

/// A session with its parsed memory state.
struct MemorySession<'s> {
    session: &'s Session,
    view: View,
    state: PenguiflowState,
}

/// The retention policy in the header; none without one.
///
/// # Errors
///
/// [`ErrorKind::Config`]: the policy is invalid.
pub fn memory_of(session: &Session) -> Result<Option<RetentionPolicy>> {
    let own = session.metadata("penguiflow");
    let own = own.is_some_and(|own| json::member(&own, "config_snapshot").is_some());
    if !own && session.header_member("memory").is_none() {
        return Ok(None);
    }
    Ok(Some(PenguiflowState::of(session, &View::replay(session))?.memory))
}

impl<'s> MemorySession<'s> {
    fn of(session: &'s Session) -> Result<Self> {
        let view = View::replay(session);
        let state = PenguiflowState::of(session, &view)?;
        Ok(MemorySession { session, view, state })
    }

    fn measure(&self, counter: Counter) -> ContextMeasure {
        if self.state.is_own() {
            return ContextMeasure::Estimate(TurnEstimate {
                shows_nothing: self.state.memory.strategy == RetentionStrategy::None,
            });
        }
        let other = self
            .state
            .unplaced
            .iter()
            .map(|item| self.tokens(*item, counter))
            .sum();
        ContextMeasure::Tokens { counter, other }
    }

    fn tokens(&self, item: usize, counter: Counter) -> u64 {
        let message = self.view.items[item].message(self.session);
        message.map_or(0, |message| counter.message(&message))
    }

    fn size(&self, placed: &PlacedTurn, measure: &ContextMeasure) -> u64 {
        match measure {
            ContextMeasure::Estimate(_) => turn_size(&placed.turn.sorted(self.state.memory.digests)),
            ContextMeasure::Tokens { counter, .. } => {
                placed.items.iter().map(|item| self.tokens(*item, *counter)).sum()
            }
        }
    }

    /// The item and text of the summary; PenguiFlow's text includes its tags.
    fn summary(&self) -> Option<(usize, String)> {
        let items = self.view.items.iter().enumerate();
        let texts = items.filter_map(|(at, item)| Some((at, item.summary(self.session)?.into_owned())));
        let (at, text) = texts.fold(None, |_, found| Some(found))?;
        match self.state.is_own() {
            true => Some((at, json::text(&self.state.summary)?.into_owned())),
            false => Some((at, text)),
        }
    }

    fn turns(&self) -> impl Iterator<Item = &PlacedTurn> {
        self.state.dropped.iter().chain(&self.state.turns)
    }

    /// Builds the retention state from the selected turns.
    fn retention_state(
        &self,
        measure: &ContextMeasure,
        is_in: impl Fn(&PlacedTurn) -> bool,
    ) -> Result<RetentionState<TurnItems>> {
        let is_own = self.state.is_own();
        let recovering = self.state.health == health::HealthState::Recovering;
        let mut retention = RetentionState::new(self.state.memory)?
            .with_health(Health::of(self.session), recovering)
            .with_summary(self.summary().map_or(String::new(), |(_, text)| text));
        if !is_own {
            retention = retention.showing_all();
        }
        for placed in self.turns().filter(|placed| is_in(placed)) {
            let part = match placed.zone {
                TurnZone::Backlog => RetentionPart::Backlog,
                TurnZone::Pending => RetentionPart::Pending,
                TurnZone::Turns => RetentionPart::Recent,
            };
            retention.load(part, placed.items.clone(), self.size(placed, measure));
        }
        Ok(retention)
    }
}

/// The current state of a session's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryState {
    /// The retention policy.
    pub memory: RetentionPolicy,
    /// Turns kept in full.
    pub recent: usize,
    /// Turns that wait for a summary.
    pub pending: usize,
    /// Turns that wait for a recovery.
    pub backlog: usize,
    /// Tokens that the model receives.
    pub tokens: u64,
}

/// The current state of a session's memory; none without a retention policy.
///
/// # Errors
///
/// [`ErrorKind::Config`]: the policy in the header is invalid.
pub fn memory_state(session: &Session, counter: Counter) -> Result<Option<MemoryState>> {
    let Some(memory) = memory_of(session)? else {
        return Ok(None);
    };
    let parsed = MemorySession::of(session)?;
    let measure = parsed.measure(counter);
    let retention = parsed.retention_state(&measure, |_| true)?;
    let count = |part| retention.turns(part).count();
    Ok(Some(MemoryState {
        memory,
        recent: count(RetentionPart::Recent),
        pending: count(RetentionPart::Pending),
        backlog: count(RetentionPart::Backlog),
        tokens: retention.tokens(&measure),
    }))
}

/// The numbers of turns that wait for a summary and for a recovery; none without a retention policy.
///
/// # Errors
///
/// [`ErrorKind::Config`]: the policy in the header is invalid.
pub fn waiting_turns(session: &Session) -> Result<Option<(usize, usize)>> {
    if memory_of(session)?.is_none() {
        return Ok(None);
    }
    let state = MemorySession::of(session)?.state;
    Ok(Some((
        state.of_zone(TurnZone::Pending).count(),
        state.of_zone(TurnZone::Backlog).count(),
    )))
}

/// The items of the view to summarize now, oldest first; none when there are none. Does not consider the retry time
/// in the session's health.
///
/// # Errors
///
/// [`ErrorKind::Config`]: the policy in the header is invalid.
pub fn due(session: &Session) -> Result<Option<TurnItems>> {
    let Some(memory) = memory_of(session)? else {
        return Ok(None);
    };
    let parsed = MemorySession::of(session)?;
    let of = |zone: TurnZone| {
        parsed
            .state
            .turns
            .iter()
            .filter(move |placed| placed.zone == zone)
    };
    let most = usize::try_from(memory.backlog).ok().filter(|most| *most > 0);
    let backlog: TurnItems = of(TurnZone::Backlog)
        .take(most.unwrap_or(usize::MAX))
        .flat_map(|placed| placed.items.clone())
        .collect();
    let items = match backlog.is_empty() {
        true => of(TurnZone::Pending)
            .flat_map(|placed| placed.items.clone())
            .collect(),
        false => backlog,
    };
    Ok(Some(items).filter(|items| !items.is_empty() && memory.strategy == RetentionStrategy::RollingSummary))
}

/// Lines to append together with the change that makes room for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetainedLines {
    /// The lines to append.
    pub plan: Plan,
    /// The current tokens and the total, if the total cannot be met.
    pub over: Option<(u64, u64)>,
}

/// Plans to append lines. A turn is complete after a reply; then the turns beyond the kept number are dropped or
/// queued, and the total is enforced by an event that `restore` can undo.
///
/// # Errors
///
/// [`ErrorKind::No`] when the policy is `error` and the total would be exceeded, or when the policy keeps no turns;
/// [`ErrorKind::Config`]: the policy in the header is invalid.
pub fn plan(
    session: &Session,
    lines: Vec<Vec<u8>>,
    reported: String,
    counter: Counter,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<RetainedLines> {
    let nothing = |lines, reported| RetainedLines {
        plan: Plan::Lines(lines, reported),
        over: None,
    };
    let Some(memory) = memory_of(session)? else {
        return Ok(nothing(lines, reported));
    };
    let mut grown = session.clone();
    lines.iter().for_each(|line| grown.push_new(line));
    enforce_policy(session, &grown, memory, lines, reported, counter, stamp)
}

/// Enforces the policy after the lines, which may include a summary, were appended.
fn enforce_policy(
    session: &Session,
    grown: &Session,
    memory: RetentionPolicy,
    mut lines: Vec<Vec<u8>>,
    reported: String,
    counter: Counter,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<RetainedLines> {
    let parsed = MemorySession::of(grown)?;
    let measure = parsed.measure(counter);
    // The turns before the append: first line and number of items.
    let known: HashMap<Option<usize>, usize> = {
        let before = MemorySession::of(session)?;
        // Identify turns by log line, which does not depend on the view.
        before
            .turns()
            .map(|placed| {
                let first = placed.items.first();
                let line = first.and_then(|item| before.view.items[*item].line());
                (line, placed.items.len())
            })
            .collect()
    };
    let line = |placed: &PlacedTurn| {
        placed
            .items
            .first()
            .and_then(|item| parsed.view.items[*item].line())
    };
    let is_known = |placed: &PlacedTurn| known.contains_key(&line(placed));
    let has_grown = |placed: &PlacedTurn| {
        known
            .get(&line(placed))
            .is_some_and(|items| placed.items.len() > *items)
    };
    let new: Vec<&PlacedTurn> = parsed.turns().filter(|placed| !is_known(placed)).collect();
    if memory.strategy == RetentionStrategy::None && !new.is_empty() {
        let error = Error::new(ErrorKind::No, "the retention strategy none keeps no exchanges");
        return Err(error.hint("use the strategy truncation or rolling_summary"));
    }
    let mut retention = parsed.retention_state(&measure, is_known)?;
    let mut dropped: Vec<TurnItems> = Vec::new();
    let mut over = None;
    for placed in &new {
        let enforced = retention.add(placed.items.clone(), parsed.size(placed, &measure), &measure)?;
        dropped.extend(enforced.dropped);
        over = (!enforced.fits).then_some((enforced.tokens, memory.total));
    }
    let left = match new.is_empty() {
        true if parsed.summary() != MemorySession::of(session)?.summary() => {
            Some(retention.fit_summary(&measure)?)
        }
        // A further reply extends a turn, so the total must be checked again.
        true if parsed.turns().any(has_grown) => Some(retention.enforce(&measure)?),
        _ => None,
    };
    if let Some(enforced) = left {
        dropped.extend(enforced.dropped);
        over = (!enforced.fits).then_some((enforced.tokens, memory.total));
    }
    let mut reshaping = ViewEdit::of(&parsed.view);
    for item in dropped.iter().flatten() {
        reshaping.changes[*item] = ItemChange::Drop;
    }
    if let Some((at, _)) = parsed.summary().filter(|(_, text)| text != retention.summary()) {
        reshaping.changes[at] = ItemChange::Drop;
        reshaping.summary = (!retention.summary().is_empty()).then(|| InsertedSummary {
            before: at,
            content: retention.summary().to_string(),
            covers: vec![at],
            by: "extract".to_string(),
            role: None,
        });
    }
    if reshaping.is_empty() {
        let plan = Plan::Lines(lines, reported);
        return Ok(RetainedLines { plan, over });
    }
    let about = CompactionInfo {
        strategy: "memory".to_string(),
        sizes: None,
    };
    let event = reshaping.event(grown, &parsed.view, &about, &stamp("memory")?)?;
    lines.push(event);
    // A shortened summary is not a new one: earlier failures still count.
    if reshaping.summary.is_some()
        && let Some(line) = Health::of(grown).line
    {
        lines.push(grown.record(line).body.to_vec());
    }
    let reported = format!("{reported}; dropped exchanges: {}", dropped.len());
    let cut = match (&reshaping.summary, parsed.summary()) {
        (Some(_), _) => "; shortened the summary",
        (None, Some((at, _))) if reshaping.changes[at] == ItemChange::Drop => "; dropped the summary",
        _ => "",
    };
    Ok(RetainedLines {
        plan: Plan::Lines(lines, reported + cut),
        over,
    })
}
