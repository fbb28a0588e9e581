//! What no view needs leaves the log for the archive, and comes back from it.

mod lines;

use crate::error::{Error, Kind, Place, Result};
use crate::model::json;
use crate::model::record::{Kind as Line, Record};
use crate::model::session::{Piece, Session};
use crate::model::time::seconds;
use crate::store::directory::{Directory, Facts};
use crate::store::log::{self, Chain, Pending, Verdict};
use crate::store::{Store, atomic, log_name, no_session, pieces, rewrite};
use lines::{Thinned, rejoined};
use rustix::fs::OFlags;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;

pub(super) const ARCHIVE: &str = "archive";

/// How a log is made smaller.
#[derive(Clone, Copy, Debug)]
pub struct Thin<'a> {
    /// Id of the `gc` event that tells of it, and its time.
    pub event: &'a str,
    /// RFC 3339.
    pub at: &'a str,
    /// Destroy what leaves the log, and what the archive holds.
    pub discard: bool,
    /// Of the archive only what was taken out up to this time, in seconds since 1970.
    pub until: Option<i64>,
    /// Although another program has the log open.
    pub force: bool,
    /// Change nothing, and tell what would be.
    pub dry_run: bool,
}

/// What it came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Lines of the log before and after.
    pub lines: (u64, u64),
    /// Bytes of the log before and after.
    pub bytes: (u64, u64),
    /// Bytes of the archive before and after.
    pub archive: (u64, u64),
    /// Lines that left the log.
    pub taken: u64,
}

impl Receipt {
    /// Whether anything changed.
    pub fn is_change(&self) -> bool {
        self.bytes.0 != self.bytes.1 || self.taken > 0 || self.archive.0 != self.archive.1
    }
}

/// Lines in the archive that one `gc` took out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// Id of its event.
    pub event: String,
    /// Number of lines.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A log that is locked, whole in memory.
pub(super) struct Held<'s> {
    pub sessions: &'s Directory,
    pub name: String,
    pub file: File,
    pub facts: Facts,
    pub bytes: Vec<u8>,
}

