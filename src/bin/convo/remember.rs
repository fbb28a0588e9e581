//! Sessions that remember by themselves: what is added to one makes room for itself.

use crate::args::Counting;
use crate::change::Stamps;
use crate::context::Context;
use convo::error::Kind;
use convo::filter::{Plan, memory};
use convo::model::json;
use convo::model::session::Session;

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
    let told = format!("{told}; over the total: {tokens} tokens of {most}");
    Ok(Plan::Lines(lines.clone(), told))
}
