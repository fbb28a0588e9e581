//! The paths in a file: the active path and the inactive branches.

use super::entry::{EntryKind, PiEntry};
use crate::format::branches::{self, Path};
use std::collections::HashMap;

/// The entries of a file as a tree.
#[derive(Debug)]
pub struct EntryTree<'a> {
    pub entries: &'a [PiEntry<'a>],
    /// The active path, then the others in the order of their last entries.
    pub paths: Vec<Path>,
    /// The first entry with each id.
    pub by_id: HashMap<&'a str, usize>,
    parents: Vec<Option<usize>>,
    /// Whether an entry has an id, and thus a position in the tree.
    in_tree: Vec<bool>,
    /// Entry and exit time of each entry in a depth-first traversal; 0 if it is not reachable from a root.
    walk: Vec<(usize, usize)>,
    /// For each entry, its nearest ancestor or itself that the model receives.
    pub received: Vec<Option<usize>>,
}

impl<'a> EntryTree<'a> {
    /// Builds the tree of a file. Entries without ids form a chain. Entries without a connection to the tree, or on a
    /// path without messages, are placed on the first path in file order.
    pub fn of(entries: &'a [PiEntry<'a>]) -> EntryTree<'a> {
        let mut by_id = HashMap::new();
        let is_in_tree = |entry: &PiEntry<'_>| is_placed(entry) && entry.id.is_some();
        let in_tree: Vec<bool> = entries.iter().map(is_in_tree).collect();
        for (nth, entry) in entries.iter().enumerate().filter(|(nth, _)| in_tree[*nth]) {
            by_id
                .entry(entry.id.as_deref().unwrap_or_default())
                .or_insert(nth);
        }
        let mut tree = EntryTree {
            entries,
            paths: Vec::new(),
            by_id,
            parents: Vec::new(),
            in_tree,
            walk: vec![(0, 0); entries.len()],
            received: vec![None; entries.len()],
        };
        tree.parents = tree.parents();
        tree.walk();
        tree.climb();
        tree
    }

    /// Whether one entry is an ancestor of the other, or equal.
    pub fn is_before(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.walk[one], self.walk[other]);
        one.0 > 0 && other.0 > 0 && one.0 <= other.0 && other.1 <= one.1
    }

    /// The parent of each entry. A repeated id refers to the first entry; the others keep their parent but have no
    /// children.
    fn parents(&self) -> Vec<Option<usize>> {
        let entries = self.entries;
        // If a damaged line has lost its id, the previous entry replaces a missing parent.
        let damaged = entries
            .iter()
            .position(|entry| matches!(entry.kind, EntryKind::Unreadable(_)) && entry.id.is_none());
        let previous = |nth: usize| {
            damaged.filter(|damaged| *damaged < nth)?;
            (0..nth).rev().find(|before| self.in_tree[*before])
        };
        // Entries with the same missing parent get the same replacement.
        let mut lost: HashMap<&str, Option<usize>> = HashMap::new();
        let parents = entries.iter().enumerate().map(|(nth, entry)| {
            let id = entry.parent.as_deref()?;
            let parent = match self.by_id.get(id) {
                Some(parent) => Some(*parent).filter(|parent| *parent != nth),
                None => *lost.entry(id).or_insert_with(|| previous(nth)),
            };
            parent.filter(|_| self.in_tree[nth])
        });
        parents.collect()
    }

    /// Traverses the tree from all roots.
    fn walk(&mut self) {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.entries.len()];
        let mut open: Vec<(usize, bool)> = Vec::new();
        for nth in (0..self.entries.len()).filter(|nth| self.in_tree[*nth]) {
            match self.parents[nth] {
                Some(parent) => children[parent].push(nth),
                None => open.push((nth, false)),
            }
        }
        let mut clock = 0;
        while let Some((nth, left)) = open.pop() {
            clock += 1;
            if left {
                self.walk[nth].1 = clock;
                continue;
            }
            self.walk[nth].0 = clock;
            let before = self.parents[nth].and_then(|parent| self.received[parent]);
            let is_received = self.entries[nth].is_received();
            self.received[nth] = Some(nth).filter(|_| is_received).or(before);
            open.push((nth, true));
            open.extend(children[nth].iter().map(|child| (*child, false)));
        }
    }

    /// Follows parents from the last entry of each path to the start of the path.
    fn climb(&mut self) {
        let count = self.entries.len();
        let own = |nth: &usize| self.in_tree[*nth];
        let order: Vec<usize> = (0..count).filter(own).collect();
        let mut paths = branches::paths(&self.parents, order.last().copied(), &order);
        let mut main = paths.remove(0);
        let is_message = |nth: &usize| {
            let entry = &self.entries[*nth];
            entry.is_received() || entry.kind == EntryKind::Compaction
        };
        let (branches, empty): (Vec<Path>, Vec<Path>) =
            { paths.into_iter() }.partition(|path| path.entries.iter().any(is_message));
        let all = (0..count).filter(|nth| is_placed(&self.entries[*nth]) && !self.in_tree[*nth]);
        let mut loose: Vec<usize> = { empty.into_iter() }
            .flat_map(|path| path.entries)
            .chain(all)
            .collect();
        loose.sort_unstable();
        main.entries = with_loose_entries(main.entries, &loose);
        self.paths = std::iter::once(main).chain(branches).collect();
    }
}

/// Whether an entry is on a path.
fn is_placed(entry: &PiEntry<'_>) -> bool {
    !matches!(entry.kind, EntryKind::Session | EntryKind::Blank)
}

/// A path with the unconnected entries inserted in file order.
fn with_loose_entries(path: Vec<usize>, loose: &[usize]) -> Vec<usize> {
    let mut loose = loose.iter().copied().peekable();
    let mut merged = Vec::with_capacity(path.len() + loose.len());
    for nth in path {
        merged.extend(std::iter::from_fn(|| loose.next_if(|other| *other < nth)));
        merged.push(nth);
    }
    merged.extend(loose);
    merged
}
