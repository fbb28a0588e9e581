//! Checks links between sessions, and aliases.

use super::marks::StoreMarkers;
use super::options::{CreateStamp, FsckOptions};
use super::problem::{FoundProblem, Problem};
use super::repair::{QUARANTINE, quarantined};
use super::session_links::SessionLinks;
use crate::error::{ErrorKind, Position, Result};
use crate::model::event::Stamp;
use crate::model::key;
use crate::store::{Store, atomic, run_file};
use std::collections::{BTreeMap, HashSet};

/// The quarantine file of removed aliases; no session id begins like this.
pub(super) const KEPT_ALIASES: &str = "@aliases.jsonl";

/// Checks that both sides of every link exist. Sessions that were not examined are only tested for existence.
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
    let agrees = |parent: &str, child: &str| {
        let known = links.get(child);
        known.is_none_or(|child| child.continued_from.as_deref() == Some(parent))
    };
    // Sessions with a continuation that both sides confirm.
    let mut continued: HashSet<&str> = links
        .iter()
        .filter(|(id, own)| own.continued_to.iter().any(|(child, _)| agrees(id, child)))
        .map(|(id, _)| id.as_str())
        .collect();
    let aliased = match check.link.is_empty() {
        true => HashSet::new(),
        false => store.aliases()?.into_iter().flat_map(|(_, ids)| ids).collect(),
    };
    for (id, own) in links {
        if let Some(parent) = &own.continued_from {
            if !key::is_id(parent) || !session_exists(store, parent, &removed)? {
                let what = format!("continues {parent}, which is missing");
                report(found(id, Problem::BrokenLink, what, None));
            } else if let Some(other) = links.get(parent)
                && !continued.contains(parent.as_str())
            {
                let was_created = marks.was_created_for(parent, id);
                let is_wanted = check.link.contains(id);
                // A link that was undone is not missing.
                if !was_created && !is_wanted && other.unlinked.contains(id) {
                    continue;
                }
                let is_free = was_created || !aliased.contains(parent);
                let (problem, mut what) = match was_created {
                    true => (
                        Problem::MissingLink,
                        format!("continued by {id}, which is not recorded"),
                    ),
                    false => (Problem::Claim, format!("{id} claims to continue this session")),
                };
                if is_wanted && !is_free {
                    what.push_str("; not linked, since an alias has the name of the continued session");
                }
                let remedy = (was_created || is_wanted && is_free).then_some("link event added");
                if let (Some(stamp), true) = (check.repair, remedy.is_some()) {
                    let stamp = stamp(&format!("link {parent} {id}"))?;
                    store.add_link(parent, id, &stamp)?;
                }
                if remedy.is_some() {
                    continued.insert(parent);
                }
                report(found(parent, problem, what, remedy));
            } else if check.link.contains(id) && links.get(parent).is_some_and(|other| !other.names(id)) {
                let what =
                    format!("{id} claims to continue this session; not linked, since another session does");
                report(found(parent, Problem::Claim, what, None));
            }
        }
        for (child, event) in &own.continued_to {
            let what = match key::is_id(child) && session_exists(store, child, &removed)? {
                true if agrees(id, child) || event.is_none() => continue,
                true => format!("names the continuation {child}, which does not link back"),
                false => format!("continued by {child}, which is missing"),
            };
            let remedy = event.as_ref().map(|_| "link undone");
            if let (Some(stamp), Some(event)) = (check.repair, event) {
                undo_event(store, id, event, stamp, &format!("unlink {id} {child}"))?;
            }
            report(found(id, Problem::BrokenLink, what, remedy));
        }
    }
    Ok(())
}

impl SessionLinks {
    /// Whether the session names another as its continuation.
    fn names(&self, child: &str) -> bool {
        self.continued_to.iter().any(|(known, _)| known == child)
    }
}

/// Undoes an event of a session; `what` distinguishes the new line from others.
pub(super) fn undo_event(
    store: &Store,
    id: &str,
    event: &str,
    stamp: CreateStamp<'_>,
    what: &str,
) -> Result<()> {
    store.append(id, &[&restore_line(event, &stamp(what)?)])
}

