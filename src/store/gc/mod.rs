//! Moves lines that no view needs from the log to the archive, and restores them.

mod lines;

use crate::error::{Error, Kind, Place, Result};
use crate::format::report::Report;
use crate::model::json;
use crate::model::key;
use crate::model::reduced;
use crate::model::session::{Piece, Session};
use crate::model::time::seconds;
use crate::model::view::View;
use crate::store::directory::Directory;
use crate::store::held::Held;
use crate::store::log::{self, Chain, Pending};
use crate::store::{Store, atomic, log_name, pieces, rewrite};
use lines::{Old, Thinned, rejoined};
use pieces::Run;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

pub(super) const ARCHIVE: &str = "archive";

/// Options of a gc.
#[derive(Clone, Copy, Debug)]
pub struct Thin<'a> {
    /// The id of the `gc` event.
    pub event: &'a str,
    /// RFC 3339.
    pub at: &'a str,
    /// Delete the removed lines, and the content of the archive.
    pub discard: bool,
    /// Delete only archived lines removed up to this time, in seconds since 1970.
    pub until: Option<i64>,
    /// Proceed even if another program has the log open.
    pub force: bool,
    /// Change nothing and report the planned change.
    pub dry_run: bool,
}

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

/// Converts an error that occurred after the log was replaced.
fn unsure(error: Error) -> Error {
    error
        .kind(Kind::Unsure)
        .hint("the log was changed, but not its archive; find leftovers with: convo gc or convo fsck")
}

/// Identifies the runs of a log among those of another session that had the same id before: a prefix of the SHA-256
/// of its first line.
pub(super) fn known_by(session: &Session) -> String {
    let first = if session.is_empty() {
        &[][..]
    } else {
        session.record(0).body
    };
    key::sha256(first)[..16].to_string()
}

fn text<'f>(file: &'f [u8], run: &Run, name: &str) -> Option<Cow<'f, str>> {
    json::member(&file[run.line.clone()], name).and_then(json::text)
}

/// The runs of this log.
fn own_runs(file: &[u8], session: &Session) -> Vec<Run> {
    let own = known_by(session);
    let mut runs = pieces::runs(file);
    runs.retain(|run| text(file, run, "log").is_none_or(|log| log == own));
    runs
}

/// Whether the content of a run was hidden up to a time.
fn is_old(file: &[u8], run: &Run, until: Option<i64>) -> bool {
    let left = text(file, run, "left").or(text(file, run, "at"));
    until.is_none_or(|until| {
        left.as_deref()
            .and_then(seconds)
            .is_some_and(|left| left <= until)
    })
}

impl Store {
    /// Removes from a log the lines that `plan` omits and archives them, atomically. The plan is made from the locked
    /// log; none changes nothing.
    pub fn thin(
        &self,
        id: &str,
        options: &Thin<'_>,
        plan: impl FnOnce(&Session) -> Result<Option<Vec<Piece>>>,
    ) -> Result<Receipt> {
        let held = Held::open(self, key::checked_id(id)?)?;
        let (session, lines) = held.lines(Session::of_digests())?;
        let archive = self.directory().inner(ARCHIVE)?;
        if !options.dry_run {
            held.sweep(archive.as_ref());
        }
        if let Some(folder) = archive.as_ref().filter(|_| options.discard && !options.dry_run) {
            self.settle_archive(&held, &session, folder)?;
        }
        let file = archive
            .as_ref()
            .map(|folder| pieces::read(folder, &held.name))
            .transpose()?;
        let file = file.unwrap_or_default();
        let mut old = own_runs(&file, &session);
        old.retain(|run| options.discard && is_old(&file, run, options.until));
        // After a kill, the archive may still have lines that the log reports as deleted.
        let told = session.destroyed();
        let gone = old
            .iter()
            .filter_map(|run| text(&file, run, "id"))
            .map(Cow::into_owned);
        let gone: Vec<String> = gone.filter(|id| !told.contains(id)).collect();
        let old: Vec<Range<usize>> = old.into_iter().map(|run| run.line.start..run.end).collect();
        let destroyed: usize = old.iter().map(Range::len).sum();
        let mut receipt = Receipt {
            lines: (lines.len() as u64, lines.len() as u64),
            bytes: (held.facts.size, held.facts.size),
            archive: (file.len() as u64, (file.len() - destroyed) as u64),
            taken: 0,
        };
        // The log records deletions from the archive even if nothing else happens.
        let all = || (0..session.len()).map(Piece::Line).collect();
        if let Some(planned) = plan(&session)?.or_else(|| (!gone.is_empty()).then(all)) {
            let new = Thinned::new(&session, planned);
            let old = Old {
                held: &held,
                session: &session,
                lines: &lines,
            };
            let event = new.event(options, new.bytes(&old), &gone);
            let run = match options.discard || new.taken.is_empty() {
                true => None,
                false => Some(new.run(&old, options)?),
            };
            receipt.lines.1 = new.lines();
            receipt.archive.1 += run.as_ref().map_or(0, |line| line.len() as u64 + new.bytes(&old));
            receipt.taken = new.taken.len() as u64;
            if options.dry_run {
                receipt.bytes.1 = new.write_log(&old, &event, &mut std::io::sink())?;
            } else {
                if !options.force {
                    rewrite::refuse_writers(&held.file, &held.sessions.shown(&held.name))?;
                }
                receipt.bytes.1 = self.exchange(&old, &new, &event, run.as_deref())?;
            }
        }
        if let Some(folder) = archive.filter(|_| options.discard && !options.dry_run) {
            let done = match old.is_empty() {
                // Written by a process that perhaps died before it synced.
                true => atomic::sync_directory(&folder),
                false => pieces::take(&folder, &held.name, &file, &old, self.lock_timeout),
            };
            let changed = receipt.bytes.0 != receipt.bytes.1;
            done.map_err(|error| if changed { unsure(error) } else { error })?;
        }
        Ok(receipt)
    }

