//! What is to be covered, by whom, and what happens when that fails.

use crate::args::{Counting, Fitting, Window, duration, per_cent};
use crate::summarizer::With;
use crate::summing;
use clap::Args;
use convo::error::{Error, Kind};
use convo::filter::compact::when::When;
use convo::filter::cover::{self, Options};
use convo::filter::memory;
use convo::filter::summarize::Dates;
use convo::format::goaitools;
use convo::model::health::{Health, Policy};
use convo::model::session::Session;
use std::time::Duration;

/// What is to be covered, and by whom.
#[derive(Args, Clone, Debug)]
pub struct Asking {
    /// Who writes it: extract, cmd:'PROGRAM', a plugin
    ///
    /// extract, the default, is built in: it needs no model and no network, quotes word for word, and is the same everywhere. A program of
    /// cmd: is run by the shell; the plugin NAME is the program convo-NAME.
    #[arg(long, value_name = "WHO", default_value = "extract", hide_default_value = true, value_parser = With::read, help_heading = "What to do")]
    pub with: With,
    #[command(flatten)]
    fitting: Fitting,
    /// The newest N exchanges stay
    #[arg(long, value_name = "N", default_value_t = cover::KEEP_LAST, value_parser = exchanges, help_heading = "What to do")]
    keep_last: usize,
    /// Cover at most this share of the messages, and one exchange at least
    #[arg(long, value_name = "PERCENT", value_parser = per_cent, conflicts_with = "cover", hide_short_help = true, help_heading = "What to do")]
    at_most: Option<u64>,
    /// Cover the messages from one to another: FIRST..LAST, FIRST.. or ..LAST
    #[arg(long, value_name = "IDS", value_parser = ends, hide_short_help = true, help_heading = "What to do")]
    cover: Option<Ends>,
    /// Act only then: 'tokens>=20000 || failures>=1'
    ///
    /// As in 'tokens>=100000 && messages>=10 || fraction>=0.8'. Terms are tokens, messages, exchanges, tool_tokens, fraction
    /// (of --window) and failures (in a row); && binds tighter than ||.
    #[arg(long, value_name = "TRIGGER", value_parser = When::read, hide_short_help = true, help_heading = "What to do")]
    when: Option<When>,
    /// Most tokens of the summary [default: 1000]
    ///
    /// Without it and without --budget extract quotes no more than a quarter of what it covers.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..), hide_short_help = true, help_heading = "The summary")]
    summary_budget: Option<u64>,
    /// Whether the summary before is input (on), or all it stands for is summed up anew (off)
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_value = "on", default_missing_value = "on", value_parser = ["on", "off"], hide_short_help = true, help_heading = "The summary")]
    rolling: String,
    /// Least gain for a change that no budget asks for
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = per_cent, hide_short_help = true, help_heading = "The summary")]
    min_gain: u64,
    /// The role under which a model is shown it: auto, user, assistant, system, developer
    #[arg(long, value_name = "ROLE", default_value = "auto", value_parser = ["auto", "user", "assistant", "system", "developer"], hide_possible_values = true, hide_short_help = true, help_heading = "The summary")]
    role: String,
    /// With extract: how dates are shown: short, full, off
    #[arg(long, value_name = "HOW", value_parser = summing::dates, hide_short_help = true, help_heading = "The summary")]
    dates: Option<Dates>,
    /// Standing instructions: auto, off, FILE
    ///
    /// Rules that a user set once ("from now on ...") stay word for word when what held them leaves. auto finds them; a FILE
    /// has one a line, or `id: ID`.
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        hide_short_help = true,
        help_heading = "The summary"
    )]
    pin_rules: String,
    /// How much of the summary standing instructions may take
    #[arg(long, value_name = "PERCENT", default_value = "25%", value_parser = per_cent, hide_short_help = true, help_heading = "The summary")]
    pin_share: u64,
    /// With a program: tell it to do what this file says
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "The program", value_hint = clap::ValueHint::FilePath)]
    prompt: Option<String>,
    /// With a program: ask in pieces of at most so many tokens [default: 80% of --window]
    ///
    /// A span that is longer is cut between exchanges, else between messages, else between sentences; each piece is given
    /// the answer to the one before, and nothing is left out.
    #[arg(long, value_name = "TOKENS", value_parser = pieces, hide_short_help = true, help_heading = "The program")]
    chunk: Option<Window>,
    /// With a program: tool results over BYTES lose their middle in what it is asked [default: they are whole]
    #[arg(
        long,
        value_name = "BYTES",
        hide_short_help = true,
        help_heading = "The program"
    )]
    summary_tool_max: Option<usize>,
    #[command(flatten)]
    pub counting: Counting,
}

