//! What is to be covered, and by whom.

use crate::args::{Counting, Fitting, per_cent};
use crate::summarizer::With;
use crate::summing;
use crate::thinking::Telling;
use clap::Args;
use convo::error::{Error, Kind};
use convo::filter::compact::when::When;
use convo::filter::cover::{self, Options};
use convo::filter::summarize::Dates;
use convo::format::goaitools;

/// What is to be covered, and by whom.
#[derive(Args, Clone, Debug)]
pub struct Asking {
    /// Who writes it: extract, cmd:'PROGRAM', a plugin
    ///
    /// extract, the default, is built in: it needs no model and no network, quotes word for word, and is the same everywhere. A program of
    /// cmd: is run by the shell; the plugin NAME is the program convo-NAME. Of a command line the session keeps the name of the program and
    /// a hash, as in cmd:curl#1a2b3c4d.
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
    /// As --rolling=off
    #[arg(
        long,
        conflicts_with = "rolling",
        hide_short_help = true,
        help_heading = "The summary"
    )]
    no_rolling: bool,
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
    #[command(flatten)]
    pub telling: Telling,
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
        if asks && self.dates.is_some() {
            let what = "--dates is for the built-in summarizer";
            return Err(Error::new(Kind::Usage, what).hint("leave it out: a program sees the times"));
        }
        self.telling.check(asks)
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
        let asked = self
            .telling
            .asked(window.filter(|_| self.with != With::Extract))?;
        Ok(Options {
            budget: self.fitting.budget()?,
            window,
            when: self.when.clone(),
            keep_last: self.keep_last,
            share: self.at_most,
            unseen: goaitools::unseen,
            cover: self.cover.clone().map(|Ends(ends)| ends),
            rolling: self.rolling == "on" && !self.no_rolling,
            summary_budget: self.summary_budget,
            min_gain: self.min_gain,
            role: (self.role != "auto").then(|| self.role.clone()),
            instructions: summing::instructions(&self.pin_rules)?,
            instruction_share: u32::try_from(self.pin_share / 10).unwrap_or(100),
            dates: self.dates.unwrap_or_default(),
            ..asked
        })
    }
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
