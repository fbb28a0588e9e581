//! Replaces old exchanges with a summary: selects the messages, builds the request for a summarizer, and creates the
//! event that inserts its answer. The summarizer runs elsewhere, so that no lock is held meanwhile:
//!
//! ```text
//! session -> ask -> Request -> (anybody) -> Answer -> apply -> session
//! ```
//!
//! The answer contains the fingerprint of the summarized messages: if they have changed, it is refused; messages
//! appended since remain in view. [`extract()`] does both steps with the built-in summarizer.
//!
//! A compaction can request its summary in the same way: [`draft()`] selects the messages and reserves tokens,
//! [`finish()`] inserts the answer.
//!
//! A new summary includes the previous one as input and replaces it; a summary never covers another one.

mod apply;
mod base_view;
mod chunks;
mod compaction;
mod event;
mod extract;
mod range;
mod reply;
mod request;
mod standing_instructions;
#[cfg(test)]
mod tests;

pub use apply::{SummaryAnswer, accept, apply};
pub use compaction::{CompactionDraft, DraftResult, draft, finish};
pub use extract::extract;
pub use reply::{ParsedAnswer, read as read_reply};
pub use request::{ChunkedRequest, PROMPT, SummaryRequestOptions};

use super::compact::trigger::TriggerExpression;
use super::summarize::{GivenRule, Instructions, SummaryStyle};
use crate::error::Result;
use crate::model::session::Session;
use crate::tokens::Counter;
use base_view::BaseView;
use request::MessagesToSummarize;

/// Default tokens of a summary (PenguiFlow's `summary_max_tokens`).
pub const BUDGET: u64 = 1000;

/// Default number of exchanges to keep.
pub const KEEP_LAST: usize = 2;

/// The reason for no change before the trigger fires.
const BELOW: &str = "below trigger";

/// The reason for no change when the saving is too small.
const NO_GAIN: &str = "no gain";

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
    /// Whether planning needs only the view and standing instructions, so that an excerpt of the log suffices.
    pub fn covers_view(&self) -> bool {
        let names = match &self.style.instructions {
            Instructions::Given(rules) => rules.iter().any(|rule| matches!(rule, GivenRule::Message(_))),
            Instructions::Auto | Instructions::Off => false,
        };
        self.rolling && !names
    }

    /// Number of exchanges that are never covered.
    fn uncovered_exchanges(&self) -> usize {
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

/// The result of [`build_request`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryRequest {
    /// Nothing to do, with the reason.
    Nothing(String),
    /// A summary is needed.
    Request(Box<ChunkedRequest>),
}

/// Builds the request for a summary.
///
/// # Errors
/// [`Kind::No`](crate::error::ErrorKind::No) if the budget cannot be reached, or if a given range is not in the view or must
/// be kept; [`Kind::Usage`](crate::error::ErrorKind::Usage) if a chunk is too small for messages.
pub fn build_request(
    session: &Session,
    counter: Counter,
    options: &SummaryOptions,
) -> Result<SummaryRequest> {
    let base_view = BaseView::of(session, options.rolling);
    let work = base_view.work(session, counter);
    Ok(match range::choose(session, &base_view, &work, options)? {
        Ok(span) => {
            let wanted = MessagesToSummarize {
                items: &span.items,
                stays: &span.is_never_dropped(),
                sha256: base_view.fingerprint(session, &span.items),
                budget: span.budget,
                whole: options.budget,
                style: &options.style,
            };
            let request = ChunkedRequest::new(session, &work, wanted, &options.request)?;
            SummaryRequest::Request(Box::new(request))
        }
        Err(why) => SummaryRequest::Nothing(why),
    })
}
