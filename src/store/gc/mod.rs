//! Moves lines that no view needs from the log to the archive, and restores them.

mod selection;

use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::report::Report;
use crate::model::record::Record;
use crate::model::session::{DerivedLine, Session};
use crate::model::time::seconds;
use crate::model::view::View;
use crate::model::{key, reduced};
use crate::store::directory::Directory;
use crate::store::locked_log::LockedLog;
use crate::store::run_file::{self, FileRun, RunPieces};
use crate::store::{Store, atomic, log, log_name, replace_file};
pub use selection::GcOptions;
pub(in crate::store) use selection::known_by;
use selection::{MergedLines, NewLog, ReducedLog, Rejoined, SourceLog};
use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;
use std::slice;

pub(super) const ARCHIVE: &str = "archive";

/// The result of a gc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Lines of the log before and after.
    pub lines: (u64, u64),
    /// Bytes of the log before and after.
    pub bytes: (u64, u64),
    /// Bytes of the archive before and after.
    pub archive: (u64, u64),
    /// Number of lines removed from the log.
    pub taken: u64,
}

impl Receipt {
    /// Whether anything changed.
    pub fn is_change(&self) -> bool {
        self.bytes.0 != self.bytes.1 || self.taken > 0 || self.archive.0 != self.archive.1
    }
}

/// Archived lines of one `gc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// The id of its event.
    pub event: String,
    /// Number of lines.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Archived {
    fn of(file: &RunPieces<'_>, run: &FileRun) -> Result<Archived> {
        let mut lines = 0;
        file.each_line(run, &mut |line| {
            lines += u64::from(line.ends_with(b"\n"));
            Ok(())
        })?;
        Ok(Archived {
            event: run.text("id").unwrap_or_default().into_owned(),
            lines,
            bytes: run.bytes.end - run.bytes.start,
        })
    }
}

/// Converts an error that occurred after the log was replaced.
fn replaced_log_error(error: Error) -> Error {
    error
        .kind(ErrorKind::Unsure)
        .hint("the log was changed, but not its archive; find leftovers with: convo gc or convo fsck")
}

fn log_runs<'r>(file: &'r RunPieces<'_>, session: &Session) -> impl DoubleEndedIterator<Item = &'r FileRun> {
    let own = known_by(session);
    let is_own = move |run: &&FileRun| run.text("log").is_none_or(|log| log == own);
    file.runs.iter().filter(is_own)
}

/// Whether the content of a run was hidden up to a time.
fn is_old(run: &FileRun, until: Option<i64>) -> bool {
    let left = run.text("left").or(run.text("at"));
    until.is_none_or(|until| {
        left.as_deref()
            .and_then(seconds)
            .is_some_and(|left| left <= until)
    })
}

