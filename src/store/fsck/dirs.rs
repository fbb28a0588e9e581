//! Checks the directories of a store: leftovers, unexpected files, and permissions.

use super::links;
use super::problem::{FoundProblem, Problem};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::model::key;
use crate::store::directory::Directory;
use crate::store::gc::ARCHIVE;
use crate::store::network::CACHE;
use crate::store::{ALIASES, SESSIONS, Store, atomic, batch, pending, trash};
use rustix::fs::OFlags;
use std::time::Duration;

use super::repair::QUARANTINE;

/// Permission bits that only the owner may have.
const OTHERS: u32 = 0o077;

/// Checks every directory; `repair` removes leftovers and restricts permissions.
pub(super) fn check(store: &Store, repair: bool, report: &mut dyn FnMut(FoundProblem)) -> Result<()> {
    let root = store.directory();
    let removed = links::removed(store)?;
    let mut look = DirectoryScan {
        store,
        removed,
        repair,
        report,
    };
    look.dir(root)?;
    for name in root.names()? {
        let known = [SESSIONS, ALIASES, ARCHIVE, trash::TRASH, QUARANTINE, CACHE].contains(&name.as_str());
        match root.inner(&name) {
            Ok(Some(dir)) if known && name != CACHE => {
                look.dir(&dir)?;
                look.files(&dir, &name)?;
            }
            Ok(_) if known => {}
            Ok(None) => {}
            Ok(Some(_)) => look.report_unexpected(root, &name, "unexpected directory"),
            Err(error) if error.kind == ErrorKind::Unsafe => {
                let what = if known {
                    format!("not an accessible directory: {}", error.message)
                } else {
                    "unexpected file".to_string()
                };
                look.report_unexpected(root, &name, &what);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

struct DirectoryScan<'t> {
    store: &'t Store,
    removed: links::Removed,
    repair: bool,
    report: &'t mut dyn FnMut(FoundProblem),
}

impl DirectoryScan<'_> {
    fn report(&mut self, file: String, problem: Problem, what: String, remedy: Option<&str>) {
        (self.report)(FoundProblem {
            session: None,
            file,
            place: Position::default(),
            problem,
            what,
            remedy: remedy.map(str::to_string),
        });
    }

    fn report_unexpected(&mut self, dir: &Directory, name: &str, what: &str) {
        self.report(dir.shown(name), Problem::UnexpectedFile, what.to_string(), None);
    }

    fn dir(&mut self, dir: &Directory) -> Result<()> {
        let mode = dir.mode()?;
        if mode & OTHERS == 0 {
            return Ok(());
        }
        if self.repair {
            dir.set_mode(mode & !OTHERS)?;
        }
        let shown = dir.path().display().to_string();
        self.report(
            shown,
            Problem::Permissions,
            format!("accessible to other users (mode {mode:o})"),
            Some("restricted to the owner"),
        );
        Ok(())
    }

    fn files(&mut self, dir: &Directory, place: &str) -> Result<()> {
        let mut names = dir.names()?;
        names.sort();
        if place == SESSIONS && self.repair {
            batch::remove_dead_files(dir)?;
        }
        for name in names {
            let Some(facts) = dir.facts(&name)? else {
                continue;
            };
            if !facts.regular {
                self.report_unexpected(dir, &name, "not a regular file; ignored");
                continue;
            }
            // Markers are checked with the links.
            if place == SESSIONS && pending::is_mark(&name) {
                continue;
            }
            if name.starts_with('.') {
                self.temporary(dir, &name)?;
                continue;
            }
            let fits = match place {
                ALIASES => key::is_id(&name),
                trash::TRASH => trash::entry(&name).is_some(),
                QUARANTINE if trash::is_copy(&name).is_some() || name == links::KEPT_ALIASES => true,
                _ => name.strip_suffix(".jsonl").is_some_and(key::is_id),
            };
            if !fits {
                self.report_unexpected(dir, &name, "unexpected file name");
            }
            let owner = name
                .strip_suffix(".jsonl")
                .filter(|id| matches!(place, ARCHIVE | QUARANTINE) && key::is_id(id));
            if let Some(id) = owner
                && !links::session_exists(self.store, id, &self.removed)?
            {
                let what = format!(
                    "{place} of missing session {id}; delete permanently with: convo remove --purge {id}"
                );
                self.report(dir.shown(&name), Problem::ArchivedData, what, None);
            }
            if dir.has_outer_name(&name, &facts) {
                let what = "has another hard link: convo does not write to it";
                self.report_unexpected(dir, &name, what);
            } else if facts.mode & OTHERS != 0 {
                if self.repair {
                    restrict_permissions(dir, &name, facts.mode & !OTHERS)?;
                }
                let what = format!("accessible to other users (mode {:o})", facts.mode);
                self.report(
                    dir.shown(&name),
                    Problem::Permissions,
                    what,
                    Some("restricted to the owner"),
                );
            }
        }
        Ok(())
    }

    /// Handles a temporary file: a leftover, unless its lock is held.
    fn temporary(&mut self, dir: &Directory, name: &str) -> Result<()> {
        let is_temporary =
            name.starts_with(batch::PREFIX) || name.ends_with(".new") || name.starts_with(".convo-");
        if !is_temporary {
            self.report_unexpected(dir, name, "unexpected hidden file");
            return Ok(());
        }
        if name.starts_with(batch::PREFIX) && batch::is_in_use(dir, name)? {
            return Ok(());
        }
        match atomic::open_locked(dir, name, None, OFlags::RDWR, Duration::ZERO) {
            Err(error) if error.kind == ErrorKind::Locked => return Ok(()),
            Err(error) => return Err(error),
            Ok(None) => {} // removed meanwhile, perhaps by our own cleanup
            Ok(Some(_lock)) if self.repair => {
                atomic::unlink(dir, name)?;
            }
            Ok(Some(_)) => {}
        }
        let what = "leftover of an interrupted change".to_string();
        self.report(dir.shown(name), Problem::Temporary, what, Some("removed"));
        Ok(())
    }
}

/// Changes the permission bits of a file without following links.
fn restrict_permissions(dir: &Directory, name: &str, mode: u32) -> Result<()> {
    match dir.file(name, OFlags::RDONLY)? {
        Some(file) => rustix::fs::fchmod(&file, rustix::fs::Mode::from_raw_mode(mode))
            .map_err(|errno| Error::io(dir.shown(name), errno.into())),
        None => Ok(()),
    }
}
