//! The part of PenguiFlow's memory that the program leaves to its commands: requests for summaries, their answers and
//! failures. The recorded scenarios need it, because their steps include summaries.

use super::*;
use std::collections::HashSet;

/// The input for a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<T> {
    /// The current summary.
    pub previous_summary: String,
    /// The turns, oldest first.
    pub turns: Vec<T>,
    serials: Vec<u64>,
}

impl<T> Request<T> {
    /// Limits the request to its oldest turns.
    pub fn first(mut self, turns: usize) -> Request<T> {
        self.turns.truncate(turns);
        self.serials.truncate(turns);
        self
    }
}

impl<T: Clone> RetentionState<T> {
    /// The retention policy.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The failures and the time of the next attempt.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Whether a summary is due at `now` (RFC 3339).
    pub fn is_due(&self, now: &str) -> bool {
        self.part_due(now).is_some()
    }

    fn part_due(&self, now: &str) -> Option<Part> {
        if self.memory.strategy != Strategy::RollingSummary {
            return None;
        }
        let part = match (self.backlog.is_empty(), self.pending.is_empty()) {
            (false, _) => Part::Backlog,
            (true, false) => Part::Pending,
            (true, true) => return None,
        };
        (self.is_recovering || self.health.is_due(now)).then_some(part)
    }

    /// Returns the turns to summarize now; none when nothing is due. A degraded memory begins to recover.
    pub fn request(&mut self, now: &str) -> Option<Request<T>> {
        let part = self.part_due(now)?;
        if self.state() == State::Degraded {
            self.is_recovering = true;
        }
        let entries = match part {
            Part::Backlog => &self.backlog,
            _ => &self.pending,
        };
        let most = match (part, self.memory.backlog) {
            (Part::Backlog, limit) if limit > 0 => usize::try_from(limit).unwrap_or(usize::MAX),
            _ => usize::MAX,
        };
        let taken = || entries.entries().take(most);
        Some(Request {
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
        request: &Request<T>,
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

    fn try_apply(&mut self, request: &Request<T>, summary: &str, cost: &impl Cost) -> Result<Enforced<T>> {
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
        self.settle(cost)
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
        mut ask: impl FnMut(&Request<T>) -> std::result::Result<String, String>,
        mut wait: impl FnMut(&str),
    ) -> Result<()> {
        while !self.pending.is_empty() && self.state() != State::Degraded {
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
