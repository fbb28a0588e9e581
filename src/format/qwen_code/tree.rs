//! The tree of records: which are one message, and which session each is of.

use super::record::{is_artifact, message, text};
use crate::format::kit::{Aside, Assembly};
use std::collections::{HashMap, HashSet};

/// The sessions and messages of a log; none if no record names another.
pub fn assemble(lines: &[&[u8]]) -> Option<Assembly> {
    let ids: Vec<Option<String>> = lines.iter().map(|line| text(line, "uuid")).collect();
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut first: Vec<usize> = (0..lines.len()).collect();
    for (nth, id) in ids.iter().enumerate() {
        let Some(id) = id else { continue };
        let known = *by_id.entry(id).or_insert(nth);
        // What is not a message is a record of its own.
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
    let way = way(lines, &ids, &parents);
    let heads = heads(&parents, |nth| way.contains(&nth));
    let mut sessions: HashMap<usize, usize> = HashMap::new();
    let is_beside =
        |nth: &usize| ids[*nth].is_some() && !way.contains(&assembly.first[*nth]) && !way.contains(nth);
    let beside: Vec<usize> = (0..lines.len()).filter(is_beside).collect();
    // A piece without messages is not a session.
    for nth in beside.iter().filter(|nth| message(lines[**nth]).is_some()) {
        let head = heads[*nth];
        sessions.entry(head).or_insert_with(|| {
            let joint = parents[head].and_then(|nth| said(lines, &parents, nth));
            assembly.others.push(Aside {
                kind: "branch",
                at: joint.and_then(|nth| ids[nth].clone()),
                id: None,
            });
            assembly.others.len()
        });
    }
    for nth in beside {
        assembly.session[nth] = sessions.get(&heads[nth]).copied().unwrap_or(0);
    }
    Some(assembly)
}

/// The last message on the way back from a record.
fn said(lines: &[&[u8]], parents: &[Option<usize>], from: usize) -> Option<usize> {
    let mut seen = HashSet::new();
    let mut at = Some(from);
    while let Some(nth) = at.filter(|nth| seen.insert(*nth)) {
        if message(lines[nth]).is_some() {
            return Some(nth);
        }
        at = parents[nth];
    }
    None
}

/// The record with which the piece of each begins, in which each names the one before it; a piece ends where `ends` holds.
fn heads(parents: &[Option<usize>], ends: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut heads: Vec<Option<usize>> = vec![None; parents.len()];
    for nth in 0..parents.len() {
        let (mut way, mut at) = (Vec::new(), nth);
        let mut seen = HashSet::new();
        let head = loop {
            if let Some(head) = heads[at] {
                break head;
            }
            way.push(at);
            seen.insert(at);
            match parents[at].filter(|parent| !ends(*parent) && !seen.contains(parent)) {
                Some(parent) => at = parent,
                None => break at,
            }
        };
        way.into_iter().for_each(|at| heads[at] = Some(head));
    }
    heads
        .into_iter()
        .enumerate()
        .map(|(nth, head)| head.unwrap_or(nth))
        .collect()
}

/// The records from the last one back to the first. Where one names none that is there, the way continues at the last
/// record before it of another piece, except at a rewind.
fn way(lines: &[&[u8]], ids: &[Option<String>], parents: &[Option<usize>]) -> HashSet<usize> {
    let pieces = heads(parents, |_| false);
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
