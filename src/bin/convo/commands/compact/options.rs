//! Strategy options.

use super::settings::CompactSettings;
use crate::args::{BudgetArgs, TokenizerArgs, per_cent};
use crate::programs::summarizer::SummarizerSpec;
use crate::programs::summarizer_process::{RetryArgs, SummarizerArgs, for_programs};
use crate::programs::summary_args::{SummaryArgs, Trigger};
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::filter::compact::head_tail::TextLimit;
use convo::filter::compact::{
    CompactOptions, CompactOverflow, LevelAlgorithm, Mask, Media, Steps, ThinkingOption,
};
use convo::filter::summarize::SummaryStyle;
use convo::filter::summarize_range;
use convo::format::goaitools;
use convo::model::message::Category;

#[derive(Args, Clone, Debug)]
pub struct StrategyArgs {
    #[command(flatten)]
    pub(super) fitting: BudgetArgs,
    #[command(flatten)]
    pub trigger: Trigger,
    #[command(flatten)]
    pub counting: TokenizerArgs,
    /// Write the smallest result if the budget cannot be reached (status 1)
    #[arg(long, hide_short_help = true, help_heading = "Strategy settings")]
    best_effort: bool,
    /// Apply strategies in order, oldest messages first, until it fits
    #[arg(
        long,
        conflicts_with = "optimize",
        hide_short_help = true,
        help_heading = "Strategies"
    )]
    tiered: bool,
    /// Choose globally: keep the most informative content per token
    #[arg(long, hide_short_help = true, help_heading = "Strategies")]
    optimize: bool,
    /// Use these strategies: dedupe, media, thinking, headtail, mask, digest, handoff, extract, drop
    ///
    /// Or one of tiered and optimize, with all of them. handoff and extract select the summary: in blocks for sessions with
    /// tools, or of sentences.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = STEPS, hide_possible_values = true, hide_short_help = true, help_heading = "Strategies",
        conflicts_with_all = ["tiered", "optimize", "dedupe", "mask_tools", "digest_tools"])]
    steps: Vec<String>,
    /// Replace repeated tool results with placeholders: exact, off
    #[arg(long, value_name = "HOW", value_parser = ["exact", "off"], hide_short_help = true, help_heading = "Strategies")]
    dedupe: Option<String>,
    /// Replace images, audio and files with placeholders: keep-last, drop, keep
    ///
    /// keep-last replaces those before the last user message.
    #[arg(long, value_name = "HOW", value_parser = media, hide_short_help = true, help_heading = "Strategies")]
    media: Option<Media>,
    /// Drop reasoning: keep-open, drop, keep
    ///
    /// keep-open drops the reasoning before the last user message.
    #[arg(long, value_name = "HOW", value_parser = thinking, hide_short_help = true, help_heading = "Strategies")]
    thinking: Option<ThinkingOption>,
    /// Remove the middle of tool results over BYTES [default: 10240]
    #[arg(
        long,
        value_name = "BYTES",
        hide_short_help = true,
        help_heading = "Strategies"
    )]
    pub(super) tool_output_max: Option<usize>,
    /// Replace old tool results with placeholders
    #[arg(long, help_heading = "Budget")]
    mask_tools: bool,
    /// Replace exchanges that use tools with one-line digests
    #[arg(long, hide_short_help = true, help_heading = "Strategies")]
    pub(super) digest_tools: bool,
    /// Summarizer: extract, none, PLUGIN, cmd:'COMMAND'
    ///
    /// extract is built in, needs no model and no network, quotes verbatim, and is deterministic. cmd: runs a shell command;
    /// NAME runs the plugin convo-NAME with all messages to be dropped, reserving --summary-budget for its answer. If it
    /// fails, nothing is dropped and the failure is recorded.
    /// The session stores the name of a program and a hash, e.g. cmd:curl#1a2b3c4d, never its arguments.
    #[arg(long, value_name = "SUMMARIZER", value_parser = SummarizerChoice::read, help_heading = "Budget")]
    pub(super) with: Option<SummarizerChoice>,
    /// Drop old exchanges; keep the newest N
    ///
    /// Without N, keeps as many as fit --budget, or 8 without --budget.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "some", value_parser = exchanges, help_heading = "Budget")]
    pub(super) keep_last: Option<usize>,

    /// With --mask-tools, keep the newest N results
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        help_heading = "Strategy settings",
        hide_short_help = true
    )]
    keep_tools: usize,
    /// With --mask-tools, keep all results of this tool (repeatable)
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Strategy settings",
        hide_short_help = true
    )]
    exclude_tool: Vec<String>,
    /// With --mask-tools, also replace the arguments of old calls
    #[arg(long, help_heading = "Strategy settings", hide_short_help = true)]
    mask_inputs: bool,
    /// If still over --budget: truncate-oldest, truncate-summary, error
    #[arg(long, value_name = "WHAT", default_value = "truncate-oldest", value_parser = overflow, help_heading = "Strategy settings", hide_short_help = true)]
    overflow: CompactOverflow,

    /// Keep an earlier summary unchanged and append to it: on, off
    ///
    /// With on, a prompt cache keeps the view up to the end of that summary. Summaries that take most of --budget
    /// together are consolidated into one.
    #[arg(long, alias = "stable", value_name = "WHEN", default_value = "on", value_parser = ["on", "off"], hide_possible_values = true, hide_short_help = true, help_heading = "Summary")]
    keep_prefix: String,
    /// Never drop this message (repeatable)
    #[arg(long, value_name = "ID", help_heading = "Budget")]
    pin: Vec<String>,
    /// Never drop the first user message
    #[arg(long, hide_short_help = true, help_heading = "Pinning")]
    pin_first_user: bool,
    #[command(flatten)]
    summary: SummaryArgs,
    #[command(flatten)]
    telling: SummarizerArgs,
    #[command(flatten)]
    pub trying: RetryArgs,
}