/// First and last message; either may be open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends([Option<String>; 2]);

impl Asking {
    /// Refuses options that would have no effect; the two steps ask no built-in summarizer.
    pub fn check(&self, two_steps: bool) -> convo::Result<()> {
        let asks = two_steps || self.with != With::Extract;
        let wrong = match () {
            () if !asks && self.prompt.is_some() => "--prompt",
            () if !asks && self.chunk.is_some() => "--chunk",
            () if !asks && self.summary_tool_max.is_some() => "--summary-tool-max",
            () if asks && self.dates.is_some() => {
                let what = "--dates is for the built-in summarizer";
                return Err(Error::new(Kind::Usage, what).hint("leave it out: a program sees the times"));
            }
            () => return Ok(()),
        };
        Err(for_programs(wrong))
    }

    /// What is asked for, checked.
    pub fn options(&self) -> convo::Result<Options> {
        let window = self.fitting.window();
        if window.is_none() && self.when.as_ref().is_some_and(When::needs_window) {
            let error = Error::new(
                Kind::Usage,
                "a trigger looks at a fraction, and there is no window",
            );
            return Err(error.hint("--window 128000, or --window gpt-4o"));
        }
        let prompt = match &self.prompt {
            Some(file) => summing::text(file, "the prompt is")?,
            None => cover::PROMPT.to_string(),
        };
        let fitting = window
            .filter(|_| self.with != With::Extract)
            .map(|window| window / 10 * 8);
        Ok(Options {
            budget: self.fitting.budget()?,
            window,
            when: self.when.clone(),
            keep_last: self.keep_last,
            share: self.at_most,
            unseen: goaitools::unseen,
            cover: self.cover.clone().map(|Ends(ends)| ends),
            rolling: self.rolling == "on",
            summary_budget: self.summary_budget,
            min_gain: self.min_gain,
            chunk: self.chunk.map(|Window(tokens)| tokens).or(fitting),
            tool_max: self.summary_tool_max,
            prompt,
            role: (self.role != "auto").then(|| self.role.clone()),
            instructions: summing::instructions(&self.pin_rules)?,
            instruction_share: u32::try_from(self.pin_share / 10).unwrap_or(100),
            dates: self.dates.unwrap_or_default(),
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
    #[arg(long, value_name = "N", hide_short_help = true)]
    retry_attempts: Option<u64>,
    /// After a failure: not before the time has come
    #[arg(long, help_heading = "What to do")]
    pub if_due: bool,
    /// Ask although it failed too often
    #[arg(long, conflicts_with = "if_due", hide_short_help = true)]
    pub retry: bool,
}

impl Trying {
    /// Refuses options that would have no effect: what asks nobody has nothing to wait for, and the built-in summarizer
    /// cannot fail.
    pub fn check(&self, asks: bool, may_fail: bool) -> convo::Result<()> {
        let wrong = [
            ("--timeout", self.timeout.is_some() && !asks),
            ("--retries", self.retries.is_some() && !asks),
            ("--retry", self.retry && !asks),
            ("--backoff", self.backoff.is_some() && !may_fail),
            ("--retry-attempts", self.retry_attempts.is_some() && !may_fail),
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
            retry_attempts: self.retry_attempts.unwrap_or(own.retry_attempts),
            base: self.backoff.unwrap_or(own.base),
            ..own
        }
    }

    /// How long to wait after failures.
    pub fn policy(&self) -> Policy {
        let defaults = Policy::default();
        Policy {
            retry_attempts: self.retry_attempts.unwrap_or(defaults.retry_attempts),
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

fn for_programs(option: &str) -> Error {
    let what = format!("{option} is for programs that write summaries, and here none is asked");
    Error::new(Kind::Usage, what).hint("--with cmd:'PROGRAM ARGS', or --with NAME for a plugin")
}

fn exchanges(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("the newest exchange stays, so 1 is the least".to_string()),
        Ok(number) => Ok(number),
        Err(_) => Err("this must be a number".to_string()),
    }
}

fn ends(text: &str) -> Result<Ends, String> {
    let wrong = "this must be FIRST..LAST, with ids of messages; either may be left out";
    let (first, last) = text.split_once("..").ok_or(wrong)?;
    let end = |id: &str| (!id.is_empty()).then(|| id.to_string());
    match [end(first), end(last)] {
        [None, None] => Err(wrong.to_string()),
        ends => Ok(Ends(ends)),
    }
}

fn pieces(text: &str) -> Result<Window, String> {
    crate::args::window(text).map_err(|_| "this must be a number of tokens".to_string())
}
