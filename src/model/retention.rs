//! The retention policy of a session, stored in the header member `memory`: how many exchanges are kept, how older ones
//! are summarized or dropped, token limits, and retries after failed summaries.

use super::health::Policy;
use super::json::{self, Dialect, ObjectBuilder};
use crate::error::{Error, ErrorKind, Result};
use crate::model::named_enum::named_enum;
use std::time::Duration;

named_enum! {
    /// How older exchanges are handled.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RetentionStrategy {
        /// All exchanges are dropped.
        None = "none",
        /// Older exchanges are dropped.
        Truncation = "truncation",
        /// Older exchanges are replaced by a summary; until then they wait in the backlog.
        #[default]
        RollingSummary = "rolling_summary",
    }
}

named_enum! {
    /// What is dropped when the total token limit is exceeded.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Overflow {
        /// Shorten the summary, then drop the oldest exchanges.
        TruncateSummary = "truncate_summary",
        /// Drop the oldest exchanges.
        #[default]
        TruncateOldest = "truncate_oldest",
        /// Nothing; return an error.
        Error = "error",
    }
}

/// A retention policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// How older exchanges are handled.
    pub strategy: RetentionStrategy,
    /// Number of newest exchanges to keep.
    pub keep_last: u64,
    /// Maximum tokens of the summary.
    pub summary: u64,
    /// Maximum tokens of the view; 0: no limit.
    pub total: u64,
    /// What to drop when the total is exceeded.
    pub overflow: Overflow,
    /// Whether digests of exchanges include tool activity.
    pub digests: bool,
    /// Maximum exchanges in the recovery request after a degraded period; 0: no limit.
    pub backlog: u64,
    /// Number of consecutive failed summaries before the session is degraded.
    pub retry_attempts: u64,
    /// Delay before the first retry; doubles with each further one.
    pub backoff: Duration,
    /// Delay between attempts while the session is degraded.
    pub rest: Duration,
}

impl Default for RetentionPolicy {
    /// PenguiFlow's numbers, with the strategy that preserves content.
    fn default() -> Self {
        RetentionPolicy {
            strategy: RetentionStrategy::RollingSummary,
            keep_last: 5,
            summary: 1000,
            total: 10_000,
            overflow: Overflow::TruncateOldest,
            digests: true,
            backlog: 20,
            retry_attempts: 3,
            backoff: Duration::from_secs(2),
            rest: Duration::from_secs(30),
        }
    }
}

/// The members of `memory`, which are also the keys of `--retention`.
pub const KEYS: [&str; 10] = [
    "strategy", "keep_last", "summary", "total", "overflow", "digests", "backlog", "retry_attempts",
    "backoff", "rest",
];

fn wrong(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, what)
}

impl RetentionPolicy {
    /// Checks the policy for consistency.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`]: the summary limit exceeds the total, or a rolling summary has a limit of zero tokens.
    pub fn check(&self) -> Result<()> {
        if self.total > 0 && self.summary > self.total {
            let default = match self.summary == RetentionPolicy::default().summary {
                true => " (default)",
                false => "",
            };
            let what = format!(
                "a summary of {} tokens{default} exceeds the total of {}",
                self.summary, self.total
            );
            let fits = (self.total / 4).max(1);
            let hint = format!("set a smaller summary: total={},summary={fits}", self.total);
            return Err(wrong(what).hint(hint));
        }
        if self.strategy == RetentionStrategy::RollingSummary && self.summary == 0 {
            return Err(wrong("a rolling summary requires a summary of at least 1 token")
                .hint("set summary to at least 1"));
        }
        Ok(())
    }