/// Values of `--steps`: strategies, and two ways to use all of them.
const STEPS: [&str; 11] = [
    "dedupe", "media", "thinking", "headtail", "mask", "digest", "handoff", "extract", "drop", "tiered",
    "optimize",
];

/// The summarizer of dropped messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummarizerChoice {
    /// No summarizer.
    Nobody,
    /// The built-in summarizer, or a program.
    Writes(SummarizerSpec),
}

impl SummarizerChoice {
    fn read(text: &str) -> Result<SummarizerChoice, String> {
        match text {
            "none" => Ok(SummarizerChoice::Nobody),
            text => match SummarizerSpec::read(text) {
                Err(_) if !text.starts_with("cmd:") => {
                    Err("expected extract, none, cmd:'COMMAND' or a plugin name".to_string())
                }
                with => with.map(SummarizerChoice::Writes),
            },
        }
    }
}

impl StrategyArgs {
    /// Fails if no option selects an action.
    pub fn check(&self, settings: &CompactSettings) -> convo::Result<()> {
        let alone = ["tiered", "optimize"].into_iter().find(|way| self.lists(way));
        if let Some(way) = alone.filter(|_| self.steps.len() > 1) {
            let error = Error::new(
                ErrorKind::Usage,
                format!("--steps {way} conflicts with other steps"),
            );
            return Err(error.hint(format!("omit the other steps: {way} uses all of them")));
        }
        let acts = self.trigger.when.is_some() || self.named(settings) != Steps::NONE;
        if self.fitting.budget()?.is_none() && !acts {
            let error = Error::new(ErrorKind::Usage, "no budget, trigger or strategy given");
            return Err(error.hint("try --budget 32000, --budget 60% --window gpt-4o, or --mask-tools"));
        }
        Ok(())
    }

    /// Fails if an option for the summarizer program would have no effect.
    pub fn check_writer(&self) -> convo::Result<()> {
        let asks = self.writer().is_some();
        self.telling.check(asks)?;
        self.trying.check(asks, asks)?;
        if self.trying.if_due && !asks {
            return Err(for_programs("--if-due"));
        }
        if asks && self.is_optimized() {
            let error = Error::new(ErrorKind::Usage, "--optimize requires the summarizer extract");
            return Err(error.hint("use --tiered with a summarizer program"));
        }
        self.summary.check(asks)
    }