/// The line that undoes an event.
pub(super) fn restore_line(event: &str, stamp: &Stamp) -> Vec<u8> {
    let mut line = stamp.event("restore");
    line.text("of", event);
    line.finish()
}

/// Whether a session exists in the store or the trash, or cannot be looked up: entries of another kind are reported
/// with the directories, and references to them are kept.
pub(super) fn session_exists(store: &Store, id: &str, removed: &Removed) -> Result<bool> {
    match store.has(id) {
        Ok(false) if removed.as_ref().is_none_or(|removed| removed.contains(id)) => Ok(true),
        // It may have been moved to or from the trash between the two lookups.
        Ok(false) => {
            let again = self::removed(store)?;
            Ok(again.is_none_or(|removed| removed.contains(id)) || store.has(id)?)
        }
        Err(error) if error.kind == ErrorKind::Unsafe => Ok(true),
        there => there,
    }
}

/// The ids in the trash; none if it cannot be read.
pub(super) type Removed = Option<HashSet<String>>;

pub(super) fn removed(store: &Store) -> Result<Removed> {
    match store.trash() {
        Ok(trash) => Ok(Some(trash.into_iter().map(|(id, _)| id).collect())),
        Err(error) if error.kind == ErrorKind::Unsafe => Ok(None),
        Err(error) => Err(error),
    }
}

impl Store {
    /// Checks that every alias names exactly one session in the store or the trash.
    pub(super) fn check_aliases(
        &self,
        repair: Option<CreateStamp<'_>>,
        report: &mut dyn FnMut(FoundProblem),
    ) -> Result<()> {
        let aliases = match self.aliases_dir() {
            Ok(Some(aliases)) => aliases,
            Ok(None) => return Ok(()),
            Err(error) if error.kind == ErrorKind::Unsafe => return Ok(()), // reported with the directories
            Err(error) => return Err(error),
        };
        let removed = removed(self)?;
        for file in aliases.names()? {
            let Some(name) = Some(&file)
                .filter(|file| key::is_id(file))
                .and_then(|file| key::key_for_id(file))
            else {
                continue;
            };
            // Entries that are not regular files are reported with the directory.
            if !aliases.facts(&file)?.is_some_and(|facts| facts.regular) {
                continue;
            }
            let found = |what: String, remedy: Option<String>| FoundProblem {
                session: None,
                file: aliases.shown(&file),
                place: Position::default(),
                problem: Problem::Alias,
                what,
                remedy,
            };
            let ids = match self.alias_ids(&name) {
                Ok(None) => continue,
                Ok(Some(ids)) => ids,
                Err(error) if matches!(error.kind, ErrorKind::Data | ErrorKind::Unsafe) => {
                    report(found(format!("unreadable alias {name}"), None));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let mut missing = Vec::new();
            for id in &ids {
                if !session_exists(self, id, &removed)? {
                    missing.push(id.clone());
                }
            }
            if missing.len() == ids.len() {
                if let Some(stamp) = repair {
                    self.quarantine_alias(&name, &ids, stamp)?;
                }
                report(found(
                    format!("alias {name} of missing session {}", missing.join(", ")),
                    Some("quarantined".to_string()),
                ));
            }
        }
        Ok(())
    }

    fn quarantine_alias(&self, name: &str, ids: &[String], stamp: CreateStamp<'_>) -> Result<()> {
        let mut members = quarantined(stamp, &format!("alias {name}"))?;
        members.text("alias", name).text("why", "it named no session");
        let content: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let quarantine = atomic::dir(self.directory(), QUARANTINE)?;
        let run = run_file::run(members, content.as_bytes());
        let shown = quarantine.shown(KEPT_ALIASES);
        run_file::append_of(&quarantine, KEPT_ALIASES, &mut |out| {
            atomic::put_bytes(out, &shown, &run)
        })?;
        self.alias_remove(name)
    }
}
