//! Imitates Penguin: trims by category. Each category has a maximum share of the window; the lowest categories drop
//! their oldest messages first.
//!
//! Deliberate differences under [`Precedence::Convo`]; [`Precedence::Theirs`] gives exactly Penguin's result:
//!
//! - a message group is dropped whole;
//! - the newest user message and pending calls are kept;
//! - an exceeded window is reported;
//! - the placeholder of an inline image includes its hash.

use super::super::compact::event::ItemChange;
use super::choice::{Precedence, ViewChanges};
use super::history::{CompatHistory, MeasureFn, count};
use super::images;
use crate::format::penguin::time_text;
use crate::model::json;
use crate::model::message::{Category, Message};
use std::collections::HashSet;

/// Penguin's categories in order of priority; the first is never trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PenguinCategory {
    /// Instructions.
    System,
    /// Background information.
    Context,
    /// User and assistant messages.
    Dialog,
    /// Tool results.
    SystemOutput,
    /// Errors.
    Error,
    /// Messages visible only to the program.
    Internal,
    /// Anything else.
    Unknown,
}

impl PenguinCategory {
    /// All categories with their maximum share of the window.
    pub const ALL: [(PenguinCategory, f64); 7] = [
        (PenguinCategory::System, 0.10),
        (PenguinCategory::Context, 0.30),
        (PenguinCategory::Dialog, 0.40),
        (PenguinCategory::SystemOutput, 0.20),
        (PenguinCategory::Error, 0.05),
        (PenguinCategory::Internal, 0.05),
        (PenguinCategory::Unknown, 0.05),
    ];

    fn of(history: &CompatHistory<'_>, message: usize) -> PenguinCategory {
        let Some(read) = history.message(message) else {
            return PenguinCategory::Unknown;
        };
        let own = read
            .metadata
            .and_then(|raw| json::member(raw, "penguin"))
            .and_then(|raw| json::member(raw, "category"))
            .and_then(json::text);
        match (own.as_deref(), read.category()) {
            (Some("ERROR"), _) => PenguinCategory::Error,
            (Some("INTERNAL"), _) => PenguinCategory::Internal,
            (Some("UNKNOWN"), _) => PenguinCategory::Unknown,
            (_, Category::System) => PenguinCategory::System,
            (_, Category::Context) => PenguinCategory::Context,
            (_, Category::Dialog) => PenguinCategory::Dialog,
            (_, Category::SystemOutput) => PenguinCategory::SystemOutput,
        }
    }
}

/// Token limits per category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CategoryLimits {
    /// The window.
    pub window: u64,
    /// The limit of each category, in the order of [`PenguinCategory::ALL`].
    pub most: [u64; 7],
}

impl CategoryLimits {
    /// Computes the shares of a window; Penguin's own window is [`CategoryLimits::window_of`] a model's.
    pub fn of(window: u64) -> CategoryLimits {
        // As in Penguin: the truncated product of floating point numbers.
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss
        )]
        let most = PenguinCategory::ALL.map(|(_, share)| (window as f64 * share) as u64);
        CategoryLimits { window, most }
    }

    /// The part of a model's window that Penguin uses.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    pub fn window_of(model: u64) -> u64 {
        (model as f64 * 0.85) as u64
    }

    fn is_over(&self, used: &[u64; 7], total: u64) -> bool {
        total > self.window || (1..7).any(|shelf| used[shelf] > self.most[shelf])
    }

    /// Lends unused dialog tokens, at most half of them, to context that exceeds its share.
    fn lend_tokens(&mut self, used: &[u64; 7]) {
        let (context, dialog) = (
            PenguinCategory::Context as usize,
            PenguinCategory::Dialog as usize,
        );
        let over = used[context].saturating_sub(self.most[context]);
        let free = self.most[dialog].saturating_sub(used[dialog]);
        let lent = over.min(free / 2);
        self.most[dialog] -= lent;
        self.most[context] += lent;
    }
}

/// The options of Penguin's trimming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PenguinTrim {
    /// The shares.
    pub shares: CategoryLimits,
    /// Maximum number of images.
    pub images: usize,
    /// Trim even if no limit is exceeded, and without lending: Penguin's `trim`, not its `process`.
    pub always: bool,
}

impl PenguinTrim {
    /// Penguin's defaults for a window.
    pub fn of(window: u64) -> PenguinTrim {
        PenguinTrim {
            shares: CategoryLimits::of(window),
            images: 5,
            always: false,
        }
    }
}

