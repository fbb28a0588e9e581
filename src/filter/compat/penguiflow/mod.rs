//! Imitates PenguiFlow: a zone of newest turns, a backlog for summaries, and an overflow policy for the total.
//!
//! A turn is an exchange. Sizes follow PenguiFlow's own estimate: a quarter of the code points of its context.
//!
//! Deliberate differences under [`Precedence::Convo`]:
//!
//! - the newest turn is kept unless the zone is 0; the total then counts as not met;
//! - a pass that frees nothing ends the loop; PenguiFlow would loop forever;
//! - a summary over its limit is shortened before turns are dropped, and by whole sentences;
//! - the policy `error` changes nothing.

mod payload;

use super::super::compact::event::{InsertedSummary, ItemChange};
use super::choice::{Precedence, ViewChanges};
use super::history::CompatHistory;
use crate::error::{Error, ErrorKind, Result};
use crate::filter::retention::{Cost, LinkedTurns, ShownMemory, TurnEstimate};
use crate::model::json;
use crate::model::retention::Overflow;
use std::collections::VecDeque;

pub use payload::{estimate, quoted};

/// How turns beyond the zone are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PenguiflowStrategy {
    /// Dropped.
    Truncation,
    /// Replaced with a summary.
    RollingSummary,
}

/// The trimming options of PenguiFlow's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PenguiflowOptions {
    /// `strategy`.
    pub strategy: PenguiflowStrategy,
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

impl Default for PenguiflowOptions {
    fn default() -> Self {
        PenguiflowOptions {
            strategy: PenguiflowStrategy::Truncation,
            zone: 5,
            summary: 1000,
            total: 10_000,
            overflow: Overflow::TruncateOldest,
            digests: true,
            degraded: false,
        }
    }
}

impl PenguiflowOptions {
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
        } else if self.strategy == PenguiflowStrategy::RollingSummary && self.summary == 0 {
            "a rolling summary requires a summary of at least 1 token".to_string()
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Config, wrong))
    }
}

/// A turn as PenguiFlow defines it.
#[derive(Debug)]
struct MemoryTurn {
    messages: Vec<usize>,
    /// Size of the turn in the context, in code points.
    size: u64,
}

/// Turns by zone, each oldest first.
#[derive(Debug, Default)]
struct PenguiflowMemory {
    summary: String,
    pending: MemoryZone,
    recent: MemoryZone,
    dropped: Vec<MemoryTurn>,
}

/// Turns and their total size.
#[derive(Debug, Default)]
struct MemoryZone {
    turns: VecDeque<MemoryTurn>,
    size: u64,
}

impl MemoryZone {
    fn push(&mut self, turn: MemoryTurn) {
        self.size += turn.size;
        self.turns.push_back(turn);
    }

    fn pop(&mut self) -> Option<MemoryTurn> {
        let oldest = self.turns.pop_front()?;
        self.size -= oldest.size;
        Some(oldest)
    }

    fn retain(&mut self, stays: impl Fn(&MemoryTurn) -> bool) {
        self.turns.retain(stays);
        self.size = self.turns.iter().map(|turn| turn.size).sum();
    }

    fn list(&self) -> LinkedTurns {
        LinkedTurns {
            turns: self.turns.len() as u64,
            size: self.size,
        }
    }
}

