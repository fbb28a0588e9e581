//! The retention policy of a session as a state machine: adds turns, requests and applies summaries, handles failures
//! and enforces the total. Reads no clock; every operation terminates because each repeated step reduces the size.

use super::queue::{LinkedTurns, QueuedTurn, RetentionPart, TurnQueue};
use crate::error::{Error, ErrorKind, Result};
use crate::model::health::{Health, HealthState};
use crate::model::retention::{Overflow, RetentionPolicy, RetentionStrategy};
use std::collections::HashSet;

/// The parts of a memory that the model receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownMemory {
    /// Turns kept in full.
    pub recent: LinkedTurns,
    /// Turns that wait for a summary, if shown.
    pub pending: LinkedTurns,
    /// Turns that wait for a recovery, if shown.
    pub backlog: LinkedTurns,
    /// Size of the summary, see [`Cost::summary_size`]; 0 when there is none or it is not shown.
    pub summary: u64,
}

/// Counts tokens and shortens summaries.
pub trait Cost {
    /// Tokens of the shown parts.
    fn context(&self, shown: &ShownMemory) -> u64;
    /// Size of a summary in the context, in the unit of turn sizes; 0 for an empty one.
    fn summary_size(&self, summary: &str) -> u64;
    /// Tokens of the summary text alone.
    fn summary(&self, text: &str) -> u64;
    /// Shortens a summary to at most `most` tokens; none when nothing fits.
    fn shorten(&self, summary: &str, most: u64) -> Option<String>;
}

/// The result of enforcing the total.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enforced<T> {
    /// Dropped turns, oldest first.
    pub dropped: Vec<T>,
    /// Whether the total is met.
    pub fits: bool,
    /// Tokens of the parts shown now.
    pub tokens: u64,
}

/// The input for a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetentionRequest<T> {
    /// The current summary.
    pub previous_summary: String,
    /// The turns, oldest first.
    pub turns: Vec<T>,
    serials: Vec<u64>,
}

impl<T> RetentionRequest<T> {
    /// Limits the request to its oldest turns.
    pub fn first(mut self, turns: usize) -> RetentionRequest<T> {
        self.turns.truncate(turns);
        self.serials.truncate(turns);
        self
    }
}

/// A session's memory: its turns, summary and health under a retention policy.
#[derive(Clone, Debug)]
pub struct RetentionState<T> {
    memory: RetentionPolicy,
    health: Health,
    is_recovering: bool,
    shows_all: bool,
    summary: String,
    backlog: TurnQueue<T>,
    pending: TurnQueue<T>,
    recent: TurnQueue<T>,
    next: u64,
}

impl<T: Clone> RetentionState<T> {
    /// Creates an empty memory.
    ///
    /// # Errors
    ///
    /// See [`RetentionPolicy::check`].
    pub fn new(memory: RetentionPolicy) -> Result<Self> {
        memory.check()?;
        Ok(RetentionState {
            memory,
            health: Health::default(),
            is_recovering: false,
            shows_all: false,
            summary: String::new(),
            backlog: TurnQueue::default(),
            pending: TurnQueue::default(),
            recent: TurnQueue::default(),
            next: 0,
        })
    }

    /// Sets the stored health and whether a recovery attempt is in progress.
    pub fn with_health(mut self, health: Health, is_recovering: bool) -> Self {
        self.health = health;
        self.is_recovering = is_recovering;
        self
    }

    /// Shows the model every turn, whatever the health.
    pub fn showing_all(mut self) -> Self {
        self.shows_all = true;
        self
    }

    /// Sets the stored summary.
    pub fn with_summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// Appends a stored turn to a part without enforcing limits.
    pub fn load(&mut self, part: RetentionPart, turn: T, size: u64) {
        let entry = self.entry(turn, size);
        match part {
            RetentionPart::Backlog => self.backlog.push(entry),
            RetentionPart::Pending => self.pending.push(entry),
            RetentionPart::Recent => self.recent.push(entry),
        }
    }

    fn entry(&mut self, turn: T, size: u64) -> QueuedTurn<T> {
        self.next += 1;
        QueuedTurn {
            turn,
            size,
            serial: self.next,
        }
    }

    /// The retention policy.
    pub fn memory(&self) -> &RetentionPolicy {
        &self.memory
    }

    /// The failures and the time of the next attempt.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// The status of the summarizer.
    pub fn state(&self) -> HealthState {
        match (self.is_recovering, self.health.failures, self.health.degraded) {
            (true, ..) => HealthState::Recovering,
            (_, 0, _) => HealthState::Healthy,
            (_, _, true) => HealthState::Degraded,
            (_, _, false) => HealthState::Retry,
        }
    }

    /// The summary; empty when there is none.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The turns of a part, oldest first.
    pub fn turns(&self, part: RetentionPart) -> impl Iterator<Item = &T> {
        let entries = match part {
            RetentionPart::Backlog => &self.backlog,
            RetentionPart::Pending => &self.pending,
            RetentionPart::Recent => &self.recent,
        };
        entries.entries().map(|entry| &entry.turn)
    }