/// Trims a history as Penguin does. Returns the choice and the shares after lending.
pub fn trim(
    history: &CompatHistory<'_>,
    options: &PenguinTrim,
    rules: Precedence,
    measure: MeasureFn<'_>,
) -> (ViewChanges, CategoryLimits) {
    let mut shares = options.shares;
    let mut choice = ViewChanges::unchanged(history);
    let fixed = history.fixed(measure);
    let shelves: Vec<PenguinCategory> = (0..history.len())
        .map(|at| PenguinCategory::of(history, at))
        .collect();
    let mut counts = history.counts(measure);
    let (mut used, mut total) = token_sums(&shelves, &counts, fixed);
    if !options.always {
        if !shares.is_over(&used, total) {
            return (choice, shares);
        }
        shares.lend_tokens(&used);
        if !shares.is_over(&used, total) {
            return (choice, shares);
        }
    }
    let oldest = by_time(history, rules);
    for (at, line) in images::replaced(history, &oldest, options.images, rules) {
        counts[at] = count(&line, measure);
        choice.rewrite(history, at, line);
    }
    (used, total) = token_sums(&shelves, &counts, fixed);
    let mut removed = messages_to_drop(&shares, &shelves, &counts, &oldest, used, total);
    match rules {
        Precedence::Theirs => keep_shared_ids(history, &mut removed),
        Precedence::Convo => drop_whole_groups(history, &shelves, &mut removed),
    }
    let mut left = fixed;
    for at in 0..history.len() {
        if removed[at] {
            choice.reshaping.changes[history.item(at)] = ItemChange::Drop;
        } else {
            left += counts[at];
        }
    }
    let fits = left <= shares.window;
    (choice.fitting(fits), shares)
}

fn token_sums(shelves: &[PenguinCategory], counts: &[u64], fixed: u64) -> ([u64; 7], u64) {
    let mut used = [0; 7];
    for (shelf, count) in shelves.iter().zip(counts) {
        used[*shelf as usize] += count;
    }
    (used, used.iter().sum::<u64>() + fixed)
}

/// Sorts messages by timestamp text; under Penguin's own rules, the text in its document. A message without a
/// timestamp uses that of the message before it.
fn by_time(history: &CompatHistory<'_>, rules: Precedence) -> Vec<usize> {
    let text = |message: &Message<'_>| match rules {
        Precedence::Theirs => time_text(message),
        Precedence::Convo => message.timestamp().map(Into::into),
    };
    let mut last = String::new();
    let mut timed: Vec<(String, usize)> = Vec::with_capacity(history.len());
    for at in 0..history.len() {
        if let Some(time) = history.message(at).as_ref().and_then(text) {
            last = time;
        }
        timed.push((last.clone(), at));
    }
    timed.sort();
    timed.into_iter().map(|(_, at)| at).collect()
}

/// Selects messages to drop: in each category over its share, lowest first, the oldest until its excess is gone; then
/// more until the window is met.
fn messages_to_drop(
    shares: &CategoryLimits,
    shelves: &[PenguinCategory],
    counts: &[u64],
    oldest: &[usize],
    used: [u64; 7],
    total: u64,
) -> Vec<bool> {
    let mut dropped = vec![false; counts.len()];
    let mut need = total.saturating_sub(shares.window);
    for (shelf, _) in PenguinCategory::ALL.into_iter().skip(1).rev() {
        let (used, most) = (used[shelf as usize], shares.most[shelf as usize]);
        if used <= most {
            continue;
        }
        let excess = (used - most).max(need.min(used));
        let mut removed = 0;
        for at in oldest.iter().copied().filter(|at| shelves[*at] == shelf) {
            if removed >= excess {
                break;
            }
            dropped[at] = true;
            removed += counts[at];
            need = need.saturating_sub(counts[at]);
        }
    }
    dropped
}

/// Keeps messages that share an id with a kept message.
fn keep_shared_ids(history: &CompatHistory<'_>, removed: &mut [bool]) {
    let id = |at: usize| -> Option<String> {
        let message = history.message(at)?;
        // The reader replaced duplicate ids and preserved the original ones.
        let own = message
            .metadata
            .and_then(|raw| json::member(raw, "penguin"))
            .and_then(|raw| json::member(raw, "id"))
            .and_then(json::text);
        own.or_else(|| message.id()).map(Into::into)
    };
    let ids: Vec<Option<String>> = (0..removed.len()).map(id).collect();
    let kept: HashSet<&String> = ids
        .iter()
        .enumerate()
        .filter(|(at, _)| !removed[*at])
        .filter_map(|(_, id)| id.as_ref())
        .collect();
    for (at, id) in ids.iter().enumerate() {
        removed[at] &= id.as_ref().is_none_or(|id| !kept.contains(id));
    }
}

/// Drops message groups whole, except messages that convo's rules keep.
fn drop_whole_groups(history: &CompatHistory<'_>, shelves: &[PenguinCategory], removed: &mut [bool]) {
    let pending = history.pending();
    let newest = history.newest_user();
    let parted: HashSet<usize> = (0..removed.len())
        .filter(|at| removed[*at])
        .filter_map(|at| history.atom(at))
        .collect();
    for (at, removed) in removed.iter_mut().enumerate() {
        *removed |= history.atom(at).is_some_and(|atom| parted.contains(&atom));
        *removed &= !(pending[at] || newest == Some(at) || shelves[at] == PenguinCategory::System);
    }
}