    /// Returns the program that writes the summary; `None` for the built-in summarizer or no summary.
    pub fn writer(&self) -> Option<&SummarizerSpec> {
        match &self.with {
            Some(SummarizerChoice::Writes(with)) if *with != SummarizerSpec::Extract => Some(with),
            _ => None,
        }
    }

    /// Returns the request options of the program.
    pub fn asked(&self) -> convo::Result<summarize_range::SummaryOptions> {
        self.telling.asked(self.fitting.window())
    }

    /// Whether dropped messages are summarized by default.
    pub fn summarizes_dropped(&self) -> bool {
        self.with != Some(SummarizerChoice::Nobody)
    }

    /// Returns the validated options. With `zero`, a budget of 0 is a limit like any other.
    pub fn options(&self, settings: &CompactSettings, zero: bool) -> anyhow::Result<CompactOptions> {
        let defaults = CompactOptions::default();
        let (steps, tiered) = (self.steps(settings), self.is_tiered());
        let budget = if zero {
            self.fitting.limit()?
        } else {
            self.fitting.budget()?
        };
        self.trigger.check(self.fitting.window())?;
        let keep_last = match (self.keep_last, budget) {
            (Some(0), None) if self.trigger.when.is_none() => Some(8), // OpenAI's cookbook
            (Some(0), _) => None,
            (keep, _) => keep,
        };
        Ok(CompactOptions {
            budget,
            window: self.fitting.window(),
            when: self.trigger.when.clone(),
            hysteresis: thousandths(settings.parsed("hysteresis").unwrap_or(0.2)),
            choice: match (tiered, steps == Steps::ALL) {
                (false, true) if self.writer().is_none() => defaults.choice,
                _ => LevelAlgorithm::Tiered,
            },
            steps,
            media: self.media.unwrap_or_default(),
            thinking: self.thinking.unwrap_or_default(),
            tool_output: TextLimit {
                bytes: self.tool_output_max.unwrap_or(defaults.tool_output.bytes),
                lines: settings
                    .parsed("tool-output-lines")
                    .unwrap_or(defaults.tool_output.lines),
            },
            mask: Mask {
                keep: self.keep_tools,
                exclude: self.exclude_tool.clone(),
                inputs: self.mask_inputs,
                protect: settings.parsed("protect-tool-tokens").unwrap_or(0),
                min_gain: settings.parsed("mask-min-gain"),
            },
            write_tools: match settings.list("write-tools", |name| Some(name.to_string())) {
                tools if tools.is_empty() => defaults.write_tools,
                tools => tools,
            },
            keep_last,
            drop_order: settings.list("drop-order", |name| category(name).ok()),
            shares: settings.list("budget-for", |share| category_share(share).ok()),
            pins: self.pin.clone(),
            pin_first_user: self.pin_first_user,
            unseen: goaitools::unseen,
            style: self.style()?,
            summary_share: settings
                .text("summary-share")
                .and_then(|share| per_cent(share).ok())
                .unwrap_or(250),
            summary_budget: self.summary.summary_budget,
            asks: self.writer().is_some(),
            keep_prefix: self.keep_prefix == "on" && settings.system.is_none(),
            overflow: self.overflow,
            min_gain: self.trigger.min_gain,
            best_effort: self.best_effort,
            retry: self.trigger.ignore_backoff,
            trust_usage: settings.has("trust-usage"),
            explains: defaults.explains,
        })
    }

    /// Returns the style of the summary; with `--steps`, in blocks only if `handoff` is listed.
    fn style(&self) -> convo::Result<SummaryStyle> {
        let mut style = self.summary.style()?;
        style.handoff &= !self.lists("extract") || self.lists("handoff");
        Ok(style)
    }

    fn lists(&self, step: &str) -> bool {
        self.steps.iter().any(|listed| listed == step)
    }

    fn is_tiered(&self) -> bool {
        self.tiered || self.lists("tiered")
    }

