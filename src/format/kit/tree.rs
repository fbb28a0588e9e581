//! Logs whose lines name the line before them. The main session is one path through them; the rest are branches.

use super::codec::Assembly;
use super::part::SideSession;
use std::collections::{HashMap, HashSet};

/// The lines of a log as a tree.
pub struct Tree {
    /// The id of each line.
    pub ids: Vec<Option<String>>,
    /// The index of the line that each names.
    pub parents: Vec<Option<usize>>,
    pub is_message: Vec<bool>,
}

impl Tree {
    /// The first line of the piece of each line. A piece ends before a line for which `ends` holds.
    pub fn heads(&self, ends: impl Fn(usize) -> bool) -> Vec<usize> {
        let count = self.parents.len();
        let mut heads: Vec<Option<usize>> = vec![None; count];
        for nth in 0..count {
            let (mut path, mut at) = (Vec::new(), nth);
            let mut seen = HashSet::new();
            let head = loop {
                if let Some(head) = heads[at] {
                    break head;
                }
                path.push(at);
                seen.insert(at);
                match self.parents[at].filter(|parent| !ends(*parent) && !seen.contains(parent)) {
                    Some(parent) => at = parent,
                    None => break at,
                }
            };
            path.into_iter().for_each(|at| heads[at] = Some(head));
        }
        let heads = heads.into_iter().enumerate();
        heads.map(|(nth, head)| head.unwrap_or(nth)).collect()
    }

    /// Makes branches of the lines for which `is_branch` holds: one for each piece that has messages.
    pub fn add_branches(&self, assembly: &mut Assembly, is_branch: impl Fn(usize) -> bool) {
        let lines: Vec<usize> = (0..self.ids.len()).filter(|nth| is_branch(*nth)).collect();
        let heads = self.heads(|nth| !is_branch(nth));
        let mut sessions: HashMap<usize, usize> = HashMap::new();
        for nth in lines.iter().filter(|nth| self.is_message[**nth]) {
            let head = heads[*nth];
            sessions.entry(head).or_insert_with(|| {
                let joint = self.parents[head].and_then(|nth| self.last_message(nth));
                assembly.others.push(SideSession {
                    kind: "branch",
                    at: joint.and_then(|nth| self.ids[nth].clone()),
                    id: None,
                });
                assembly.others.len()
            });
        }
        for nth in lines {
            assembly.session[nth] = sessions.get(&heads[nth]).copied().unwrap_or(0);
        }
    }

    /// The last message on the path back from a line.
    fn last_message(&self, from: usize) -> Option<usize> {
        let mut seen = HashSet::new();
        let mut at = Some(from);
        while let Some(nth) = at.filter(|nth| seen.insert(*nth)) {
            if self.is_message[nth] {
                return Some(nth);
            }
            at = self.parents[nth];
        }
        None
    }
}
