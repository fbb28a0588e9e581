//! Computes the longest common subsequence of two sequences.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use std::ops::Range;

/// Longer gaps without a unique common value are not searched, because the cost is the product of their lengths.
const LONGEST: usize = 20_000;

/// Pairs equal elements in ascending order. Values that occur once on each side are paired first, so that frequent
/// values do not separate related elements.
pub(super) fn align(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut open = vec![(0..a.len(), 0..b.len())];
    while let Some((mut left, mut right)) = open.pop() {
        while !left.is_empty() && !right.is_empty() && a[left.start] == b[right.start] {
            pairs.push((left.start, right.start));
            (left.start, right.start) = (left.start + 1, right.start + 1);
        }
        while !left.is_empty() && !right.is_empty() && a[left.end - 1] == b[right.end - 1] {
            (left.end, right.end) = (left.end - 1, right.end - 1);
            pairs.push((left.end, right.end));
        }
        if left.is_empty() || right.is_empty() {
            continue;
        }
        let anchors = unique(a, b, left.clone(), right.clone());
        if anchors.is_empty() {
            if left.len() + right.len() <= LONGEST {
                pairs.extend(common(a, b, left, right));
            }
            continue;
        }
        let (mut from_a, mut from_b) = (left.start, right.start);
        for (at_a, at_b) in anchors {
            open.push((from_a..at_a, from_b..at_b));
            pairs.push((at_a, at_b));
            (from_a, from_b) = (at_a + 1, at_b + 1);
        }
        open.push((from_a..left.end, from_b..right.end));
    }
    pairs.sort_unstable();
    pairs
}

/// Positions of values that occur once in each range, in an order common to both.
fn unique(a: &[u64], b: &[u64], left: Range<usize>, right: Range<usize>) -> Vec<(usize, usize)> {
    // Per value: the count and the position on each side.
    let mut seen: HashMap<u64, ([usize; 2], [usize; 2])> = HashMap::new();
    for (side, values, range) in [(0, a, left), (1, b, right)] {
        for at in range {
            let (times, place) = seen.entry(values[at]).or_default();
            times[side] += 1;
            place[side] = at;
        }
    }
    let once = seen.into_values().filter(|(times, _)| *times == [1, 1]);
    let mut pairs: Vec<(usize, usize)> = once.map(|(_, [at_a, at_b])| (at_a, at_b)).collect();
    pairs.sort_unstable();
    let rising = longest_rising(&pairs.iter().map(|(_, at)| *at).collect::<Vec<_>>());
    rising.into_iter().map(|nth| pairs[nth]).collect()
}

fn common(a: &[u64], b: &[u64], left: Range<usize>, right: Range<usize>) -> Vec<(usize, usize)> {
    let ops = capture_diff_slices(Algorithm::Myers, &a[left.clone()], &b[right.clone()]);
    let equal = ops.into_iter().filter_map(|op| match op {
        DiffOp::Equal {
            old_index,
            new_index,
            len,
        } => Some((0..len).map(move |nth| (old_index + nth, new_index + nth))),
        _ => None,
    });
    equal
        .flatten()
        .map(|(at_a, at_b)| (left.start + at_a, right.start + at_b))
        .collect()
}

/// Indexes of a longest increasing subsequence of distinct values.
pub(super) fn longest_rising(values: &[usize]) -> Vec<usize> {
    // For each length, the index at which the increasing subsequence of that length with the lowest end ends.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        let length = ends.partition_point(|end| values[*end] < *value);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut rising = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        rising.push(index);
        next = before[index];
    }
    rising.reverse();
    rising
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_frequent_value_does_not_split_matching_runs() {
        let (a, b) = ([1, 9, 2, 9, 3], [9, 9, 1, 2, 9, 3]);
        assert_eq!(align(&a, &b), [(0, 2), (2, 3), (3, 4), (4, 5)]);
        assert_eq!(longest_rising(&[3, 0, 1, 4, 2]), [1, 2, 4]);
        assert!(align(&[], &[1]).is_empty());
    }

    proptest! {
        #[test]
        fn pairs_are_equal_and_rise(a in prop::collection::vec(0u64..12, 0..40), b in prop::collection::vec(0u64..12, 0..40)) {
            let pairs = align(&a, &b);
            for (at_a, at_b) in &pairs {
                prop_assert_eq!(a[*at_a], b[*at_b]);
            }
            for two in pairs.windows(2) {
                prop_assert!(two[0].0 < two[1].0 && two[0].1 < two[1].1);
            }
            prop_assert_eq!(align(&a, &a).len(), a.len());
        }
    }
}