impl<'s> Held<'s> {
    pub fn open(store: &'s Store, id: &str) -> Result<Held<'s>> {
        let name = log_name(id);
        let sessions = store.sessions()?.ok_or_else(|| no_session(id))?;
        let opened = atomic::open_locked(sessions, &name, None, OFlags::RDONLY, store.lock_timeout)?;
        let (mut file, facts) = opened.ok_or_else(|| no_session(id))?;
        store.settle_name(sessions, &facts)?;
        let mut bytes = Vec::with_capacity(usize::try_from(facts.size).unwrap_or(0));
        file.read_to_end(&mut bytes)
            .map_err(|error| Error::io(sessions.shown(&name), error))?;
        Ok(Held {
            sessions,
            name,
            file,
            facts,
            bytes,
        })
    }

    /// Puts other bytes in its place.
    pub fn replace(&self, store: &Store, bytes: &[u8]) -> Result<()> {
        let old = (&self.file, &self.facts);
        rewrite::replace_log(self.sessions, &self.name, old, bytes, store.lock_timeout)
    }

    fn refuse(&self, line: u64, offset: usize, what: &str) -> Error {
        let place = Place {
            line,
            offset: offset as u64,
        };
        Error::new(Kind::Data, format!("{what}; nothing was changed"))
            .at(self.sessions.shown(&self.name), place)
            .hint("convo fsck --repair mends it, and keeps a copy")
    }

    /// Its lines without their checksums, and where each stands. A damaged log is refused: writing it anew would
    /// make the damage look right.
    fn lines(&self) -> Result<(Session, Vec<Range<usize>>)> {
        let (mut session, mut ranges) = (Session::default(), Vec::new());
        let (mut chain, mut bare, mut start) = (Chain::default(), Vec::new(), 0);
        for line in self.bytes.split_inclusive(|byte| *byte == b'\n') {
            let number = ranges.len() as u64 + 1;
            if chain.verify(line) == Verdict::Broken {
                return Err(self.refuse(number, start, "its checksum does not match"));
            }
            if !line.ends_with(b"\n") {
                return Err(self.refuse(number, start, "its last line has no end"));
            }
            let stripped = log::strip_into(line, &mut bare);
            let place = Place {
                line: number,
                offset: start as u64,
            };
            let record = Record::parse(if stripped { &bare } else { line }, place);
            if let Line::Event(event) = &record.kind
                && event.is_header()
            {
                let mut report = crate::format::report::Report::default();
                crate::format::native::check(&record, &mut report)?;
            }
            session.push(&record);
            ranges.push(start..start + line.len());
            start += line.len();
        }
        Ok((session, ranges))
    }
}

/// What fails when the log is another already has changed something.
fn unsure(error: Error) -> Error {
    error
        .kind(Kind::Unsure)
        .hint("the log is changed, its archive is not; gc and fsck find what is left over")
}

/// Where the first run begins that was taken out after a time; the end when there is none.
fn young(file: &[u8], until: Option<i64>) -> usize {
    let is_young = |run: &pieces::Run| {
        let at = json::member(&file[run.line.clone()], "at").and_then(json::text);
        until.is_some_and(|until| at.as_deref().and_then(seconds).is_none_or(|at| at > until))
    };
    let first = pieces::runs(file).into_iter().find(is_young);
    first.map_or(file.len(), |run| run.line.start)
}

impl Store {
    /// Takes out of a log what `plan` leaves out of it, in one piece or not at all, and keeps it in the archive.
    /// The plan is made of what the locked log holds; none changes nothing.
    pub fn thin(
        &self,
        id: &str,
        options: &Thin<'_>,
        plan: impl FnOnce(&Session) -> Result<Option<Vec<Piece>>>,
    ) -> Result<Receipt> {
        let held = Held::open(self, crate::model::key::checked_id(id)?)?;
        let (session, ranges) = held.lines()?;
        let archive = self.directory().inner(ARCHIVE)?;
        let file = archive
            .as_ref()
            .map(|folder| pieces::read(folder, &held.name))
            .transpose()?;
        let file = file.unwrap_or_default();
        let young = if options.discard {
            young(&file, options.until)
        } else {
            0
        };
        let mut receipt = Receipt {
            lines: (ranges.len() as u64, ranges.len() as u64),
            bytes: (held.facts.size, held.facts.size),
            archive: (file.len() as u64, (file.len() - young) as u64),
            taken: 0,
        };
        if let Some(planned) = plan(&session)? {
            let new = Thinned::new(&session, planned);
            let taken: Vec<u8> = new
                .taken
                .iter()
                .flat_map(|index| &held.bytes[ranges[*index].clone()])
                .copied()
                .collect();
            let (log, lines) = new.log(&session, options, taken.len())?;
            let run = if options.discard {
                Vec::new()
            } else {
                new.run(options, session.len(), &taken)
            };
            receipt.lines.1 = lines;
            receipt.bytes.1 = log.len() as u64;
            receipt.archive.1 += run.len() as u64;
            receipt.taken = new.taken.len() as u64;
            if !options.dry_run {
                if !options.force {
                    rewrite::refuse_writers(&held.file, &held.sessions.shown(&held.name))?;
                }
                self.exchange(&held, &log, &run)?;
            }
        }
        if let Some(folder) = archive.filter(|_| options.discard && !options.dry_run) {
            let done = match young {
                // Perhaps by a process that died before it synced.
                0 => atomic::sync_directory(&folder),
                _ if young == file.len() => pieces::cut(&folder, &held.name, 0),
                _ => atomic::replace(&folder, &held.name, &file[young..], self.lock_timeout),
            };
            done.map_err(|error| if receipt.taken > 0 { unsure(error) } else { error })?;
        }
        Ok(receipt)
    }

    /// First the archive has the lines, then the log has them no more: a crash between leaves them in both.
    fn exchange(&self, held: &Held<'_>, log: &[u8], run: &[u8]) -> Result<()> {
        if run.is_empty() {
            return held.replace(self, log);
        }
        let archive = atomic::folder(self.directory(), ARCHIVE)?;
        let before = self.settled_length(held, &archive)?;
        if let Some(length) = before {
            pieces::cut(&archive, &held.name, length)?;
        }
        let before = pieces::append(&archive, &held.name, run)?;
        held.replace(self, log).inspect_err(|error| {
            if error.kind != Kind::Unsure {
                let _ = pieces::cut(&archive, &held.name, before); // swept by the next one otherwise
            }
        })
    }

