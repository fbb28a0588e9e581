//! `SummarizationMiddleware`: computes the cut between summarized and kept messages.

use super::super::choice::{Precedence, ViewChanges};
use super::super::history::{CompatHistory, MeasureFn};
use crate::error::{Error, Result};
use crate::model::message::Role;
use std::collections::HashSet;

/// How many messages to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepLimit {
    /// At least this many of the newest messages.
    Messages(usize),
    /// The longest run of newest messages within this size, but at least one message.
    Tokens(u64),
}

/// Selects the messages that `SummarizationMiddleware` summarizes: everything before its cut except instructions.
///
/// # Errors
///
/// Keeping nothing is wrong usage.
pub fn summarization(
    history: &CompatHistory<'_>,
    keep: KeepLimit,
    rules: Precedence,
    measure: MeasureFn<'_>,
) -> Result<ViewChanges> {
    let cut = match keep {
        KeepLimit::Messages(0) | KeepLimit::Tokens(0) => {
            return Err(Error::usage("expected at least 1 message or token to keep"));
        }
        KeepLimit::Messages(messages) => history.len().saturating_sub(messages),
        KeepLimit::Tokens(tokens) => by_tokens(&history.counts(measure), tokens),
    };
    let mut cut = with_owner(history, cut);
    if rules == Precedence::Convo {
        cut = history.outward(cut);
    }
    let goes = |message: usize| message < cut && !(rules == Precedence::Convo && history.is_rule(message));
    Ok(ViewChanges::keeping(history, |message| !goes(message)).summarising())
}

fn by_tokens(counts: &[u64], tokens: u64) -> usize {
    let mut cut = counts.len();
    let mut room = tokens;
    while let Some(rest) = cut.checked_sub(1).and_then(|at| room.checked_sub(counts[at])) {
        (cut, room) = (cut - 1, rest);
    }
    cut.min(counts.len().saturating_sub(1))
}

/// Moves a cut at a tool result to the assistant message that made the call, or else after the results.
fn with_owner(history: &CompatHistory<'_>, cut: usize) -> usize {
    let is_result = |at: &usize| history.role(*at) == Role::Tool;
    let run = (cut..history.len()).take_while(is_result);
    let answered: HashSet<String> = run
        .clone()
        .filter_map(|at| Some(history.message(at)?.tool_call_id()?.into_owned()))
        .collect();
    let length = run.count();
    if length == 0 {
        return cut;
    }
    let owns = |at: &usize| {
        let calls = history.message(*at).map(|message| message.tool_calls());
        calls.is_some_and(|calls| calls.iter().any(|call| answered.contains(call.id.as_ref())))
    };
    let callers = (0..cut).rev().filter(|at| history.calls(*at));
    callers.into_iter().find(owns).unwrap_or(cut + length)
}
