//! Imitates Penguin: trims by category. Each category has a maximum share of the window; the lowest categories drop
//! their oldest messages first.
//!
//! Deliberate differences under [`Rules::Convo`]; [`Rules::Theirs`] gives exactly Penguin's result:
//!
//! - a message group is dropped whole;
//! - the newest user message and pending calls are kept;
//! - an exceeded window is reported;
//! - the placeholder of an inline image includes its hash.

use super::super::compact::event::Fate;
use super::choice::{Choice, Rules};
use super::history::{History, Measure, count};
use super::images;
use crate::format::penguin::time_text;
use crate::model::json;
use crate::model::message::{Category, Message};
use std::collections::HashSet;

/// Penguin's categories in order of priority; the first is never trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shelf {
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

impl Shelf {
    /// All categories with their maximum share of the window.
    pub const ALL: [(Shelf, f64); 7] = [
        (Shelf::System, 0.10),
        (Shelf::Context, 0.30),
        (Shelf::Dialog, 0.40),
        (Shelf::SystemOutput, 0.20),
        (Shelf::Error, 0.05),
        (Shelf::Internal, 0.05),
        (Shelf::Unknown, 0.05),
    ];

    fn of(history: &History<'_>, message: usize) -> Shelf {
        let Some(read) = history.message(message) else {
            return Shelf::Unknown;
        };
        let own = read
            .metadata
            .and_then(|raw| json::member(raw, "penguin"))
            .and_then(|raw| json::member(raw, "category"))
            .and_then(json::text);
        match (own.as_deref(), read.category()) {
            (Some("ERROR"), _) => Shelf::Error,
            (Some("INTERNAL"), _) => Shelf::Internal,
            (Some("UNKNOWN"), _) => Shelf::Unknown,
            (_, Category::System) => Shelf::System,
            (_, Category::Context) => Shelf::Context,
            (_, Category::Dialog) => Shelf::Dialog,
            (_, Category::SystemOutput) => Shelf::SystemOutput,
        }
    }
}

/// Token limits per category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The window.
    pub window: u64,
    /// The limit of each category, in the order of [`Shelf::ALL`].
    pub most: [u64; 7],
}

impl Shares {
    /// Computes the shares of a window; Penguin's own window is [`Shares::window_of`] a model's.
    pub fn of(window: u64) -> Shares {
        // As in Penguin: the truncated product of floating point numbers.
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss
        )]
        let most = Shelf::ALL.map(|(_, share)| (window as f64 * share) as u64);
        Shares { window, most }
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
    fn lend(&mut self, used: &[u64; 7]) {
        let (context, dialog) = (Shelf::Context as usize, Shelf::Dialog as usize);
        let over = used[context].saturating_sub(self.most[context]);
        let free = self.most[dialog].saturating_sub(used[dialog]);
        let lent = over.min(free / 2);
        self.most[dialog] -= lent;
        self.most[context] += lent;
    }
}

/// The options of Penguin's trimming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// The shares.
    pub shares: Shares,
    /// Maximum number of images.
    pub images: usize,
    /// Trim even if no limit is exceeded, and without lending: Penguin's `trim`, not its `process`.
    pub always: bool,
}

impl Trim {
    /// Penguin's defaults for a window.
    pub fn of(window: u64) -> Trim {
        Trim {
            shares: Shares::of(window),
            images: 5,
            always: false,
        }
    }
}

/// Trims a history as Penguin does. Returns the choice and the shares after lending.
pub fn trim(history: &History<'_>, options: &Trim, rules: Rules, measure: Measure<'_>) -> (Choice, Shares) {
    let mut shares = options.shares;
    let mut choice = Choice::unchanged(history);
    let fixed = history.fixed(measure);
    let shelves: Vec<Shelf> = (0..history.len()).map(|at| Shelf::of(history, at)).collect();
    let mut counts = history.counts(measure);
    let (mut used, mut total) = sums(&shelves, &counts, fixed);
    if !options.always {
        if !shares.is_over(&used, total) {
            return (choice, shares);
        }
        shares.lend(&used);
        if !shares.is_over(&used, total) {
            return (choice, shares);
        }
    }
    let oldest = by_time(history, rules);
    for (at, line) in images::replaced(history, &oldest, options.images, rules) {
        counts[at] = count(&line, measure);
        choice.rewrite(history, at, line);
    }
    (used, total) = sums(&shelves, &counts, fixed);
    let mut gone = gone(&shares, &shelves, &counts, &oldest, used, total);
    match rules {
        Rules::Theirs => stay_with_their_ids(history, &mut gone),
        Rules::Convo => stay_whole(history, &shelves, &mut gone),
    }
    let mut left = fixed;
    for at in 0..history.len() {
        if gone[at] {
            choice.reshaping.fates[history.item(at)] = Fate::Goes;
        } else {
            left += counts[at];
        }
    }
    let fits = left <= shares.window;
    (choice.fitting(fits), shares)
}

fn sums(shelves: &[Shelf], counts: &[u64], fixed: u64) -> ([u64; 7], u64) {
    let mut used = [0; 7];
    for (shelf, count) in shelves.iter().zip(counts) {
        used[*shelf as usize] += count;
    }
    (used, used.iter().sum::<u64>() + fixed)
}

/// Sorts messages by timestamp text; under Penguin's own rules, the text in its document. A message without a
/// timestamp uses that of the message before it.
fn by_time(history: &History<'_>, rules: Rules) -> Vec<usize> {
    let text = |message: &Message<'_>| match rules {
        Rules::Theirs => time_text(message),
        Rules::Convo => message.timestamp().map(Into::into),
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
fn gone(
    shares: &Shares,
    shelves: &[Shelf],
    counts: &[u64],
    oldest: &[usize],
    used: [u64; 7],
    total: u64,
) -> Vec<bool> {
    let mut gone = vec![false; counts.len()];
    let mut need = total.saturating_sub(shares.window);
    for (shelf, _) in Shelf::ALL.into_iter().skip(1).rev() {
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
            gone[at] = true;
            removed += counts[at];
            need = need.saturating_sub(counts[at]);
        }
    }
    gone
}

/// Keeps messages that share an id with a kept message.
fn stay_with_their_ids(history: &History<'_>, gone: &mut [bool]) {
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
    let ids: Vec<Option<String>> = (0..gone.len()).map(id).collect();
    let kept: HashSet<&String> = ids
        .iter()
        .enumerate()
        .filter(|(at, _)| !gone[*at])
        .filter_map(|(_, id)| id.as_ref())
        .collect();
    for (at, id) in ids.iter().enumerate() {
        gone[at] &= id.as_ref().is_none_or(|id| !kept.contains(id));
    }
}

/// Drops message groups whole, except messages that convo's rules keep.
fn stay_whole(history: &History<'_>, shelves: &[Shelf], gone: &mut [bool]) {
    let pending = history.pending();
    let newest = history.newest_user();
    let parted: HashSet<usize> = (0..gone.len())
        .filter(|at| gone[*at])
        .filter_map(|at| history.atom(at))
        .collect();
    for (at, gone) in gone.iter_mut().enumerate() {
        *gone |= history.atom(at).is_some_and(|atom| parted.contains(&atom));
        *gone &= !(pending[at] || newest == Some(at) || shelves[at] == Shelf::System);
    }
}
