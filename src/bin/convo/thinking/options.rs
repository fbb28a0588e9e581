//! What a program is told, how often it is asked, and how long it may take.

use crate::args::{Window, duration};
use crate::summing;
use clap::Args;
use convo::error::{Error, Kind};
use convo::filter::cover::{self, Options};
use convo::filter::memory;
use convo::model::health::{Health, Policy};
use convo::model::session::Session;
use std::time::Duration;

/// What a program is told.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "The program")]
pub struct Telling {
    /// With a program: tell it to do what this file says
    #[arg(long, value_name = "FILE", hide_short_help = true, value_hint = clap::ValueHint::FilePath)]
    prompt: Option<String>,
    /// With a program: ask in pieces of at most so many tokens [default: 80% of --window]
    ///
    /// A span that is longer is cut between exchanges, else between messages, else between sentences; each piece is given
    /// the answer to the one before, and nothing is left out.
    #[arg(long, value_name = "TOKENS", value_parser = pieces, hide_short_help = true)]
    chunk: Option<Window>,
    /// With a program: tool results over BYTES lose their middle in what it is asked [default: they are whole]
    #[arg(
        long,
        value_name = "BYTES",
        hide_short_help = true,
        help_heading = "The program"
    )]
    summary_tool_max: Option<usize>,
}

impl Telling {
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

    /// The part of what is asked for that says this, for a program with such a window.
    pub fn asked(&self, window: Option<u64>) -> convo::Result<Options> {
        let defaults = Options::default();
        let fitting = window.map(|window| window / 10 * 8);
        Ok(Options {
            chunk: self.chunk.map(|Window(tokens)| tokens).or(fitting),
            tool_max: self.summary_tool_max,
            prompt: match &self.prompt {
                Some(file) => summing::text(file, "the prompt is")?,
                None => cover::PROMPT.to_string(),
            },
            ..defaults
        })
    }
}

/// How often a program is asked, and how long it may take.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "The program")]
pub struct Trying {
    /// How long it may take; then it is ended [default: 120s]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    timeout: Option<Duration>,
    /// Ask again, so many times, when it fails [default: 0]
    #[arg(long, value_name = "N", hide_short_help = true)]
    retries: Option<u32>,
    /// How long to wait after a failure; each further one in a row doubles it [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    backoff: Option<Duration>,
    /// Failures in a row after which it is left alone until the time of the next attempt has come [default: 3]
    #[arg(long, alias = "retry-attempts", value_name = "N", hide_short_help = true)]
    max_failures: Option<u64>,
    /// After a failure: not before the time has come
    #[arg(long, help_heading = "What to do")]
    pub if_due: bool,
}

impl Trying {
    /// Refuses options that would have no effect: what asks nobody has nothing to wait for, and the built-in summarizer
    /// cannot fail.
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

    /// How long a program may take.
    pub fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(Duration::from_secs(120))
    }

    /// How often it is asked again.
    pub fn retries(&self) -> u64 {
        self.retries.unwrap_or(0).into()
    }

    /// How long to wait after failures of a session: as it says itself, where nothing else is asked for.
    pub fn policy_of(&self, session: &Session) -> Policy {
        let Ok(Some(memory)) = memory::memory_of(session) else {
            return self.policy();
        };
        let own = memory.policy();
        Policy {
            retry_attempts: self.max_failures.unwrap_or(own.retry_attempts),
            base: self.backoff.unwrap_or(own.base),
            ..own
        }
    }

    /// How long to wait after failures.
    pub fn policy(&self) -> Policy {
        let defaults = Policy::default();
        Policy {
            retry_attempts: self.max_failures.unwrap_or(defaults.retry_attempts),
            base: self.backoff.unwrap_or(defaults.base),
            ..defaults
        }
    }

    /// Why nothing is to be done yet, when --if-due asks.
    pub fn not_due(&self, health: &Health, now: &str) -> Option<String> {
        let next = health.next_attempt_at.as_deref()?;
        let early = self.if_due && health.failures > 0 && !health.is_due(now);
        early.then(|| format!("the next attempt is due at {next}"))
    }
}

/// An option that has no effect here.
pub fn for_programs(option: &str) -> Error {
    let what = format!("{option} is for programs that write summaries, and here none is asked");
    Error::new(Kind::Usage, what).hint("--with cmd:'PROGRAM ARGS', or --with NAME for a plugin")
}

fn pieces(text: &str) -> Result<Window, String> {
    crate::args::window(text).map_err(|_| "this must be a number of tokens".to_string())
}
