//! Options of a compaction.

use super::head_tail::TextLimit;
use super::trigger::TriggerExpression;
use crate::filter::summarize::SummaryStyle;
use crate::model::message::Category;
use crate::model::named_enum::named_enum;
use crate::model::retention::Overflow;
use crate::model::session::Session;

/// The algorithm that chooses levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelAlgorithm {
    /// Step after step, oldest messages first, each step only as far as needed.
    Tiered,
    /// One choice for all message groups: the most information per token.
    #[default]
    Optimize,
}

named_enum! {
    /// The treatment of media.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Media {
        /// Replace media with placeholders, except in the newest user message.
        #[default]
        KeepLast = "keep-last",
        /// Keep all media.
        Keep = "keep",
        /// Replace all media with placeholders.
        Drop = "drop",
    }
}

named_enum! {
    /// The treatment of reasoning.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ThinkingOption {
        /// Remove reasoning older than the newest user message.
        #[default]
        KeepOpen = "keep-open",
        /// Keep all reasoning.
        Keep = "keep",
        /// Remove all reasoning.
        Drop = "drop",
    }
}

/// The steps that a compaction may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Replace repeated reads with placeholders.
    pub dedupe: bool,
    /// Replace media with placeholders.
    pub media: bool,
    /// Remove closed reasoning.
    pub thinking: bool,
    /// Remove the middle of long results.
    pub head_tail: bool,
    /// Replace results with placeholders.
    pub mask: bool,
    /// Replace exchanges that call tools with digests.
    pub digest: bool,
    /// Summarize dropped messages.
    pub summary: bool,
    /// Drop exchanges.
    pub drop: bool,
}

impl Steps {
    /// All steps.
    pub const ALL: Steps = Steps {
        dedupe: true,
        media: true,
        thinking: true,
        head_tail: true,
        mask: true,
        digest: true,
        summary: true,
        drop: true,
    };

    /// No steps.
    pub const NONE: Steps = Steps {
        dedupe: false,
        media: false,
        thinking: false,
        head_tail: false,
        mask: false,
        digest: false,
        summary: false,
        drop: false,
    };
}

/// How to replace results and arguments with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    /// The number of newest results to keep.
    pub keep: usize,
    /// Tools whose results are kept.
    pub exclude: Vec<String>,
    /// Whether to replace arguments too.
    pub inputs: bool,
    /// Keep the newest results up to this many tokens.
    pub protect: u64,
    /// Least gain in tokens; none: 2,000, or a tenth of the budget if that is less.
    pub min_gain: Option<u64>,
}

impl Mask {
    /// Whether results of a tool are kept.
    pub fn excludes(&self, tool: &str) -> bool {
        self.exclude.iter().any(|excluded| excluded == tool)
    }

    /// Whether to replace arguments of a tool's calls with placeholders.
    pub fn marks_arguments(&self, tool: &str) -> bool {
        self.inputs && !self.excludes(tool)
    }
}

/// The options of one compaction.
#[derive(Clone, Debug)]
pub struct CompactOptions {
    /// Most tokens of the view afterwards.
    pub budget: Option<u64>,
    /// The context window of the model, for `fraction` in triggers.
    pub window: Option<u64>,
    /// The trigger; none: compact whenever the view exceeds the budget.
    pub when: Option<TriggerExpression>,
    /// How far below the trigger the target is, per mille.
    pub hysteresis: u64,
    /// The algorithm that chooses levels.
    pub choice: LevelAlgorithm,
    /// The steps that may be taken.
    pub steps: Steps,
    /// The treatment of media.
    pub media: Media,
    /// The treatment of reasoning.
    pub thinking: ThinkingOption,
    /// The limit of a tool result.
    pub tool_output: TextLimit,
    /// Placeholders of results.
    pub mask: Mask,
    /// Tools that write: a read before a write is not repeated by a read after it.
    pub write_tools: Vec<String>,
    /// The number of newest exchanges to keep, as far as they fit.
    pub keep_last: Option<usize>,
    /// Categories in the order in which they are dropped; empty: oldest exchange first.
    pub drop_order: Vec<Category>,
    /// Shares of the budget by category, per mille.
    pub shares: Vec<(Category, u64)>,
    /// Ids of pinned messages.
    pub pins: Vec<String>,
    /// Whether the first user message is pinned.
    pub pin_first_user: bool,
    /// Finds the first line that the model has not seen; keeps everything from the exchange that contains this line.
    /// None: the model has seen all messages up to its newest reply.
    pub unseen: fn(&Session) -> Option<usize>,
    /// The style of the summary.
    pub style: SummaryStyle,
    /// The summary's share of the budget, per mille.
    pub summary_share: u64,
    /// Most tokens of the summary.
    pub summary_budget: Option<u64>,
    /// Whether an external summarizer writes the summary, so that tokens are reserved for it; otherwise convo quotes
    /// messages. [`LevelAlgorithm::Optimize`] chooses the quotes, so it is only for the latter.
    pub asks: bool,
    /// Whether to keep an earlier summary unchanged and append a summary of the messages dropped now.
    pub keep_prefix: bool,
    /// What to reduce on overflow.
    pub overflow: Overflow,
    /// Least gain, per mille, if no budget requires more.
    pub min_gain: u64,
    /// Whether to write the smallest result if the budget is unreachable.
    pub best_effort: bool,
    /// Whether to compact even if the last compactions followed each other closely.
    pub retry: bool,
    /// Whether triggers use the last reported prompt token count if it is larger.
    pub trust_usage: bool,
    /// Whether the report says what becomes of each atom, and not of the whole alone.
    pub explains: bool,
}

impl Default for CompactOptions {
    fn default() -> CompactOptions {
        let text = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        CompactOptions {
            budget: None,
            window: None,
            when: None,
            hysteresis: 200,
            choice: LevelAlgorithm::default(),
            steps: Steps::ALL,
            media: Media::default(),
            thinking: ThinkingOption::default(),
            // codex: 10 KiB and 256 lines.
            tool_output: TextLimit {
                bytes: 10_240,
                lines: 256,
            },
            mask: Mask {
                keep: 3,
                exclude: Vec::new(),
                inputs: false,
                protect: 0,
                min_gain: None,
            },
            write_tools: text(&[
                "edit", "write", "patch", "apply_patch", "create", "delete", "mv", "rm",
            ]),
            keep_last: None,
            drop_order: Vec::new(),
            shares: Vec::new(),
            pins: Vec::new(),
            pin_first_user: false,
            unseen: |_| None,
            style: SummaryStyle::default(),
            summary_share: 250,
            summary_budget: None,
            asks: false,
            keep_prefix: true,
            overflow: Overflow::default(),
            min_gain: 100,
            best_effort: false,
            retry: false,
            trust_usage: false,
            explains: true,
        }
    }
}
