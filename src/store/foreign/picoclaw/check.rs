//! Checks a PicoClaw directory: logs, sidecars, and leftovers of a crash or another version.

use super::pair::{Pair, PairRepair};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::picoclaw::{self, CountedLine, LOG, LONGEST, PicoclawSidecar, SIDECAR};
use crate::store::directory::Directory;
use crate::store::foreign::files::{bytes_of, copy_to_quarantine, files, move_to_quarantine};
use crate::store::foreign::finding::{DirectoryFindings, DirectoryProblemKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Name part of PicoClaw's temporary files.
const TEMPORARY: &str = ".tmp-";

/// Name part of this program's temporary files.
const OURS: &str = ".convo-";

const WHOLE: Position = Position { line: 0, offset: 0 };

pub(super) fn check(path: &Path, out: &mut DirectoryFindings<'_>) -> Result<()> {
    let directory = Directory::open(path)?;
    let names = files(&directory)?;
    for name in names
        .iter()
        .filter(|name| name.starts_with(TEMPORARY) || name.starts_with(OURS))
    {
        temporary(&directory, name, out)?;
    }
    let stems: BTreeSet<&str> = names
        .iter()
        .filter_map(|name| name.strip_suffix(LOG).or(name.strip_suffix(SIDECAR)))
        .filter(|stem| !stem.starts_with('.'))
        .collect();
    let mut claims: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for stem in stems {
        out.checked.sessions += 1;
        let log = format!("{stem}{LOG}");
        let sidecar = read_sidecar(&directory, stem, names.contains(&log), out)?;
        if let Some(sidecar) = &sidecar {
            for alias in sidecar.aliases() {
                claims.entry(alias).or_default().push(sidecar.key());
            }
        }
        if names.contains(&log) {
            one(&directory, stem, sidecar.as_ref(), out)?;
        }
    }
    for (alias, keys) in claims.iter().filter(|(_, keys)| keys.len() > 1) {
        let what = format!("ambiguous alias {alias}, claimed by {}", keys.join(", "));
        out.report("", WHOLE, DirectoryProblemKind::Alias, what, None);
    }
    Ok(())
}

/// Handles a file of a dead writer; it may contain unique data.
fn temporary(directory: &Directory, name: &str, out: &mut DirectoryFindings<'_>) -> Result<()> {
    let what = "leftover of an interrupted write";
    if out.check.repair.is_some() {
        move_to_quarantine(directory, name)?;
    }
    let remedy = Some("quarantined");
    out.report(name, WHOLE, DirectoryProblemKind::Temporary, what, remedy);
    Ok(())
}

/// Reads the sidecar of a session; none if it is missing or unreadable, which is reported.
fn read_sidecar(
    directory: &Directory,
    stem: &str,
    log: bool,
    out: &mut DirectoryFindings<'_>,
) -> Result<Option<PicoclawSidecar>> {
    let name = format!("{stem}{SIDECAR}");
    let Some(bytes) = bytes_of(directory, &name)? else {
        let what = "missing sidecar: PicoClaw does not list the session";
        out.report(
            &format!("{stem}{LOG}"),
            WHOLE,
            DirectoryProblemKind::Sidecar,
            what,
            None,
        );
        return Ok(None);
    };
    out.checked.bytes += bytes.len() as u64;
    let sidecar = match PicoclawSidecar::read(&bytes) {
        Ok(sidecar) => sidecar,
        Err(why) => {
            let what = format!("unreadable ({why}): PicoClaw cannot use the session");
            let remedy = match log {
                true => "quarantined; new sidecar with all lines in the view",
                false => "quarantined: no log next to it",
            };
            if out.check.repair.is_some() {
                move_to_quarantine(directory, &name)?;
            }
            if log && let Some(now) = &out.check.repair {
                let path = directory.path().join(format!("{stem}{LOG}"));
                Pair::open(&path, out.check.lock_timeout)?.repair(&PairRepair::default(), now)?;
            }
            out.report(&name, WHOLE, DirectoryProblemKind::Sidecar, what, Some(remedy));
            return Ok(None);
        }
    };
    let key = sidecar.key();
    if picoclaw::file_stem(&key) != stem {
        let what = format!("the key '{key}' does not match the file name");
        out.report(&name, WHOLE, DirectoryProblemKind::Key, what, None);
    }
    if !log && (sidecar.count() > 0 || sidecar.skip() > 0) {
        let what = format!("counts {} lines, but the log is missing", sidecar.count());
        out.report(&name, WHOLE, DirectoryProblemKind::NoSession, what, None);
    }
    Ok(Some(sidecar))
}

/// Checks a log against its sidecar.
fn one(
    directory: &Directory,
    stem: &str,
    sidecar: Option<&PicoclawSidecar>,
    out: &mut DirectoryFindings<'_>,
) -> Result<()> {
    let name = format!("{stem}{LOG}");
    let Some(bytes) = bytes_of(directory, &name)? else {
        return Ok(());
    };
    out.checked.bytes += bytes.len() as u64;
    let mut repair = PairRepair::default();
    let mut raw = 0;
    let (mut calls, mut results): (BTreeMap<String, Position>, Vec<(String, Position)>) = Default::default();
    let skip = sidecar.map_or(0, PicoclawSidecar::skip);
    for line in picoclaw::counted_lines(&bytes) {
        raw += 1;
        let CountedLine { place, size, .. } = line;
        if size > LONGEST {
            let what = format!("line of {size} bytes: PicoClaw does not read the session");
            out.report(&name, place, DirectoryProblemKind::TooLong, what, None);
        }
        if line.mark {
            repair.lines = true;
            let what = "byte order mark: PicoClaw rejects the line";
            out.report(
                &name,
                place,
                DirectoryProblemKind::ByteOrderMark,
                what,
                Some("mark removed"),
            );
        }
        if raw <= skip {
            continue;
        }
        match line.reading {
            Err(_) if line.records > 0 => {
                repair.lines = true;
                let what = match line.records {
                    1 => "contains a complete record and other text: PicoClaw shows neither".to_string(),
                    records => format!("contains {records} complete records: PicoClaw shows none of them"),
                };
                out.report(
                    &name,
                    place,
                    DirectoryProblemKind::Glued,
                    what,
                    Some("moved to separate lines"),
                );
            }
            Err(why) => out.report(&name, place, DirectoryProblemKind::Unreadable, why, None),
            Ok(message) => {
                if message.thought_only {
                    let what = "only reasoning: PicoClaw never shows the message";
                    out.report(&name, place, DirectoryProblemKind::ThoughtOnly, what, None);
                }
                for id in message.calls {
                    calls.insert(id, place);
                }
                if let Some(id) = message.answers {
                    results.push((id, place));
                }
            }
        }
    }
    orphans(&name, calls, results, out);
    if bytes.last().is_some_and(|last| *last != b'\n') {
        repair.lines = true;
        let at = Position {
            line: memchr::memchr_iter(b'\n', &bytes).count() as u64 + 1,
            offset: memchr::memrchr(b'\n', &bytes).map_or(0, |at| at as u64 + 1),
        };
        let what = "truncated last line: PicoClaw would lose the next message";
        out.report(
            &name,
            at,
            DirectoryProblemKind::TruncatedTail,
            what,
            Some("newline added"),
        );
    }
    if let Some(sidecar) = sidecar {
        check_counts(stem, sidecar, raw, &mut repair, out);
    }
    if let Some(now) = &out.check.repair
        && (repair.lines || repair.bookkeeping)
    {
        if repair.lines {
            copy_to_quarantine(directory, &name, &bytes)?;
        }
        let mut pair = Pair::open(&directory.path().join(&name), out.check.lock_timeout)?;
        if pair.bytes() != bytes {
            return Err(Error::new(
                ErrorKind::Locked,
                format!("{}: modified by another program", directory.shown(&name)),
            ));
        }
        pair.force = out.check.force;
        pair.repair(&repair, now)?;
    }
    Ok(())
}

/// Checks the line counts of the sidecar.
fn check_counts(
    stem: &str,
    sidecar: &PicoclawSidecar,
    raw: u64,
    repair: &mut PairRepair,
    out: &mut DirectoryFindings<'_>,
) {
    let name = format!("{stem}{SIDECAR}");
    if sidecar.skip() > raw {
        repair.bookkeeping = true;
        let what = format!(
            "skips {} lines, but the log has {raw}: the view is empty and hides new messages",
            sidecar.skip()
        );
        out.report(
            &name,
            WHOLE,
            DirectoryProblemKind::Skip,
            what,
            Some("corrected to the number of lines"),
        );
    }
    if sidecar.count() != raw {
        repair.bookkeeping = true;
        let mut what = format!("counts {} lines, but the log has {raw}", sidecar.count());
        if sidecar.count() < raw && sidecar.skip() == 0 {
            what.push_str(": perhaps an interrupted compaction, which made hidden messages visible");
        }
        out.report(
            &name,
            WHOLE,
            DirectoryProblemKind::Count,
            what,
            Some("corrected to the number of lines"),
        );
    }
}

/// Reports calls without results, and results without calls, in the view.
fn orphans(
    name: &str,
    calls: BTreeMap<String, Position>,
    results: Vec<(String, Position)>,
    out: &mut DirectoryFindings<'_>,
) {
    let answered: BTreeSet<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    let mut orphans: Vec<(Position, String)> = Vec::new();
    for (id, place) in calls.iter().filter(|(id, _)| !answered.contains(id.as_str())) {
        orphans.push((*place, format!("the call {id} has no result")));
    }
    for (id, place) in results.iter().filter(|(id, _)| !calls.contains_key(id)) {
        orphans.push((*place, format!("a result of the missing call {id}")));
    }
    orphans.sort_by_key(|(place, _)| place.line);
    for (place, what) in orphans {
        out.report(name, place, DirectoryProblemKind::Orphan, what, None);
    }
}
