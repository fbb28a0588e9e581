//! Imitates PenguiFlow: a zone of newest turns, a backlog for summaries, and an overflow policy for the total.
//!
//! A turn is an exchange. Sizes follow PenguiFlow's own estimate: a quarter of the code points of its context.
//!
//! Deliberate differences under [`Rules::Convo`]:
//!
//! - the newest turn is kept unless the zone is 0; the total then counts as not met;
//! - a pass that frees nothing ends the loop; PenguiFlow would loop forever;
//! - a summary over its limit is shortened before turns are dropped, and by whole sentences;
//! - the policy `error` changes nothing.

mod payload;

use super::super::compact::event::{Fate, Summary};
use super::choice::{Choice, Rules};
use super::history::History;
use crate::error::{Error, Kind, Result};
use crate::model::json;
use std::collections::VecDeque;

pub use payload::{estimate, quoted};

/// How turns beyond the zone are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Dropped.
    Truncation,
    /// Replaced with a summary.
    RollingSummary,
}

/// How a total over the limit is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Shorten the summary once, then drop the oldest turns.
    TruncateSummary,
    /// Drop the oldest turns.
    TruncateOldest,
    /// Fail.
    Error,
}

/// The trimming options of PenguiFlow's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `strategy`.
    pub strategy: Strategy,
    /// `full_zone_turns`.
    pub zone: usize,
    /// `summary_max_tokens`.
    pub summary: u64,
    /// `total_max_tokens`; 0: no limit.
    pub total: u64,
    /// `overflow_policy`.
    pub overflow: Overflow,
    /// `include_trajectory_digest`.
    pub digests: bool,
    /// Whether the health is degraded, so turns wait for a recovery instead of a summary.
    pub degraded: bool,
}

impl Default for Options {
    /// The defaults of PenguiFlow.
    fn default() -> Self {
        Options {
            strategy: Strategy::Truncation,
            zone: 5,
            summary: 1000,
            total: 10_000,
            overflow: Overflow::TruncateOldest,
            digests: true,
            degraded: false,
        }
    }
}

impl Options {
    /// Validates the options as PenguiFlow does, and requires room for a rolling summary.
    ///
    /// # Errors
    ///
    /// The options are invalid.
    pub fn check(&self) -> Result<()> {
        let wrong = if self.total > 0 && self.summary > self.total {
            format!(
                "a summary of {} tokens [default: 1000] exceeds the total of {}",
                self.summary, self.total
            )
        } else if self.strategy == Strategy::RollingSummary && self.summary == 0 {
            "a rolling summary requires a summary of at least 1 token".to_string()
        } else {
            return Ok(());
        };
        Err(Error::new(Kind::Config, wrong))
    }
}

/// A turn as PenguiFlow defines it.
#[derive(Debug)]
struct Turn {
    messages: Vec<usize>,
    /// Size of the turn in the context, in code points.
    size: u64,
}

/// Turns by zone, each oldest first.
#[derive(Debug, Default)]
struct Memory {
    summary: String,
    pending: Zone,
    recent: Zone,
    gone: Vec<Turn>,
}

/// Turns and their total size.
#[derive(Debug, Default)]
struct Zone {
    turns: VecDeque<Turn>,
    size: u64,
}

impl Zone {
    fn push(&mut self, turn: Turn) {
        self.size += turn.size;
        self.turns.push_back(turn);
    }

    fn pop(&mut self) -> Option<Turn> {
        let oldest = self.turns.pop_front()?;
        self.size -= oldest.size;
        Some(oldest)
    }

    fn retain(&mut self, stays: impl Fn(&Turn) -> bool) {
        self.turns.retain(stays);
        self.size = self.turns.iter().map(|turn| turn.size).sum();
    }

    fn list(&self) -> payload::List {
        payload::List {
            turns: self.turns.len() as u64,
            size: self.size,
        }
    }
}

