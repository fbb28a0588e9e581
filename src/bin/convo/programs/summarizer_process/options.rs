//! Requests to a summarizer program: their content, timeouts and retries.

use crate::args::{Window, duration};
use crate::programs::summary_args;
use clap::Args;
use convo::error::Error;
use convo::filter::retention;
use convo::filter::summarize_range::{self, SummaryRequestOptions};
use convo::model::health::{Health, Policy};
use convo::model::session::Session;
use std::time::Duration;

/// Requests to a summarizer program.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Summarizer program")]
pub struct SummarizerArgs {
    /// Prompt for the summarizer
    #[arg(long, value_name = "FILE", hide_short_help = true, value_hint = clap::ValueHint::FilePath)]
    prompt: Option<String>,
    /// Maximum size of one request [default: 80% of --window]
    ///
    /// Longer ranges are split between exchanges, then messages, then sentences. Each request includes the previous
    /// answer.
    #[arg(long, value_name = "TOKENS", value_parser = parse_chunk, hide_short_help = true)]
    chunk: Option<Window>,
    /// Shorten tool results over BYTES in requests [default: off]
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    summary_tool_max: Option<usize>,
}

impl SummarizerArgs {
    /// Refuses options that would have no effect.
    pub fn check(&self, asks: bool) -> convo::Result<()> {
        let given = [
            ("--prompt", self.prompt.is_some()),
            ("--chunk", self.chunk.is_some()),
            ("--summary-tool-max", self.summary_tool_max.is_some()),
        ];
        match given.iter().find(|(_, given)| *given && !asks) {
            None => Ok(()),
            Some((name, _)) => Err(for_programs(name)),
        }
    }

    /// The request options, for a program with this window.
    pub fn requested(&self, window: Option<u64>) -> convo::Result<SummaryRequestOptions> {
        let fitting = window.map(|window| window / 10 * 8);
        Ok(SummaryRequestOptions {
            chunk: self.chunk.map(|Window(tokens)| tokens).or(fitting),
            tool_max: self.summary_tool_max,
            prompt: match &self.prompt {
                Some(file) => summary_args::text(file, "prompt:")?,
                None => summarize_range::PROMPT.to_string(),
            },
        })
    }
}

/// Timeouts and retries of a summarizer program.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Summarizer program")]
pub struct RetryArgs {
    /// Kill the program after this long [default: 2m]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    timeout: Option<Duration>,
    /// Retries after a failure [default: 0]
    #[arg(long, value_name = "N", hide_short_help = true)]
    retries: Option<u32>,
    /// Delay after a failure; doubles with each consecutive failure [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    backoff: Option<Duration>,
    /// Wait for the retry time after N consecutive failures [default: 3]
    #[arg(long, alias = "retry-attempts", value_name = "N", hide_short_help = true)]
    max_failures: Option<u64>,
    /// Skip sessions whose retry time is in the future
    #[arg(long, help_heading = "Budget")]
    pub if_due: bool,
}

impl RetryArgs {
    /// Refuses options that would have no effect: the built-in summarizer cannot fail.
    pub fn check(&self, asks: bool, may_fail: bool) -> convo::Result<()> {
        let wrong = [
            ("--timeout", self.timeout.is_some() && !asks),
            ("--retries", self.retries.is_some() && !asks),
            ("--backoff", self.backoff.is_some() && !may_fail),
            ("--max-failures", self.max_failures.is_some() && !may_fail),
        ];
        match wrong.iter().find(|(_, wrong)| *wrong) {
            None => Ok(()),
            Some((name, _)) => Err(for_programs(name)),
        }
    }

    /// Time limit of the program.
    pub fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(Duration::from_secs(120))
    }

    /// Number of retries.
    pub fn retries(&self) -> u64 {
        self.retries.unwrap_or(0).into()
    }

    /// Retry policy of a session: the options, else its retention policy.
    pub fn policy_of(&self, session: &Session) -> Policy {
        let Ok(Some(memory)) = retention::memory_of(session) else {
            return self.policy();
        };
        let own = memory.policy();
        Policy {
            retry_attempts: self.max_failures.unwrap_or(own.retry_attempts),
            base: self.backoff.unwrap_or(own.base),
            ..own
        }
    }

    pub fn policy(&self) -> Policy {
        let defaults = Policy::default();
        Policy {
            retry_attempts: self.max_failures.unwrap_or(defaults.retry_attempts),
            base: self.backoff.unwrap_or(defaults.base),
            ..defaults
        }
    }

    /// Why --if-due skips the session.
    pub fn not_due(&self, health: &Health, now: &str) -> Option<String> {
        let next = health.next_attempt_at.as_deref()?;
        let early = self.if_due && health.failures > 0 && !health.is_due(now);
        early.then(|| format!("skipped until {next}"))
    }
}

/// An option that has no effect here.
pub fn for_programs(option: &str) -> Error {
    let what = format!("{option} requires a summarizer program");
    Error::usage(what).hint("add --with cmd:'COMMAND' or --with PLUGIN")
}

fn parse_chunk(text: &str) -> Result<Window, String> {
    crate::args::window(text).map_err(|_| "expected a number of tokens, e.g. 32000, 32k".to_string())
}