impl Store {
    /// Removes from a log the lines that `plan` omits and archives them, atomically. The plan is made from the locked
    /// log; none changes nothing.
    pub fn gc(
        &self,
        id: &str,
        options: &GcOptions<'_>,
        plan: impl FnOnce(&Session) -> Result<Option<Vec<DerivedLine>>>,
    ) -> Result<Receipt> {
        let locked = LockedLog::open(self, key::checked_id(id)?)?;
        let lines = locked.lines(Session::of_digests())?;
        let session = &lines.session;
        let archive = self.directory().inner(ARCHIVE)?;
        if !options.dry_run {
            locked.sweep(archive.as_ref());
        }
        if let Some(dir) = archive.as_ref().filter(|_| options.discard && !options.dry_run) {
            self.trim_archive(&locked, session, dir)?;
        }
        let file = archive
            .as_ref()
            .map(|dir| RunPieces::open(dir, &locked.name))
            .transpose()?;
        let is_discarded = |run: &&FileRun| options.discard && is_old(run, options.until);
        let old = file.iter().flat_map(|file| log_runs(file, session));
        let old: Vec<&FileRun> = old.filter(is_discarded).collect();
        // After a kill, the archive may still have lines that the log reports as deleted.
        let reported = session.destroyed();
        let removed = old.iter().filter_map(|run| run.text("id")).map(Cow::into_owned);
        let removed: Vec<String> = removed.filter(|id| !reported.contains(id)).collect();
        let old: Vec<Range<u64>> = old.into_iter().map(|run| run.start..run.end).collect();
        let destroyed: u64 = old.iter().map(|range| range.end - range.start).sum();
        let archived = file.as_ref().map_or(0, |file| file.length);
        let mut receipt = Receipt {
            lines: (session.len() as u64, session.len() as u64),
            bytes: (locked.facts.size, locked.facts.size),
            archive: (archived, archived - destroyed),
            taken: 0,
        };
        // The log records deletions from the archive even if nothing else happens.
        let all = || (0..session.len()).map(DerivedLine::Line).collect();
        if let Some(planned) = plan(session)?.or_else(|| (!removed.is_empty()).then(all)) {
            let new = ReducedLog::new(session, planned);
            let old = SourceLog {
                locked: &locked,
                lines: &lines,
            };
            let event = new.event(options, new.bytes(&old), &removed);
            let run = match options.discard || new.taken == 0 {
                true => None,
                false => Some(new.run(&old, options)?),
            };
            receipt.lines.1 = new.lines();
            receipt.archive.1 += run.as_ref().map_or(0, |line| line.len() as u64 + new.bytes(&old));
            receipt.taken = new.taken as u64;
            if options.dry_run {
                receipt.bytes.1 = new.write_log(&old, &event, &mut std::io::sink())?;
            } else {
                if !options.force {
                    replace_file::refuse_writers(&locked.file, &locked.sessions.shown(&locked.name))?;
                }
                receipt.bytes.1 = self.exchange(&old, &new, &event, run.as_deref())?;
            }
        }
        if let Some((dir, file)) = archive
            .as_ref()
            .zip(file.as_ref())
            .filter(|_| options.discard && !options.dry_run)
        {
            let done = match old.is_empty() {
                // Written by a process that perhaps died before it synced.
                true => atomic::sync_directory(dir),
                false => file.take(&old, self.lock_timeout),
            };
            let changed = receipt.bytes.0 != receipt.bytes.1;
            done.map_err(|error| if changed { replaced_log_error(error) } else { error })?;
        }
        Ok(receipt)
    }

    /// Writes the archive before the log, so a crash in between leaves the lines in both. Returns the size of the new
    /// log in bytes.
    fn exchange(
        &self,
        old: &SourceLog<'_>,
        new: &ReducedLog,
        event: &[u8],
        run: Option<&[u8]>,
    ) -> Result<u64> {
        let (locked, mut written) = (old.locked, 0);
        let mut log = |out: &mut dyn Write| {
            written = new.write_log(old, event, out)?;
            Ok(())
        };
        let Some(run) = run else {
            locked.replace(self, &mut log)?;
            return Ok(written);
        };
        let archive = atomic::dir(self.directory(), ARCHIVE)?;
        self.trim_archive(locked, old.session(), &archive)?;
        let shown = archive.shown(&locked.name);
        let before = run_file::append_of(&archive, &locked.name, &mut |out| {
            atomic::put_bytes(out, &shown, run)?;
            new.write_taken(old, out)
        })?;
        locked.replace(self, &mut log).inspect_err(|error| {
            if error.kind != ErrorKind::Unsure {
                let _ = run_file::cut(&archive, &locked.name, before); // on failure the next gc removes it
            }
        })?;
        Ok(written)
    }

