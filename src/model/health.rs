//! The summarizer status of a session: consecutive failures and the time of the next attempt.
//! It is derived from the log alone: `attempt` events record failures, and any later summary resets the count.
//!
//! | from | what happens | to |
//! |---|---|---|
//! | healthy, retry | failure n <= retry attempts | retry; next attempt after base * 2^(n-1) |
//! | healthy, retry | failure n > retry attempts | degraded |
//! | retry | success | healthy |
//! | degraded | a message is added and the next attempt is due | recovering |
//! | recovering | success | healthy |
//! | recovering | failure | degraded; n keeps growing |
//!
//! These are the states of PenguiFlow. Nothing here reads a clock; callers pass the current time.

use super::event::{Action, Attempt};
use super::message::{Category, Role};
use super::session::{Class, Session};
use super::{json, time};
use crate::model::event;
use crate::model::named_enum::named_enum;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::time::Duration;

named_enum! {
    /// Summarizer status.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum HealthState {
        /// The last summary succeeded, or none was attempted.
        #[default]
        Healthy = "healthy",
        /// The last attempt failed and is retried when the backoff has elapsed.
        Retry = "retry",
        /// The retry limit was exceeded.
        Degraded = "degraded",
        /// The retry limit was exceeded, and another attempt is due.
        Recovering = "recovering",
    }
}

/// The failed attempts of a session. Caches omit what lists do not print.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Health {
    /// Consecutive failures since the last success.
    pub failures: u64,
    /// Whether the retry limit was exceeded.
    pub degraded: bool,
    /// Time of the last failure, RFC 3339.
    #[serde(skip)]
    pub failed_at: Option<String>,
    /// Earliest time of the next attempt, RFC 3339.
    pub next_attempt_at: Option<String>,
    /// Error message of the last failure.
    #[serde(skip)]
    pub why: Option<String>,
    /// Whether a user or assistant message follows the failure.
    pub turn_since: bool,
    /// Line of the `attempt` event.
    #[serde(skip)]
    pub line: Option<usize>,
}

