//! The strategies on the command line.

use crate::args::{Counting, Fitting, per_cent};
use crate::summarizer::With;
use crate::summing;
use crate::thinking::{Telling, Trying, for_programs};
use clap::Args;
use convo::error::{Error, Kind};
use convo::filter::compact::shorten::Limit;
use convo::filter::compact::when::When;
use convo::filter::compact::{Choice, Mask, Media, Options, Overflow, Steps, Thinking};
use convo::filter::cover;
use convo::filter::summarize::Dates;
use convo::format::goaitools;
use convo::model::message::Category;

#[derive(Args, Clone, Debug)]
pub struct Strategy {
    #[command(flatten)]
    pub(super) fitting: Fitting,
    /// Act only then: 'tokens>=100000 && messages>=10'
    ///
    /// As in 'tokens>=100000 && messages>=10 || fraction>=0.8'. Terms are tokens, messages, exchanges, tool_tokens, fraction (of --window) and failures (of summaries, in a row); && binds tighter than ||. Without
    /// --budget the target is what fired it less --hysteresis. Without --when it acts whenever the view is over the budget.
    #[arg(long, value_name = "TRIGGER", value_parser = When::read, hide_short_help = true, help_heading = "What to do")]
    when: Option<When>,
    /// How far below the trigger the target is, so that the next turn does not fire again
    #[arg(long, value_name = "SHARE", default_value = "0.2", value_parser = share, requires = "when", hide_short_help = true, help_heading = "How small")]
    hysteresis: u64,
    #[command(flatten)]
    pub counting: Counting,
    /// Write the smallest result when the budget cannot be reached; the status is 1 all the same
    #[arg(long, hide_short_help = true, help_heading = "How small")]
    best_effort: bool,
    /// Least gain for a change that no budget asks for
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = per_cent, hide_short_help = true, help_heading = "How small")]
    min_gain: u64,
    /// When there is no gain: skip (status 0) or error (status 1)
    #[arg(long, value_name = "WHAT", default_value = "skip", value_parser = ["skip", "error"], hide_short_help = true, help_heading = "How small")]
    pub on_no_gain: String,
    /// Triggers believe the prompt count that the provider reported last, if it is larger
    #[arg(long, hide_short_help = true, help_heading = "How small")]
    trust_usage: bool,
    /// Try again although the last compactions followed each other closely, or a program failed too often
    #[arg(
        long,
        conflicts_with = "if_due",
        hide_short_help = true,
        help_heading = "How small"
    )]
    pub retry: bool,

    /// Steps in order, oldest first, each only as far as needed
    #[arg(
        long,
        conflicts_with = "optimize",
        hide_short_help = true,
        help_heading = "Strategies"
    )]
    tiered: bool,
    /// One choice for all pieces: what says most for its tokens stays
    #[arg(long, hide_short_help = true, help_heading = "Strategies")]
    optimize: bool,
    /// Repeated tool results become marks: exact, off
    #[arg(long, value_name = "HOW", value_parser = ["exact", "off"], hide_short_help = true, help_heading = "Strategies")]
    dedupe: Option<String>,
    /// Images, sounds and files become marks: keep-last (all but the newest question's), keep, drop
    #[arg(long, value_name = "HOW", value_parser = media, hide_short_help = true, help_heading = "Strategies")]
    media: Option<Media>,
    /// Reasoning leaves: keep-open (all but that since the newest question), keep, drop
    #[arg(long, value_name = "HOW", value_parser = thinking, hide_short_help = true, help_heading = "Strategies")]
    thinking: Option<Thinking>,
    /// Results over BYTES lose their middle [default: 10240]
    #[arg(
        long,
        value_name = "BYTES",
        hide_short_help = true,
        help_heading = "Strategies"
    )]
    pub(super) tool_output_max: Option<usize>,
    /// Results over N lines lose their middle [default: 256]
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = "Strategies")]
    tool_output_lines: Option<usize>,
    /// Old tool results become marks
    #[arg(long, hide_short_help = true, help_heading = "Strategies")]
    mask_tools: bool,
    /// Exchanges with tools become a line
    #[arg(long, hide_short_help = true, help_heading = "Strategies")]
    pub(super) digest_tools: bool,
    /// Who sums up: extract, cmd:PROGRAM, a plugin, none
    ///
    /// extract is built in: it needs no model and no network, quotes word for word, and is the same everywhere. A program of
    /// cmd: is run by the shell; the plugin NAME is the program convo-NAME. It is given all that leaves, and room is kept for its
    /// answer: 1000 tokens, or --summary-budget. When it fails nothing leaves, and the failure is noted in the session.
    /// Of a command line the session keeps the name of the program and a hash, as in cmd:curl#1a2b3c4d.
    #[arg(long, value_name = "WHO", value_parser = Who::read, help_heading = "What to do")]
    pub(super) with: Option<Who>,
    /// Old exchanges leave; with N the newest N stay
    ///
    /// Without a number and without --budget the newest 8.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "some", value_parser = exchanges, help_heading = "What to do")]
    pub(super) keep_last: Option<usize>,
    /// Categories in the order in which they leave: system_output,dialog,context
    #[arg(long, value_name = "CATEGORIES", value_delimiter = ',', value_parser = category, hide_short_help = true, help_heading = "Strategies")]
    drop_order: Vec<Category>,
    /// Shares of the budget: dialog=50%,system_output=20%
    #[arg(long, value_name = "CATEGORY=SHARE", value_delimiter = ',', value_parser = category_share, requires = "budget", hide_short_help = true, help_heading = "Strategies")]
    budget_for: Vec<(Category, u64)>,

    /// With --mask-tools: the newest N results stay
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        help_heading = "Strategies in detail",
        hide_short_help = true
    )]
    keep_tools: usize,
    /// With --mask-tools: results of this tool stay
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Strategies in detail",
        hide_short_help = true
    )]
    exclude_tool: Vec<String>,
    /// With --mask-tools: the arguments of calls become marks too
    #[arg(long, help_heading = "Strategies in detail", hide_short_help = true)]
    mask_inputs: bool,
    /// With --mask-tools: the newest results stay as far as they have this many tokens together
    #[arg(
        long,
        value_name = "TOKENS",
        default_value_t = 0,
        help_heading = "Strategies in detail",
        hide_short_help = true
    )]
    protect_tool_tokens: u64,
    /// With --mask-tools: gain this much or leave it [default: 2000, or a tenth of the budget if that is less]
    #[arg(
        long,
        value_name = "TOKENS",
        help_heading = "Strategies in detail",
        hide_short_help = true
    )]
    mask_min_gain: Option<u64>,
    /// With --dedupe: tools that write, after which a read is another read
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Strategies in detail",
        hide_short_help = true
    )]
    write_tools: Vec<String>,
    /// The summary's share of the budget
    #[arg(long, value_name = "PERCENT", default_value = "25%", value_parser = per_cent, help_heading = "Strategies in detail", hide_short_help = true)]
    summary_share: u64,
    /// Most tokens of the summary
    #[arg(
        long,
        value_name = "TOKENS",
        help_heading = "Strategies in detail",
        hide_short_help = true
    )]
    summary_budget: Option<u64>,
    /// The role under which a model is shown the summary: auto, user, assistant, system, developer
    #[arg(long, value_name = "ROLE", default_value = "auto", value_parser = ["auto", "user", "assistant", "system", "developer"], help_heading = "Strategies in detail", hide_short_help = true)]
    summary_role: String,
    /// With extract: how the summary shows dates: short, full, off [default: short]
    #[arg(long, value_name = "HOW", value_parser = summing::dates, hide_short_help = true, help_heading = "Strategies in detail")]
    dates: Option<Dates>,
    /// What gives way when summary and newest exchanges do not fit: truncate-oldest, truncate-summary, error
    #[arg(long, value_name = "WHAT", default_value = "truncate-oldest", value_parser = overflow, help_heading = "Strategies in detail", hide_short_help = true)]
    overflow: Overflow,

    /// This message stays
    #[arg(long, value_name = "ID", hide_short_help = true, help_heading = "What to do")]
    pin: Vec<String>,
    /// The first user message stays
    #[arg(long, hide_short_help = true, help_heading = "What stays")]
    pin_first_user: bool,
    /// Standing instructions: auto, off, FILE
    ///
    /// Rules that a user set once ("from now on ...") stay word for word in the summary when what held them leaves. auto finds them;
    /// a FILE has one a line, or `id: ID`.
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        hide_short_help = true,
        help_heading = "What stays"
    )]
    pin_rules: String,
    /// How much of the budget standing instructions may take
    #[arg(long, value_name = "PERCENT", default_value = "25%", value_parser = per_cent, hide_short_help = true, help_heading = "What stays")]
    pin_share: u64,
    #[command(flatten)]
    telling: Telling,
    #[command(flatten)]
    pub trying: Trying,
}

