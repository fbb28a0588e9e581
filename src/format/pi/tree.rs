//! The paths in a file: the active path and the inactive branches.

use super::entry::{EntryKind, PiEntry};
use crate::format::branches::{self, Path};
use std::collections::HashMap;

/// The paths of a file, and the order of entries in the tree.
#[derive(Debug, Default)]
pub struct EntryTree {
    /// The active path, then the others in the order of their last entries.
    pub paths: Vec<Path>,
    parents: Vec<Option<usize>>,
    /// Entry and exit time of each entry in a depth-first traversal; 0 if it is not reachable from a root.
    walk: Vec<(usize, usize)>,
    /// For each entry, its nearest ancestor or itself that the model receives.
    received: Vec<Option<usize>>,
}

impl EntryTree {
    /// Whether one entry is an ancestor of the other, or equal.
    pub fn is_before(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (self.walk.get(one), self.walk.get(other)) else {
            return false;
        };
        one.0 > 0 && other.0 > 0 && one.0 <= other.0 && other.1 <= one.1
    }

    /// The nearest ancestor of an entry, or itself, that the model receives.
    pub fn nearest_received(&self, at: usize) -> Option<usize> {
        self.received.get(at).copied().flatten()
    }

    /// Builds the tree of a file. Entries without ids form a chain. Entries without a connection to the tree, or on a
    /// path without messages, are placed on the first path in file order.
    pub fn of(entries: &[PiEntry<'_>]) -> EntryTree {
        let by_id = first_by_id(entries);
        let all = (0..entries.len()).filter(|nth| is_placed(&entries[*nth]));
        if by_id.is_empty() {
            let path = Path {
                entries: all.collect(),
                joint: None,
            };
            return EntryTree {
                paths: vec![path],
                ..EntryTree::default()
            };
        }
        let in_tree: Vec<bool> = entries
            .iter()
            .map(|entry| is_placed(entry) && entry.id.is_some())
            .collect();
        // If a damaged line has lost its id, the previous entry replaces a missing parent.
        let damaged = entries
            .iter()
            .position(|entry| matches!(entry.kind, EntryKind::Unreadable(_)) && entry.id.is_none());
        let previous = |nth: usize| {
            damaged.filter(|damaged| *damaged < nth)?;
            (0..nth).rev().find(|before| in_tree[*before])
        };
        // Entries with the same missing parent get the same replacement.
        let mut lost: HashMap<&str, Option<usize>> = HashMap::new();
        for (nth, entry) in entries.iter().enumerate() {
            if let Some(id) = entry.parent.as_deref().filter(|id| !by_id.contains_key(id)) {
                lost.entry(id).or_insert_with(|| previous(nth));
            }
        }
        // A repeated id refers to the first entry; the others keep their parent but have no children.
        let parent = |nth: usize| {
            let id = entries[nth].parent.as_deref()?;
            match by_id.get(id) {
                Some(parent) => Some(*parent).filter(|parent| *parent != nth),
                None => lost.get(id).copied().flatten(),
            }
        };
        let mut tree = EntryTree {
            parents: (0..entries.len())
                .map(|nth| parent(nth).filter(|_| in_tree[nth]))
                .collect(),
            ..EntryTree::default()
        };
        tree.walk(entries, &in_tree);
        tree.climb(entries, &in_tree, all.filter(|nth| !in_tree[*nth]).collect());
        tree
    }

    /// Traverses the tree from all roots.
    fn walk(&mut self, entries: &[PiEntry<'_>], in_tree: &[bool]) {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
        let mut open: Vec<(usize, bool)> = Vec::new();
        for nth in (0..entries.len()).filter(|nth| in_tree[*nth]) {
            match self.parents[nth] {
                Some(parent) => children[parent].push(nth),
                None => open.push((nth, false)),
            }
        }
        self.walk = vec![(0, 0); entries.len()];
        self.received = vec![None; entries.len()];
        let mut clock = 0;
        while let Some((nth, left)) = open.pop() {
            clock += 1;
            if left {
                self.walk[nth].1 = clock;
                continue;
            }
            self.walk[nth].0 = clock;
            let before = self.parents[nth].and_then(|parent| self.received[parent]);
            self.received[nth] = Some(nth).filter(|_| entries[nth].is_received()).or(before);
            open.push((nth, true));
            open.extend(children[nth].iter().map(|child| (*child, false)));
        }
    }

    /// Follows parents from the last entry of each path to the start of the path.
    fn climb(&mut self, entries: &[PiEntry<'_>], in_tree: &[bool], mut loose: Vec<usize>) {
        let own = |nth: &usize| in_tree[*nth];
        let leaf = (0..entries.len()).rev().find(own);
        let is_end = branches::are_ends(&self.parents);
        let leaves = (0..entries.len()).filter(own).filter(|nth| is_end[*nth]);
        // Entries in a cycle have no last one.
        let rest = (0..entries.len()).rev().filter(own);
        let mut paths = branches::paths(&self.parents, leaf, leaves.chain(rest)).into_iter();
        let mut main = paths.next().unwrap_or_default();
        let mut branches = Vec::new();
        for mut path in paths {
            let is_message =
                |nth: &usize| entries[*nth].is_received() || entries[*nth].kind == EntryKind::Compaction;
            if path.entries.iter().any(is_message) {
                branches.push(path);
            } else {
                loose.append(&mut path.entries);
            }
        }
        loose.sort_unstable();
        main.entries = with_loose_entries(main.entries, &loose);
        self.paths.push(main);
        self.paths.extend(branches);
    }
}

/// Whether an entry is on a path.
fn is_placed(entry: &PiEntry<'_>) -> bool {
    !matches!(entry.kind, EntryKind::Session | EntryKind::Blank)
}

pub fn first_by_id<'e>(entries: &'e [PiEntry<'_>]) -> HashMap<&'e str, usize> {
    let mut by_id = HashMap::new();
    for (nth, entry) in entries.iter().enumerate().filter(|(_, entry)| is_placed(entry)) {
        if let Some(id) = entry.id.as_deref() {
            by_id.entry(id).or_insert(nth);
        }
    }
    by_id
}

/// A path with the unconnected entries inserted in file order.
fn with_loose_entries(path: Vec<usize>, loose: &[usize]) -> Vec<usize> {
    let mut loose = loose.iter().copied().peekable();
    let mut merged = Vec::with_capacity(path.len() + loose.len());
    for nth in path {
        while let Some(other) = loose.next_if(|other| *other < nth) {
            merged.push(other);
        }
        merged.push(nth);
    }
    merged.extend(loose);
    merged
}