    /// Writes the archive before the log, so a crash in between leaves the lines in both. Returns the size of the new
    /// log in bytes.
    fn exchange(&self, old: &Old<'_>, new: &Thinned, event: &[u8], run: Option<&[u8]>) -> Result<u64> {
        let (held, mut written) = (old.held, 0);
        let mut log = |out: &mut dyn Write| {
            written = new.write_log(old, event, out)?;
            Ok(())
        };
        let Some(run) = run else {
            held.replace(self, &mut log)?;
            return Ok(written);
        };
        let archive = atomic::folder(self.directory(), ARCHIVE)?;
        self.settle_archive(held, old.session, &archive)?;
        let shown = archive.shown(&held.name);
        let before = pieces::append_of(&archive, &held.name, &mut |out| {
            atomic::put_bytes(out, &shown, run)?;
            new.write_taken(old, out)
        })?;
        held.replace(self, &mut log).inspect_err(|error| {
            if error.kind != Kind::Unsure {
                let _ = pieces::cut(&archive, &held.name, before); // on failure the next gc removes it
            }
        })?;
        Ok(written)
    }

    /// Removes runs at the end of the archive that the log does not know or has restored: those of an interrupted gc
    /// or restore, whose lines are in the log. The last run may be incomplete.
    pub(super) fn settle_archive(
        &self,
        held: &Held<'_>,
        session: &Session,
        archive: &Directory,
    ) -> Result<()> {
        let file = pieces::read(archive, &held.name)?;
        let mut length = file.len();
        let whole = pieces::runs(&file).last().map_or(0, |run| run.end);
        while let Some(run) = pieces::unfinished(&file, whole..length, lines::BEGIN) {
            let bytes = &file[run.bytes.clone()];
            let id = text(&file, &run, "id").unwrap_or_default();
            let end = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
            if Self::needs(session, &id, &bytes[..end]) || !held.has_beginning(&bytes[end..])? {
                break;
            }
            length = run.line.start;
        }
        for run in own_runs(&file, session).iter().rev() {
            let id = text(&file, run, "id").unwrap_or_default();
            if !run.sound || run.end != length || Self::needs(session, &id, &file[run.bytes.clone()]) {
                break;
            }
            length = run.line.start;
        }
        if length < file.len() {
            pieces::cut(archive, &held.name, length as u64)?;
        }
        Ok(())
    }

    /// Whether the archive is the only place of these lines: the log knows this gc, or lacks one of them.
    fn needs(session: &Session, event: &str, run: &[u8]) -> bool {
        let known = session.live_events().into_iter().any(|index| {
            let record = session.record(index);
            record
                .event()
                .and_then(|own| own.id())
                .is_some_and(|id| id == event)
        });
        // A reduced line is compared like the complete one.
        let known_as = |line: &[u8]| key::digest([&*reduced::line(line)]);
        let mut lines: HashMap<[u8; 32], usize> = HashMap::new();
        for index in 0..session.len() {
            *lines.entry(known_as(session.full(index))).or_default() += 1;
        }
        let mut found = |line: &[u8]| match lines.get_mut(&known_as(&log::strip(line))) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        known || !run.split_inclusive(|byte| *byte == b'\n').all(&mut found)
    }

