//! The messages to summarize, and the summarizer.

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

/// The messages to summarize, and the summarizer.
#[derive(Args, Clone, Debug)]
pub struct Asking {
    /// Summarizer: extract (default), cmd:COMMAND, a plugin
    ///
    /// extract is built in, needs no model and no network, quotes verbatim, and is deterministic. cmd: runs a shell command;
    /// NAME runs the plugin convo-NAME.
    /// The session stores the name of a program and a hash, e.g. cmd:curl#1a2b3c4d, never its arguments.
    #[arg(long, value_name = "SUMMARIZER", default_value = "extract", hide_default_value = true, value_parser = With::read, help_heading = "Selection")]
    pub with: With,
    #[command(flatten)]
    fitting: Fitting,
    /// Keep the newest N exchanges
    #[arg(long, value_name = "N", default_value_t = cover::KEEP_LAST, value_parser = exchanges, help_heading = "Selection")]
    keep_last: usize,
    /// Summarize at most this share of the messages, at least one exchange
    #[arg(long, value_name = "PERCENT", value_parser = per_cent, conflicts_with = "cover", hide_short_help = true, help_heading = "Selection")]
    at_most: Option<u64>,
    /// Summarize these messages: FIRST..LAST, FIRST.. or ..LAST
    #[arg(long, value_name = "IDS", value_parser = ends, hide_short_help = true, help_heading = "Selection")]
    cover: Option<Ends>,
    /// Act only if the condition holds, e.g. 'tokens>=100000'
    ///
    /// Compares tokens, messages, exchanges, tool_tokens, fraction (of --window) or failures (consecutive summarizer
    /// failures) with a number. Combine with && and ||; && binds tighter.
    #[arg(long, value_name = "CONDITION", value_parser = When::read, hide_short_help = true, help_heading = "Selection")]
    when: Option<When>,
    /// Maximum size of the summary [default: 1000]
    ///
    /// The default with extract and without --budget is a quarter of the replaced tokens.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..), hide_short_help = true, help_heading = "Summary")]
    summary_budget: Option<u64>,
    /// Extend the previous summary (on), or redo it from its messages (off)
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_value = "on", default_missing_value = "on", value_parser = ["on", "off"], hide_short_help = true, help_heading = "Summary")]
    rolling: String,
    /// Same as --rolling=off
    #[arg(
        long,
        conflicts_with = "rolling",
        hide_short_help = true,
        help_heading = "Summary"
    )]
    no_rolling: bool,
    /// Skip changes that save less than this
    ///
    /// Ignored if --budget requires the change.
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = per_cent, hide_short_help = true, help_heading = "Summary")]
    min_gain: u64,
    /// Role of the summary: auto, user, assistant, system, developer
    #[arg(long, value_name = "ROLE", default_value = "auto", value_parser = ["auto", "user", "assistant", "system", "developer"], hide_possible_values = true, hide_short_help = true, help_heading = "Summary")]
    role: String,
    /// Dates in extracted summaries: short, full, off [default: short]
    #[arg(long, value_name = "HOW", value_parser = summing::dates, hide_short_help = true, help_heading = "Summary")]
    dates: Option<Dates>,
    /// Quote standing instructions verbatim: auto, off, or FILE
    ///
    /// Rules that the user set once ("from now on ..."). auto detects them; FILE lists one per line, as text or `id: ID`.
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        hide_short_help = true,
        help_heading = "Summary"
    )]
    pin_rules: String,
    /// Maximum share of the summary for standing instructions
    #[arg(long, value_name = "PERCENT", default_value = "25%", value_parser = per_cent, hide_short_help = true, help_heading = "Summary")]
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
