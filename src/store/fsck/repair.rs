//! Repairs one log: makes a copy, moves damaged lines to the quarantine, then replaces the log atomically.

use super::bit_repair::unwind;
use super::chain::{FIRST, lines_from};
use super::log::{Moved, RepairedLog, SeenIds, check};
use super::options::CreateStamp;
use crate::error::{Error, ErrorKind, Result};
use crate::model::json::ObjectBuilder;
use crate::model::key::{self, HashWriter};
use crate::store::directory::Directory;
use crate::store::locked_log::LockedLog;
use crate::store::log::{Digits, LogChain, SEAL, digits_of, hex, seal};
use crate::store::patched::{Edit, Patched};
use crate::store::run_file::{NewRun, RunPieces};
use crate::store::{Store, atomic, replace_file, run_file, trash};
use rustix::fs::OFlags;

/// The beginning of the line of a run in the quarantine.
pub(super) fn quarantined(stamp: CreateStamp<'_>, what: &str) -> Result<ObjectBuilder> {
    Ok(stamp(what)?.event("quarantine"))
}

/// The beginning of a header written by convo.
const SESSION: &[u8] = b"{\"type\":\"session\"";

/// Maximum number of passes over a log; three are known to be needed.
const ROUNDS: u32 = 16;

pub(super) const QUARANTINE: &str = "quarantine";

impl Store {
    /// Repairs a log, which is checked again under its lock; returns the result of that check. None when the log is
    /// gone.
    pub(super) fn repair_log(
        &self,
        id: &str,
        stamp: CreateStamp<'_>,
        force: bool,
    ) -> Result<Option<SeenIds>> {
        let locked = match LockedLog::open(self, key::checked_id(id)?) {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            locked => locked?,
        };
        let shown = locked.shown();
        let (mut seen, repaired) = check(&locked.bytes(), id, &shown)?;
        let Some(repaired) = repaired else {
            return Ok(Some(seen));
        };
        if !force {
            replace_file::refuse_writers(&locked.file, &shown)?;
        }
        let now = stamp("copy")?.at;
        let quarantine = atomic::dir(self.directory(), QUARANTINE)?;
        let before = quarantine.facts(&locked.name)?.map_or(0, |facts| facts.size);
        let (copy, is_new) = copy_of(&locked, &quarantine, id, &now)?;
        let exchanged = repair_records(id, repaired, &copy, stamp, &shown).and_then(|(log, sum, runs)| {
            if !runs.is_empty() && !is_quarantined(&quarantine, &locked.name, &copy, runs.len())? {
                run_file::append_runs(&quarantine, &locked.name, &runs)?;
            }
            locked.replace(self, &mut |out| match log.write(out, &shown)? {
                written if sum.is_none_or(|sum| sum == written) => Ok(()),
                _ => Err(locked.modified()),
            })
        });
        exchanged.inspect_err(|error| {
            if error.kind != ErrorKind::Unsure {
                let _ = run_file::cut(&quarantine, &locked.name, before); // on failure the next repair continues from there
                if is_new {
                    let _ = atomic::unlink(&quarantine, &copy); // a second name of the log
                }
            }
        })?;
        // Corrected lines may count messages that were not counted, with the same checksum.
        self.forget_counts();
        let copy = quarantine.shown(&copy);
        seen.copy = Some(copy);
        Ok(Some(seen))
    }
}

/// The repaired log with a checksum of its bytes, and the runs for the quarantine. A correction can reveal further
/// problems, so the log is checked until there are none.
fn repair_records<'f>(
    id: &str,
    first: RepairedLog<'f>,
    copy: &str,
    stamp: CreateStamp<'_>,
    shown: &str,
) -> Result<(Patched<'f>, Option<u32>, Vec<NewRun<'f>>)> {
    let mut runs = runs(&first, copy, stamp, shown)?;
    let mut log = chained(&first.log, stamp, shown)?;
    for _ in 0..ROUNDS {
        let (seen, more) = check(&log, id, shown)?;
        let Some(more) = more else {
            return Ok((log, seen.sum, runs));
        };
        runs.extend(self::runs(&more, copy, stamp, shown)?);
        log = chained(&more.log, stamp, shown)?;
    }
    Ok((log, None, runs))
}

/// Creates the copy of the log as a second name of the same file; returns whether it is new, because an interrupted
/// repair may have left one.
fn copy_of(locked: &LockedLog<'_>, quarantine: &Directory, id: &str, now: &str) -> Result<(String, bool)> {
    for name in quarantine
        .names()?
        .into_iter()
        .filter(|name| trash::is_copy(name).is_some())
    {
        let Some(facts) = quarantine
            .facts(&name)?
            .filter(|facts| facts.size == locked.facts.size)
        else {
            continue;
        };
        if facts.is_same_file(&locked.facts) || is_equal(locked, quarantine, &name)? {
            atomic::sync_directory(quarantine)?;
            return Ok((name, false));
        }
    }
    let time: String = now.chars().filter(|digit| !matches!(digit, '-' | ':')).collect();
    let mut names = (1..).map(|nth| trash::copy_name(id, &time, nth));
    loop {
        let name = names.next().unwrap_or_default();
        if atomic::link_new(locked.sessions, &locked.name, quarantine, &name)? {
            return Ok((name, true));
        }
    }
}