    /// Removes runs at the end of the archive that the log does not know or has restored: those of an interrupted gc
    /// or restore, whose lines are in the log. The last run may be incomplete.
    pub(super) fn trim_archive(
        &self,
        locked: &LockedLog<'_>,
        session: &Session,
        archive: &Directory,
    ) -> Result<()> {
        let file = RunPieces::open(archive, &locked.name)?;
        let mut length = file.length;
        let whole = file.runs.last().map_or(0, |run| run.end);
        while let Some(run) = file.unfinished(whole..length, selection::BEGIN)? {
            let (is_needed, rest) = Self::needs(session, &file, &run)?;
            if is_needed || !locked.has_beginning(&rest)? {
                break;
            }
            length = run.start;
        }
        for run in log_runs(&file, session).rev() {
            if !run.sound || run.end != length || Self::needs(session, &file, run)?.0 {
                break;
            }
            length = run.start;
        }
        if length < file.length {
            run_file::cut(archive, &locked.name, length)?;
        }
        Ok(())
    }

    /// Whether the archive is the only place of the lines of a run: the log knows this gc, or lacks one of them. Also
    /// returns a last line without newline, which may be part of one.
    fn needs(session: &Session, file: &RunPieces<'_>, run: &FileRun) -> Result<(bool, Vec<u8>)> {
        let event = run.text("id").unwrap_or_default();
        let is_known = session.live_events().into_iter().any(|index| {
            let record = session.record(index);
            let id = record.event().and_then(|own| own.id());
            id.is_some_and(|id| id == event)
        });
        if is_known {
            return Ok((true, Vec::new()));
        }
        // A reduced line is compared like the complete one.
        let known_as = |line: &[u8]| key::digest([&*reduced::line(line)]);
        let (mut lines, mut rest) = (Vec::new(), Vec::new());
        file.each_line(run, &mut |line| {
            match line.ends_with(b"\n") || run.sound {
                true => lines.push(known_as(&log::strip(line))),
                false => rest = line.to_vec(),
            }
            Ok(())
        })?;
        let mut known: Vec<_> = (0..session.len())
            .map(|index| known_as(session.full(index)))
            .collect();
        known.sort_unstable();
        lines.sort_unstable();
        let mut known = known.into_iter();
        let is_there = lines.into_iter().all(|line| known.any(|own| own == line));
        Ok((!is_there, rest))
    }

    /// Reads a session with archived lines merged back, as far as the archive has them; returns the length of the
    /// log.
    pub fn load_with_archive(&self, id: &str, report: &mut Report) -> Result<(Session, u64)> {
        let (mut session, length) = self.load_with_length(id, report)?;
        let Some(archive) = self.directory().inner(ARCHIVE)? else {
            return Ok((session, length));
        };
        let name = log_name(id);
        let file = RunPieces::open(&archive, &name)?;
        let runs: Vec<&FileRun> = log_runs(&file, &session).collect();
        for run in runs.into_iter().rev().filter(|run| run.sound) {
            let Some(rejoined) = Rejoined::new(&session, &file, run) else {
                continue;
            };
            let (mut back, mut lines) = (Session::default(), rejoined.lines());
            while let Some(line) = lines.next()? {
                let line = match line {
                    MergedLines::Log(index) => session.full(index),
                    MergedLines::Archived(line) => line,
                };
                back.push_new(line.strip_suffix(b"\n").unwrap_or(line));
            }
            session = back;
        }
        Ok((session, length))
    }

    /// Whether a session has an active gc with this event id.
    pub fn has_gc(&self, id: &str, event: &str) -> Result<bool> {
        let session = self.load_events(id, &mut Report::default())?;
        let is_it = |index: &usize| {
            let record = session.record(*index);
            record
                .event()
                .is_some_and(|own| own.name() == "gc" && own.id().is_some_and(|id| id == event))
        };
        Ok(session.live_events().iter().any(is_it))
    }

    /// The archived lines of a session, oldest first.
    pub fn archived(&self, id: &str) -> Result<Vec<Archived>> {
        let Some(archive) = self.directory().inner(ARCHIVE)? else {
            return Ok(Vec::new());
        };
        let name = log_name(key::checked_id(id)?);
        let file = RunPieces::open(&archive, &name)?;
        let session = self.load_events(id, &mut Report::default())?;
        log_runs(&file, &session)
            .map(|run| Archived::of(&file, run))
            .collect()
    }

