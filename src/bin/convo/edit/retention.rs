//! Sessions that remember by themselves: what is added to one makes room for itself, and what waits is what a summary
//! is made of.

use crate::args::Counting;
use crate::context::Context;
use crate::edit::Stamps;
use convo::error::Kind;
use convo::filter::cover::Options;
use convo::filter::{Plan, memory};
use convo::model::json;
use convo::model::memory::Overflow;
use convo::model::session::Session;
use convo::model::view::View;
use convo::tokens::Counter;

/// Whether a session's own line says what it is to remember, so that the rest of it must be read before anything is added.
pub fn is_asked_for(first_line: &[u8]) -> bool {
    json::member(first_line, "memory").is_some()
}

/// The plan of adding lines to a session, with what leaves for them.
pub fn added(
    context: &Context,
    session: &Session,
    lines: Vec<Vec<u8>>,
    told: String,
    stamps: &Stamps<'_>,
) -> convo::Result<Plan> {
    if memory::memory_of(session)?.is_none() {
        return Ok(Plan::Lines(lines, told));
    }
    let counter = Counting::default().counter(context, "", session)?;
    let remembered = memory::plan(session, lines, told, counter, |content| stamps.event(content))?;
    let (Some((tokens, most)), Plan::Lines(lines, told)) = (remembered.over, &remembered.plan) else {
        return Ok(remembered.plan);
    };
    // The newest turn stays whatever it takes.
    context.output.note_status(Kind::No);
    let told =
        format!("{told}; the view exceeds the total of the retention policy: {tokens} of {most} tokens");
    Ok(Plan::Lines(lines.clone(), told))
}

/// The same where another memory may be asked for, which then holds for what is added too.
pub fn added_with(
    context: &Context,
    session: &Session,
    asked: Option<&str>,
    lines: Vec<Vec<u8>>,
    told: String,
    stamps: &Stamps<'_>,
) -> convo::Result<Plan> {
    let configured = match asked {
        Some(asked) => memory::configure(session, asked, |content| stamps.event(content))?,
        None => None,
    };
    let Some((event, difference)) = configured else {
        return added(context, session, lines, told, stamps);
    };
    let mut session = session.clone();
    session.push_new(&event);
    let told = format!("{told}; {difference}");
    Ok(match added(context, &session, lines, told, stamps)? {
        Plan::Lines(mut lines, told) => {
            lines.insert(0, event);
            Plan::Lines(lines, told)
        }
        nothing => nothing,
    })
}

/// The plan of a summary, with what leaves for it.
pub fn summarized(
    context: &Context,
    session: &Session,
    planned: convo::Result<Plan>,
    stamps: &Stamps<'_>,
) -> convo::Result<Plan> {
    match planned? {
        Plan::Lines(lines, told) => added(context, session, lines, told, stamps),
        nothing => Ok(nothing),
    }
}

/// What is to be covered by a session's next summary: what waits for one, or why there is nothing. A session that
/// remembers nothing by itself is asked nothing.
pub fn due(session: &Session, options: &Options) -> convo::Result<Result<Options, String>> {
    let Some(memory) = memory::memory_of(session)? else {
        return Ok(Ok(options.clone()));
    };
    if options.cover.is_some() || options.budget.is_some() {
        return Ok(Ok(options.clone()));
    }
    let Some(items) = memory::due(session)? else {
        return Ok(Err("no exchange awaits a summary".to_string()));
    };
    let view = View::replay(session);
    let last = items
        .last()
        .and_then(|item| session.id(view.items[*item].line()?));
    Ok(Ok(Options {
        cover: Some([None, last]),
        keep_last: 0,
        summary_budget: Some(memory.summary),
        whatever_gain: true,
        ..options.clone()
    }))
}

/// The same for an answer that was asked for earlier.
pub fn answered(session: &Session, options: &Options) -> convo::Result<Options> {
    Ok(Options {
        whatever_gain: options.budget.is_none() && memory::memory_of(session)?.is_some(),
        ..options.clone()
    })
}

/// Whether a summary that is too long for a session is cut, and no failure.
pub fn cuts_summaries(session: &Session) -> convo::Result<bool> {
    let memory = memory::memory_of(session)?;
    Ok(memory.is_some_and(|memory| memory.overflow != Overflow::Error))
}

/// A summary in at most so many tokens, as far as anything of it can be kept.
pub fn cut(summary: &str, most: u64, counter: Counter) -> String {
    let count = |text: &str| counter.tokenizer().count(text);
    if count(summary) <= most {
        return summary.to_string();
    }
    memory::shorten(summary, most, &count).unwrap_or_else(|| summary.to_string())
}
