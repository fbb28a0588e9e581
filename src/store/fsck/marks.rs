//! Checks markers of unfinished continuations and splits, which confirm missing links.

use super::problem::{FoundProblem, Problem};
use super::session_links::SessionLinks;
use crate::error::{Position, Result};
use crate::store::{Store, atomic};
use std::collections::{BTreeMap, HashSet};

/// The markers of a store.
#[derive(Debug, Default)]
pub(super) struct StoreMarkers {
    /// Pairs of a parent and a session that the store created for it.
    vouched: HashSet<(String, String)>,
    /// Names of markers that no longer confirm anything.
    stale: Vec<String>,
}

impl StoreMarkers {
    /// Reads the markers of a store for these sessions.
    pub fn of(store: &Store, links: &BTreeMap<String, SessionLinks>) -> Result<StoreMarkers> {
        let mut marks = StoreMarkers::default();
        for mark in store.marks()? {
            let (mut is_needed, mut is_known) = (false, true);
            for planned in &mark.planned {
                let Some(own) = links.get(&planned.id) else {
                    is_known &= !store.has(&planned.id)?;
                    continue;
                };
                let part_of = own.split_from.as_ref().map(|part| &part.parent);
                let names = [own.continued_from.as_ref(), part_of];
                let claims = names.into_iter().flatten().any(|name| *name == mark.parent);
                let misses = links.get(&mark.parent).is_some_and(|parent| {
                    let parts = parent.split_into.iter().flat_map(|(_, parts)| parts);
                    let children = parent.continued_to.iter().map(|(child, _)| child);
                    !children.chain(parts).any(|known| *known == planned.id)
                });
                if claims && misses && store.begins_as(planned)? {
                    is_needed = true;
                    let pair = (mark.parent.clone(), planned.id.clone());
                    marks.vouched.insert(pair);
                }
            }
            if is_known && !is_needed {
                marks.stale.push(mark.name);
            }
        }
        Ok(marks)
    }

    /// Whether the store itself created this session for that parent.
    pub fn was_created_for(&self, parent: &str, child: &str) -> bool {
        self.vouched.contains(&(parent.to_string(), child.to_string()))
    }

    /// Reports leftover markers, and removes them if requested.
    pub fn sweep(&self, store: &Store, repair: bool, report: &mut dyn FnMut(FoundProblem)) -> Result<()> {
        let Some(sessions) = store.sessions()? else {
            return Ok(());
        };
        for name in &self.stale {
            if repair {
                atomic::remove_dead_file(sessions, name);
            }
            report(FoundProblem {
                session: None,
                file: sessions.shown(name),
                place: Position::default(),
                problem: Problem::Temporary,
                what: "leftover of an interrupted change".to_string(),
                remedy: Some("removed".to_string()),
            });
        }
        Ok(())
    }
}
