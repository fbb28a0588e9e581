//! Options that select the messages to summarize and the summarizer.

use crate::args::{BudgetArgs, TokenizerArgs, per_cent};
use crate::programs::summarizer::SummarizerSpec;
use crate::programs::summarizer_process::SummarizerArgs;
use crate::programs::summary_args::{SummaryArgs, Trigger};
use clap::Args;
use convo::filter::summarize_range::{self, SummaryOptions};
use convo::format::annotations;

/// The messages to summarize, and the summarizer.
#[derive(Args, Clone, Debug)]
pub struct SummaryTask {
    /// Summarizer: extract (default), cmd:COMMAND, a plugin
    ///
    /// extract is built in, needs no model and no network, quotes verbatim, and is deterministic. cmd: runs a shell command;
    /// NAME runs the plugin convo-NAME.
    /// The session stores the name of a program and a hash, e.g. cmd:curl#1a2b3c4d, never its arguments.
    #[arg(long, value_name = "SUMMARIZER", default_value = "extract", hide_default_value = true, value_parser = SummarizerSpec::read, help_heading = "Selection")]
    pub with: SummarizerSpec,
    #[command(flatten)]
    budget_args: BudgetArgs,
    /// Keep the newest N exchanges
    #[arg(long, value_name = "N", default_value_t = summarize_range::KEEP_LAST, value_parser = exchanges, help_heading = "Selection")]
    keep_last: usize,
    /// Summarize at most this share of the messages, at least one exchange
    #[arg(long, value_name = "PERCENT", value_parser = per_cent, conflicts_with = "range", hide_short_help = true, help_heading = "Selection")]
    at_most: Option<u64>,
    /// Summarize these messages: FIRST..LAST, FIRST.. or ..LAST
    #[arg(long, alias = "cover", value_name = "IDS", value_parser = parse_ends, hide_short_help = true, help_heading = "Selection")]
    range: Option<RangeEnds>,
    #[command(flatten)]
    pub trigger: Trigger,
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
    #[command(flatten)]
    summary: SummaryArgs,
    #[command(flatten)]
    pub summarizer: SummarizerArgs,
    #[command(flatten)]
    pub tokenizer_args: TokenizerArgs,
}

/// First and last message; either can be open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeEnds([Option<String>; 2]);

impl SummaryTask {
    /// Refuses options that have no effect; `--request` and `--apply` use no built-in summarizer.
    pub fn check(&self, two_steps: bool) -> convo::Result<()> {
        let asks = two_steps || self.with != SummarizerSpec::Extract;
        self.summary.check(asks)?;
        self.summarizer.check(asks)
    }

    /// Returns the validated options.
    pub fn options(&self) -> convo::Result<SummaryOptions> {
        let window = self.budget_args.window();
        self.trigger.check(window)?;
        let request = self
            .summarizer
            .requested(window.filter(|_| self.with != SummarizerSpec::Extract))?;
        Ok(SummaryOptions {
            budget: self.budget_args.budget()?,
            window,
            when: self.trigger.when.clone(),
            keep_last: self.keep_last,
            share: self.at_most,
            unseen: annotations::unseen,
            cover: self.range.clone().map(|RangeEnds(ends)| ends),
            rolling: self.rolling == "on" && !self.no_rolling,
            summary_budget: self.summary.summary_budget,
            min_gain: self.trigger.min_gain,
            request,
            style: self.summary.style()?,
            ..SummaryOptions::default()
        })
    }
}

fn exchanges(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("expected at least 1".to_string()),
        Ok(number) => Ok(number),
        Err(_) => Err("expected a number".to_string()),
    }
}

fn parse_ends(text: &str) -> Result<RangeEnds, String> {
    let wrong = "expected FIRST..LAST, FIRST.. or ..LAST, with message ids";
    let (first, last) = text.split_once("..").ok_or(wrong)?;
    let end = |id: &str| (!id.is_empty()).then(|| id.to_string());
    match [end(first), end(last)] {
        [None, None] => Err(wrong.to_string()),
        ends => Ok(RangeEnds(ends)),
    }
}