    /// Restores the lines that the gc with this event id removed, and appends `line`, which records that; `dry_run`
    /// only checks whether that is possible. Only the newest active gc can be restored, because earlier ones refer to
    /// its result, and only if the view does not change.
    pub fn ungc(&self, id: &str, event: &str, line: &[u8], dry_run: bool) -> Result<Archived> {
        let locked = LockedLog::open(self, key::checked_id(id)?)?;
        let lines = locked.lines(Session::of_digests())?;
        let session = &lines.session;
        let none = || {
            Error::new(ErrorKind::No, format!("the archive has no data of gc {event}"))
                .hint("gc --discard deletes messages permanently")
        };
        let archive = self.directory().inner(ARCHIVE)?.ok_or_else(none)?;
        if !dry_run {
            locked.sweep(Some(&archive));
            self.trim_archive(&locked, session, &archive)?;
        }
        let file = RunPieces::open(&archive, &locked.name)?;
        let is_it = |run: &&FileRun| run.text("id").is_some_and(|id| id == event);
        let run = log_runs(&file, session).find(is_it);
        let run = run.ok_or_else(none)?;
        let newest = log_runs(&file, session).last();
        if let Some(newest) = newest.filter(|newest| !is_it(newest)) {
            return Err(Error::new(
                ErrorKind::No,
                format!(
                    "the later gc {} depends on this one",
                    newest.text("id").unwrap_or_default()
                ),
            )
            .hint("undo that one first"));
        }
        if !run.sound {
            return Err(Error::data("the archive was modified; nothing was changed")
                .at(archive.shown(&locked.name), Position::default()));
        }
        let rejoined = Rejoined::new(session, &file, run).ok_or_else(|| {
            Error::data("the log was modified since that gc; nothing was changed")
                .hint(format!("find the lines in {}", archive.shown(&locked.name)))
        })?;
        let old = SourceLog {
            locked: &locked,
            lines: &lines,
        };
        let (mut back, mut sum) = (Session::of_digests(), 0);
        back.reserve(rejoined.len());
        rejoined.each_line(&old, line, &mut |line| {
            sum = crc32c::crc32c_append(sum, line);
            // Not at offset 0: a byte order mark would be content here.
            back.push_reduced(&Record::parse(line, Position { line: 0, offset: 1 }));
            Ok(())
        })?;
        if !shows_the_same(&back, session) {
            return Err(
                Error::new(ErrorKind::No, "later changes conflict with the archived lines")
                    .hint("undo the later changes first; list them with: convo restore --list"),
            );
        }
        drop(back);
        let reported = Archived::of(&file, run)?;
        if dry_run {
            return Ok(reported);
        }
        replace_file::refuse_writers(&locked.file, &locked.sessions.shown(&locked.name))
            .map_err(|error| error.hint("nothing was changed; close it first"))?;
        locked.replace(self, &mut |out| {
            let (mut new, mut written) = (NewLog::new(&locked, out), 0);
            rejoined.each_line(&old, line, &mut |line| {
                written = crc32c::crc32c_append(written, line);
                new.push(line)
            })?;
            match written == sum {
                true => new.finish().map(drop),
                false => Err(locked.modified()),
            }
        })?;
        file.take(slice::from_ref(&(run.start..run.end)), self.lock_timeout)
            .map_err(replaced_log_error)?;
        Ok(reported)
    }
}

/// Whether both sessions have the same view. Lines may be reduced.
fn shows_the_same(one: &Session, other: &Session) -> bool {
    let (shown, other_shown) = (View::replay(one), View::replay(other));
    let reduced = |line: Cow<'_, [u8]>| reduced::line(&line).into_owned();
    let other_shown = other_shown.each_shown(other).map(reduced);
    shown.each_shown(one).map(reduced).eq(other_shown)
}
