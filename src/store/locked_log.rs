//! A locked log that is about to be replaced and may be read repeatedly.

use super::atomic::WriteContent;
use super::directory::{Directory, FileStat};
use super::log::{self, LogChain, Verdict};
use super::patched::Patched;
use super::{Store, atomic, log_name, no_session, replace_file};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::lines::ByteLines;
use crate::format::native;
use crate::format::report::Report;
use crate::model::record::{Record, RecordKind as Line};
use crate::model::session::Session;
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Take};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::SystemTime;

pub(super) struct LockedLog<'s> {
    pub sessions: &'s Directory,
    pub name: String,
    pub file: File,
    pub facts: FileStat,
}

/// The lines of a log: a session of them, and a checksum of each.
#[derive(Debug)]
pub(super) struct LineDigest {
    pub session: Session,
    sums: Vec<u32>,
    length: u64,
}

impl LineDigest {
    pub fn range(&self, index: usize) -> Range<u64> {
        let end = match index + 1 < self.session.len() {
            true => self.session.place(index + 1).offset,
            false => self.length,
        };
        self.session.place(index).offset..end
    }
}

/// Read size in bytes.
const BLOCK: usize = 256 * 1024;

/// Reads lines of a locked log again.
pub(super) struct LogLineReader<'h> {
    locked: &'h LockedLog<'h>,
    start: u64,
    bytes: Vec<u8>,
}

impl LogLineReader<'_> {
    /// The bytes of a line, verified to be those read first.
    pub fn line(&mut self, lines: &LineDigest, index: usize) -> Result<&[u8]> {
        let range = lines.range(index);
        let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        if range.start < self.start || range.end > self.start + self.bytes.len() as u64 {
            let rest = self.locked.facts.size.saturating_sub(range.start);
            let block = length.max(BLOCK);
            self.bytes.clear();
            self.bytes.shrink_to(block);
            self.bytes
                .resize(usize::try_from(rest).map_or(block, |rest| rest.min(block)), 0);
            self.start = range.start;
            let read = self.locked.file.read_exact_at(&mut self.bytes, self.start);
            read.map_err(|error| Error::io(self.locked.shown(), error))?;
        }
        let from = usize::try_from(range.start - self.start).unwrap_or(usize::MAX);
        let bytes = self.bytes.get(from..from.saturating_add(length));
        bytes
            .filter(|bytes| crc32c::crc32c(bytes) == lines.sums[index])
            .ok_or_else(|| self.locked.modified())
    }
}

impl<'s> LockedLog<'s> {
    pub fn open(store: &'s Store, id: &str) -> Result<LockedLog<'s>> {
        let name = log_name(id);
        let sessions = store.sessions()?.ok_or_else(|| no_session(id))?;
        let opened = atomic::open_locked(sessions, &name, None, OFlags::RDONLY, store.lock_timeout)?;
        let (file, facts) = opened.ok_or_else(|| no_session(id))?;
        sessions.refuse_linked(&name, &facts)?;
        store.sync_name(sessions, &facts)?;
        Ok(LockedLog {
            sessions,
            name,
            file,
            facts,
        })
    }

    /// Its path.
    pub fn shown(&self) -> String {
        self.sessions.shown(&self.name)
    }

    /// Reads all of its bytes.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.facts.size).unwrap_or(0));
        let read = self.reader().and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|error| Error::io(self.shown(), error))?;
        Ok(bytes)
    }

    pub fn bytes(&self) -> Patched<'_> {
        Patched::new(Some(&self.file), self.facts.size)
    }

    /// The error if another program changes it meanwhile.
    pub fn modified(&self) -> Error {
        let what = format!(
            "{}: modified by another program; nothing was changed",
            self.shown()
        );
        Error::new(ErrorKind::Locked, what).hint("run the command again")
    }

    /// A reader from the beginning.
    pub fn reader(&self) -> std::io::Result<Take<&File>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        Ok(file.take(self.facts.size))
    }

    /// A reader of single lines.
    pub fn line_reader(&self) -> LogLineReader<'_> {
        LogLineReader {
            locked: self,
            start: 0,
            bytes: Vec::new(),
        }
    }

    /// Replaces the log with equivalent bytes, keeping its modification time.
    pub fn replace(&self, store: &Store, content: WriteContent<'_>) -> Result<()> {
        let time = Some(self.facts.modified_at());
        self.replace_at(store, content, time)
    }

    /// Replaces the log with a newer state.
    pub fn replace_by_newer(&self, store: &Store, content: WriteContent<'_>) -> Result<()> {
        self.replace_at(store, content, None)
    }

    fn replace_at(&self, store: &Store, content: WriteContent<'_>, time: Option<SystemTime>) -> Result<()> {
        if let Some(id) = self.name.strip_suffix(".jsonl") {
            store.forget_view(id);
            store.forget_overviews();
        }
        let old = (&self.file, &self.facts);
        replace_file::replace_log(self.sessions, &self.name, old, content, time, store.lock_timeout)
    }

    /// Removes temporary files of dead processes for this log and its file in another directory.
    pub fn sweep(&self, other: Option<&Directory>) {
        let name = atomic::temporary_name(&self.name);
        for dir in [Some(self.sessions), other].into_iter().flatten() {
            atomic::remove_dead_file(dir, &name);
        }
    }

    /// Whether the log begins with these bytes.
    pub fn has_beginning(&self, bytes: &[u8]) -> Result<bool> {
        let failed = |error| Error::io(self.shown(), error);
        let mut lines = ByteLines::new(Vec::new(), self.reader().map_err(failed)?);
        let mut found = bytes.is_empty();
        while !found && let Some((line, _)) = lines.next_line().map_err(failed)? {
            found = line.starts_with(bytes);
        }
        Ok(found)
    }

    fn refuse(&self, place: Position, what: &str) -> Error {
        Error::data(format!("{what}; nothing was changed"))
            .at(self.shown(), place)
            .hint("repair it with: convo fsck --repair")
    }

    /// Reads the lines without checksums into the empty `session`, with a checksum of each. Fails for a damaged log,
    /// because rewriting would hide the damage.
    pub fn lines(&self, session: Session) -> Result<LineDigest> {
        let failed = |error| Error::io(self.shown(), error);
        let mut stored = LineDigest {
            session,
            sums: Vec::new(),
            length: self.facts.size,
        };
        let (mut chain, mut bare) = (LogChain::default(), Vec::new());
        let mut lines = ByteLines::new(Vec::new(), self.reader().map_err(failed)?);
        while let Some((line, place)) = lines.next_line().map_err(failed)? {
            if chain.verify(line) == Verdict::Broken {
                return Err(self.refuse(place, "the checksum does not match"));
            }
            if !line.ends_with(b"\n") {
                return Err(self.refuse(place, "the last line is truncated"));
            }
            let stripped = log::strip_into(line, &mut bare);
            let record = Record::parse(if stripped { &bare } else { line }, place);
            if let Line::Event(event) = &record.kind
                && event.is_header()
            {
                let mut report = Report::default();
                native::check(&record, &mut report)?;
            }
            stored.session.push_reduced(&record);
            stored.sums.push(crc32c::crc32c(line));
        }
        Ok(stored)
    }
}
