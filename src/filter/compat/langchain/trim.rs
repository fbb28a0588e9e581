//! `trim_messages`: keeps the longest run of messages at one end that fits, then adjusts its ends to messages of
//! given kinds.

use super::super::choice::{Precedence, ViewChanges};
use super::super::history::{CompatHistory, MeasureFn};
use super::partial::{self, TrimStrategy};
use crate::error::{Error, ErrorKind as Fault, Result};
use crate::model::message::Role;

/// The kind of message that may begin or end the kept run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// The user.
    Human,
    /// The model.
    Ai,
    /// A system or developer message.
    System,
    /// A tool's result.
    Tool,
}

impl MessageKind {
    /// Parses a kind: a langchain name or a role name.
    pub fn from_name(name: &str) -> Option<MessageKind> {
        match name {
            "human" | "user" => Some(MessageKind::Human),
            "ai" | "assistant" => Some(MessageKind::Ai),
            "system" | "developer" => Some(MessageKind::System),
            "tool" => Some(MessageKind::Tool),
            _ => None,
        }
    }

    fn of(role: Role) -> Option<MessageKind> {
        MessageKind::from_name(role.name())
    }
}

/// The options of `trim_messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LangchainTrim {
    /// `max_tokens`.
    pub max: u64,
    /// `strategy`.
    pub strategy: TrimStrategy,
    /// `start_on`; empty: any kind. Only with [`TrimStrategy::Last`].
    pub start_on: Vec<MessageKind>,
    /// `end_on`; empty: any kind.
    pub end_on: Vec<MessageKind>,
    /// `include_system`: keeps a system message at the front. Only with [`TrimStrategy::Last`].
    pub include_system: bool,
    /// `allow_partial`: may shorten the message that crosses the limit.
    pub allow_partial: bool,
}

/// Selects the messages that `trim_messages` keeps.
///
/// # Errors
///
/// Using `start_on` or `include_system` with [`TrimStrategy::First`] is wrong usage.
pub fn trim(
    history: &CompatHistory<'_>,
    options: &LangchainTrim,
    rules: Precedence,
    measure: MeasureFn<'_>,
) -> Result<ViewChanges> {
    if options.strategy == TrimStrategy::First && (options.include_system || !options.start_on.is_empty()) {
        let what = "--keep-end first conflicts with --start-on and --include-system";
        return Err(Error::new(Fault::Usage, what));
    }
    let is = |message: usize, kinds: &[MessageKind]| {
        kinds.is_empty() || MessageKind::of(history.role(message)).is_some_and(|kind| kinds.contains(&kind))
    };
    let counts = history.counts(measure);
    let mut end = history.len();
    if options.strategy == TrimStrategy::Last {
        while end > 0 && !is(end - 1, &options.end_on) {
            end -= 1;
        }
    }
    let lead = usize::from(options.include_system && end > 0 && history.is_system(0));
    let taken = history.fixed(measure) + counts[..lead].iter().sum::<u64>();
    let mut room = options.max.saturating_sub(taken);
    let mut start = lead;
    // Find the longest run that fits.
    if options.strategy == TrimStrategy::Last {
        start = end;
        while start > lead && counts[start - 1] <= room {
            start -= 1;
            room -= counts[start];
        }
    } else {
        end = counts.iter().take_while(|count| take(&mut room, **count)).count();
    }
    // Shorten the message that crosses the limit.
    let mut short = None;
    if options.allow_partial {
        let straddling = match options.strategy {
            TrimStrategy::Last => (start > lead).then(|| start - 1),
            TrimStrategy::First => (end < history.len()).then_some(end),
        };
        short = straddling.and_then(|message| {
            let line = partial::shorten(history, message, options.strategy, room, measure)?;
            Some((message, line))
        });
        if short.is_some() && options.strategy == TrimStrategy::Last {
            start -= 1;
        }
        end += usize::from(short.is_some() && options.strategy == TrimStrategy::First);
    }
    match options.strategy {
        TrimStrategy::Last => start = (start..end).find(|at| is(*at, &options.start_on)).unwrap_or(end),
        TrimStrategy::First => {
            let last = (0..end).rev().find(|at| is(*at, &options.end_on));
            end = last.map_or(0, |last| last + 1);
        }
    }
    if rules == Precedence::Convo {
        start = whole_start(history, start, end, |at| is(at, &options.start_on));
        end = whole_end(history, start, end, |at| is(at, &options.end_on));
    }
    let keeps = |message: usize| message < lead || (start..end).contains(&message);
    let mut choice = ViewChanges::keeping(history, keeps).fitting(taken <= options.max);
    if let Some((message, line)) = short.filter(|(message, _)| keeps(*message)) {
        choice.rewrite(history, message, line);
    }
    Ok(choice)
}

/// Subtracts `count` from the room if it fits.
fn take(room: &mut u64, count: u64) -> bool {
    let rest = room.checked_sub(count);
    *room = rest.unwrap_or(*room);
    rest.is_some()
}

/// Moves the start inward to a valid cut, preferably at a message of a wanted kind; if none is left, at any message.
fn whole_start(history: &CompatHistory<'_>, start: usize, end: usize, is: impl Fn(usize) -> bool) -> usize {
    if history.is_whole(start) {
        return start;
    }
    let mut places = (start..end).filter(|at| history.is_whole(*at));
    let fits = places.clone().find(|at| is(*at));
    fits.or_else(|| places.next()).unwrap_or(end)
}

/// Moves the end inward in the same way.
fn whole_end(history: &CompatHistory<'_>, start: usize, end: usize, is: impl Fn(usize) -> bool) -> usize {
    if history.is_whole(end) {
        return end;
    }
    let mut places = (start + 1..end).rev().filter(|at| history.is_whole(*at));
    let fits = places.clone().find(|at| is(*at - 1));
    fits.or_else(|| places.next()).unwrap_or(start)
}
