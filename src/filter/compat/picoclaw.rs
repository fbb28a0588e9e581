//! Imitates PicoClaw: its cuts for a summary, a forced compression and a window, and its history sanitizer. Its
//! summary is in a sidecar file, so it is not a message here.
//!
//! Deliberate differences under [`Precedence::Convo`]:
//!
//! - system messages keep their places;
//! - the newest exchange is kept where PicoClaw would keep nothing, and the window then counts as not met; pending
//!   calls are kept too;
//! - a cut between a call and its result moves: outward without a limit, else inward.

use super::choice::{Precedence, ViewChanges};
use super::history::{CompatHistory, MeasureFn};
use crate::model::message::Role;
use std::collections::{HashMap, HashSet};

/// How PicoClaw shortens a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PicoclawCut {
    /// Summarize all but about the last four messages.
    Summarise,
    /// Drop the older half.
    Force,
    /// Drop the oldest turns until the rest fits.
    Window(u64),
}

/// The indexes of the user messages.
fn turn_starts(history: &CompatHistory<'_>) -> Vec<usize> {
    (0..history.len())
        .filter(|at| history.role(*at) == Role::User)
        .collect()
}

/// The safe boundary nearest to a target: the last turn start at or before the target, else the first after it.
fn boundary(starts: &[usize], length: usize, target: usize) -> usize {
    if target == 0 || target >= length || starts.is_empty() {
        return target.min(length);
    }
    let after = starts.partition_point(|start| *start <= target);
    let before = starts[..after].last().copied().filter(|start| *start > 0);
    before.or_else(|| starts.get(after).copied()).unwrap_or(0)
}

/// Cuts a history as PicoClaw does. `measure` should be its own estimate, the tokenizer `picoclaw`.
pub fn cut(
    history: &CompatHistory<'_>,
    cut: PicoclawCut,
    rules: Precedence,
    measure: MeasureFn<'_>,
) -> ViewChanges {
    let length = history.len();
    let starts = turn_starts(history);
    let counts = history.counts(measure);
    let (start, only) = match cut {
        PicoclawCut::Summarise if length <= 4 => (0, None),
        PicoclawCut::Summarise => (boundary(&starts, length, length - 4), None),
        PicoclawCut::Force if length <= 2 => (0, None),
        PicoclawCut::Force => {
            let half = match starts.len() {
                0 | 1 => boundary(&starts, length, length / 2),
                turns => starts[turns / 2],
            };
            match (half, starts.last()) {
                (0, Some(last)) => (*last, Some(*last)),
                (0, None) => (length, None),
                (half, _) => (half, None),
            }
        }
        PicoclawCut::Window(window) if rules == Precedence::Theirs => (fit(&counts, &starts, window), None),
        PicoclawCut::Window(window) => {
            // Instructions are kept, so they always count.
            let stays = |at: usize| if history.is_rule(at) { counts[at] } else { 0 };
            let rules: u64 = (0..length).map(stays).sum();
            let rest: Vec<u64> = (0..length).map(|at| counts[at] - stays(at)).collect();
            (fit(&rest, &starts, window.saturating_sub(rules)), None)
        }
    };
    let theirs = |message: usize| message >= start && only.is_none_or(|only| message == only);
    let choice = match rules {
        Precedence::Theirs => ViewChanges::keeping(history, theirs),
        Precedence::Convo => {
            let start = valid_cut(history, &starts, start, cut);
            let pending = history.pending();
            let keeps = |message: usize| {
                let within = message >= start && only.is_none_or(|only| message == only);
                within || history.is_rule(message) || pending[message]
            };
            ViewChanges::keeping(history, keeps)
        }
    };
    match cut {
        PicoclawCut::Summarise => choice.summarising(),
        PicoclawCut::Force => choice,
        PicoclawCut::Window(window) => {
            let kept = (0..length).filter(|message| !choice.is_dropped(history.item(*message)));
            let total = kept.map(|message| counts[message]).sum::<u64>();
            choice.fitting(total <= window)
        }
    }
}

