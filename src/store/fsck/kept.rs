//! Checks the archive and the quarantine of a session.

use super::repair::QUARANTINE;
use super::{Check, Found, Links, Stamp, Trouble, quarantined, sound};
use crate::error::{Error, Kind, Place, Result};
use crate::model::json;
use crate::store::gc::ARCHIVE;
use crate::store::held::Held;
use crate::store::{Store, atomic, log_name, pieces};
use std::collections::HashSet;
use std::ops::Range;

impl Store {
    /// Checks that archive and quarantine contain what was moved there; returns the reason if that cannot be checked.
    pub(super) fn check_pieces(
        &self,
        id: &str,
        links: &Links,
        check: &Check<'_>,
        tell: &mut dyn FnMut(Found),
    ) -> Result<Option<Kind>> {
        // A concurrent gc changes log and archive one after the other, so apparent problems are checked again under
        // the lock of the log.
        let (mut seen, mut packed) = (Vec::new(), links.packed.clone());
        self.look_at_pieces(id, &packed, check, &mut |found| seen.push(found), None)?;
        if seen.is_empty() {
            return Ok(None);
        }
        let held = match Held::open(self, id) {
            Err(error) if error.kind == Kind::NotFound => return Ok(None),
            // Another process is changing it: do not report possible artifacts, and check the other sessions.
            Err(error) if error.kind == Kind::Locked => return Ok(Some(error.kind)),
            held => held?,
        };
        let read = sound::read(&held.file, held.facts.size, id, "");
        let (seen, _) = read.map_err(|error| Error::io(held.shown(), error))?;
        packed = seen.links.packed;
        self.look_at_pieces(id, &packed, check, tell, Some(&held))?;
        Ok(None)
    }

    fn look_at_pieces(
        &self,
        id: &str,
        packed: &[String],
        check: &Check<'_>,
        tell: &mut dyn FnMut(Found),
        held: Option<&Held<'_>>,
    ) -> Result<()> {
        let name = log_name(id);
        for place in [ARCHIVE, QUARANTINE] {
            let folder = match self.directory().inner(place) {
                Err(error) if error.kind == Kind::Unsafe => continue, // reported with the directories
                folder => folder?,
            };
            let shown = self.path().join(place).join(&name).display().to_string();
            let file = match folder.map(|folder| pieces::read(&folder, &name)).transpose() {
                Err(error) if error.kind == Kind::Unsafe => continue,
                file => file?.unwrap_or_default(),
            };
            let found = |offset: usize, what: String, remedy: Option<&str>| Found {
                session: Some(id.to_string()),
                file: shown.clone(),
                place: Place {
                    line: memchr::memchr_iter(b'\n', &file[..offset]).count() as u64 + 1,
                    offset: offset as u64,
                },
                trouble: Trouble::Piece,
                what,
                remedy: remedy.map(str::to_string),
            };
            let runs = pieces::runs(&file);
            // Data missing from the archive requires a decision by the user; the quarantine may contain anything.
            let remedy = (place == QUARANTINE).then_some("accepted in the current state");
            for run in runs.iter().filter(|run| !run.sound) {
                let what = "archived data was modified".to_string();
                tell(found(run.line.start, what, remedy));
            }
            let rest = pieces::rest(&file);
            let stray = remedy.is_some() && runs.iter().any(|run| !run.sound);
            if let (Some(stamp), Some(held), false) = (check.repair, held, rest.is_empty() && !stray) {
                self.take_rest(held, place, stamp)?;
            }
            for range in rest {
                let what = "truncated data of an interrupted write".to_string();
                tell(found(range.start, what, Some("quarantined")));
            }
            if place == ARCHIVE {
                let id = |run: &pieces::Run| json::member(&file[run.line.clone()], "id").and_then(json::text);
                let kept: HashSet<_> = runs.iter().filter_map(id).collect();
                for event in packed.iter().filter(|event| !kept.contains(event.as_str())) {
                    let what = format!("the archive has no data of gc {event}");
                    tell(Found {
                        place: Place::default(),
                        ..found(0, what, None)
                    });
                }
            }
        }
        Ok(())
    }

    /// Moves bytes outside any run, and runs that are no longer valid, into a new run of the quarantine.
    fn take_rest(&self, held: &Held<'_>, place: &str, stamp: Stamp<'_>) -> Result<()> {
        let Some(folder) = self.directory().inner(place)? else {
            return Ok(());
        };
        let file = pieces::read(&folder, &held.name)?;
        let mut rest = pieces::rest(&file);
        if place == QUARANTINE {
            rest.extend(changed(&pieces::runs(&file)));
            rest.sort_by_key(|range| range.start);
        }
        let mut runs = Vec::new();
        for range in &rest {
            let mut members = quarantined(stamp, &format!("{place} {}", range.start))?;
            members
                .text("from", place)
                .raw("offset", range.start.to_string())
                .text("why", "bytes that are no run");
            runs.extend(pieces::run(members, &file[range.clone()]));
        }
        if runs.is_empty() {
            return Ok(());
        }
        let quarantine = atomic::folder(self.directory(), QUARANTINE)?;
        pieces::append(&quarantine, &held.name, &runs)?;
        let file = pieces::read(&folder, &held.name)?;
        pieces::take(&folder, &held.name, &file, &rest, self.lock_timeout)
    }
}

/// The positions of runs whose bytes have changed.
fn changed(runs: &[pieces::Run]) -> Vec<Range<usize>> {
    let changed = runs.iter().filter(|run| !run.sound);
    changed.map(|run| run.line.start..run.end).collect()
}