/// Trims a history as PenguiFlow does. `shorten` limits a summary to a number of PenguiFlow's tokens.
///
/// # Errors
///
/// See [`Options::check`].
pub fn trim(
    history: &History<'_>,
    options: &Options,
    rules: Rules,
    shorten: &dyn Fn(&str, u64) -> String,
) -> Result<Choice> {
    options.check()?;
    let before = history.summaries().last();
    let mut memory = Memory {
        summary: before
            .as_ref()
            .map_or(String::new(), |(_, text)| text.to_string()),
        ..Memory::default()
    };
    memory.read(history, options.digests);
    let shown = options.strategy == Strategy::RollingSummary && !options.degraded;
    while memory.recent.turns.len() > options.zone {
        let Some(oldest) = memory.recent.pop() else {
            break;
        };
        match options.strategy {
            Strategy::Truncation => memory.gone.push(oldest),
            Strategy::RollingSummary if !options.degraded => memory.pending.push(oldest),
            Strategy::RollingSummary => {} // kept in the backlog
        }
    }
    let Some(fits) = memory.enforce(options, shown, rules, shorten) else {
        return Ok(Choice::unchanged(history).fitting(false));
    };
    let mut choice = Choice::unchanged(history).fitting(fits);
    let items = |turn: &Turn| {
        turn.messages
            .iter()
            .map(|at| history.item(*at))
            .collect::<Vec<_>>()
    };
    for item in memory.gone.iter().flat_map(items) {
        choice.reshaping.fates[item] = Fate::Goes;
    }
    if shown {
        choice.summarised = memory.pending.turns.iter().flat_map(items).collect();
        choice.summarised.sort_unstable();
        for item in &choice.summarised {
            choice.reshaping.fates[*item] = Fate::Goes;
        }
    }
    if let Some((item, _)) = before.filter(|(_, text)| *text != memory.summary) {
        choice.reshaping.fates[item] = Fate::Goes;
        choice.reshaping.summary = (!memory.summary.is_empty()).then(|| Summary {
            before: item,
            content: memory.summary,
            covers: vec![item],
            by: "extract".to_string(),
            role: None,
        });
    }
    Ok(choice)
}

/// The maximum size of a summary in code points (see [`quoted`]), given the kept turns: the smaller of its own limit
/// and what the total leaves.
pub fn room(history: &History<'_>, options: &Options, choice: &Choice) -> u64 {
    let mut memory = Memory::default();
    memory.read(history, options.digests);
    let stays = |turn: &Turn| turn.messages.iter().any(|at| !choice.goes(history.item(*at)));
    memory.recent.retain(stays);
    let own = options.summary.saturating_mul(4).saturating_add(1);
    match options.total {
        0 => own,
        total => own.min(payload::room(memory.recent.list(), total)),
    }
}

impl Memory {
    /// Assigns each turn to the zone in its metadata, and skips turns in the backlog.
    fn read(&mut self, history: &History<'_>, digests: bool) {
        let mut starts = history.exchanges();
        starts.push(history.len());
        for range in starts.windows(2) {
            let messages: Vec<usize> = (range[0]..range[1])
                .filter(|at| history.atom(*at).is_some())
                .collect();
            let zone = messages.iter().rev().find_map(|at| {
                let metadata = json::member(history.message(*at)?.metadata?, "penguiflow")?;
                json::member(metadata, "zone")
                    .and_then(json::text)
                    .map(|zone| zone.into_owned())
            });
            let size = payload::turn(history, &messages, digests);
            let turn = Turn { messages, size };
            match zone.as_deref() {
                Some("backlog") => {}
                Some("pending") => self.pending.push(turn),
                _ => self.recent.push(turn),
            }
        }
    }

    /// Estimates the context size; `shown` includes pending turns and the summary.
    fn estimate(&self, shown: bool, summary: u64) -> u64 {
        let pending = if shown {
            self.pending.list()
        } else {
            payload::List::default()
        };
        payload::context(self.recent.list(), pending, if shown { summary } else { 0 })
    }

    /// Drops turns until the total is met. Returns none if the policy is `error`, else whether the total is met.
    fn enforce(
        &mut self,
        options: &Options,
        shown: bool,
        rules: Rules,
        shorten: &dyn Fn(&str, u64) -> String,
    ) -> Option<bool> {
        let floor = usize::from(rules == Rules::Convo && options.zone > 0);
        let mut may_shorten = shown
            && match options.overflow {
                Overflow::TruncateSummary => true,
                Overflow::TruncateOldest => rules == Rules::Convo,
                Overflow::Error => false,
            };
        let spelled = |summary: &str| {
            if summary.is_empty() {
                0
            } else {
                payload::quoted(summary)
            }
        };
        let mut summary = spelled(&self.summary);
        let mut size = self.estimate(shown, summary);
        while options.total > 0 && size > options.total {
            if options.overflow == Overflow::Error {
                return None;
            }
            if may_shorten && payload::estimate(&self.summary) > options.summary {
                let shorter = shorten(&self.summary, options.summary);
                if shorter.len() < self.summary.len() {
                    self.summary = shorter;
                    summary = spelled(&self.summary);
                }
                may_shorten = false;
            } else if shown && let Some(oldest) = self.pending.pop() {
                self.gone.push(oldest);
            } else if self.recent.turns.len() > floor
                && let Some(oldest) = self.recent.pop()
            {
                self.gone.push(oldest);
            } else {
                let without = self.estimate(shown, 0);
                // Clear the summary only if that helps.
                if shown && (rules == Rules::Theirs || without <= options.total) {
                    self.summary.clear();
                    size = without;
                }
                break;
            }
            size = self.estimate(shown, summary);
        }
        Some(options.total == 0 || size <= options.total)
    }
}