/// Trims a history as PenguiFlow does. `shorten` limits a summary to a number of PenguiFlow's tokens.
///
/// # Errors
///
/// See [`PenguiflowOptions::check`].
pub fn trim(
    history: &CompatHistory<'_>,
    options: &PenguiflowOptions,
    rules: Precedence,
    shorten: &dyn Fn(&str, u64) -> String,
) -> Result<ViewChanges> {
    options.check()?;
    let before = history.summaries().last();
    let mut memory = PenguiflowMemory {
        summary: before
            .as_ref()
            .map_or(String::new(), |(_, text)| text.to_string()),
        ..PenguiflowMemory::default()
    };
    memory.read(history, options.digests);
    let shown = options.strategy == PenguiflowStrategy::RollingSummary && !options.degraded;
    while memory.recent.turns.len() > options.zone {
        let Some(oldest) = memory.recent.pop() else {
            break;
        };
        match options.strategy {
            PenguiflowStrategy::Truncation => memory.dropped.push(oldest),
            PenguiflowStrategy::RollingSummary if !options.degraded => memory.pending.push(oldest),
            PenguiflowStrategy::RollingSummary => {} // kept in the backlog
        }
    }
    let Some(fits) = memory.enforce(options, shown, rules, shorten) else {
        return Ok(ViewChanges::unchanged(history).fitting(false));
    };
    let mut choice = ViewChanges::unchanged(history).fitting(fits);
    let items = |turn: &MemoryTurn| {
        turn.messages
            .iter()
            .map(|at| history.item(*at))
            .collect::<Vec<_>>()
    };
    for item in memory.dropped.iter().flat_map(items) {
        choice.reshaping.changes[item] = ItemChange::Drop;
    }
    if shown {
        choice.summarised = memory.pending.turns.iter().flat_map(items).collect();
        choice.summarised.sort_unstable();
        for item in &choice.summarised {
            choice.reshaping.changes[*item] = ItemChange::Drop;
        }
    }
    if let Some((item, _)) = before.filter(|(_, text)| *text != memory.summary) {
        choice.reshaping.changes[item] = ItemChange::Drop;
        choice.reshaping.summary = (!memory.summary.is_empty()).then(|| InsertedSummary {
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
pub fn maximum_summary(
    history: &CompatHistory<'_>,
    options: &PenguiflowOptions,
    choice: &ViewChanges,
) -> u64 {
    let mut memory = PenguiflowMemory::default();
    memory.read(history, options.digests);
    let stays = |turn: &MemoryTurn| {
        turn.messages
            .iter()
            .any(|at| !choice.is_dropped(history.item(*at)))
    };
    memory.recent.retain(stays);
    let own = options.summary.saturating_mul(4).saturating_add(1);
    match options.total {
        0 => own,
        total => own.min(payload::maximum_summary(memory.recent.list(), total)),
    }
}

impl PenguiflowMemory {
    /// Assigns each turn to the zone in its metadata, and skips turns in the backlog.
    fn read(&mut self, history: &CompatHistory<'_>, digests: bool) {
        let mut starts = history.exchanges();
        starts.push(history.len());
        for range in starts.windows(2) {
            let messages: Vec<usize> = (range[0]..range[1])
                .filter(|at| history.atom(*at).is_some())
                .collect();
            let zone = messages.iter().rev().find_map(|at| {
                let metadata = json::member(history.message(*at)?.metadata?, "penguiflow")?;
                json::member_string(metadata, "zone")
            });
            let size = payload::turn(history, &messages, digests);
            let turn = MemoryTurn { messages, size };
            match zone.as_deref() {
                Some("backlog") => {}
                Some("pending") => self.pending.push(turn),
                _ => self.recent.push(turn),
            }
        }
    }

    /// Estimates the context size; `shown` includes pending turns and the summary.
    fn estimate(&self, shown: bool, summary: u64) -> u64 {
        let mut memory = ShownMemory {
            recent: self.recent.list(),
            ..ShownMemory::default()
        };
        if shown {
            memory.pending = self.pending.list();
            memory.summary = summary;
        }
        TurnEstimate::default().context(&memory)
    }

    /// Drops turns until the total is met. Returns none if the policy is `error`, else whether the total is met.
    fn enforce(
        &mut self,
        options: &PenguiflowOptions,
        shown: bool,
        rules: Precedence,
        shorten: &dyn Fn(&str, u64) -> String,
    ) -> Option<bool> {
        let floor = usize::from(rules == Precedence::Convo && options.zone > 0);
        let mut may_shorten = shown
            && match options.overflow {
                Overflow::TruncateSummary => true,
                Overflow::TruncateOldest => rules == Precedence::Convo,
                Overflow::Error => false,
            };
        let encoded = |summary: &str| TurnEstimate::default().summary_size(summary);
        let mut summary = encoded(&self.summary);
        let mut size = self.estimate(shown, summary);
        while options.total > 0 && size > options.total {
            if options.overflow == Overflow::Error {
                return None;
            }
            if may_shorten && payload::estimate(&self.summary) > options.summary {
                let shorter = shorten(&self.summary, options.summary);
                if shorter.len() < self.summary.len() {
                    self.summary = shorter;
                    summary = encoded(&self.summary);
                }
                may_shorten = false;
            } else if shown && let Some(oldest) = self.pending.pop() {
                self.dropped.push(oldest);
            } else if self.recent.turns.len() > floor
                && let Some(oldest) = self.recent.pop()
            {
                self.dropped.push(oldest);
            } else {
                let without = self.estimate(shown, 0);
                // Clear the summary only if that helps.
                if shown && (rules == Precedence::Theirs || without <= options.total) {
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
