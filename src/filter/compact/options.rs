//! What a compaction is asked for.

use super::shorten::Limit;
use super::when::When;
use crate::filter::summarize::Style;
use crate::model::message::Category;
use crate::model::session::Session;

/// How levels are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Step after step, oldest first, each only as far as needed.
    Tiered,
    /// One choice for all atoms: the most that a token can say.
    #[default]
    Optimize,
}

/// What becomes of media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Media {
    /// Those of all but the newest user message become marks.
    #[default]
    KeepLast,
    /// They stay.
    Keep,
    /// All become marks.
    Drop,
}

/// What becomes of reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// What is older than the newest user message goes.
    #[default]
    KeepOpen,
    /// It stays.
    Keep,
    /// All of it goes.
    Drop,
}

/// What gives way when a summary and the newest exchanges do not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The oldest of what was to be kept.
    #[default]
    TruncateOldest,
    /// The summary.
    TruncateSummary,
    /// Nothing: it is an error.
    Error,
}

/// Which steps may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Repeated reads become marks.
    pub dedupe: bool,
    /// Media become marks.
    pub media: bool,
    /// Closed reasoning goes.
    pub thinking: bool,
    /// Long results lose their middle.
    pub head_tail: bool,
    /// Results become marks.
    pub mask: bool,
    /// Exchanges with tools become a line.
    pub digest: bool,
    /// What leaves is summed up.
    pub summary: bool,
    /// Exchanges leave.
    pub drop: bool,
}

impl Steps {
    /// All of them.
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

    /// None of them.
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

/// How results and arguments become marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    /// How many of the newest results stay.
    pub keep: usize,
    /// Tools whose results stay.
    pub exclude: Vec<String>,
    /// Whether arguments become marks too.
    pub inputs: bool,
    /// How many tokens of the newest results stay.
    pub protect: u64,
    /// Least gain in tokens; none: 2,000, or a tenth of the budget when that is less.
    pub min_gain: Option<u64>,
}

impl Mask {
    /// Whether results of a tool stay.
    pub fn excludes(&self, tool: &str) -> bool {
        self.exclude.iter().any(|excluded| excluded == tool)
    }

    /// Whether arguments of a tool's calls become marks.
    pub fn marks_arguments(&self, tool: &str) -> bool {
        self.inputs && !self.excludes(tool)
    }
}

/// A compaction.
#[derive(Clone, Debug)]
pub struct Options {
    /// Most tokens of the view afterwards.
    pub budget: Option<u64>,
    /// The model's window, for `fraction` in triggers.
    pub window: Option<u64>,
    /// When to act; none: whenever the view is over the budget.
    pub when: Option<When>,
    /// How far below the trigger the target is, per mille.
    pub hysteresis: u64,
    /// How levels are chosen.
    pub choice: Choice,
    /// The steps that may be taken.
    pub steps: Steps,
    /// Media.
    pub media: Media,
    /// Reasoning.
    pub thinking: Thinking,
    /// Longest result.
    pub tool_output: Limit,
    /// Marks of results.
    pub mask: Mask,
    /// Tools that write: what was read before is not what is read after.
    pub write_tools: Vec<String>,
    /// Exchanges that stay, as far as they fit.
    pub keep_last: Option<usize>,
    /// Categories in the order in which they leave; empty: oldest exchange first.
    pub drop_order: Vec<Category>,
    /// Shares of the budget by category, per mille.
    pub shares: Vec<(Category, u64)>,
    /// Ids of messages that stay.
    pub pins: Vec<String>,
    /// Whether the first user message stays.
    pub pin_first_user: bool,
    /// Tells the line with which begins what the model has not seen: from the exchange that reaches it everything stays.
    /// None: it has seen all up to its newest reply.
    pub unseen: fn(&Session) -> Option<usize>,
    /// What the summary is like.
    pub style: Style,
    /// The summary's share of the budget, per mille.
    pub summary_share: u64,
    /// Most tokens of the summary.
    pub summary_budget: Option<u64>,
    /// Whether somebody else writes the summary, for whom room is left; otherwise it is quoted here. [`Choice::Optimize`] chooses
    /// what is quoted, so it is for this alone.
    pub asks: bool,
    /// Whether an earlier summary stays as it is, and what leaves now is summed up behind it.
    pub keep_prefix: bool,
    /// What gives way.
    pub overflow: Overflow,
    /// Least gain, per mille, where no budget asks for more.
    pub min_gain: u64,
    /// Whether the smallest result is written when the budget cannot be reached.
    pub best_effort: bool,
    /// Whether it is tried although the last compactions followed each other closely.
    pub retry: bool,
    /// Whether triggers believe the prompt count that was reported last when it is larger.
    pub trust_usage: bool,
    /// Whether the report says what becomes of each atom, and not of the whole alone.
    pub explains: bool,
}

impl Default for Options {
    fn default() -> Options {
        let text = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Options {
            budget: None,
            window: None,
            when: None,
            hysteresis: 200,
            choice: Choice::default(),
            steps: Steps::ALL,
            media: Media::default(),
            thinking: Thinking::default(),
            // codex: 10 KiB and 256 lines.
            tool_output: Limit {
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
                "edit",
                "write",
                "patch",
                "apply_patch",
                "create",
                "delete",
                "mv",
                "rm",
            ]),
            keep_last: None,
            drop_order: Vec::new(),
            shares: Vec::new(),
            pins: Vec::new(),
            pin_first_user: false,
            unseen: |_| None,
            style: Style::default(),
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
