//! Checks the archive and the quarantine of a session.

use super::log;
use super::options::{CreateStamp, FsckOptions};
use super::problem::{FoundProblem, Problem};
use super::repair::{QUARANTINE, quarantined};
use super::session_links::SessionLinks;
use crate::error::{ErrorKind, Position, Result};
use crate::store::gc::ARCHIVE;
use crate::store::locked_log::LockedLog;
use crate::store::run_file::{NewRun, RunPieces};
use crate::store::{Store, atomic, log_name, run_file};
use std::collections::HashSet;

impl Store {
    /// Checks that archive and quarantine contain what was moved there; returns the reason if that cannot be checked.
    pub(super) fn check_pieces(
        &self,
        id: &str,
        links: &SessionLinks,
        check: &FsckOptions<'_>,
        report: &mut dyn FnMut(FoundProblem),
    ) -> Result<Option<ErrorKind>> {
        // A concurrent gc changes log and archive one after the other, so apparent problems are checked again under
        // the lock of the log.
        let (mut seen, mut packed) = (Vec::new(), links.packed.clone());
        self.check_archives_of(id, &packed, check, &mut |found| seen.push(found), None)?;
        if seen.is_empty() {
            return Ok(None);
        }
        let locked = match LockedLog::open(self, id) {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            // Another process is changing it: do not report possible artifacts, and check the other sessions.
            Err(error) if error.kind == ErrorKind::Locked => return Ok(Some(error.kind)),
            locked => locked?,
        };
        packed = log::check(&locked.bytes(), id, &locked.shown())?.0.links.packed;
        self.check_archives_of(id, &packed, check, report, Some(&locked))?;
        Ok(None)
    }

    fn check_archives_of(
        &self,
        id: &str,
        packed: &[String],
        check: &FsckOptions<'_>,
        report: &mut dyn FnMut(FoundProblem),
        locked: Option<&LockedLog<'_>>,
    ) -> Result<()> {
        let name = log_name(id);
        for place in [ARCHIVE, QUARANTINE] {
            let dir = match self.directory().inner(place) {
                Err(error) if error.kind == ErrorKind::Unsafe => continue, // reported with the directories
                dir => dir?,
            };
            let shown = self.path().join(place).join(&name).display().to_string();
            let missing = |event: &str| FoundProblem {
                session: Some(id.to_string()),
                file: shown.clone(),
                place: Position::default(),
                problem: Problem::ArchivedData,
                what: format!("the archive has no data of gc {event}"),
                remedy: None,
            };
            let file = dir.as_ref().map(|dir| RunPieces::open(dir, &name));
            let file = match file.transpose() {
                Err(error) if error.kind == ErrorKind::Unsafe => continue,
                file => file?,
            };
            let Some(file) = file else {
                if place == ARCHIVE {
                    packed.iter().for_each(|event| report(missing(event)));
                }
                continue;
            };
            let mut found = |offset: u64, what: &str, remedy: Option<&str>| -> Result<()> {
                let line = file.line_of(offset)?;
                report(FoundProblem {
                    place: Position { line, offset },
                    what: what.to_string(),
                    remedy: remedy.map(str::to_string),
                    ..missing("")
                });
                Ok(())
            };
            // Data missing from the archive requires a decision by the user; the quarantine may contain anything.
            let remedy = (place == QUARANTINE).then_some("accepted in the current state");
            for run in file.runs.iter().filter(|run| !run.sound) {
                found(run.start, "archived data was modified", remedy)?;
            }
            let rest = file.rest();
            let stray = remedy.is_some() && file.runs.iter().any(|run| !run.sound);
            if let (Some(stamp), Some(locked), false) = (check.repair, locked, rest.is_empty() && !stray) {
                self.quarantine_rest(locked, place, stamp)?;
            }
            for range in rest {
                let what = "truncated data of an interrupted write";
                found(range.start, what, Some("quarantined"))?;
            }
            if place == ARCHIVE {
                let kept: HashSet<_> = file.runs.iter().filter_map(|run| run.text("id")).collect();
                let lost = packed.iter().filter(|event| !kept.contains(event.as_str()));
                lost.for_each(|event| report(missing(event)));
            }
        }
        Ok(())
    }

    /// Moves bytes outside any run, and runs that are no longer valid, into a new run of the quarantine.
    fn quarantine_rest(&self, locked: &LockedLog<'_>, place: &str, stamp: CreateStamp<'_>) -> Result<()> {
        let Some(dir) = self.directory().inner(place)? else {
            return Ok(());
        };
        let file = RunPieces::open(&dir, &locked.name)?;
        let mut rest = file.rest();
        if place == QUARANTINE {
            let changed = file.runs.iter().filter(|run| !run.sound);
            rest.extend(changed.map(|run| run.start..run.end));
            rest.sort_by_key(|range| range.start);
        }
        let mut runs = Vec::new();
        for range in &rest {
            let mut members = quarantined(stamp, &format!("{place} {}", range.start))?;
            members
                .text("from", place)
                .raw("offset", range.start.to_string())
                .text("why", "bytes that are no run");
            runs.push(NewRun::new(
                members,
                file.bytes().slice(range.clone()),
                &file.shown(),
            )?);
        }
        if runs.is_empty() {
            return Ok(());
        }
        let quarantine = atomic::dir(self.directory(), QUARANTINE)?;
        run_file::append_runs(&quarantine, &locked.name, &runs)?;
        // The quarantine itself has grown.
        RunPieces::open(&dir, &locked.name)?.take(&rest, self.lock_timeout)
    }
}
