//! Checks the directories of a store: leftovers, unexpected files, and permissions.

use super::{FoundProblem, Problem, links};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::model::key;
use crate::store::alias::ALIASES;
use crate::store::directory::Directory;
use crate::store::gc::ARCHIVE;
use crate::store::network::CACHE;
use crate::store::{SESSIONS, Store, atomic, batch, pending, trash};
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
    look.folder(root)?;
    for name in root.names()? {
        let known = [SESSIONS, ALIASES, ARCHIVE, trash::TRASH, QUARANTINE, CACHE].contains(&name.as_str());
        match root.inner(&name) {
            Ok(Some(folder)) if known && name != CACHE => {
                look.folder(&folder)?;
                look.files(&folder, &name)?;
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

    fn report_unexpected(&mut self, folder: &Directory, name: &str, what: &str) {
        self.report(
            folder.shown(name),
            Problem::UnexpectedFile,
            what.to_string(),
            None,
        );
    }

    fn folder(&mut self, folder: &Directory) -> Result<()> {
        let mode = folder.mode()?;
        if mode & OTHERS == 0 {
            return Ok(());
        }
        if self.repair {
            folder.set_mode(mode & !OTHERS)?;
        }
        let shown = folder.path().display().to_string();
        self.report(
            shown,
            Problem::Permissions,
            format!("accessible to other users (mode {mode:o})"),
            Some("restricted to the owner"),
        );
        Ok(())
    }

    fn files(&mut self, folder: &Directory, place: &str) -> Result<()> {
        let mut names = folder.names()?;
        names.sort();
        if place == SESSIONS && self.repair {
            batch::remove_dead_files(folder)?;
        }
        for name in names {
            let Some(facts) = folder.facts(&name)? else {
                continue;
            };
            if !facts.regular {
                self.report_unexpected(folder, &name, "not a regular file; ignored");
                continue;
            }
            // Markers are checked with the links.
            if place == SESSIONS && pending::is_mark(&name) {
                continue;
            }
            if name.starts_with('.') {
                self.temporary(folder, &name)?;
                continue;
            }
            let fits = match place {
                ALIASES => key::is_id(&name),
                trash::TRASH => trash::entry(&name).is_some(),
                QUARANTINE if trash::is_copy(&name).is_some() || name == links::KEPT_ALIASES => true,
                _ => name.strip_suffix(".jsonl").is_some_and(key::is_id),
            };
            if !fits {
                self.report_unexpected(folder, &name, "unexpected file name");
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
                self.report(folder.shown(&name), Problem::Piece, what, None);
            }
            if folder.has_outer_name(&name, &facts) {
                let what = "has another hard link: convo does not write to it";
                self.report_unexpected(folder, &name, what);
            } else if facts.mode & OTHERS != 0 {
                if self.repair {
                    restrict_permissions(folder, &name, facts.mode & !OTHERS)?;
                }
                let what = format!("accessible to other users (mode {:o})", facts.mode);
                self.report(
                    folder.shown(&name),
                    Problem::Permissions,
                    what,
                    Some("restricted to the owner"),
                );
            }
        }
        Ok(())
    }

    /// Handles a temporary file: a leftover, unless its lock is held.
    fn temporary(&mut self, folder: &Directory, name: &str) -> Result<()> {
        let is_temporary =
            name.starts_with(batch::PREFIX) || name.ends_with(".new") || name.starts_with(".convo-");
        if !is_temporary {
            self.report_unexpected(folder, name, "unexpected hidden file");
            return Ok(());
        }
        if name.starts_with(batch::PREFIX) && batch::is_in_use(folder, name)? {
            return Ok(());
        }
        match atomic::open_locked(folder, name, None, OFlags::RDWR, Duration::ZERO) {
            Err(error) if error.kind == ErrorKind::Locked => return Ok(()),
            Err(error) => return Err(error),
            Ok(None) => {} // removed meanwhile, perhaps by our own cleanup
            Ok(Some(_lock)) if self.repair => {
                atomic::unlink(folder, name)?;
            }
            Ok(Some(_)) => {}
        }
        let what = "leftover of an interrupted change".to_string();
        self.report(folder.shown(name), Problem::Temporary, what, Some("removed"));
        Ok(())
    }
}

/// Changes the permission bits of a file without following links.
fn restrict_permissions(folder: &Directory, name: &str, mode: u32) -> Result<()> {
    match folder.file(name, OFlags::RDONLY)? {
        Some(file) => rustix::fs::fchmod(&file, rustix::fs::Mode::from_raw_mode(mode))
            .map_err(|errno| Error::io(folder.shown(name), errno.into())),
        None => Ok(()),
    }
}