    /// Reads a session with archived lines merged back, as far as the archive has them; returns the length of the
    /// log.
    pub fn load_with_archive(&self, id: &str, report: &mut Report) -> Result<(Session, u64)> {
        let (mut session, length) = self.load_with_length(id, report)?;
        let Some(archive) = self.directory().inner(ARCHIVE)? else {
            return Ok((session, length));
        };
        let file = pieces::read(&archive, &log_name(id))?;
        for run in own_runs(&file, &session).iter().rev().filter(|run| run.sound) {
            let event = text(&file, run, "id").unwrap_or_default();
            let bytes = &file[run.bytes.clone()];
            if let Some(lines) = rejoined(&session, &file[run.line.clone()], bytes, &event) {
                session = Session::default();
                let body = |line: &Vec<u8>| line.strip_suffix(b"\n").unwrap_or(line).to_vec();
                lines.iter().for_each(|line| session.push_new(&body(line)));
            }
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
        let file = pieces::read(&archive, &log_name(key::checked_id(id)?))?;
        let session = self.load_events(id, &mut Report::default())?;
        let archived = |run: &Run| {
            let bytes = &file[run.bytes.clone()];
            Some(Archived {
                event: text(&file, run, "id")?.into_owned(),
                lines: memchr::memchr_iter(b'\n', bytes).count() as u64,
                bytes: bytes.len() as u64,
            })
        };
        Ok(own_runs(&file, &session).iter().filter_map(archived).collect())
    }

    /// Restores the lines that the gc with this event id removed, and appends `line`, which records that; `dry_run`
    /// only checks whether that is possible. Only the newest active gc can be restored, because earlier ones refer to
    /// its result, and only if the view does not change.
    pub fn thicken(&self, id: &str, event: &str, line: &[u8], dry_run: bool) -> Result<Archived> {
        let held = Held::open(self, key::checked_id(id)?)?;
        let (session, _) = held.lines(Session::default())?;
        let none = || {
            Error::new(Kind::No, format!("the archive has no data of gc {event}"))
                .hint("gc --discard deletes messages permanently")
        };
        let archive = self.directory().inner(ARCHIVE)?.ok_or_else(none)?;
        if !dry_run {
            held.sweep(Some(&archive));
            self.settle_archive(&held, &session, &archive)?;
        }
        let file = pieces::read(&archive, &held.name)?;
        let runs = own_runs(&file, &session);
        let of = |run: &Run| text(&file, run, "id").unwrap_or_default();
        let run = runs.iter().find(|run| of(run) == event).ok_or_else(none)?;
        if let Some(newest) = runs.last().filter(|newest| of(newest) != event) {
            return Err(Error::new(
                Kind::No,
                format!("the later gc {} depends on this one", of(newest)),
            )
            .hint("undo that one first"));
        }
        if !run.sound {
            return Err(
                Error::new(Kind::Data, "the archive was modified; nothing was changed")
                    .at(archive.shown(&held.name), Place::default()),
            );
        }
        let bytes = &file[run.bytes.clone()];
        let lines = rejoined(&session, &file[run.line.clone()], bytes, event).ok_or_else(|| {
            Error::new(
                Kind::Data,
                "the log was modified since that gc; nothing was changed",
            )
            .hint(format!("find the lines in {}", archive.shown(&held.name)))
        })?;
        let mut back = Session::default();
        let mut pending = Pending::default();
        for line in lines.iter().map(Vec::as_slice).chain([line]) {
            back.push_new(line.strip_suffix(b"\n").unwrap_or(line));
            pending.push(line)?;
        }
        if View::replay(&back).shown(&back) != View::replay(&session).shown(&session) {
            return Err(
                Error::new(Kind::No, "later changes conflict with the archived lines")
                    .hint("undo the later changes first; list them with: convo restore --list"),
            );
        }
        pending.close(&mut Chain::default());
        let told = Archived {
            event: event.to_string(),
            lines: memchr::memchr_iter(b'\n', bytes).count() as u64,
            bytes: bytes.len() as u64,
        };
        if dry_run {
            return Ok(told);
        }
        rewrite::refuse_writers(&held.file, &held.sessions.shown(&held.name))
            .map_err(|error| error.hint("nothing was changed; close it first"))?;
        let shown = held.shown();
        held.replace(self, &mut |out| {
            atomic::put_bytes(out, &shown, pending.bytes(false))
        })?;
        let out = run.line.start..run.end;
        pieces::take(
            &archive,
            &held.name,
            &file,
            std::slice::from_ref(&out),
            self.lock_timeout,
        )
        .map_err(unsure)?;
        Ok(told)
    }
}
