//! Options of a summary of a range.

use super::request::SummaryRequestOptions;
use crate::filter::compact::trigger::TriggerExpression;
use crate::filter::summarize::{GivenRule, Instructions, SummaryStyle};
use crate::model::session::Session;

/// Default tokens of a summary (PenguiFlow's `summary_max_tokens`).
pub const BUDGET: u64 = 1000;

/// Default number of exchanges to keep.
pub const KEEP_LAST: usize = 2;

/// What to summarize, and how.
#[derive(Clone, Debug)]
pub struct SummaryOptions {
    /// Maximum tokens of the resulting view; none: summarize everything that can be.
    pub budget: Option<u64>,
    /// The context window of the model, for `fraction` in triggers.
    pub window: Option<u64>,
    /// The trigger; none: summarize whenever possible.
    pub when: Option<TriggerExpression>,
    /// Newest exchanges to keep, at least one.
    pub keep_last: usize,
    /// Returns the line of the first message that the model has not seen: its exchange and all later ones are kept.
    pub unseen: fn(&Session) -> Option<usize>,
    /// Maximum share of the messages to cover, per mille, but at least one exchange; none: unlimited.
    pub share: Option<u64>,
    /// First and last message to cover, either of them open; none: the oldest exchanges.
    pub cover: Option<[Option<String>; 2]>,
    /// Whether the previous summary is input. Otherwise its messages are summarized again, as far as the log contains
    /// them.
    pub rolling: bool,
    /// Maximum tokens of the text; none: [`BUDGET`], or a share of the covered tokens for the built-in summarizer.
    pub summary_budget: Option<u64>,
    /// Minimum saving, per mille of the view, unless the budget requires more.
    pub min_gain: u64,
    /// Whether to summarize regardless of the saving, including the newest exchange: a retention policy counts
    /// exchanges.
    pub whatever_gain: bool,
    /// How to ask an external summarizer.
    pub request: SummaryRequestOptions,
    /// The style of the summary. External summarizers do not get its date setting.
    pub style: SummaryStyle,
}

impl Default for SummaryOptions {
    fn default() -> SummaryOptions {
        SummaryOptions {
            budget: None,
            window: None,
            when: None,
            keep_last: KEEP_LAST,
            share: None,
            unseen: |_| None,
            cover: None,
            rolling: true,
            summary_budget: None,
            min_gain: 100,
            whatever_gain: false,
            request: SummaryRequestOptions::default(),
            style: SummaryStyle::default(),
        }
    }
}

impl SummaryOptions {
    /// Whether planning needs only the view and standing instructions, so that a partial session of the log suffices.
    pub fn covers_view(&self) -> bool {
        let names = match &self.style.instructions {
            Instructions::Given(rules) => rules.iter().any(|rule| matches!(rule, GivenRule::Message(_))),
            Instructions::Auto | Instructions::Off => false,
        };
        self.rolling && !names
    }

    /// Number of exchanges that are never covered.
    pub(super) fn uncovered_exchanges(&self) -> usize {
        match self.whatever_gain {
            true => self.keep_last,
            false => self.keep_last.max(1),
        }
    }

    /// Maximum tokens of the summary's text.
    pub fn maximum_tokens(&self) -> u64 {
        self.summary_budget.unwrap_or(BUDGET)
    }
}
