//! Reads the view of a session without its whole log, using a cached list of the lines that the view needs. The cache
//! is valid only if the log is the same file, the lines read have their recorded checksums, and the last of them,
//! through which the checksum chain runs, is at its recorded position. Later lines are read normally. On any mismatch
//! the whole log is read, with the same result.
//!
//! The cache file contains no text or names, only positions, checksums and hashes of ids. It is not synced: a damaged
//! one, or one that refers to lines lost in a crash, does not match.

use super::directory::{Directory, FILE_MODE, FileStat};
use super::log::{self, LogChain, SEAL, digits_of};
use super::network::CACHE;
use super::reader::LogReader;
use super::{Store, Wait, atomic, log_name};
use crate::error::{Position, Result};
use crate::format::report::Report;
use crate::format::{Reader, annotations};
use crate::model::key;
use crate::model::partial_lines::{FindRules, PartialLines, hidden_bytes, is_enough};
use crate::model::partial_session::{PartialSession, SummaryPosition};
use crate::model::record::{Record, RecordKind as Line};
use crate::model::session::Session;
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;

/// Minimum log size in bytes for a checkpoint; smaller logs are fast to read.
const MINIMUM: u64 = if cfg!(test) { 1 } else { 64 * 1024 };

/// Minimum number of new or newly hidden bytes for which a new checkpoint is written.
const FEW: u64 = if cfg!(test) { 200 } else { 16 * 1024 };

/// Maximum size of a checkpoint in bytes; beyond it the whole log is read.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The first bytes of the file.
const MAGIC: u64 = u64::from_le_bytes(*b"convoexc");

/// Consecutive lines of a log that are all in the view or all hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ViewRun {
    start: u64,
    length: u64,
    /// Number of the first line, from 1.
    line: u64,
    checksum: u64,
    hidden: bool,
}

/// The content of a checkpoint file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ViewCheckpoint {
    device: u64,
    inode: u64,
    /// Length of the covered part of the log: complete lines, the last with its checksum.
    length: u64,
    lines: u64,
    runs: Vec<ViewRun>,
    /// The event and position of the active summary, by line numbers.
    active_summary: Option<(u64, SummaryPosition)>,
    ids: Vec<u64>,
}

/// A hash that distinguishes program versions with possibly different semantics.
fn build() -> u64 {
    // Increment the number when the replay of a log changes.
    key::hash(concat!("convo ", env!("CARGO_PKG_VERSION"), " view 2")).get()
}