    /// Whether the model receives the summary and the pending turns.
    pub fn shows_summary(&self) -> bool {
        self.shows_all
            || self.memory.strategy == RetentionStrategy::RollingSummary
                && self.state() != HealthState::Degraded
    }

    /// Tokens that the model receives.
    pub fn tokens(&self, cost: &impl Cost) -> u64 {
        self.tokens_with(cost.summary_size(&self.summary), cost)
    }

    fn tokens_with(&self, summary: u64, cost: &impl Cost) -> u64 {
        let shows = self.shows_summary();
        let listed = |is: bool, queue: &TurnQueue<T>| if is { queue.list() } else { LinkedTurns::default() };
        cost.context(&ShownMemory {
            recent: self.recent.list(),
            pending: listed(shows, &self.pending),
            backlog: listed(self.shows_all, &self.backlog),
            summary: if shows { summary } else { 0 },
        })
    }

    /// Adds a turn, drops or queues the turns beyond the kept number, and enforces the total.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::No`] when the total would be exceeded and the policy is `error`; the memory is then unchanged.
    pub fn add(&mut self, turn: T, size: u64, cost: &impl Cost) -> Result<Enforced<T>> {
        if self.memory.strategy == RetentionStrategy::None {
            return Ok(Enforced {
                dropped: vec![turn],
                fits: true,
                tokens: self.tokens(cost),
            });
        }
        let entry = self.entry(turn, size);
        self.recent.push(entry);
        let keep = usize::try_from(self.memory.keep_last).unwrap_or(usize::MAX);
        let beyond = self.recent.len().saturating_sub(keep);
        let evicted = self.recent.take(beyond);
        let truncates = self.memory.strategy == RetentionStrategy::Truncation;
        let degraded = self.state() == HealthState::Degraded;
        let mut removed = TurnQueue::default();
        let waiting = match (truncates, degraded) {
            (true, _) => &mut removed,
            (false, true) => &mut self.backlog,
            (false, false) => &mut self.pending,
        };
        waiting.extend(evicted);
        match self.enforce(cost) {
            Ok(mut enforced) => {
                let mut dropped: Vec<T> = removed.into_turns().collect();
                dropped.append(&mut enforced.dropped);
                Ok(Enforced { dropped, ..enforced })
            }
            Err(error) => {
                // Undo the addition.
                let waiting = match (truncates, degraded) {
                    (true, _) => &mut removed,
                    (false, true) => &mut self.backlog,
                    (false, false) => &mut self.pending,
                };
                let mut back = waiting.take_back(beyond);
                back.extend(std::mem::take(&mut self.recent));
                back.pop_back();
                self.recent = back;
                Err(error)
            }
        }
    }

    /// Checks a new summary: shortens it to its limit and enforces the total.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`] when the summary is blank, when it is too long and the policy is `error`, or when it
    /// cannot be shortened. The memory must not be used afterwards.
    pub fn fit_summary(&mut self, cost: &impl Cost) -> Result<Enforced<T>> {
        let refused = |what: String| Error::new(ErrorKind::Unavailable, what);
        let (most, tokens) = (self.memory.summary, cost.summary(&self.summary));
        if self.summary.trim().is_empty() {
            return Err(refused("the summary is blank".to_string()));
        }
        if tokens > most {
            if self.memory.overflow == Overflow::Error {
                return Err(refused(format!("the summary exceeds {most} tokens ({tokens})")));
            }
            let shorter = cost.shorten(&self.summary, most);
            self.summary =
                shorter.ok_or_else(|| refused(format!("cannot shorten the summary to {most} tokens")))?;
        }
        self.enforce(cost)
            .map_err(|error| refused(format!("with the summary {}", error.message)))
    }

    /// Drops turns, but never the newest, until the total is met. Skips steps that free nothing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::No`] when the total is exceeded and the policy is `error`.
    pub fn enforce(&mut self, cost: &impl Cost) -> Result<Enforced<T>> {
        let RetentionPolicy { total, overflow, .. } = self.memory;
        let summary_size = cost.summary_size(&self.summary);
        let mut enforced = Enforced {
            dropped: Vec::new(),
            fits: true,
            tokens: self.tokens_with(summary_size, cost),
        };
        if total == 0 || enforced.tokens <= total {
            return Ok(enforced);
        }
        if overflow == Overflow::Error {
            let what = format!("{} tokens exceed the total of {total}", enforced.tokens);
            let error = Error::new(ErrorKind::No, what);
            return Err(error.hint("raise the total, or set overflow=truncate_oldest"));
        }
        let shows = self.shows_summary();
        if shows
            && cost.summary(&self.summary) > self.memory.summary
            && let Some(shorter) = cost.shorten(&self.summary, self.memory.summary)
            && cost.summary_size(&shorter) < summary_size
        {
            self.summary = shorter;
        }
        let summary_size = cost.summary_size(&self.summary);
        enforced.tokens = self.tokens_with(summary_size, cost);
        while enforced.tokens > total {
            // If no turn is kept in full, the newest one is among the waiting turns.
            let floor = usize::from(self.recent.is_empty());
            let waits = self.pending.len() + if self.shows_all { self.backlog.len() } else { 0 };
            let entries = match shows && waits > floor {
                true if self.shows_all && !self.backlog.is_empty() => &mut self.backlog,
                true => &mut self.pending,
                false if self.recent.len() > 1 => &mut self.recent,
                false => break,
            };
            let Some(oldest) = entries.pop() else { break };
            enforced.dropped.push(oldest.turn);
            enforced.tokens = self.tokens_with(summary_size, cost);
        }
        if enforced.tokens > total && shows && !self.summary.is_empty() {
            let without = self.tokens_with(0, cost);
            // Clear the summary only if that meets the total.
            if without <= total {
                self.summary.clear();
                enforced.tokens = without;
            }
        }
        enforced.fits = enforced.tokens <= total;
        Ok(enforced)
    }

