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
mod options;
mod range;
mod reply;
mod request;
mod standing_instructions;
#[cfg(test)]
mod tests;

pub use apply::{SummaryAnswer, accept, apply};
pub use compaction::{CompactionDraft, DraftResult, draft, finish};
pub use extract::extract;
pub use options::{BUDGET, KEEP_LAST, SummaryOptions};
pub use reply::{ParsedAnswer, read as read_reply};
pub use request::{ChunkedRequest, PROMPT, SummaryRequestOptions};

use crate::error::Result;
use crate::model::session::Session;
use crate::tokens::Counter;
use base_view::BaseView;
use request::MessagesToSummarize;

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