    /// Sets one key from its text.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`]: an unknown key, or a value that is invalid for the key.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let count = || {
            let number = value.parse::<u64>().ok();
            number.ok_or_else(|| wrong(format!("{key}: expected a number of at least 0, got '{value}'")))
        };
        let seconds = || {
            let number = value.strip_suffix('s').unwrap_or(value).parse::<f64>().ok();
            let number = number.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            number.ok_or_else(|| wrong(format!("{key}: expected seconds of at least 0, got '{value}'")))
        };
        let one_of = |names: &[&str]| wrong(format!("{key}: expected one of {}", names.join(", ")));
        match key {
            "strategy" => {
                self.strategy = RetentionStrategy::from_name(value)
                    .ok_or_else(|| one_of(&RetentionStrategy::ALL.map(RetentionStrategy::name)))?;
            }
            "keep_last" => self.keep_last = count()?,
            "summary" => self.summary = count()?,
            "total" => self.total = count()?,
            "overflow" => {
                self.overflow =
                    Overflow::from_name(value).ok_or_else(|| one_of(&Overflow::ALL.map(Overflow::name)))?;
            }
            "digests" => self.digests = value.parse().map_err(|_| one_of(&["true", "false"]))?,
            "backlog" => self.backlog = count()?,
            "retry_attempts" => self.retry_attempts = count()?,
            "backoff" => self.backoff = seconds()?,
            "rest" => self.rest = seconds()?,
            _ => {
                let what = format!("no such setting: '{key}'");
                return Err(wrong(what).hint(format!("expected one of {}", KEYS.join(", "))));
            }
        }
        Ok(())
    }

    /// Applies a comma-separated list of a strategy and `KEY=VALUE` pairs.
    ///
    /// # Errors
    ///
    /// As [`RetentionPolicy::set`].
    pub fn with(mut self, requested: &str) -> Result<RetentionPolicy> {
        for part in requested
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (key, value) = part.split_once('=').unwrap_or(("strategy", part));
            self.set(&key.trim().replace('-', "_"), value.trim())?;
        }
        Ok(self)
    }

    /// Parses the header member.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`]: as [`RetentionPolicy::set`] and [`RetentionPolicy::check`].
    pub fn read(raw: &[u8]) -> Result<RetentionPolicy> {
        let members = json::members(raw, Dialect::Strict)
            .ok_or_else(|| wrong("the header member memory is not an object"))?;
        let mut memory = RetentionPolicy::default();
        for (name, value) in members {
            // Ignore members of later versions instead of rejecting the policy.
            if KEYS.contains(&name.as_ref()) {
                let text = json::text(value).unwrap_or_else(|| String::from_utf8_lossy(value));
                memory.set(&name, &text)?;
            }
        }
        memory.check()?;
        Ok(memory)
    }

    /// The header member, with every key, so that a changed default affects no existing session.
    pub fn write(&self) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        built
            .text("strategy", self.strategy.name())
            .raw("keep_last", self.keep_last.to_string())
            .raw("summary", self.summary.to_string())
            .raw("total", self.total.to_string())
            .text("overflow", self.overflow.name())
            .raw("digests", self.digests.to_string())
            .raw("backlog", self.backlog.to_string())
            .raw("retry_attempts", self.retry_attempts.to_string())
            .raw("backoff", self.backoff.as_secs_f64().to_string())
            .raw("rest", self.rest.as_secs_f64().to_string());
        built.finish()
    }

    /// The retry policy for failed summaries.
    pub fn policy(&self) -> Policy {
        Policy {
            retry_attempts: self.retry_attempts,
            base: self.backoff,
            rest: Some(self.rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_written_and_read() {
        let mut memory = RetentionPolicy::default();
        for (key, value) in [
            ("strategy", "truncation"),
            ("keep_last", "2"),
            ("backoff", "0.5s"),
        ] {
            memory.set(key, value).unwrap();
        }
        let raw = memory.write();
        assert_eq!(RetentionPolicy::read(&raw).unwrap(), memory);
        assert_eq!(json::members(&raw, Dialect::Strict).unwrap().len(), KEYS.len());
        assert!(memory.set("keep", "1").is_err() && memory.set("total", "-1").is_err());
        let with = RetentionPolicy::default()
            .with("truncation, keep-last=3,total=0")
            .unwrap();
        assert_eq!(
            (with.strategy, with.keep_last, with.total),
            (RetentionStrategy::Truncation, 3, 0)
        );
        assert!(RetentionPolicy::default().with("wat").is_err());
        assert!(memory.set("backoff", "-0.1").is_err() && memory.set("rest", "NaN").is_err());
    }
}
