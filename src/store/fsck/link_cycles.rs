//! Detects chains that form a cycle.

use super::problem::{FoundProblem, Problem};
use super::session_links::SessionLinks;
use crate::error::Result;
use crate::store::Store;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of sessions listed for a cycle.
const NAMED: usize = 10;

/// Reports each cycle once, for its first session by name. Only links that both sides confirm count.
pub(super) fn check(
    store: &Store,
    links: &BTreeMap<String, SessionLinks>,
    report: &mut dyn FnMut(FoundProblem),
) -> Result<()> {
    let forward = |id: &str, own: &SessionLinks| {
        let agrees = |child: &&(String, _)| {
            let known = links.get(&child.0);
            known.is_some_and(|child| child.continued_from.as_deref() == Some(id))
        };
        own.continued_to
            .iter()
            .find(agrees)
            .map(|(child, _)| child.clone())
    };
    let back = |_: &str, own: &SessionLinks| own.continued_from.clone();
    let mut reported: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for cycle in cycles(links, &forward).into_iter().chain(cycles(links, &back)) {
        if !reported.insert(cycle.iter().cloned().collect()) {
            continue;
        }
        let mut named: Vec<&str> = cycle.iter().take(NAMED).map(String::as_str).collect();
        if cycle.len() > NAMED {
            named.push("…");
        }
        let what = format!("link cycle: {}", named.join(", "));
        report(FoundProblem::of(
            store,
            &cycle[0],
            Problem::BrokenLink,
            what,
            None,
        ));
    }
    Ok(())
}

/// The cycles of these links, each beginning with its first session by name. Visits every session once.
fn cycles(
    links: &BTreeMap<String, SessionLinks>,
    next: &dyn Fn(&str, &SessionLinks) -> Option<String>,
) -> Vec<Vec<String>> {
    let mut passed: HashMap<&str, usize> = HashMap::new();
    let mut cycles = Vec::new();
    for (walk, start) in links.keys().enumerate() {
        let (mut path, mut at): (Vec<&str>, Option<&str>) = (Vec::new(), Some(start));
        while let Some(id) = at {
            match passed.get(id) {
                Some(by) if *by == walk => {
                    let from = path.iter().position(|known| *known == id).unwrap_or(0);
                    let mut cycle: Vec<String> = path[from..].iter().map(|id| id.to_string()).collect();
                    let first = (0..cycle.len()).min_by_key(|nth| &cycle[*nth]).unwrap_or(0);
                    cycle.rotate_left(first);
                    cycles.push(cycle);
                    break;
                }
                Some(_) => break,
                None => {}
            }
            passed.insert(id, walk);
            path.push(id);
            let child = links.get(id).and_then(|own| next(id, own));
            at = child
                .and_then(|child| links.get_key_value(&child))
                .map(|(id, _)| id.as_str());
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cycle_is_found_once_from_any_start() {
        let mut links: BTreeMap<String, SessionLinks> = BTreeMap::new();
        for word in ["a>b", "b>d", "c>b", "d>c", "e>e", "f>a", "g>h", "h>gone"] {
            let (id, child) = word.split_once('>').unwrap();
            let own = SessionLinks {
                continued_to: vec![(child.to_string(), None)],
                ..SessionLinks::default()
            };
            links.insert(id.to_string(), own);
        }
        let next = |_: &str, own: &SessionLinks| own.continued_to.first().map(|(child, _)| child.clone());
        assert_eq!(cycles(&links, &next), [vec!["b", "d", "c"], vec!["e"]]);
    }
}
