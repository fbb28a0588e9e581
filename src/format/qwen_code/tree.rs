//! Assigns records to messages and sessions by their tree.

use super::record::{is_artifact, message};
use crate::format::kit::{Assembly, Tree};
use crate::format::object::text;
use std::collections::{HashMap, HashSet};

/// The sessions and messages of a log; `None` if no record names another.
pub fn assemble(lines: &[&[u8]]) -> Option<Assembly> {
    let ids: Vec<Option<String>> = lines.iter().map(|line| text(line, "uuid")).collect();
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut first: Vec<usize> = (0..lines.len()).collect();
    for (nth, id) in ids.iter().enumerate() {
        let Some(id) = id else { continue };
        let known = *by_id.entry(id).or_insert(nth);
        // Only records that are messages are joined.
        if message(lines[nth]).is_some() && message(lines[known]).is_some() {
            first[nth] = known;
        }
    }
    let parents: Vec<Option<usize>> = lines
        .iter()
        .map(|line| by_id.get(text(line, "parentUuid")?.as_str()).copied())
        .collect();
    let mut assembly = Assembly {
        session: vec![0; lines.len()],
        first,
        others: Vec::new(),
    };
    if lines.iter().all(|line| text(line, "parentUuid").is_none()) {
        return Some(assembly);
    }
    let tree = Tree {
        is_message: lines.iter().map(|line| message(line).is_some()).collect(),
        ids,
        parents,
    };
    let way = active_path(lines, &tree);
    let first = assembly.first.clone();
    let is_branch = |nth: usize| tree.ids[nth].is_some() && !way.contains(&first[nth]) && !way.contains(&nth);
    tree.add_branches(&mut assembly, is_branch);
    Some(assembly)
}

/// The records from the last one back to the first. Where one names none that is there, the way continues at the last
/// record before it of another piece, except at a rewind.
fn active_path(lines: &[&[u8]], tree: &Tree) -> HashSet<usize> {
    let (ids, parents) = (&tree.ids, &tree.parents);
    let pieces = tree.heads(|_| false);
    let mut way = HashSet::new();
    let mut at = (0..lines.len())
        .rev()
        .find(|nth| ids[*nth].is_some() && !is_artifact(lines[*nth]));
    while let Some(nth) = at.filter(|nth| way.insert(*nth)) {
        at = parents[nth].or_else(|| {
            let is_gap = text(lines[nth], "parentUuid").is_some();
            let is_rewind = text(lines[nth], "subtype").as_deref() == Some("rewind");
            let is_other = |before: &usize| {
                ids[*before].is_some() && pieces[*before] != pieces[nth] && !way.contains(before)
            };
            let before = (0..nth).rev().filter(|before| !is_artifact(lines[*before]));
            before.filter(|_| is_gap && !is_rewind).find(is_other)
        });
    }
    way
}