impl Health {
    /// Derives the status from the latest attempt in the log, unless a summary follows it.
    pub fn of(session: &Session) -> Health {
        let mut health = Health::default();
        let mut taken_back: HashSet<String> = HashSet::new();
        for index in (0..session.len()).rev() {
            match session.class(index) {
                Class::Message(traits) => {
                    let turn = matches!(traits.role, Role::User | Role::Assistant);
                    health.turn_since |= turn && traits.category != Category::Context;
                }
                Class::Event => {
                    let record = session.record(index);
                    let Some(event) = record.event() else { continue };
                    if event.id().is_some_and(|id| taken_back.contains(id.as_ref())) {
                        continue;
                    }
                    match event.action() {
                        Action::Restore(restore) => drop(taken_back.insert(restore.of.into_owned())),
                        Action::Summary(_) => return Health::default(),
                        Action::Compact(compact) if matches!(compact.summary, Some(Some(_))) => {
                            return Health::default();
                        }
                        Action::Attempt(attempt) => return health.after(&attempt, index),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Health::default()
    }

    fn after(self, attempt: &Attempt<'_>, line: usize) -> Health {
        let own = |text: &Option<std::borrow::Cow<'_, str>>| text.as_ref().map(ToString::to_string);
        Health {
            failures: attempt.failures,
            degraded: attempt.degraded,
            failed_at: own(&attempt.at),
            next_attempt_at: own(&attempt.next_attempt_at),
            why: own(&attempt.why),
            turn_since: self.turn_since,
            line: Some(line),
        }
    }

    /// The state at this time, RFC 3339.
    pub fn state(&self, now: &str) -> HealthState {
        match (self.failures, self.degraded) {
            (0, _) => HealthState::Healthy,
            (_, false) => HealthState::Retry,
            (_, true) if self.turn_since && self.is_due(now) => HealthState::Recovering,
            (_, true) => HealthState::Degraded,
        }
    }

    /// Whether the next attempt is due; an unparsable time counts as due.
    pub fn is_due(&self, now: &str) -> bool {
        let next = self.next_attempt_at.as_deref();
        next.is_none_or(|next| time::is_before(now, next) != Some(true))
    }

    /// Whether the session is degraded and the next attempt is not yet due.
    pub fn is_paused(&self, policy: &Policy, now: &str) -> bool {
        self.failures > 0 && self.failures >= policy.retry_attempts && !self.is_due(now)
    }
}

/// Retry policy for failed summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Number of consecutive failures before the session is degraded.
    pub retry_attempts: u64,
    /// Delay after the first failure; doubles with each further failure.
    pub base: Duration,
    /// Delay between attempts while degraded; the first one is due at once. `None`: keep doubling.
    pub rest: Option<Duration>,
}

/// Maximum delay: after any failure, the next attempt is due within a day.
const LONGEST: Duration = Duration::from_secs(86_400);

impl Default for Policy {
    /// PenguiFlow's defaults, without a separate interval for the degraded state.
    fn default() -> Policy {
        Policy {
            retry_attempts: 3,
            base: Duration::from_secs(2),
            rest: None,
        }
    }
}

impl Policy {
    /// The status after another failure at this time.
    pub fn failed(&self, before: &Health, now: &str, why: &str) -> Health {
        let failures = before.failures.saturating_add(1);
        let degraded = failures > self.retry_attempts;
        let wait = match self.rest {
            Some(rest) if degraded && before.degraded => rest,
            Some(_) if degraded => Duration::ZERO,
            _ => self.wait(failures),
        };
        Health {
            failures,
            degraded,
            failed_at: Some(now.to_string()),
            next_attempt_at: time::later(now, wait),
            why: Some(why.to_string()),
            turn_since: false,
            line: None,
        }
    }

    /// Delay after this many consecutive failures: base * 2^(n-1), at most a day.
    pub fn wait(&self, failures: u64) -> Duration {
        let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        let factor = 2_u32.checked_pow(doublings);
        let wait = factor.and_then(|factor| self.base.checked_mul(factor));
        // A longer base delay that the user configured applies as it is.
        let most = LONGEST.max(self.base);
        match wait {
            _ if self.base.is_zero() => Duration::ZERO,
            Some(wait) => wait.min(most),
            None => most,
        }
    }
}

impl Health {
    /// The `attempt` event that records the failure; `by` is the summarizer.
    pub fn event(&self, id: &str, at: &str, by: &str) -> Vec<u8> {
        let mut event = event::begin("attempt", id);
        event
            .text("at", at)
            .text("of", "summary")
            .raw("failures", self.failures.to_string());
        let state = if self.degraded {
            HealthState::Degraded
        } else {
            HealthState::Retry
        };
        event.text("health", state.name());
        if let Some(next) = &self.next_attempt_at {
            event.text("next_attempt_at", next);
        }
        event.text("by", by);
        if let Some(why) = &self.why {
            event.text("why", why);
        }
        event.finish()
    }
}

/// Whether a line is an `attempt` event, which does not change the content of a session.
pub fn is_attempt(line: &[u8]) -> bool {
    json::member_text(line, "type").as_deref() == Some("attempt")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-01T00:00:00Z";

    fn add(session: &mut Session, line: &str) {
        session.push_new(line.as_bytes());
    }

    fn fail(session: &mut Session, policy: &Policy, now: &str) -> Health {
        let health = policy.failed(&Health::of(session), now, "it broke");
        let line = health.event(&format!("evt_{}", session.len()), now, "cmd:x");
        session.push_new(&line);
        Health::of(session)
    }

    fn turn(session: &mut Session) {
        add(session, r#"{"role":"user","content":"more"}"#);
    }

    #[test]
    fn backoff_doubles_up_to_a_maximum() {
        let policy = Policy::default();
        let seconds = |n| policy.wait(n).as_secs();
        assert_eq!([seconds(1), seconds(2), seconds(3), seconds(4)], [2, 4, 8, 16]);
        assert_eq!(seconds(60), 86_400);
        assert_eq!(seconds(u64::MAX), 86_400);
        let none = Policy {
            base: Duration::ZERO,
            ..policy
        };
        assert_eq!(none.wait(u64::MAX), Duration::ZERO);
    }

    #[test]
    fn states_follow_the_table() {
        let mut session = Session::default();
        let policy = Policy::default();
        turn(&mut session);
        assert_eq!(Health::of(&session), Health::default());
        for (n, next) in [(1, "00:00:02"), (2, "00:00:04"), (3, "00:00:08")] {
            let health = fail(&mut session, &policy, NOW);
            assert_eq!((health.failures, health.state(NOW)), (n, HealthState::Retry));
            assert_eq!(health.next_attempt_at, Some(format!("2026-01-01T{next}Z")));
            assert_eq!(health.is_paused(&policy, NOW), n == 3);
            assert!(!health.is_due("2026-01-01T00:00:01Z") && health.is_due("2026-01-01T00:00:08Z"));
        }
        let health = fail(&mut session, &policy, NOW);
        assert_eq!((health.failures, health.state(NOW)), (4, HealthState::Degraded));
        assert!(health.is_paused(&policy, NOW));
        let later = "2026-01-01T00:00:16Z";
        assert_eq!(health.state(later), HealthState::Degraded, "no turn was added");
        turn(&mut session);
        assert_eq!(Health::of(&session).state(NOW), HealthState::Degraded);
        assert_eq!(Health::of(&session).state(later), HealthState::Recovering);
        let health = fail(&mut session, &policy, later);
        assert_eq!((health.failures, health.state(later)), (5, HealthState::Degraded));
        add(
            &mut session,
            r#"{"type":"summary","id":"s","at":"2026-01-01T01:00:00Z","content":"s"}"#,
        );
        assert_eq!(Health::of(&session).state(NOW), HealthState::Healthy);
    }

    #[test]
    fn the_pause_starts_at_the_second_failure_when_degraded() {
        let mut session = Session::default();
        let policy = Policy {
            retry_attempts: 0,
            rest: Some(Duration::from_secs(30)),
            ..Policy::default()
        };
        assert!(fail(&mut session, &policy, NOW).is_due(NOW));
        turn(&mut session);
        assert_eq!(Health::of(&session).state(NOW), HealthState::Recovering);
        let health = fail(&mut session, &policy, NOW);
        assert_eq!(health.next_attempt_at.as_deref(), Some("2026-01-01T00:00:30Z"));
        assert!(health.is_paused(&policy, "2026-01-01T00:00:29Z"));
        assert!(!health.is_paused(&policy, "2026-01-01T00:00:30Z"));
    }

    #[test]
    fn undone_failures_do_not_count() {
        let mut session = Session::default();
        let policy = Policy::default();
        fail(&mut session, &policy, NOW);
        fail(&mut session, &policy, NOW);
        let second = Health::of(&session).line.unwrap();
        let id = session.record(second).event().unwrap().id().unwrap().into_owned();
        add(
            &mut session,
            &format!("{{\"type\":\"restore\",\"id\":\"r\",\"at\":\"{NOW}\",\"of\":\"{id}\"}}"),
        );
        assert_eq!(Health::of(&session).failures, 1);
        add(
            &mut session,
            r#"{"type":"compact","id":"c","at":"2026-01-01T01:00:00Z","drop":[],"summary":{"content":"s"}}"#,
        );
        assert_eq!(Health::of(&session).failures, 0);
    }
}