/// Who sums up what leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// Nobody.
    Nobody,
    /// The built-in summarizer, or a program.
    Writes(With),
}

impl Who {
    fn read(text: &str) -> Result<Who, String> {
        match text {
            "none" => Ok(Who::Nobody),
            text => match With::read(text) {
                Err(_) if !text.starts_with("cmd:") => {
                    Err("this must be extract, none, cmd:'PROGRAM ARGS' or the name of a plugin".to_string())
                }
                with => with.map(Who::Writes),
            },
        }
    }
}

impl Strategy {
    /// Refuses a call that asks for nothing.
    pub fn check(&self) -> convo::Result<()> {
        if self.fitting.budget()?.is_none() && self.when.is_none() && self.named() == Steps::NONE {
            let error = Error::new(Kind::Usage, "neither a budget nor a strategy");
            return Err(error.hint(
                "--budget 32000, or --budget 60% --window gpt-4o, or a strategy such as --mask-tools",
            ));
        }
        Ok(())
    }

    /// Refuses options that would have no effect on who writes the summary.
    pub fn check_writer(&self) -> convo::Result<()> {
        let asks = self.writer().is_some();
        self.telling.check(asks)?;
        self.trying.check(asks, asks)?;
        if self.trying.if_due && !asks {
            return Err(for_programs("--if-due"));
        }
        if asks && self.optimize {
            let error = Error::new(
                Kind::Usage,
                "--optimize chooses what the built-in summarizer quotes",
            );
            return Err(error.hint("--tiered takes all strategies, step by step, and asks a program"));
        }
        if asks && self.dates.is_some() {
            let what = "--dates is for the built-in summarizer";
            return Err(Error::new(Kind::Usage, what).hint("leave it out: a program sees the times"));
        }
        Ok(())
    }

