//! Repeated compaction for a prompt cache: the earlier summary keeps its bytes, and a further record after it
//! summarizes the messages dropped now.

use super::event::InsertedSummary;
use super::goal::part;
use super::options::CompactOptions;
use super::state::CompactionState;
use crate::filter::summarize;
use crate::model::message::Role;
use crate::model::summary::quoted;
use crate::model::view::Item;

/// Largest share of the available tokens that a first summary takes next to the newest messages, per mille.
const FIRST: u64 = 600;

/// Largest share of all records together, so that a first one leaves tokens for further ones. Larger records are
/// consolidated.
const RECORDS: u64 = 750;

/// The same two shares for a large session: one of more than [`MUCH`] times the available tokens.
const OF_MUCH: (u64, u64) = (800, 900);

/// Size of a large session, in multiples of the available tokens.
const MUCH: u64 = 6;

/// Largest share of a consolidated record.
const ONE: u64 = 400;

/// Fewest tokens of a further record.
const MINIMUM: u64 = 64;

/// The most tokens of a first summary. It may take more of a large session, of which few messages are kept whole.
pub fn first(work: &CompactionState<'_>, room: u64) -> u64 {
    let is_much = work.was().tokens.saturating_sub(work.undroppable_tokens()) > room.saturating_mul(MUCH);
    part(room, if is_much { OF_MUCH.0 } else { FIRST })
}

/// The most tokens of the summary of a repeated compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryLimit {
    /// A further record after the earlier ones.
    Further(u64),
    /// All records consolidated.
    One(u64),
}

impl SummaryLimit {
    /// The limit of a compaction to this budget; none of a first compaction.
    pub fn of(
        work: &CompactionState<'_>,
        options: &CompactOptions,
        budget: Option<u64>,
    ) -> Option<SummaryLimit> {
        let requested = options.keep_prefix && options.steps.summary && !options.asks;
        let budget = budget.filter(|_| requested)?;
        let at = work.summary_item?;
        let text = work.view.items[at].summary(work.session)?;
        if !summarize::is_own(&text) {
            return None;
        }
        let kept = work.items[at].before;
        let room = budget.saturating_sub(work.undroppable_tokens());
        // A further record takes half of the remaining tokens: the other half is for records after it.
        let records = match part(room, RECORDS) {
            most if most < kept => part(room, OF_MUCH.1),
            most => most,
        };
        let further = records.saturating_sub(kept) / 2;
        let most = options.summary_budget.unwrap_or(u64::MAX);
        Some(match further >= MINIMUM && kept + further <= most {
            true => SummaryLimit::Further(kept + further),
            false => SummaryLimit::One(part(room, ONE).min(most)),
        })
    }

    /// The tokens.
    pub fn tokens(self) -> u64 {
        match self {
            SummaryLimit::Further(tokens) | SummaryLimit::One(tokens) => tokens,
        }
    }
}

/// The unchanged beginning of a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// Bytes of the messages as lines.
    pub bytes: u64,
    /// Tokens of them.
    pub tokens: u64,
    /// Id of the first changed message; none if all are unchanged.
    pub first_changed: Option<String>,
    /// Whether earlier records of the summary were consolidated.
    pub consolidated: bool,
}

impl Prefix {
    /// The whole view.
    pub fn whole(work: &CompactionState<'_>) -> Prefix {
        let mut prefix = Prefix::default();
        (0..work.items.len()).for_each(|at| prefix.add(work, at));
        prefix
    }

    /// The unchanged prefix of a compacted view.
    pub fn of(work: &CompactionState<'_>) -> Prefix {
        let summary = work.summary.as_ref().map(|(summary, _)| summary);
        let lost = work.summary_item.filter(|_| work.has_lost_summary());
        let inserts = work.inserts.values().map(|insert| insert.before);
        let same = |at: usize| !work.is_changed(at) && !work.is_dropped(at) && lost != Some(at);
        Prefix::until(work, summary, inserts, same)
    }

    /// The unchanged items, up to the first insertion.
    pub(in crate::filter) fn until(
        work: &CompactionState<'_>,
        summary: Option<&InsertedSummary>,
        inserts: impl Iterator<Item = usize>,
        same: impl Fn(usize) -> bool,
    ) -> Prefix {
        let places = summary.map(|summary| summary.before).into_iter().chain(inserts);
        let end = places.min().unwrap_or(work.items.len());
        let first = (0..end).find(|at| !same(*at)).unwrap_or(end);
        let mut prefix = Prefix::default();
        (0..first).for_each(|at| prefix.add(work, at));
        prefix.first_changed = (first < work.items.len()).then(|| id(work, first));
        if let Some(summary) = summary.filter(|_| work.summary_item == Some(first)) {
            prefix.add_common(work, first, &summary.content);
            prefix.consolidated = consolidated(work, first, &summary.content);
        }
        prefix
    }

    fn add(&mut self, work: &CompactionState<'_>, at: usize) {
        self.tokens += work.items[at].before;
        self.bytes += match work.view.items[at].summary(work.session) {
            Some(text) => line(&text).len() as u64 + 1,
            None => work.view.items[at].body(work.session).len() as u64 + 1,
        };
    }

    /// Adds the common prefix of a summary and its replacement.
    fn add_common(&mut self, work: &CompactionState<'_>, at: usize, now: &str) {
        let old = work.view.items[at].summary(work.session).unwrap_or_default();
        let common = |one: &[u8], other: &[u8]| one.iter().zip(other).take_while(|(a, b)| a == b).count();
        let (one, other) = (quoted(&old), quoted(now));
        let mut shared = common(one.as_bytes(), other.as_bytes());
        while !one.is_char_boundary(shared) {
            shared -= 1;
        }
        self.bytes += common(&line(&old), &line(now)) as u64;
        self.tokens += work
            .counter
            .tokenizer()
            .message_tokens(Role::System.name(), &one[..shared]);
    }
}

/// Whether a summary replaces another and does not begin with it.
fn consolidated(work: &CompactionState<'_>, at: usize, now: &str) -> bool {
    let before = work.view.items[at].summary(work.session);
    before.is_some_and(|before| !now.starts_with(&*before))
}

/// Encodes a summary as the line of a message.
fn line(text: &str) -> Vec<u8> {
    crate::model::summary::message(text, None)
}

/// The id of an item; for a summary, the id of its event.
fn id(work: &CompactionState<'_>, at: usize) -> String {
    let Item::Summary(event) = work.view.items[at] else {
        return work.id(at);
    };
    let record = work.session.record(event);
    let id = record.event().and_then(|event| Some(event.id()?.into_owned()));
    id.unwrap_or_default()
}
