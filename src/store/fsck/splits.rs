//! Checks the links between split sessions and their parts.

use super::links::{removed, restore_line, session_exists};
use super::marks::StoreMarkers;
use super::options::FsckOptions;
use super::problem::{FoundProblem, Problem};
use super::session_links::SessionLinks;
use crate::error::Result;
use crate::model::key;
use crate::store::pending::MarkerKind;
use crate::store::{Store, split};
use std::collections::{BTreeMap, HashSet};

/// Checks both sides of every split: the session names its parts, and they exist. A missing original session is not a
/// problem.
pub(super) fn check(
    store: &Store,
    check: &FsckOptions<'_>,
    links: &BTreeMap<String, SessionLinks>,
    marks: &StoreMarkers,
    report: &mut dyn FnMut(FoundProblem),
) -> Result<()> {
    let found = |id: &str, problem, what: String, remedy: Option<&str>| {
        FoundProblem::of(store, id, problem, what, remedy)
    };
    let removed = removed(store)?;
    for (parent, pieces) in unconfirmed_splits(links) {
        let id = format!("{parent} {}", pieces.ids.join(" "));
        let was_created = pieces.ids.iter().all(|id| marks.was_created_for(parent, id));
        let is_wanted = pieces.ids.iter().any(|id| check.link.contains(id));
        if !was_created && !is_wanted {
            let what = format!("{} claims to be a part of this session", pieces.ids.join(", "));
            report(found(parent, Problem::Claim, what, None));
            continue;
        }
        if pieces.ids.len() < pieces.parts {
            let (there, all) = (pieces.ids.len(), pieces.parts);
            let what = format!("unfinished split: {there} of {all} parts exist");
            report(found(parent, Problem::MissingLink, what, None));
            continue;
        }
        let what = format!("split into {}, which is not recorded", pieces.ids.join(", "));
        if let Some(stamp) = check.repair {
            let event = split::event(&stamp(&format!("split {id}"))?, &pieces.ids);
            store.append(parent, &[&event])?;
            store.unmark(MarkerKind::Split, parent);
        }
        report(found(
            parent,
            Problem::MissingLink,
            what,
            Some("split event added"),
        ));
    }
    for (id, own) in links {
        for (event, pieces) in &own.split_into {
            let (mut there, mut missing) = (Vec::new(), Vec::new());
            for piece in pieces {
                let found = key::is_id(piece) && session_exists(store, piece, &removed)?;
                if found { &mut there } else { &mut missing }.push(piece.clone());
            }
            if missing.is_empty() {
                continue;
            }
            if let Some(stamp) = check.repair {
                let mut lines = vec![restore_line(event, &stamp(&format!("unlink {id} {event}"))?)];
                if !there.is_empty() {
                    lines.push(split::event(&stamp(&format!("split {id} {event}"))?, &there));
                }
                let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
                store.append(id, &lines)?;
            }
            let what = format!("split into {}, which is missing", missing.join(", "));
            report(found(
                id,
                Problem::BrokenLink,
                what,
                Some("split event with the other parts added"),
            ));
        }
    }
    Ok(())
}

/// A split: its session, the common prefix of the part ids, and the number of parts.
type SplitKey<'l> = (&'l str, &'l str, usize);

struct SplitParts {
    ids: Vec<String>,
    parts: usize,
}

/// The splits with existing parts that the session does not name.
fn unconfirmed_splits(links: &BTreeMap<String, SessionLinks>) -> Vec<(&str, SplitParts)> {
    let pairs = links.iter().flat_map(|(parent, own)| {
        let pieces = own.split_into.iter().flat_map(|(_, pieces)| pieces);
        pieces.map(move |piece| (parent.as_str(), piece.as_str()))
    });
    let reported: HashSet<(&str, &str)> = pairs.collect();
    let mut splits: BTreeMap<SplitKey<'_>, Vec<(usize, &str)>> = BTreeMap::new();
    for (id, own) in links {
        let Some(part) = &own.split_from else { continue };
        let stem = id.rsplit_once('.').map_or(id.as_str(), |(stem, _)| stem);
        let known =
            !links.contains_key(&part.parent) || reported.contains(&(part.parent.as_str(), id.as_str()));
        if !known {
            let split = (part.parent.as_str(), stem, part.parts);
            splits.entry(split).or_default().push((part.part, id));
        }
    }
    let pieces = |(parent, _, parts): (_, _, usize), mut ids: Vec<(usize, &str)>| {
        ids.sort_unstable();
        let ids = ids.into_iter().map(|(_, id)| id.to_string()).collect();
        (parent, SplitParts { ids, parts })
    };
    splits
        .into_iter()
        .map(|(split, ids)| pieces(split, ids))
        .collect()
}