    /// The program that writes the summary; none when it is quoted, or when there is none.
    pub fn writer(&self) -> Option<&With> {
        match &self.with {
            Some(Who::Writes(with)) if *with != With::Extract => Some(with),
            _ => None,
        }
    }

    /// What the program is told.
    pub fn asked(&self) -> convo::Result<cover::Options> {
        self.telling.asked(self.fitting.window())
    }

    /// Whether what leaves is summed up, where nothing else is said.
    pub fn sums_up(&self) -> bool {
        self.with != Some(Who::Nobody)
    }

    /// What is asked for, checked.
    /// With `zero`, a budget of 0 is a limit like any other.
    pub fn options(&self, zero: bool) -> anyhow::Result<Options> {
        let defaults = Options::default();
        let steps = self.steps();
        let budget = if zero {
            self.fitting.limit()?
        } else {
            self.fitting.budget()?
        };
        if self.fitting.window.is_none() && self.when.as_ref().is_some_and(When::needs_window) {
            let error = Error::new(
                Kind::Usage,
                "a trigger looks at a fraction, and there is no window",
            );
            return Err(error.hint("--window 128000, or --window gpt-4o").into());
        }
        let keep_last = match (self.keep_last, budget) {
            (Some(0), None) if self.when.is_none() => Some(8), // OpenAI's cookbook
            (Some(0), _) => None,
            (keep, _) => keep,
        };
        Ok(Options {
            budget,
            window: self.fitting.window(),
            when: self.when.clone(),
            hysteresis: self.hysteresis,
            choice: match (self.tiered, steps == Steps::ALL) {
                (false, true) if self.writer().is_none() => defaults.choice,
                _ => Choice::Tiered,
            },
            steps,
            media: self.media.unwrap_or_default(),
            thinking: self.thinking.unwrap_or_default(),
            tool_output: Limit {
                bytes: self.tool_output_max.unwrap_or(defaults.tool_output.bytes),
                lines: self.tool_output_lines.unwrap_or(defaults.tool_output.lines),
            },
            mask: Mask {
                keep: self.keep_tools,
                exclude: self.exclude_tool.clone(),
                inputs: self.mask_inputs,
                protect: self.protect_tool_tokens,
                min_gain: self.mask_min_gain,
            },
            write_tools: if self.write_tools.is_empty() {
                defaults.write_tools
            } else {
                self.write_tools.clone()
            },
            keep_last,
            drop_order: self.drop_order.clone(),
            shares: self.budget_for.clone(),
            pins: self.pin.clone(),
            pin_first_user: self.pin_first_user,
            unseen: goaitools::unseen,
            instructions: summing::instructions(&self.pin_rules)?,
            instruction_share: u32::try_from(self.pin_share / 10).unwrap_or(100),
            summary_share: self.summary_share,
            summary_budget: self.summary_budget,
            asks: self.writer().is_some(),
            summary_role: (self.summary_role != "auto").then(|| self.summary_role.clone()),
            dates: self.dates.unwrap_or_default(),
            overflow: self.overflow,
            min_gain: self.min_gain,
            best_effort: self.best_effort,
            retry: self.retry,
            trust_usage: self.trust_usage,
        })
    }

