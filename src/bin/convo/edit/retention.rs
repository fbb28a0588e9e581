//! Applies a session's retention policy: drops messages when some are added, and selects the backlog for summaries.

use crate::args::TokenizerArgs;
use crate::context::Context;
use crate::edit::EventIds;
use convo::error::ErrorKind;
use convo::filter::summarize_range::SummaryOptions;
use convo::filter::{Plan, retention};
use convo::model::json;
use convo::model::retention::Overflow;
use convo::model::session::Session;
use convo::model::view::View;
use convo::tokens::Counter;

/// Whether a header has a retention policy, so that the whole session must be read before an append.
pub fn is_requested(first_line: &[u8]) -> bool {
    json::member(first_line, "memory").is_some()
}

/// Plans to append lines, and the drops that they cause.
pub fn added(
    context: &Context,
    session: &Session,
    lines: Vec<Vec<u8>>,
    reported: String,
    event_ids: &EventIds<'_>,
) -> convo::Result<Plan> {
    if retention::memory_of(session)?.is_none() {
        return Ok(Plan::Lines(lines, reported));
    }
    let counter = TokenizerArgs::default().counter(context, "", session)?;
    let remembered = retention::plan(session, lines, reported, counter, |content| {
        event_ids.event(content)
    })?;
    let (Some((tokens, most)), Plan::Lines(lines, reported)) = (remembered.over, &remembered.plan) else {
        return Ok(remembered.plan);
    };
    // The newest turn is kept even if it exceeds the total.
    context.output.note_status(ErrorKind::No);
    let reported =
        format!("{reported}; the view exceeds the total of the retention policy: {tokens} of {most} tokens");
    Ok(Plan::Lines(lines.clone(), reported))
}

/// Like `added`, with a changed policy that already applies to the new lines.
pub fn added_with(
    context: &Context,
    session: &Session,
    requested: Option<&str>,
    lines: Vec<Vec<u8>>,
    reported: String,
    event_ids: &EventIds<'_>,
) -> convo::Result<Plan> {
    let configured = match requested {
        Some(requested) => retention::configure(session, requested, |content| event_ids.event(content))?,
        None => None,
    };
    let Some((event, difference)) = configured else {
        return added(context, session, lines, reported, event_ids);
    };
    let mut session = session.clone();
    session.push_new(&event);
    let reported = format!("{reported}; {difference}");
    Ok(match added(context, &session, lines, reported, event_ids)? {
        Plan::Lines(mut lines, reported) => {
            lines.insert(0, event);
            Plan::Lines(lines, reported)
        }
        nothing => nothing,
    })
}

/// Plans a summary, and the drops that it causes.
pub fn summarized(
    context: &Context,
    session: &Session,
    planned: convo::Result<Plan>,
    event_ids: &EventIds<'_>,
) -> convo::Result<Plan> {
    match planned? {
        Plan::Lines(lines, reported) => added(context, session, lines, reported, event_ids),
        nothing => Ok(nothing),
    }
}

/// Restricts the next summary to the backlog, or returns the reason why there is none. Without a retention policy,
/// the options are unchanged.
pub fn due(session: &Session, options: &SummaryOptions) -> convo::Result<Result<SummaryOptions, String>> {
    let Some(memory) = retention::memory_of(session)? else {
        return Ok(Ok(options.clone()));
    };
    if options.cover.is_some() || options.budget.is_some() {
        return Ok(Ok(options.clone()));
    }
    let Some(items) = retention::due(session)? else {
        return Ok(Err("no exchange awaits a summary".to_string()));
    };
    let view = View::replay(session);
    let last = items
        .last()
        .and_then(|item| session.id(view.items[*item].line()?));
    Ok(Ok(SummaryOptions {
        cover: Some([None, last]),
        keep_last: 0,
        summary_budget: Some(memory.summary),
        whatever_gain: true,
        ..options.clone()
    }))
}

/// The same for an answer that was requested earlier.
pub fn answered(session: &Session, options: &SummaryOptions) -> convo::Result<SummaryOptions> {
    Ok(SummaryOptions {
        whatever_gain: options.budget.is_none() && retention::memory_of(session)?.is_some(),
        ..options.clone()
    })
}

/// Whether a summary that is too long is shortened rather than rejected.
pub fn cuts_summaries(session: &Session) -> convo::Result<bool> {
    let memory = retention::memory_of(session)?;
    Ok(memory.is_some_and(|memory| memory.overflow != Overflow::Error))
}

/// Shortens a summary to at most `most` tokens, if possible.
pub fn cut(summary: &str, most: u64, counter: Counter) -> String {
    let count = |text: &str| counter.tokenizer().count(text);
    if count(summary) <= most {
        return summary.to_string();
    }
    retention::shorten(summary, most, &count).unwrap_or_else(|| summary.to_string())
}