    /// The length of the archive without runs at its end that the log knows nothing of, or has taken back: those of a
    /// gc or a restore that was cut off, whose lines are in the log. None when there are none.
    pub(super) fn settled_length(&self, held: &Held<'_>, archive: &Directory) -> Result<Option<u64>> {
        let file = pieces::read(archive, &held.name)?;
        let mut length = None;
        for run in pieces::runs(&file).iter().rev() {
            let id = json::member(&file[run.line.clone()], "id")
                .and_then(json::text)
                .unwrap_or_default();
            if !run.sound
                || run.end != length.unwrap_or(file.len())
                || Self::needs(held, &id, &file[run.bytes.clone()])?
            {
                break;
            }
            length = Some(run.line.start);
        }
        Ok(length.map(|length| length as u64))
    }

    /// Whether the log does without these lines: it knows the gc of this event, or lacks one of them.
    fn needs(held: &Held<'_>, event: &str, run: &[u8]) -> Result<bool> {
        let (session, _) = held.lines()?;
        let known = session.live_events().into_iter().any(|index| {
            let record = session.record(index);
            record
                .event()
                .and_then(|own| own.id())
                .is_some_and(|id| id == event)
        });
        let mut lines: HashMap<&[u8], usize> = HashMap::new();
        for index in 0..session.len() {
            *lines.entry(session.full(index)).or_default() += 1;
        }
        let mut found = |line: &[u8]| match lines.get_mut(log::strip(line).as_ref()) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        Ok(known || !run.split_inclusive(|byte| *byte == b'\n').all(&mut found))
    }

    /// What the archive holds of a session, oldest first.
    pub fn archived(&self, id: &str) -> Result<Vec<Archived>> {
        let Some(archive) = self.directory().inner(ARCHIVE)? else {
            return Ok(Vec::new());
        };
        let file = pieces::read(&archive, &log_name(crate::model::key::checked_id(id)?))?;
        let archived = |run: &pieces::Run| {
            let event = json::member(&file[run.line.clone()], "id").and_then(json::text)?;
            let bytes = &file[run.bytes.clone()];
            Some(Archived {
                event: event.into_owned(),
                lines: memchr::memchr_iter(b'\n', bytes).count() as u64,
                bytes: bytes.len() as u64,
            })
        };
        Ok(pieces::runs(&file).iter().filter_map(archived).collect())
    }

    /// Brings back what the gc of this event took out, each line to its place, and adds `line`, which tells so. Only
    /// the newest that still counts can come back: those before it stand in what it left.
    pub fn thicken(&self, id: &str, event: &str, line: &[u8]) -> Result<u64> {
        let held = Held::open(self, crate::model::key::checked_id(id)?)?;
        let (session, _) = held.lines()?;
        let none = || {
            Error::new(Kind::No, format!("the archive has nothing of the gc {event}"))
                .hint("gc --discard destroys what it takes out")
        };
        let archive = self.directory().inner(ARCHIVE)?.ok_or_else(none)?;
        if let Some(length) = self.settled_length(&held, &archive)? {
            pieces::cut(&archive, &held.name, length)?;
        }
        let file = pieces::read(&archive, &held.name)?;
        let runs = pieces::runs(&file);
        let of = |run: &pieces::Run| {
            json::member(&file[run.line.clone()], "id")
                .and_then(json::text)
                .unwrap_or_default()
        };
        let run = runs.iter().find(|run| of(run) == event).ok_or_else(none)?;
        if let Some(newest) = runs.last().filter(|newest| of(newest) != event) {
            return Err(Error::new(
                Kind::No,
                format!("a later gc, {}, stands on this one", of(newest)),
            )
            .hint("take that one back first"));
        }
        if !run.sound {
            return Err(Error::new(
                Kind::Data,
                "what the archive holds has changed; nothing was changed",
            )
            .at(archive.shown(&held.name), Place::default()));
        }
        let back = rejoined(&session, &file[run.line.clone()], &file[run.bytes.clone()], event);
        let lines = back.ok_or_else(|| {
            Error::new(
                Kind::Data,
                "the log is not as that gc left it; nothing was changed",
            )
            .hint(format!("the lines are in {}", archive.shown(&held.name)))
        })?;
        let mut pending = Pending::default();
        for line in lines.iter().map(Vec::as_slice).chain([line]) {
            pending.push(line)?;
        }
        pending.close(&mut Chain::default());
        rewrite::refuse_writers(&held.file, &held.sessions.shown(&held.name))?;
        held.replace(self, pending.bytes(false))?;
        pieces::cut(&archive, &held.name, run.line.start as u64).map_err(unsure)?;
        Ok(memchr::memchr_iter(b'\n', &file[run.bytes.clone()]).count() as u64)
    }
}