impl ViewCheckpoint {
    fn encoded(&self) -> Vec<u8> {
        let (kind, event, line) = match self.active_summary {
            None => (0, 0, 0),
            Some((event, SummaryPosition::First)) => (1, event, 0),
            Some((event, SummaryPosition::After(line))) => (2, event, line as u64),
            Some((event, SummaryPosition::Before(line))) => (3, event, line as u64),
        };
        let head = [
            MAGIC,
            build(),
            self.device,
            self.inode,
            self.length,
            self.lines,
            kind,
            event,
            line,
            self.runs.len() as u64,
            self.ids.len() as u64,
        ];
        let runs = self.runs.iter().flat_map(|run| {
            [
                run.start,
                run.length,
                run.line,
                run.checksum,
                u64::from(run.hidden),
            ]
        });
        let words = head.into_iter().chain(runs).chain(self.ids.iter().copied());
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let sum = u64::from(crc32c::crc32c(&bytes));
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<ViewCheckpoint> {
        let (body, sum) = bytes.split_last_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != u64::from(crc32c::crc32c(body)) {
            return None;
        }
        let (words, rest) = body.as_chunks::<8>();
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        let mut next = || words.next();
        if !rest.is_empty() || next()? != MAGIC || next()? != build() {
            return None;
        }
        let mut checkpoint = ViewCheckpoint {
            device: next()?,
            inode: next()?,
            length: next()?,
            lines: next()?,
            ..ViewCheckpoint::default()
        };
        let (kind, event, line) = (next()?, next()?, next()?);
        let at = usize::try_from(line).ok()?;
        checkpoint.active_summary = match kind {
            0 => None,
            1 => Some((event, SummaryPosition::First)),
            2 => Some((event, SummaryPosition::After(at))),
            3 => Some((event, SummaryPosition::Before(at))),
            _ => return None,
        };
        let (runs, ids) = (next()?, next()?);
        for _ in 0..runs {
            checkpoint.runs.push(ViewRun {
                start: next()?,
                length: next()?,
                line: next()?,
                checksum: next()?,
                hidden: next()? != 0,
            });
        }
        checkpoint.ids = words.collect();
        (checkpoint.ids.len() as u64 == ids).then_some(checkpoint)
    }

    /// Creates the checkpoint of a session that was read from this log, up to this length.
    fn of(
        session: &Session,
        file: &File,
        facts: &FileStat,
        length: u64,
        rules: FindRules<'_>,
    ) -> Option<ViewCheckpoint> {
        let last = session.len().checked_sub(1)?;
        let partial = PartialLines::of(session, rules)?;
        let end = |index: usize| match index == last {
            true => length,
            false => session.place(index + 1).offset,
        };
        let mut runs: Vec<ViewRun> = Vec::new();
        let mut bytes = Vec::new();
        for (index, hidden) in &partial.kept {
            let (place, end) = (session.place(*index), end(*index));
            bytes.resize(usize::try_from(end.checked_sub(place.offset)?).ok()?, 0);
            file.read_exact_at(&mut bytes, place.offset).ok()?;
            // Store only lines that are still as they were read.
            if *log::strip(&bytes) != *session.full(*index) || *index == last && !is_checked(&bytes) {
                return None;
            }
            match runs.last_mut() {
                Some(run) if run.start + run.length == place.offset && run.hidden == *hidden => {
                    run.length += bytes.len() as u64;
                    run.checksum = append(run.checksum, &bytes);
                }
                _ => runs.push(ViewRun {
                    start: place.offset,
                    length: bytes.len() as u64,
                    line: place.line,
                    checksum: append(0, &bytes),
                    hidden: *hidden,
                }),
            }
        }
        let number = |index: usize| session.place(index).line;
        let at = |index: usize| usize::try_from(number(index)).ok();
        let active_summary = match partial.active_summary {
            None => None,
            Some((event, SummaryPosition::First)) => Some((number(event), SummaryPosition::First)),
            Some((event, SummaryPosition::After(line))) => {
                Some((number(event), SummaryPosition::After(at(line)?)))
            }
            Some((event, SummaryPosition::Before(line))) => {
                Some((number(event), SummaryPosition::Before(at(line)?)))
            }
        };
        Some(ViewCheckpoint {
            device: facts.device,
            inode: facts.inode,
            length,
            lines: partial.lines as u64,
            runs,
            active_summary,
            ids: partial.ids,
        })
    }

    /// Reads the listed lines from the log, and the chain state after them; none if they have changed.
    fn lines(self, file: &File) -> Option<(Session, LogChain)> {
        let mut session = Session::default();
        let (mut hidden, mut bytes, mut bare) = (Vec::new(), Vec::new(), Vec::new());
        let mut place = Position { line: 1, offset: 0 };
        for run in &self.runs {
            if run.start.checked_add(run.length)? > self.length
                || run.start < place.offset
                || run.line < place.line
            {
                return None;
            }
            if run.start > place.offset {
                session.push_gap(place);
                hidden.push(true);
            }
            place = Position {
                line: run.line,
                offset: run.start,
            };
            bytes.resize(usize::try_from(run.length).ok()?, 0);
            file.read_exact_at(&mut bytes, run.start).ok()?;
            if append(0, &bytes) != run.checksum {
                return None;
            }
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                let stripped = log::strip_into(line, &mut bare);
                session.push(&Record::parse(if stripped { &bare } else { line }, place));
                hidden.push(run.hidden);
                place.line += 1;
                place.offset += line.len() as u64;
            }
        }
        // The checksum chain continues from the last line.
        let newline = bytes.split_last().filter(|(last, _)| **last == b'\n')?.1;
        let begin = memchr::memrchr(b'\n', newline).map_or(0, |before| before + 1);
        let line = &newline[begin..];
        let digits =
            digits_of(line).filter(|_| place.offset == self.length && place.line == self.lines + 1)?;
        let chain = LogChain::behind(&line[..line.len() - SEAL], digits);
        let index = |number: u64| (0..session.len()).find(|index| session.place(*index).line == number);
        let at = |number: usize| index(number as u64);
        let active_summary = match self.active_summary {
            None => None,
            Some((event, position)) => Some((
                index(event)?,
                match position {
                    SummaryPosition::First => SummaryPosition::First,
                    SummaryPosition::After(line) => SummaryPosition::After(at(line)?),
                    SummaryPosition::Before(line) => SummaryPosition::Before(at(line)?),
                },
            )),
        };
        session.set_partial(PartialSession {
            lines: usize::try_from(self.lines).ok()?,
            length: self.length,
            hidden,
            active_summary,
            ids: self.ids,
        });
        Some((session, chain))
    }
}

fn append(checksum: u64, bytes: &[u8]) -> u64 {
    u64::from(crc32c::crc32c_append(checksum as u32, bytes))
}

/// Whether a line is complete and has a checksum.
fn is_checked(line: &[u8]) -> bool {
    line.strip_suffix(b"\n")
        .is_some_and(|line| digits_of(line).is_some())
}