    fn is_optimized(&self) -> bool {
        self.optimize || self.lists("optimize")
    }

    /// Returns the strategies selected by name; all of them if none is.
    fn steps(&self, settings: &CompactSettings) -> Steps {
        let steps = self.named(settings);
        if steps != Steps::NONE && !self.is_tiered() && !self.is_optimized() {
            return steps;
        }
        // None selected by name: all except those that are switched off.
        Steps {
            dedupe: self.dedupe.as_deref() != Some("off"),
            media: self.media != Some(Media::Keep),
            thinking: self.thinking != Some(ThinkingOption::Keep),
            summary: self.summarizes_dropped(),
            ..Steps::ALL
        }
    }

    /// Returns the strategies selected by name.
    fn named(&self, settings: &CompactSettings) -> Steps {
        let keeps = self.media == Some(Media::Keep);
        Steps {
            dedupe: self.dedupe.as_deref() == Some("exact") || self.lists("dedupe"),
            media: (self.media.is_some() || self.lists("media")) && !keeps,
            thinking: (self.thinking.is_some() || self.lists("thinking"))
                && self.thinking != Some(ThinkingOption::Keep),
            head_tail: self.tool_output_max.is_some()
                || settings.has("tool-output-lines")
                || self.lists("headtail"),
            mask: self.mask_tools || self.lists("mask"),
            digest: self.digest_tools || self.lists("digest"),
            summary: matches!(self.with, Some(SummarizerChoice::Writes(_)))
                || (self.lists("handoff") || self.lists("extract")) && self.summarizes_dropped(),
            drop: self.keep_last.is_some()
                || settings.has("drop-order")
                || settings.has("budget-for")
                || self.lists("drop"),
        }
    }
}

/// Converts a share such as 0.2 to thousandths.
fn thousandths(share: f64) -> u64 {
    (share * 1000.0).round() as u64
}

/// Parses the number of exchanges to keep; 0 if omitted.
fn exchanges(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("expected at least 1; drop all messages with: convo truncate --keep-last 0".to_string()),
        Ok(number) => Ok(number),
        Err(_) if text == "some" => Ok(0),
        Err(_) => Err("expected a number; without a number, give the option after the input".to_string()),
    }
}

fn category(name: &str) -> Result<Category, String> {
    match Category::from_name(name) {
        Some(Category::System) => Err("system messages are never dropped".to_string()),
        Some(category) => Ok(category),
        None => Err("expected system_output, dialog or context".to_string()),
    }
}

/// Checks that messages of this category may be dropped.
pub fn droppable(name: &str) -> Result<(), String> {
    category(name).map(drop)
}

/// Checks that a text is a category with its share of the budget.
pub fn budget_share(text: &str) -> Result<(), String> {
    category_share(text).map(drop)
}

fn category_share(text: &str) -> Result<(Category, u64), String> {
    let (name, share) = text
        .split_once('=')
        .ok_or("expected CATEGORY=SHARE, e.g. dialog=50%")?;
    Ok((category(name)?, per_cent(share)?))
}

fn media(name: &str) -> Result<Media, String> {
    match name {
        "keep-last" => Ok(Media::KeepLast),
        "keep" => Ok(Media::Keep),
        "drop" => Ok(Media::Drop),
        _ => Err("expected keep-last, keep or drop".to_string()),
    }
}

fn thinking(name: &str) -> Result<ThinkingOption, String> {
    match name {
        "keep-open" => Ok(ThinkingOption::KeepOpen),
        "keep" => Ok(ThinkingOption::Keep),
        "drop" => Ok(ThinkingOption::Drop),
        _ => Err("expected keep-open, keep or drop".to_string()),
    }
}

fn overflow(name: &str) -> Result<CompactOverflow, String> {
    match name {
        "truncate-oldest" => Ok(CompactOverflow::TruncateOldest),
        "truncate-summary" => Ok(CompactOverflow::TruncateSummary),
        "error" => Ok(CompactOverflow::Error),
        _ => Err("expected truncate-oldest, truncate-summary or error".to_string()),
    }
}
