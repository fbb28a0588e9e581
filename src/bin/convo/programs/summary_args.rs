//! Options of `compact` and `summarize`: when they act, and what the summary is like.

use crate::args::per_cent;
use crate::errors::named;
use clap::Args;
use convo::error::Error;
use convo::filter::compact::trigger::TriggerExpression;
use convo::filter::summarize::{Dates, GivenRule, Instructions, SummaryStyle};

/// When to act.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Budget")]
pub struct Trigger {
    /// Act only if this holds, e.g. 'tokens>=100000'
    ///
    /// Compares tokens, messages, exchanges, tool_tokens, fraction (of --window) or failures (consecutive summarizer
    /// failures) with a number. Combine with && and ||; && binds tighter. compact: without --budget, the target is 20%
    /// below the trigger; without --when, acts if the view exceeds the budget.
    #[arg(long, value_name = "CONDITION", value_parser = TriggerExpression::read, hide_short_help = true)]
    pub when: Option<TriggerExpression>,
    /// Skip changes that save less than this
    ///
    /// Ignored if --budget requires the change.
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = per_cent, hide_short_help = true)]
    pub min_gain: u64,
    /// Act despite recent failures or compactions
    #[arg(long, alias = "retry", conflicts_with = "if_due", hide_short_help = true)]
    pub ignore_backoff: bool,
}

impl Trigger {
    /// Refuses a condition that nothing decides.
    pub fn check(&self, window: Option<u64>) -> convo::Result<()> {
        match &self.when {
            Some(when) if window.is_none() && when.needs_window() => {
                let error = Error::usage("fraction in --when requires --window");
                Err(error.hint("add --window gpt-4o or --window 128000"))
            }
            _ => Ok(()),
        }
    }
}

/// The summary.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Summary")]
pub struct SummaryArgs {
    /// Maximum size of the summary [default: 1000]
    ///
    /// extract: a quarter of the budget (compact), or of the replaced tokens (summarize without --budget).
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..), hide_short_help = true)]
    pub summary_budget: Option<u64>,
    /// Role of the summary: auto, user, assistant, system, developer
    #[arg(long, alias = "role", value_name = "ROLE", default_value = "auto", value_parser = ["auto", "user", "assistant", "system", "developer"], hide_possible_values = true, hide_short_help = true)]
    summary_role: String,
    /// Dates in extracted summaries: short, full, off [default: short]
    #[arg(long, value_name = "HOW", value_parser = dates, hide_short_help = true)]
    pub dates: Option<Dates>,
    /// Quote standing instructions verbatim: auto, off, or FILE
    ///
    /// Rules that the user set once ("from now on ..."). auto detects them; FILE lists one per line, as text or `id: ID`.
    #[arg(long, value_name = "HOW", default_value = "auto", hide_short_help = true)]
    pin_rules: String,
    /// Summarize sessions with tools in blocks: auto, off
    ///
    /// auto lists requests, files, commands and errors if the session has any; off quotes sentences of any session.
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = ["auto", "off"], hide_possible_values = true, hide_short_help = true)]
    handoff: String,
    /// Prefer sentences that help to answer this (repeatable)
    ///
    /// Half of what extract quotes is chosen by the words of the questions.
    #[arg(long = "for", value_name = "QUESTION", hide_short_help = true)]
    questions: Vec<String>,
    /// Maximum share for standing instructions
    ///
    /// A share of the budget (summarize: of the summary).
    #[arg(long, value_name = "PERCENT", default_value = "25%", value_parser = per_cent, hide_short_help = true)]
    pin_share: u64,
}

impl SummaryArgs {
    /// Refuses options that would have no effect on a summary by a program.
    pub fn check(&self, asks: bool) -> convo::Result<()> {
        if asks && self.dates.is_some() {
            let error = Error::usage("--dates requires the built-in summarizer");
            return Err(error.hint("omit --dates: a program reads the times"));
        }
        if asks && self.handoff == "off" {
            let error = Error::usage("--handoff requires the built-in summarizer");
            return Err(error.hint("omit --handoff: it has no effect on a program"));
        }
        if asks && !self.questions.is_empty() {
            let error = Error::usage("--for requires the built-in summarizer");
            return Err(error.hint("omit --for: a program reads the messages"));
        }
        Ok(())
    }

    pub fn style(&self) -> convo::Result<SummaryStyle> {
        Ok(SummaryStyle {
            role: (self.summary_role != "auto").then(|| self.summary_role.clone()),
            dates: self.dates.unwrap_or_default(),
            instructions: instructions(&self.pin_rules)?,
            instruction_share: u32::try_from(self.pin_share / 10).unwrap_or(100),
            questions: self.questions.clone(),
            handoff: self.handoff == "auto",
        })
    }
}

/// Parses a date style.
fn dates(name: &str) -> Result<Dates, String> {
    Dates::from_name(name).ok_or("expected short, full or off".to_string())
}

/// The source of standing instructions: `auto`, `off`, or a file.
fn instructions(how: &str) -> convo::Result<Instructions> {
    match how {
        "auto" => Ok(Instructions::Auto),
        "off" => Ok(Instructions::Off),
        file => Ok(Instructions::Given(GivenRule::read(&text(
            file, "standing instructions:",
        )?))),
    }
}

/// Reads a text file; `what` describes it in errors.
pub fn text(file: &str, what: &str) -> convo::Result<String> {
    let read = std::fs::read(file).map_err(|error| named(Error::io("cannot read", error), file))?;
    String::from_utf8(read).map_err(|_| named(Error::data(format!("{what} not UTF-8")), file))
}
