//! Summarizes with the built-in summarizer in a single step.

use super::super::compact::state::{CompactionState, summary_cost};
use super::super::compact::summary::{self, summary_of_span};
use super::super::compact::{NO_GAIN, digest};
use super::super::{Plan, Stamp, summarize};
use super::base_view::BaseView;
use super::event::{RangeSummary, plan};
use super::options::SummaryOptions;
use super::range::{self, CoveredRange};
use super::standing_instructions;
use crate::error::{Error, ErrorKind, Result};
use crate::model::session::Session;
use crate::tokens::Counter;

/// The author name of the built-in summarizer.
pub const BY: &str = "extract";

/// Plans a summary by the built-in summarizer. If no shorter text is possible, nothing changes.
///
/// # Errors
/// See [`ask`](super::build_request).
pub fn extract(
    session: &Session,
    counter: Counter,
    options: &SummaryOptions,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Plan> {
    let base_view = BaseView::of(session, options.rolling);
    let work = base_view.work(session, counter);
    let chosen = match range::choose(session, &base_view, &work, options)? {
        Ok(chosen) => chosen,
        Err(why) => return Ok(Plan::Nothing(why)),
    };
    let previous = work
        .summary_item
        .and_then(|at| Some((at, work.view.items[at].summary(session)?)));
    let budget = match (options.summary_budget, options.budget) {
        (None, None) => {
            let previous = previous.as_ref().map(|(_, text)| text.as_ref());
            share(&work, &chosen, previous, options)?
        }
        _ => chosen.budget,
    };
    let span = summary::SummarySpan {
        covered: &chosen.items,
        before: previous.as_ref().map(|(at, text)| (*at, text.as_ref())),
        stays: &chosen.is_never_dropped(),
        room: budget + summary_cost(counter, ""),
        whole: Some(options.budget.unwrap_or(chosen.budget)),
        must_shrink: true,
        further: false,
    };
    let found = summary_of_span(&work, &options.style, &span);
    // A due summary is always written; the retention policy shortens it if it is too long.
    let longer = summary::SummarySpan {
        room: span.room.max(summary::UNBOUND),
        must_shrink: false,
        ..span
    };
    let found = found.or_else(|| {
        options
            .whatever_gain
            .then(|| summary_of_span(&work, &options.style, &longer))?
    });
    let content = match found {
        Some((built, _)) => built.content,
        None if options.whatever_gain => {
            digest_of(&work, &chosen, previous.as_ref().map(|(_, text)| text.as_ref()))
        }
        None => return no_shorter_text(options, budget),
    };
    let written = RangeSummary {
        items: &chosen.items,
        content: &content,
        by: BY,
        sha256: base_view.fingerprint(session, &chosen.items),
    };
    match plan(session, &base_view, &work, &written, options, stamp) {
        Err(error) if error.kind == ErrorKind::Unavailable => no_shorter_text(options, budget),
        planned => planned,
    }
}

/// Appends a generated line to the previous summary, for messages without quotable text.
fn digest_of(work: &CompactionState<'_>, span: &CoveredRange, previous: Option<&str>) -> String {
    let items = span.items.iter();
    let messages: Vec<_> = items
        .filter_map(|at| work.view.items[*at].message(work.session))
        .collect();
    let line = digest::exchange(&messages, &[]);
    match previous {
        Some(previous) => format!("{previous}\n{line}"),
        None => line,
    }
}

/// The default budget: a quarter of the covered tokens, plus the standing instructions.
fn share(
    work: &CompactionState<'_>,
    span: &CoveredRange,
    previous: Option<&str>,
    options: &SummaryOptions,
) -> Result<u64> {
    let before = work.summary_item.map_or(0, |at| work.items[at].now);
    let covered: u64 = span.items.iter().map(|at| work.items[*at].now).sum::<u64>() + before;
    let most = summary::share(options.style.instruction_share, options.budget, span.budget);
    let room = (span.budget, most);
    let pins = standing_instructions::pins(work, &span.is_never_dropped(), room, previous, &options.style)?;
    let kept = work
        .counter
        .tokenizer()
        .count(&summarize::instruction_block(&pins));
    Ok((covered / QUOTED + kept).clamp(summary::MINIMUM, span.budget))
}

/// The covered tokens are divided by this number.
const QUOTED: u64 = 4;

/// The result if no shorter text is possible: no change, or an error if there is a budget.
fn no_shorter_text(options: &SummaryOptions, room: u64) -> Result<Plan> {
    match options.budget {
        None => Ok(Plan::Nothing(NO_GAIN.to_string())),
        Some(budget) => {
            let what =
                format!("a budget of {budget} tokens leaves {room} for the summary, which is too small");
            let hint = "lower --keep-last, or use: convo compact";
            Err(Error::new(ErrorKind::No, what).hint(hint))
        }
    }
}
