//! Marks of continuations and splits that a run has left unfinished: they vouch for the links that are missing.

use super::{Found, Links, Trouble};
use crate::error::{Place, Result};
use crate::store::{Store, atomic};
use std::collections::{BTreeMap, HashSet};

/// What the marks of a store say.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Sessions that were made to be named in another one, with that one first.
    vouched: HashSet<(String, String)>,
    /// Names of marks that vouch for nothing any more.
    stale: Vec<String>,
}

impl Marks {
    /// Reads the marks of a store of which these sessions were looked at.
    pub fn of(store: &Store, links: &BTreeMap<String, Links>) -> Result<Marks> {
        let mut marks = Marks::default();
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

    /// Whether the store itself made this session to be named in that one.
    pub fn vouch_for(&self, parent: &str, child: &str) -> bool {
        self.vouched.contains(&(parent.to_string(), child.to_string()))
    }

    /// Reports the marks that are left over, and takes them away.
    pub fn sweep(&self, store: &Store, repair: bool, tell: &mut dyn FnMut(Found)) -> Result<()> {
        let Some(sessions) = store.sessions()? else {
            return Ok(());
        };
        for name in &self.stale {
            if repair {
                atomic::sweep(sessions, name);
            }
            tell(Found {
                session: None,
                file: sessions.shown(name),
                place: Place::default(),
                trouble: Trouble::Temporary,
                what: "leftover of an interrupted change".to_string(),
                remedy: Some("removed".to_string()),
            });
        }
        Ok(())
    }
}