    /// The steps that are asked for by name; all when none is.
    fn steps(&self) -> Steps {
        let steps = self.named();
        if steps != Steps::NONE && !self.tiered && !self.optimize {
            return steps;
        }
        // Not by name: all but what is switched off.
        Steps {
            dedupe: self.dedupe.as_deref() != Some("off"),
            media: self.media != Some(Media::Keep),
            thinking: self.thinking != Some(Thinking::Keep),
            summary: self.sums_up(),
            ..Steps::ALL
        }
    }

    /// The steps that are asked for by name.
    fn named(&self) -> Steps {
        let keeps = self.media == Some(Media::Keep);
        Steps {
            dedupe: self.dedupe.as_deref() == Some("exact"),
            media: self.media.is_some() && !keeps,
            thinking: self.thinking.is_some_and(|thinking| thinking != Thinking::Keep),
            head_tail: self.tool_output_max.is_some() || self.tool_output_lines.is_some(),
            mask: self.mask_tools,
            digest: self.digest_tools,
            summary: matches!(self.with, Some(Who::Writes(_))),
            drop: self.keep_last.is_some() || !self.drop_order.is_empty() || !self.budget_for.is_empty(),
        }
    }
}

/// A share such as 0.2, in thousandths.
fn share(text: &str) -> Result<u64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok((share * 1000.0).round() as u64),
        _ => Err("this must be a number from 0 to below 1".to_string()),
    }
}

/// How many exchanges stay; 0 when no number is given.
fn exchanges(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err(
            "the newest exchange stays, so 1 is the least; `truncate --keep-last 0` lets all go".to_string(),
        ),
        Ok(number) => Ok(number),
        Err(_) if text == "some" => Ok(0),
        Err(_) => Err("this must be a number; without one the option stands behind the input".to_string()),
    }
}

fn category(name: &str) -> Result<Category, String> {
    match Category::from_name(name) {
        Some(Category::System) => Err("system messages never leave".to_string()),
        Some(category) => Ok(category),
        None => Err("there are system_output, dialog and context".to_string()),
    }
}

fn category_share(text: &str) -> Result<(Category, u64), String> {
    let (name, share) = text
        .split_once('=')
        .ok_or("this must be CATEGORY=SHARE, such as dialog=50%")?;
    Ok((category(name)?, per_cent(share)?))
}

fn media(name: &str) -> Result<Media, String> {
    match name {
        "keep-last" => Ok(Media::KeepLast),
        "keep" => Ok(Media::Keep),
        "drop" => Ok(Media::Drop),
        _ => Err("this must be keep-last, keep or drop".to_string()),
    }
}

fn thinking(name: &str) -> Result<Thinking, String> {
    match name {
        "keep-open" => Ok(Thinking::KeepOpen),
        "keep" => Ok(Thinking::Keep),
        "drop" => Ok(Thinking::Drop),
        _ => Err("this must be keep-open, keep or drop".to_string()),
    }
}

fn overflow(name: &str) -> Result<Overflow, String> {
    match name {
        "truncate-oldest" => Ok(Overflow::TruncateOldest),
        "truncate-summary" => Ok(Overflow::TruncateSummary),
        "error" => Ok(Overflow::Error),
        _ => Err("this must be truncate-oldest, truncate-summary or error".to_string()),
    }
}
