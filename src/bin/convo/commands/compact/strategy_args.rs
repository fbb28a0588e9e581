//! Strategy options.

use super::values::{exchanges, media, overflow, thinking};
use crate::args::{BudgetArgs, TokenizerArgs};
use crate::programs::summarizer::SummarizerSpec;
use crate::programs::summarizer_process::{RetryArgs, SummarizerArgs};
use crate::programs::summary_args::{SummaryArgs, Trigger};
use clap::Args;
use convo::filter::compact::{Media, ThinkingOption};
use convo::model::retention::Overflow;

#[derive(Args, Clone, Debug)]
pub struct StrategyArgs {
    #[command(flatten)]
    pub(super) budget_args: BudgetArgs,
    #[command(flatten)]
    pub trigger: Trigger,
    #[command(flatten)]
    pub tokenizer_args: TokenizerArgs,
    /// Write the smallest result if the budget cannot be reached (status 1)
    #[arg(long, hide_short_help = true, help_heading = "Strategy settings")]
    pub(super) best_effort: bool,
    /// Apply strategies in order, oldest messages first, until it fits
    #[arg(
        long,
        conflicts_with = "optimize",
        hide_short_help = true,
        help_heading = "Strategies"
    )]
    pub(super) tiered: bool,
    /// Choose globally: keep the most informative content per token
    #[arg(long, hide_short_help = true, help_heading = "Strategies")]
    pub(super) optimize: bool,
    /// Use these strategies: dedupe, media, thinking, headtail, mask, digest, handoff, extract, drop
    ///
    /// Or one of tiered and optimize, with all of them. handoff and extract select the summary: in blocks for sessions with
    /// tools, or of sentences.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = STEPS, hide_possible_values = true, hide_short_help = true, help_heading = "Strategies",
        conflicts_with_all = ["tiered", "optimize", "dedupe", "mask_tools", "digest_tools"])]
    pub(super) steps: Vec<String>,
    /// Replace repeated tool results with placeholders: exact, off
    #[arg(long, value_name = "HOW", value_parser = ["exact", "off"], hide_short_help = true, help_heading = "Strategies")]
    pub(super) dedupe: Option<String>,
    /// Replace images, audio and files with placeholders: keep-last, drop, keep
    ///
    /// keep-last replaces those before the last user message.
    #[arg(long, value_name = "HOW", value_parser = media, hide_short_help = true, help_heading = "Strategies")]
    pub(super) media: Option<Media>,
    /// Drop reasoning: keep-open, drop, keep
    ///
    /// keep-open drops the reasoning before the last user message.
    #[arg(long, value_name = "HOW", value_parser = thinking, hide_short_help = true, help_heading = "Strategies")]
    pub(super) thinking: Option<ThinkingOption>,
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
    pub(super) mask_tools: bool,
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
    pub(super) keep_tools: usize,
    /// With --mask-tools, keep all results of this tool (repeatable)
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Strategy settings",
        hide_short_help = true
    )]
    pub(super) exclude_tool: Vec<String>,
    /// With --mask-tools, also replace the arguments of old calls
    #[arg(long, help_heading = "Strategy settings", hide_short_help = true)]
    pub(super) mask_inputs: bool,
    /// If still over --budget: truncate-oldest, truncate-summary, error
    #[arg(long, value_name = "WHAT", default_value = "truncate-oldest", value_parser = overflow, help_heading = "Strategy settings", hide_short_help = true)]
    pub(super) overflow: Overflow,

    /// Keep an earlier summary unchanged and append to it: on, off
    ///
    /// With on, a prompt cache keeps the view up to the end of that summary. Summaries that take most of --budget
    /// together are consolidated into one.
    #[arg(long, value_name = "WHEN", default_value = "on", value_parser = ["on", "off"], hide_possible_values = true, hide_short_help = true, help_heading = "Summary")]
    pub(super) keep_prefix: String,
    /// --keep-prefix on
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "on", value_parser = ["on", "off"])]
    #[arg(hide = true, conflicts_with = "keep_prefix", help_heading = "Summary")]
    pub(super) stable: Option<String>,
    /// Never drop this message (repeatable)
    #[arg(long, value_name = "ID", help_heading = "Budget")]
    pub(super) pin: Vec<String>,
    /// Never drop the first user message
    #[arg(long, hide_short_help = true, help_heading = "Pinning")]
    pub(super) pin_first_user: bool,
    #[command(flatten)]
    pub(super) summary: SummaryArgs,
    #[command(flatten)]
    pub(super) summarizer: SummarizerArgs,
    #[command(flatten)]
    pub retry_args: RetryArgs,
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
