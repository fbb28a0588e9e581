//! The paths through a file: the one that is gone on with, and those that were left.

use super::entry::{Entry, Kind};
use crate::format::branches::{self, Path};
use std::collections::HashMap;

/// The paths of a file, and what stands before what.
#[derive(Debug, Default)]
pub struct Tree {
    /// The active path first, then the others in the order of their last entries.
    pub paths: Vec<Path>,
    parents: Vec<Option<usize>>,
    /// When a walk through the tree comes to an entry, and when it has left all that hangs on it; 0 for what no walk
    /// from a beginning comes to.
    walk: Vec<(usize, usize)>,
    /// The nearest entry at or before each that a model is told of.
    said: Vec<Option<usize>>,
}

impl Tree {
    /// Whether one entry stands before another on its way back to the beginning, or is it.
    pub fn is_before(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (self.walk.get(one), self.walk.get(other)) else {
            return false;
        };
        one.0 > 0 && other.0 > 0 && one.0 <= other.0 && other.1 <= one.1
    }

    /// The nearest entry at or before one that a model is told of.
    pub fn said(&self, at: usize) -> Option<usize> {
        self.said.get(at).copied().flatten()
    }

    /// The tree of a file. Entries of a file without ids follow one another. What hangs nowhere, or leads to no message,
    /// is in the first path as it stands.
    pub fn of(entries: &[Entry<'_>]) -> Tree {
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        let stands = |entry: &Entry<'_>| !matches!(entry.kind, Kind::Session | Kind::Blank);
        for (nth, entry) in entries.iter().enumerate().filter(|(_, entry)| stands(entry)) {
            if let Some(id) = entry.id.as_deref() {
                by_id.entry(id).or_insert(nth);
            }
        }
        let all = (0..entries.len()).filter(|nth| !matches!(entries[*nth].kind, Kind::Session | Kind::Blank));
        if by_id.is_empty() {
            let path = Path {
                entries: all.collect(),
                joint: None,
            };
            return Tree {
                paths: vec![path],
                ..Tree::default()
            };
        }
        let in_tree: Vec<bool> = entries
            .iter()
            .map(|entry| stands(entry) && entry.id.is_some())
            .collect();
        // Where the line of the parent is damaged beyond its id, the entry before takes its place.
        let damaged = entries
            .iter()
            .position(|entry| matches!(entry.kind, Kind::Unreadable(_)) && entry.id.is_none());
        let previous = |nth: usize| {
            damaged.filter(|damaged| *damaged < nth)?;
            (0..nth).rev().find(|before| in_tree[*before])
        };
        // Entries with the same lost parent hang on the same entry.
        let mut lost: HashMap<&str, Option<usize>> = HashMap::new();
        for (nth, entry) in entries.iter().enumerate() {
            if let Some(id) = entry.parent.as_deref().filter(|id| !by_id.contains_key(id)) {
                lost.entry(id).or_insert_with(|| previous(nth));
            }
        }
        // An id that repeats is the first entry's; the others hang where they say, and nothing hangs on them.
        let parent = |nth: usize| {
            let id = entries[nth].parent.as_deref()?;
            match by_id.get(id) {
                Some(parent) => Some(*parent).filter(|parent| *parent != nth),
                None => lost.get(id).copied().flatten(),
            }
        };
        let mut tree = Tree {
            parents: (0..entries.len())
                .map(|nth| parent(nth).filter(|_| in_tree[nth]))
                .collect(),
            ..Tree::default()
        };
        tree.walk(entries, &in_tree);
        tree.climb(entries, &in_tree, all.filter(|nth| !in_tree[*nth]).collect());
        tree
    }

    /// Walks through the tree from all its beginnings.
    fn walk(&mut self, entries: &[Entry<'_>], in_tree: &[bool]) {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
        let mut open: Vec<(usize, bool)> = Vec::new();
        for nth in (0..entries.len()).filter(|nth| in_tree[*nth]) {
            match self.parents[nth] {
                Some(parent) => children[parent].push(nth),
                None => open.push((nth, false)),
            }
        }
        self.walk = vec![(0, 0); entries.len()];
        self.said = vec![None; entries.len()];
        let mut clock = 0;
        while let Some((nth, left)) = open.pop() {
            clock += 1;
            if left {
                self.walk[nth].1 = clock;
                continue;
            }
            self.walk[nth].0 = clock;
            let before = self.parents[nth].and_then(|parent| self.said[parent]);
            self.said[nth] = Some(nth).filter(|_| entries[nth].is_said()).or(before);
            open.push((nth, true));
            open.extend(children[nth].iter().map(|child| (*child, false)));
        }
    }

    /// Climbs from the last entry of each path to where the path began.
    fn climb(&mut self, entries: &[Entry<'_>], in_tree: &[bool], mut loose: Vec<usize>) {
        let own = |nth: &usize| in_tree[*nth];
        let leaf = (0..entries.len()).rev().find(own);
        let is_end = branches::are_ends(&self.parents);
        let leaves = (0..entries.len()).filter(own).filter(|nth| is_end[*nth]);
        // Those that hang on each other in a circle have no last one.
        let rest = (0..entries.len()).rev().filter(own);
        let mut paths = branches::paths(&self.parents, leaf, leaves.chain(rest)).into_iter();
        let mut main = paths.next().unwrap_or_default();
        let mut branches = Vec::new();
        for mut path in paths {
            let said = |nth: &usize| entries[*nth].is_said() || entries[*nth].kind == Kind::Compaction;
            if path.entries.iter().any(said) {
                branches.push(path);
            } else {
                loose.append(&mut path.entries);
            }
        }
        loose.sort_unstable();
        main.entries = woven(main.entries, &loose);
        self.paths.push(main);
        self.paths.extend(branches);
    }
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