fn file_name(id: &str) -> String {
    format!("{id}.view")
}

impl Store {
    /// Reads the lines needed for the view of a session and returns the length of its log. Reads the whole log if no
    /// checkpoint matches.
    pub fn load_view(&self, id: &str, report: &mut Report) -> Result<(Session, u64)> {
        match self.partial_session_of(id, Wait::Unlocked)? {
            Some(found) => Ok(found),
            None => self.load_with_length(id, report),
        }
    }

    /// Reads the lines needed for the view through the checkpoint, without waiting for a change in progress; returns
    /// them with the log's length. None if the whole log is needed. The covered part had no findings when it was
    /// read, and the lines read have none.
    pub fn partial_session(&self, id: &str) -> Result<Option<(Session, u64)>> {
        self.partial_session_of(id, Wait::Never)
    }

    fn partial_session_of(&self, id: &str, wait: Wait) -> Result<Option<(Session, u64)>> {
        let id = key::checked_id(id)?;
        let Some(sessions) = self.sessions()? else {
            return Ok(None);
        };
        let small = |facts: Option<FileStat>| facts.is_none_or(|facts| facts.size < MINIMUM);
        if small(sessions.facts(log_name(id))?) {
            return Ok(None);
        }
        let Some(checkpoint) = self
            .directory()
            .inner(CACHE)?
            .and_then(|cache| cached(&cache, id))
        else {
            return Ok(None);
        };
        let opened = self.open_log(sessions, id, wait)?;
        Ok(opened.and_then(|(file, length)| Some((read_partial(checkpoint, &file, length)?, length))))
    }

    /// Stores a checkpoint of a session that was read up to this length without findings. Errors are ignored, because
    /// they only cost time.
    pub fn keep_view(&self, id: &str, session: &Session, length: u64, rules: FindRules<'_>) {
        let after = length - session.partial().map_or(0, |partial| partial.length).min(length);
        if length < MINIMUM || after < FEW && hidden_bytes(session) < FEW {
            return;
        }
        let keep = || {
            let file = self.sessions().ok()??.file(log_name(id), OFlags::RDONLY).ok()??;
            let facts = FileStat::of(&file).ok()?;
            if facts.size < length || annotations::unseen(session).is_some() {
                return None;
            }
            let bytes = ViewCheckpoint::of(session, &file, &facts, length, rules)?.encoded();
            if bytes.len() as u64 > LONGEST {
                return None;
            }
            self.write_cached(&file_name(id), &bytes)
        };
        let _ = keep();
    }

    /// Writes a file of the cache, if possible.
    pub(super) fn write_cached(&self, name: &str, bytes: &[u8]) -> Option<()> {
        self.directory().make(CACHE).ok()?;
        let cache = self.directory().inner(CACHE).ok()??;
        let known = cache.file(name, OFlags::WRONLY).ok()?;
        let mut file = match known {
            // Truncate only after taking the lock.
            Some(file) => file.set_len(0).ok().map(|()| file)?,
            None => cache.create(name, FILE_MODE).ok()?,
        };
        file.write_all(bytes).ok()
    }

    /// Removes a session's checkpoint, because its log is about to be replaced or removed.
    pub(super) fn forget_view(&self, id: &str) {
        if let Ok(Some(cache)) = self.directory().inner(CACHE) {
            let _ = atomic::unlink(&cache, file_name(id));
        }
    }
}

/// Reads a partial session of an open log and all lines after the checkpoint; none on a mismatch.
fn read_partial(checkpoint: ViewCheckpoint, file: &File, length: u64) -> Option<Session> {
    let facts = FileStat::of(file).ok()?;
    if (checkpoint.device, checkpoint.inode) != (facts.device, facts.inode) || checkpoint.length > length {
        return None;
    }
    let (offset, line) = (checkpoint.length, checkpoint.lines);
    let (mut session, chain) = checkpoint.lines(file)?;
    let place = Position { line, offset };
    let mut reader = LogReader::behind(file.try_clone().ok()?, place, chain, length).ok()?;
    let mut report = Report::default();
    while let Some(record) = reader.next(&mut report).ok()? {
        if matches!(record.kind, Line::Unreadable(_) | Line::Blank) {
            return None;
        }
        session.push(&record);
    }
    let fits = report.findings.is_empty() && is_enough(&session) && annotations::unseen(&session).is_none();
    fits.then_some(session)
}

/// The cached checkpoint of a log.
fn cached(cache: &Directory, id: &str) -> Option<ViewCheckpoint> {
    let file = cache.file(file_name(id), OFlags::RDONLY).ok()??;
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    ViewCheckpoint::read(&bytes)
}
