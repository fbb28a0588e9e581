//! Summarizes with the built-in summarizer in a single step.

use super::super::compact::digest;
use super::super::compact::summary::{self, made};
use super::super::compact::work::{Work, summary_cost};
use super::super::{Plan, Stamp, summarize};
use super::event::{Written, plan};
use super::ground::Ground;
use super::span::{self, Span};
use super::{NO_GAIN, Options, pins};
use crate::error::{Error, Kind, Result};
use crate::model::session::Session;
use crate::tokens::Counter;

/// The author name of the built-in summarizer.
pub const BY: &str = "extract";

/// Plans a summary by the built-in summarizer. If no shorter text is possible, nothing changes.
///
/// # Errors
/// See [`ask`](super::ask).
pub fn extract(
    session: &Session,
    counter: Counter,
    options: &Options,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Plan> {
    let ground = Ground::of(session, options.rolling);
    let work = ground.work(session, counter);
    let chosen = match span::choose(session, &ground, &work, options)? {
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
    let span = summary::Span {
        covered: &chosen.items,
        before: previous.as_ref().map(|(at, text)| (*at, text.as_ref())),
        stays: &chosen.stays(),
        room: budget + summary_cost(counter, ""),
        whole: Some(options.budget.unwrap_or(chosen.budget)),
        must_shrink: true,
        further: false,
    };
    let found = made(&work, &options.style, &span);
    // A due summary is always written; the retention policy shortens it if it is too long.
    let longer = summary::Span {
        room: span.room.max(summary::UNBOUND),
        must_shrink: false,
        ..span
    };
    let found = found.or_else(|| {
        options
            .whatever_gain
            .then(|| made(&work, &options.style, &longer))?
    });
    let content = match found {
        Some((made, _)) => made.content,
        None if options.whatever_gain => {
            digest_of(&work, &chosen, previous.as_ref().map(|(_, text)| text.as_ref()))
        }
        None => return nothing(options, budget),
    };
    let written = Written {
        items: &chosen.items,
        content: &content,
        by: BY,
        sha256: ground.fingerprint(session, &chosen.items),
    };
    match plan(session, &ground, &work, &written, options, stamp) {
        Err(error) if error.kind == Kind::Unavailable => nothing(options, budget),
        planned => planned,
    }
}

/// Appends a generated line to the previous summary, for messages without quotable text.
fn digest_of(work: &Work<'_>, span: &Span, previous: Option<&str>) -> String {
    let items = span.items.iter();
    let messages: Vec<_> = items
        .filter_map(|at| work.view.items[*at].message(work.session))
        .collect();
    let line = digest::exchange(&messages);
    match previous {
        Some(previous) => format!("{previous}\n{line}"),
        None => line,
    }
}

/// The default budget: a quarter of the covered tokens, plus the standing instructions.
fn share(work: &Work<'_>, span: &Span, previous: Option<&str>, options: &Options) -> Result<u64> {
    let before = work.summary_item.map_or(0, |at| work.items[at].now);
    let covered: u64 = span.items.iter().map(|at| work.items[*at].now).sum::<u64>() + before;
    let most = summary::share(options.style.instruction_share, options.budget, span.budget);
    let room = (span.budget, most);
    let pins = pins::pins(work, &span.stays(), room, previous, options)?;
    let kept = work
        .counter
        .tokenizer()
        .count(&summarize::instruction_block(&pins));
    Ok((covered / QUOTED + kept).clamp(summary::LEAST, span.budget))
}

/// The covered tokens are divided by this number.
const QUOTED: u64 = 4;

/// The result if no shorter text is possible: no change, or an error if there is a budget.
fn nothing(options: &Options, room: u64) -> Result<Plan> {
    match options.budget {
        None => Ok(Plan::Nothing(NO_GAIN.to_string())),
        Some(budget) => {
            let what =
                format!("a budget of {budget} tokens leaves {room} for the summary, which is too small");
            let hint = "lower --keep-last, or use: convo compact";
            Err(Error::new(Kind::No, what).hint(hint))
        }
    }
}
