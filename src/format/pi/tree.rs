//! The paths through a file: the one that is gone on with, and those that were left.

use super::entry::{Entry, Kind};
use std::collections::HashMap;

/// A path that becomes a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Its entries, from the first of its own on.
    pub entries: Vec<usize>,
    /// The entries before, which are another path's: from where this one was left, back to the beginning.
    pub before: Vec<usize>,
}

/// The paths of a file: the active one first, then the others in the order of their last entries. Entries of a file
/// without ids follow one another. What hangs nowhere, or leads to no message, is in the first as it stands.
pub fn paths(entries: &[Entry<'_>]) -> Vec<Path> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let stands = |entry: &Entry<'_>| !matches!(entry.kind, Kind::Session | Kind::Blank | Kind::Unreadable(_));
    for (nth, entry) in entries.iter().enumerate().filter(|(_, entry)| stands(entry)) {
        if let Some(id) = entry.id.as_deref() {
            by_id.entry(id).or_insert(nth);
        }
    }
    let all = (0..entries.len()).filter(|nth| !matches!(entries[*nth].kind, Kind::Session | Kind::Blank));
    if by_id.is_empty() {
        return vec![Path {
            entries: all.collect(),
            before: Vec::new(),
        }];
    }
    // An id that repeats is the first entry's; the others hang where they say, and nothing hangs on them.
    let parent = |nth: usize| {
        let id = entries[nth].parent.as_deref()?;
        by_id.get(id).copied().filter(|parent| *parent != nth)
    };
    let in_tree = |nth: &usize| stands(&entries[*nth]) && entries[*nth].id.is_some();
    let mut is_parent = vec![false; entries.len()];
    (0..entries.len())
        .filter(in_tree)
        .filter_map(parent)
        .for_each(|nth| is_parent[nth] = true);
    let mut taken = vec![false; entries.len()];
    let mut climb = |leaf: usize| {
        let mut path = Path::default();
        let mut at = Some(leaf);
        while let Some(nth) = at.filter(|nth| !taken[*nth]) {
            taken[nth] = true;
            path.entries.push(nth);
            at = parent(nth);
        }
        path.entries.reverse();
        (path, at)
    };
    let leaf = (0..entries.len()).rev().find(in_tree);
    let mut main = leaf.map(|leaf| climb(leaf).0).unwrap_or_default();
    let leaves = (0..entries.len()).filter(in_tree).filter(|nth| !is_parent[*nth]);
    // Those that hang on each other in a circle have no last one.
    let rest = (0..entries.len()).rev().filter(in_tree);
    let mut branches = Vec::new();
    let mut loose: Vec<usize> = all.filter(|nth| !in_tree(nth)).collect();
    for leaf in leaves.chain(rest) {
        let (mut path, joint) = climb(leaf);
        let said = |nth: &usize| entries[*nth].is_said() || entries[*nth].kind == Kind::Compaction;
        if path.entries.iter().any(said) {
            let own = path.entries[0];
            path.before = match joint {
                // A circle leads back to itself.
                Some(joint) if !path.entries.contains(&joint) && joint != own => vec![joint],
                _ => Vec::new(),
            };
            branches.push(path);
        } else {
            loose.append(&mut path.entries);
        }
    }
    for path in &mut branches {
        let mut at = path.before.first().copied().and_then(parent);
        let mut steps = 0;
        while let Some(nth) = at.filter(|_| steps < entries.len()) {
            path.before.push(nth);
            at = parent(nth);
            steps += 1;
        }
    }
    loose.sort_unstable();
    main.entries = woven(main.entries, &loose);
    let mut paths = vec![main];
    paths.extend(branches);
    paths
}

/// A path with what hangs on none, as it stands in the file.
fn woven(path: Vec<usize>, loose: &[usize]) -> Vec<usize> {
    let mut loose = loose.iter().copied().peekable();
    let mut woven = Vec::with_capacity(path.len() + loose.len());
    for nth in path {
        while let Some(other) = loose.next_if(|other| *other < nth) {
            woven.push(other);
        }
        woven.push(nth);
    }
    woven.extend(loose);
    woven
}
