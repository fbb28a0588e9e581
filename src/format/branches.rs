//! Paths in a tree of entries: the active branch and the inactive ones.

use std::borrow::Cow;
use std::collections::HashMap;

/// A path in a tree, without the entries that it shares with an earlier path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Its own entries, in order.
    pub entries: Vec<usize>,
    /// The branch point: an entry of another path.
    pub joint: Option<usize>,
}

/// The parents of entries, which name them by id. No entry is its own parent.
pub fn parents<'a>(
    by_id: &HashMap<Cow<'a, str>, usize>,
    named: impl IntoIterator<Item = Option<Cow<'a, str>>>,
) -> Vec<Option<usize>> {
    let found = |(nth, id): (usize, Option<_>)| by_id.get(&id?).copied().filter(|parent| *parent != nth);
    named.into_iter().enumerate().map(found).collect()
}

/// The path to the active entry, then the paths to all other leaves in this order, each without the entries of earlier
/// paths. Without an active entry, the last leaf is active. `parents` has the parent of each entry; cycles are followed
/// once.
pub fn paths(parents: &[Option<usize>], active: Option<usize>, order: &[usize]) -> Vec<Path> {
    let mut is_leaf = vec![true; parents.len()];
    parents
        .iter()
        .flatten()
        .for_each(|parent| is_leaf[*parent] = false);
    let leaves = order.iter().copied().filter(|nth| is_leaf[*nth]);
    let active = active.or_else(|| leaves.clone().next_back());
    let mut taken = vec![false; parents.len()];
    let mut climb = |end: usize| {
        let mut path = Path::default();
        let mut at = Some(end);
        while let Some(nth) = at.filter(|nth| !taken[*nth]) {
            taken[nth] = true;
            path.entries.push(nth);
            at = parents[nth];
        }
        path.entries.reverse();
        path.joint = at;
        path
    };
    let mut main = active
        .or(order.last().copied())
        .map(&mut climb)
        .unwrap_or_default();
    main.joint = None;
    let mut paths = vec![main];
    // Entries in a cycle have no leaf.
    for end in leaves.chain(order.iter().rev().copied()) {
        let path = climb(end);
        if !path.entries.is_empty() {
            paths.push(path);
        }
    }
    paths
}
