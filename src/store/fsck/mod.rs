//! Checks a store for damage and repairs it: keeps a copy of the log, moves damaged lines to the quarantine, and
//! changes no undamaged line.

mod archives;
mod bit_repair;
mod chain;
mod dirs;
mod link_cycles;
mod links;
mod log;
mod marks;
mod options;
mod problem;
mod records;
mod repair;
mod session_links;
mod splits;

use super::patched::Patched;
use super::{FileStat, SESSIONS, Store, atomic, log_name};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use marks::StoreMarkers;
pub use options::{CreateStamp, FsckOptions};
pub use problem::{FoundProblem, Problem};
use std::collections::BTreeMap;

/// Statistics of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FsckStats {
    /// Sessions.
    pub sessions: u64,
    /// Size of their logs in bytes.
    pub bytes: u64,
    /// Lines without a checksum, written by other programs and not yet followed by a line of convo.
    pub unchecked: u64,
    /// Repaired logs: the session, and the path of a copy of the original.
    pub copies: Vec<(String, String)>,
    /// The worst error of logs that could not be read.
    pub unread: Option<ErrorKind>,
}

impl Store {
    /// Checks sessions, or the whole store, and reports each problem. Changes nothing without `repair`.
    pub fn check(&self, check: &FsckOptions<'_>, report: &mut dyn FnMut(FoundProblem)) -> Result<FsckStats> {
        let mut changed = false;
        let mut forward = |found: FoundProblem| {
            changed |= found.remedy.is_some() && check.repair.is_some();
            report(found);
        };
        self.run_check(check, &mut forward)
            .map_err(|error| match changed {
                true => error
                    .kind(ErrorKind::Unsure)
                    .hint("some problems are repaired already; run the command again"),
                false => error,
            })
    }

    fn run_check(&self, check: &FsckOptions<'_>, report: &mut dyn FnMut(FoundProblem)) -> Result<FsckStats> {
        let mut checked = FsckStats::default();
        let mut links = BTreeMap::new();
        for id in check.link {
            if !self.examine(id, false)?.is_some_and(|seen| seen.links.claims()) {
                let what = format!("{id} does not claim to continue or to be a part of a session");
                return Err(Error::usage(what));
            }
        }
        let mut ids = match check.ids {
            Some(ids) => ids.to_vec(),
            None => self.ids()?.into_iter().map(|entry| entry.id).collect(),
        };
        ids.sort();
        ids.dedup();
        if check.ids.is_none() {
            dirs::check(self, check.repair.is_some(), report)?;
        }
        for id in &ids {
            let seen = match check.repair {
                None => self.examine(id, false)?,
                Some(stamp) => match self.examine(id, true)? {
                    Some(seen) if seen.is_clean => Some(seen),
                    Some(_) => match self.repair_log(id, stamp, check.force) {
                        // The other logs can still be repaired.
                        Err(error) if error.kind != ErrorKind::Unsure => {
                            let shown = self
                                .path()
                                .join(SESSIONS)
                                .join(log_name(id))
                                .display()
                                .to_string();
                            Some(log::SeenIds::unread(id, shown, error))
                        }
                        seen => seen?,
                    },
                    None => None,
                },
            };
            // A session removed meanwhile is skipped unless it was requested.
            let Some(mut seen) = seen else {
                if check.ids.is_some() {
                    return Err(super::no_session(id));
                }
                continue;
            };
            checked.sessions += 1;
            checked.bytes += seen.bytes;
            checked.unchecked += seen.unchecked;
            checked.unread = checked.unread.max(seen.unread);
            checked.copies.extend(seen.copy.map(|copy| (id.clone(), copy)));
            std::mem::take(&mut seen.found).into_iter().for_each(&mut *report);
            if seen.unread.is_none() {
                checked.unread = checked
                    .unread
                    .max(self.check_pieces(id, &seen.links, check, report)?);
            }
            links.insert(id.clone(), seen.links);
        }
        let marks = StoreMarkers::of(self, &links)?;
        links::check(self, check, &links, &marks, report)?;
        link_cycles::check(self, &links, report)?;
        splits::check(self, check, &links, &marks, report)?;
        if check.ids.is_none() {
            marks.sweep(self, check.repair.is_some(), report)?;
            self.check_aliases(check.repair, report)?;
        }
        Ok(checked)
    }

    /// Checks a log between two changes; none when there is no such session.
    fn examine(&self, id: &str, repair: bool) -> Result<Option<log::SeenIds>> {
        let id = key::checked_id(id)?;
        let Some(sessions) = self.sessions()? else {
            return Ok(None);
        };
        let name = log_name(id);
        let shown = sessions.shown(&name);
        // A reader does not wait for a writer.
        let opened = match repair {
            true => atomic::open_unlocked(sessions, &name, self.lock_timeout),
            false => atomic::open_complete(sessions, &name),
        };
        let read = opened.and_then(|opened| {
            let Some((file, length)) = opened else {
                return Ok(None);
            };
            if repair {
                // Sync the name first: a valid result must not depend on a name that a power failure could remove.
                let facts = FileStat::of(&file).map_err(|error| Error::io(&shown, error))?;
                self.sync_name(sessions, &facts)?;
            }
            let (seen, _) = log::check(&Patched::new(Some(&file), length), id, &shown)?;
            Ok(Some(seen))
        });
        let seen = match read {
            Ok(Some(seen)) => seen,
            Ok(None) => return Ok(None),
            Err(error)
                if matches!(
                    error.kind,
                    ErrorKind::InputOutput | ErrorKind::Unsafe | ErrorKind::Locked
                ) =>
            {
                return Ok(Some(log::SeenIds::unread(id, shown, error)));
            }
            Err(error) => return Err(error),
        };
        Ok(Some(seen))
    }
}
