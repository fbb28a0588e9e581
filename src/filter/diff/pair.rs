//! Pairs the messages of two views: by id if both sides share ids, otherwise by content.

use super::align::{align, longest_rising};
use super::entry::DiffEntry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

/// Minimum similarity, in thousandths of common words, at which two messages count as one that changed.
const ALIKE: u64 = 500;

/// Maximum number of message pairs in a gap for a full word comparison.
const EACH_WITH_EACH: usize = 4096;

/// Search distance for a counterpart in a larger gap.
const NEAR: usize = 64;

/// Pairs in a common order, and pairs that moved.
#[derive(Debug, Default)]
pub(super) struct MessagePairs {
    /// Both indexes ascend.
    pub in_order: Vec<(usize, usize)>,
    /// In the order of the second side.
    pub moved: Vec<(usize, usize)>,
}

pub(super) fn pairs(a: &[DiffEntry<'_>], b: &[DiffEntry<'_>]) -> MessagePairs {
    let by_id = by_ids(a, b);
    let rising = longest_rising(&by_id.iter().map(|(_, at)| *at).collect::<Vec<_>>());
    let chosen: HashSet<usize> = rising.iter().copied().collect();
    let mut moved: Vec<(usize, usize)> = by_id
        .iter()
        .enumerate()
        .filter(|(nth, _)| !chosen.contains(nth))
        .map(|(_, pair)| *pair)
        .collect();
    moved.sort_unstable_by_key(|(_, at)| *at);
    let fixed: Vec<(usize, usize)> = rising.into_iter().map(|nth| by_id[nth]).collect();
    let elsewhere = [
        moved.iter().map(|(at, _)| *at).collect::<HashSet<_>>(),
        moved.iter().map(|(_, at)| *at).collect::<HashSet<_>>(),
    ];

    let mut in_order = fixed.clone();
    each_gap(&fixed, a.len(), b.len(), |left, right| {
        let left: Vec<usize> = left.filter(|at| !elsewhere[0].contains(at)).collect();
        let right: Vec<usize> = right.filter(|at| !elsewhere[1].contains(at)).collect();
        in_order.extend(by_content(a, b, &left, &right));
    });
    in_order.sort_unstable();
    MessagePairs { in_order, moved }
}

/// Calls `gap` for the ranges between consecutive pairs.
fn each_gap(pairs: &[(usize, usize)], a: usize, b: usize, mut gap: impl FnMut(Range<usize>, Range<usize>)) {
    let (mut from_a, mut from_b) = (0, 0);
    for (at_a, at_b) in pairs.iter().copied().chain([(a, b)]) {
        if from_a < at_a && from_b < at_b {
            gap(from_a..at_a, from_b..at_b);
        }
        (from_a, from_b) = (at_a + 1, at_b + 1);
    }
}

/// Pairs of equal ids, by index in `a`; none if fewer than half of the ids of the shorter side occur on the other.
fn by_ids(a: &[DiffEntry<'_>], b: &[DiffEntry<'_>]) -> Vec<(usize, usize)> {
    let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, entry) in b.iter().enumerate() {
        if let Some(id) = &entry.id {
            places.entry(id).or_default().push_back(at);
        }
    }
    let mut pairs = Vec::new();
    for (at, entry) in a.iter().enumerate() {
        let places = entry.id.as_deref().and_then(|id| places.get_mut(id));
        pairs.extend(places.and_then(VecDeque::pop_front).map(|place| (at, place)));
    }
    let ids = |entries: &[DiffEntry<'_>]| entries.iter().filter(|entry| entry.id.is_some()).count();
    match pairs.len() * 2 >= ids(a).min(ids(b)) {
        true => pairs,
        false => Vec::new(),
    }
}

/// Pairs selected messages in order: equal ones first, then similar ones.
fn by_content(
    a: &[DiffEntry<'_>],
    b: &[DiffEntry<'_>],
    left: &[usize],
    right: &[usize],
) -> Vec<(usize, usize)> {
    let keys = |entries: &[DiffEntry<'_>], places: &[usize]| -> Vec<u64> {
        places.iter().map(|at| entries[*at].key()).collect()
    };
    let equal = align(&keys(a, left), &keys(b, right));
    let mut pairs: Vec<(usize, usize)> = equal
        .iter()
        .map(|(at_a, at_b)| (left[*at_a], right[*at_b]))
        .collect();
    each_gap(&equal, left.len(), right.len(), |gap_a, gap_b| {
        let (left, right) = (&left[gap_a], &right[gap_b]);
        let found = alike(&sides(a, left), &sides(b, right));
        pairs.extend(found.into_iter().map(|(at_a, at_b)| (left[at_a], right[at_b])));
    });
    pairs
}

struct MessageWords<'e> {
    role: &'e str,
    words: Vec<u64>,
}

fn sides<'e>(entries: &'e [DiffEntry<'_>], places: &[usize]) -> Vec<MessageWords<'e>> {
    let side = |at: &usize| MessageWords {
        role: &entries[*at].role,
        words: entries[*at].words(),
    };
    places.iter().map(side).collect()
}

/// Pairs messages of equal role that have at least half of their words in common, in order: the pairing with the most
/// in common, or, in a large gap, the first match.
fn alike(a: &[MessageWords<'_>], b: &[MessageWords<'_>]) -> Vec<(usize, usize)> {
    if a.len().saturating_mul(b.len()) > EACH_WITH_EACH {
        let mut from = 0;
        let mut pairs = Vec::new();
        for (at, side) in a.iter().enumerate() {
            let near = from..b.len().min(from + NEAR);
            if let Some(found) = near
                .into_iter()
                .find(|other| similarity(side, &b[*other]) >= ALIKE)
            {
                pairs.push((at, found));
                from = found + 1;
            }
        }
        return pairs;
    }
    // best[i][j]: the maximum similarity of the pairs of a[i..] and b[j..].
    let width = b.len() + 1;
    let mut best = vec![0u64; (a.len() + 1) * width];
    let mut common = vec![0u64; a.len() * b.len()];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let likeness = similarity(&a[i], &b[j]);
            let pairs = if likeness >= ALIKE { likeness } else { 0 };
            common[i * b.len() + j] = pairs;
            let without = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            let with = if pairs > 0 {
                pairs + best[(i + 1) * width + j + 1]
            } else {
                0
            };
            best[i * width + j] = without.max(with);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < a.len() && j < b.len() {
        let now = best[i * width + j];
        let own = common[i * b.len() + j];
        if own > 0 && now == own + best[(i + 1) * width + j + 1] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if now == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Thousandths of common words of two messages.
fn similarity(a: &MessageWords<'_>, b: &MessageWords<'_>) -> u64 {
    let all = a.words.len() + b.words.len();
    if a.role != b.role || all == 0 {
        return 0;
    }
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.words.len() && j < b.words.len() {
        match a.words[i].cmp(&b.words[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    2000 * common / all as u64
}