    /// Whether a summary is due at `now` (RFC 3339).
    pub fn is_due(&self, now: &str) -> bool {
        self.part_due(now).is_some()
    }

    fn part_due(&self, now: &str) -> Option<RetentionPart> {
        if self.memory.strategy != RetentionStrategy::RollingSummary {
            return None;
        }
        let part = match (self.backlog.is_empty(), self.pending.is_empty()) {
            (false, _) => RetentionPart::Backlog,
            (true, false) => RetentionPart::Pending,
            (true, true) => return None,
        };
        (self.is_recovering || self.health.is_due(now)).then_some(part)
    }

    /// Returns the turns to summarize now; none when nothing is due. A degraded memory begins to recover.
    pub fn request(&mut self, now: &str) -> Option<RetentionRequest<T>> {
        let part = self.part_due(now)?;
        if self.state() == HealthState::Degraded {
            self.is_recovering = true;
        }
        let entries = match part {
            RetentionPart::Backlog => &self.backlog,
            _ => &self.pending,
        };
        let most = match (part, self.memory.backlog) {
            (RetentionPart::Backlog, limit) if limit > 0 => usize::try_from(limit).unwrap_or(usize::MAX),
            _ => usize::MAX,
        };
        let taken = || entries.entries().take(most);
        Some(RetentionRequest {
            previous_summary: self.summary.clone(),
            turns: taken().map(|entry| entry.turn.clone()).collect(),
            serials: taken().map(|entry| entry.serial).collect(),
        })
    }

    /// Applies a summary, which replaces exactly the turns of the request.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`] when the summary is too long and the policy is `error`, or when it cannot be shortened.
    /// This counts as a failed attempt; nothing else changes.
    pub fn apply(
        &mut self,
        request: &RetentionRequest<T>,
        summary: &str,
        now: &str,
        cost: &impl Cost,
    ) -> Result<Enforced<T>> {
        let before = self.clone();
        let done = self.try_apply(request, summary, cost);
        if let Err(error) = &done {
            let why = error.message.clone();
            *self = before;
            self.fail(now, &why);
        }
        done
    }

    fn try_apply(
        &mut self,
        request: &RetentionRequest<T>,
        summary: &str,
        cost: &impl Cost,
    ) -> Result<Enforced<T>> {
        self.summary = summary.to_string();
        let requested: HashSet<u64> = request.serials.iter().copied().collect();
        for entries in [&mut self.backlog, &mut self.pending] {
            entries.retain(|entry| !requested.contains(&entry.serial));
        }
        self.health = Health::default();
        self.is_recovering = false;
        // Backlog turns that the request left out are the oldest of the pending turns.
        let waiting = std::mem::take(&mut self.pending);
        self.backlog.extend(waiting);
        std::mem::swap(&mut self.backlog, &mut self.pending);
        self.fit_summary(cost)
    }

    /// Records a failed attempt.
    pub fn fail(&mut self, now: &str, why: &str) {
        self.health = self.memory.policy().failed(&self.health, now, why);
        self.is_recovering = false;
        if self.health.degraded {
            let waiting = std::mem::take(&mut self.pending);
            self.backlog.extend(waiting);
        }
    }

    /// Requests summaries until nothing is pending or the memory is degraded. `wait` receives the time to wait for.
    pub fn flush(
        &mut self,
        mut now: String,
        cost: &impl Cost,
        mut ask: impl FnMut(&RetentionRequest<T>) -> std::result::Result<String, String>,
        mut wait: impl FnMut(&str),
    ) -> Result<()> {
        while !self.pending.is_empty() && self.state() != HealthState::Degraded {
            if let Some(next) = self.health.next_attempt_at.clone()
                && !self.health.is_due(&now)
            {
                wait(&next);
                now = next;
            }
            let Some(request) = self.request(&now) else {
                return Ok(());
            };
            match ask(&request) {
                Ok(summary) => {
                    // A rejected summary counts as a failure, so the loop ends.
                    let _ = self.apply(&request, &summary, &now, cost);
                }
                Err(why) => self.fail(&now, &why),
            }
        }
        Ok(())
    }
}