/// Whether a file of the same size has the bytes of the log.
fn is_equal(locked: &LockedLog<'_>, dir: &Directory, name: &str) -> Result<bool> {
    let Some(file) = dir.file(name, OFlags::RDONLY)? else {
        return Ok(false);
    };
    let (mut own, mut other) = (HashWriter::default(), HashWriter::default());
    locked.bytes().write(&mut own, &locked.shown())?;
    Patched::new(Some(&file), locked.facts.size).write(&mut other, &dir.shown(name))?;
    Ok(own.hex() == other.hex())
}

/// Whether an interrupted repair has put all moved lines into the quarantine.
fn is_quarantined(quarantine: &Directory, name: &str, copy: &str, runs: usize) -> Result<bool> {
    let kept = RunPieces::open(quarantine, name)?.runs;
    let kept = kept
        .iter()
        .filter(|run| run.sound && run.text("copy").as_deref() == Some(copy));
    Ok(kept.count() == runs)
}

fn runs<'f>(
    repaired: &RepairedLog<'f>,
    copy: &str,
    stamp: CreateStamp<'_>,
    shown: &str,
) -> Result<Vec<NewRun<'f>>> {
    let run = |piece: &Moved<'f>| {
        let mut members = quarantined(stamp, &format!("quarantine {}", piece.place.offset))?;
        members
            .text("copy", copy)
            .raw("line", piece.place.line.to_string())
            .raw("offset", piece.place.offset.to_string())
            .text("why", &piece.why);
        NewRun::new(members, piece.bytes.clone(), shown)
    };
    repaired.moved.iter().map(run).collect()
}

/// The lines, with a `repair` event wherever a checksum does not follow from the line before; the checksum chain
/// continues from the state that the event states.
fn chained<'f>(log: &Patched<'f>, stamp: CreateStamp<'_>, shown: &str) -> Result<Patched<'f>> {
    let mut edits: Vec<Edit> = Vec::new();
    // The state after the last line with a checksum, and after the lines since.
    let (mut chain, mut after) = (LogChain::default(), LogChain::default());
    // The start of the bytes that the next checksum covers, and the number of bytes added before.
    let (mut from, mut added) = (0, 0);
    let mut lines = lines_from(log, FIRST);
    while let Some((line, place)) = lines.next_line().map_err(|error| Error::io(shown, error))? {
        let end = place.offset + line.len() as u64;
        let ended = line.strip_suffix(b"\n").unwrap_or(line);
        let is_header = place.offset == 0 && line.starts_with(SESSION);
        let Some(digits) = digits_of(ended) else {
            match ended.strip_suffix(b"}").filter(|_| is_header) {
                // A new line, written here.
                Some(covered) => {
                    let digits = chain.close(covered);
                    edits.push(sealed(covered.len(), end, digits));
                    added += SEAL as u64 - 1;
                    (after, from) = (chain, end);
                }
                None => after.pass(line),
            }
            continue;
        };
        let covered = &ended[..ended.len() - SEAL];
        after.pass(covered);
        let right = hex(after.state());
        if right != digits && is_header {
            // Nothing precedes the header, so its checksum is computed from its content.
            edits.push(sealed(covered.len(), end, right));
            chain = LogChain::behind(covered, right);
            (after, from) = (chain, end);
            continue;
        }
        if right != digits {
            let stored = std::str::from_utf8(&digits)
                .ok()
                .and_then(|text| u32::from_str_radix(text, 16).ok());
            let difference = stored.unwrap_or_default() ^ after.state();
            let comma = place.offset + covered.len() as u64;
            let state = chain.state() ^ unwind(difference, comma - from);
            let mut event = stamp(&format!("repair {}", from + added))?.event("repair");
            event.text("_chain", &format!("{state:08x}"));
            let mut marker = event.finish();
            marker.pop();
            let own = chain.close(&marker);
            marker.extend_from_slice(&seal(own));
            marker.push(b'\n');
            added += marker.len() as u64;
            edits.push(Edit::insertion(from, marker));
        }
        chain = LogChain::behind(covered, digits);
        (after, from) = (chain, end);
    }
    Ok(log.edited(&edits))
}

/// Ends the first line, up to `end`, with a checksum after the bytes that it covers.
fn sealed(covered: usize, end: u64, digits: Digits) -> Edit {
    Edit {
        at: covered as u64..end,
        bytes: [&seal(digits)[..], b"\n"].concat(),
    }
}