/// Drops the oldest turns until the rest fits; if no later turn can begin the rest, drops everything.
fn fit(counts: &[u64], starts: &[usize], window: u64) -> usize {
    let mut total: u64 = counts.iter().sum();
    let mut start = 0;
    // A history that does not start with a turn loses its first turn too, unless that is the only one.
    let later = if starts.len() > 1 { &starts[1..] } else { starts };
    let mut next = later.iter().copied().filter(|start| *start > 0);
    while total > window {
        let to = next.next().unwrap_or(counts.len());
        total -= counts[start..to].iter().sum::<u64>();
        start = to;
        if start == counts.len() {
            break;
        }
    }
    start
}

/// Moves PicoClaw's cut to a valid one that keeps the newest exchange.
fn valid_cut(history: &CompatHistory<'_>, starts: &[usize], start: usize, cut: PicoclawCut) -> usize {
    let newest = history.exchanges().last().copied().unwrap_or(0);
    let last = starts.last().copied().unwrap_or(newest);
    let start = match cut {
        PicoclawCut::Window(_) => history.inward(start),
        PicoclawCut::Summarise | PicoclawCut::Force => history.outward(start),
    };
    // A turn may begin inside an exchange, because consecutive user messages form one exchange.
    let bound = if history.is_whole(last) {
        last.max(newest)
    } else {
        newest
    };
    start.min(bound)
}

/// Selects the messages that PicoClaw's sanitizer keeps, in two passes. The first drops, in order, system messages,
/// results without an open call, and calls that follow neither a user message nor a result. The second keeps the
/// first result of each call and drops callers with an unanswered call or a call without id, with their results.
/// System messages are kept under [`Precedence::Convo`].
pub fn sanitise(history: &CompatHistory<'_>, rules: Precedence) -> ViewChanges {
    let mut sound: Vec<usize> = Vec::new();
    let mut caller_open = false;
    for at in 0..history.len() {
        let keep = match history.role(at) {
            Role::System | Role::Developer => false,
            Role::Tool => caller_open,
            Role::Assistant if history.calls(at) => sound
                .last()
                .is_some_and(|before| matches!(history.role(*before), Role::User | Role::Tool)),
            _ => true,
        };
        if keep {
            if history.role(at) != Role::Tool {
                caller_open = history.role(at) == Role::Assistant && history.calls(at);
            }
            sound.push(at);
        }
    }
    let mut keeps = HashSet::new();
    let mut index = 0;
    while let Some(at) = sound.get(index).copied() {
        index += 1;
        if history.role(at) != Role::Tool && !(history.role(at) == Role::Assistant && history.calls(at)) {
            keeps.insert(at);
            continue;
        }
        if history.role(at) == Role::Tool {
            continue;
        }
        let block = sound[index..].iter().copied();
        let results: Vec<usize> = block.take_while(|at| history.role(*at) == Role::Tool).collect();
        index += results.len();
        let calls = history
            .message(at)
            .map(|message| message.tool_calls())
            .unwrap_or_default();
        let mut open: HashMap<String, Option<usize>> = calls
            .iter()
            .map(|call| (call.id.clone().into_owned(), None))
            .collect();
        for result in results {
            let id = history
                .message(result)
                .and_then(|message| message.tool_call_id().map(Into::into));
            if let Some(first @ None) = id.and_then(|id: String| open.get_mut(&id)) {
                *first = Some(result);
            }
        }
        if open.iter().all(|(id, result)| !id.is_empty() && result.is_some()) {
            keeps.insert(at);
            keeps.extend(open.into_values().flatten());
        }
    }
    ViewChanges::keeping(history, |at| {
        keeps.contains(&at) || (rules == Precedence::Convo && history.is_rule(at))
    })
}
