//! Reads the lines of examined sessions again, and stages them in the target.

use super::archived::discarded;
use super::inspect::{self, ExaminedFile, FoundSession, stored, stored_lines};
use super::stored as of_store;
use crate::args::InputArgs;
use crate::input::regular;
use convo::error::{Error, ErrorKind, Result};
use convo::format::native::NativeReader;
use convo::format::packed::Packer;
use convo::format::report::Report;
use convo::format::{Format, Reader};
use convo::model::record::RecordKind as Line;
use convo::model::session::Session;
use convo::store::{Batch, Staged, Store, log};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Returns a session, starting with its header.
pub fn session(examined: &ExaminedFile, nth: usize, recent: &RecentFiles<'_>) -> Result<Session> {
    let found = of(examined, nth)?;
    let mut session = Session::default();
    let mut push = |line: &[u8]| match discarded(line) {
        Some(event) => session.push_new(&event),
        None => session.push_new(line),
    };
    if found.session.is_some() {
        stored_lines(found).for_each(&mut push);
    } else {
        let all = recent.reread(examined)?;
        stored_lines(unchanged(&all, nth, found)?).for_each(&mut push);
    }
    Ok(session)
}

/// Stages one session under a temporary name.
pub fn stage<'b>(
    batch: &'b Batch,
    examined: &ExaminedFile,
    nth: usize,
    recent: &RecentFiles<'_>,
) -> Result<Staged<'b>> {
    let found = of(examined, nth)?;
    if found.session.is_some() {
        return batch.stage(&found.id, target_lines(found, stored_lines(found)));
    }
    match examined.format {
        Some(format) if format.is_lines() && !examined.stored => {
            let mut stream = RecordStream::open(&examined.path, found)?;
            let staged = batch.stage(&found.id, target_lines(found, &mut stream))?;
            match stream.failed {
                Some(error) => Err(error),
                None => Ok(staged),
            }
        }
        _ => {
            let all = recent.reread(examined)?;
            let found_again = unchanged(&all, nth, found)?;
            batch.stage(&found_again.id, target_lines(found, stored_lines(found_again)))
        }
    }
}

/// Stages one session as a file of one line.
pub fn stage_packed<'b>(
    batch: &'b Batch,
    examined: &ExaminedFile,
    nth: usize,
    recent: &RecentFiles<'_>,
) -> Result<Staged<'b>> {
    let failed = |error| Error::io("cannot write", error).kind(ErrorKind::InputOutput);
    batch.stage_written(&of(examined, nth)?.id, |out| {
        let mut packer = Packer::new(out);
        let mut written = Ok(());
        each_line(examined, nth, recent, |line| {
            written = packer
                .write_all(&log::strip(line))
                .and_then(|()| packer.write_all(b"\n"));
            written.is_ok()
        })?;
        written.and_then(|()| packer.finish()).map_err(failed)
    })
}

/// A line of a session, or its replacement.
enum TargetLine<'f, L> {
    Header(&'f [u8]),
    Event(Vec<u8>),
    Line(L),
}

impl<L: AsRef<[u8]>> AsRef<[u8]> for TargetLine<'_, L> {
    fn as_ref(&self) -> &[u8] {
        match self {
            TargetLine::Header(header) => header,
            TargetLine::Event(event) => event,
            TargetLine::Line(line) => line.as_ref(),
        }
    }
}

/// The lines of a session for a target without its archive, with the header replaced if [`FoundSession::instead`] is
/// set.
fn target_lines<'f, L: AsRef<[u8]>>(
    found: &'f FoundSession,
    lines: impl Iterator<Item = L>,
) -> impl Iterator<Item = TargetLine<'f, L>> {
    let instead = found.instead.as_deref();
    lines.enumerate().map(move |(nth, line)| match instead {
        Some(header) if nth == 0 => TargetLine::Header(header),
        _ => discarded(line.as_ref()).map_or(TargetLine::Line(line), TargetLine::Event),
    })
}

/// Passes each line of a session to the callback until that returns false.
pub fn each_line(
    examined: &ExaminedFile,
    nth: usize,
    recent: &RecentFiles<'_>,
    mut each: impl FnMut(&[u8]) -> bool,
) -> Result<()> {
    let found = of(examined, nth)?;
    if found.session.is_some() {
        let _ = target_lines(found, stored_lines(found)).all(|line| each(line.as_ref()));
        return Ok(());
    }
    match examined.format {
        Some(format) if format.is_lines() && !examined.stored => {
            let mut stream = RecordStream::open(&examined.path, found)?;
            let _ = target_lines(found, stream.by_ref()).all(|line| each(line.as_ref()));
            stream.failed.map_or(Ok(()), Err)
        }
        _ => {
            let all = recent.reread(examined)?;
            let lines = stored_lines(unchanged(&all, nth, found)?);
            let _ = target_lines(found, lines).all(|line| each(line.as_ref()));
            Ok(())
        }
    }
}

pub fn of(examined: &ExaminedFile, nth: usize) -> Result<&FoundSession> {
    match &examined.found {
        Ok(found) if nth < found.len() => Ok(&found[nth]),
        _ => Err(changed()),
    }
}

/// Caches the last document that was read again: a document too large for memory may contain thousands of sessions.
/// Threads share the cache; one reads a document while the others wait.
pub struct RecentFiles<'c> {
    last: RwLock<Option<Last>>,
    /// The store, to read stored sessions again.
    pub store: Option<&'c Store>,
    /// The options of the first read.
    reading: &'c InputArgs,
}

type Last = (PathBuf, Arc<RereadSessions>);
type RereadSessions = OnceLock<Result<Arc<Vec<FoundSession>>>>;

impl<'c> RecentFiles<'c> {
    /// Returns an empty cache.
    pub fn new(store: Option<&'c Store>, reading: &'c InputArgs) -> Self {
        RecentFiles {
            last: RwLock::default(),
            store,
            reading,
        }
    }

    fn read(&self, examined: &ExaminedFile) -> Result<Vec<FoundSession>> {
        if let Some(store) = self.store.filter(|_| examined.stored) {
            return of_store::reread(store, &examined.path.to_string_lossy());
        }
        let format = examined.format.unwrap_or(Format::Native);
        inspect::reread(&examined.path, format, self.reading)
    }

    /// Returns the sessions of a document that was too large for memory.
    fn reread(&self, examined: &ExaminedFile) -> Result<Arc<Vec<FoundSession>>> {
        let known = |last: &Option<Last>| {
            let (_, read) = last.as_ref().filter(|(path, _)| *path == examined.path)?;
            Some(read.clone())
        };
        let read = known(&self.last.read().unwrap_or_else(PoisonError::into_inner));
        let read = read.unwrap_or_else(|| {
            let mut last = self.last.write().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have set it in the meantime.
            known(&last).unwrap_or_else(|| {
                let read = Arc::new(RereadSessions::new());
                *last = Some((examined.path.clone(), read.clone()));
                read
            })
        });
        match read.get_or_init(|| self.read(examined).map(Arc::new)) {
            Ok(all) => Ok(all.clone()),
            Err(error) => Err(Error::new(error.kind, error.message.clone())),
        }
    }
}

/// Returns a session of a document that was read again; an error if the session has changed.
fn unchanged<'a>(all: &'a [FoundSession], nth: usize, before: &FoundSession) -> Result<&'a FoundSession> {
    all.get(nth)
        .filter(|now| now.fingerprint == before.fingerprint)
        .ok_or_else(changed)
}

fn changed() -> Error {
    Error::new(ErrorKind::Locked, "modified by another program")
}

/// The lines of one session of a JSON Lines file, read in constant memory.
struct RecordStream {
    reader: NativeReader<File>,
    /// The next line to return: the header that was generated for a session without one, then the line before the last
    /// one read.
    waiting: Option<Vec<u8>>,
    /// Whether the session starts with its own header.
    own: bool,
    begun: bool,
    ended: bool,
    failed: Option<Error>,
}

impl RecordStream {
    fn open(path: &Path, found: &FoundSession) -> Result<RecordStream> {
        let mut file = regular::open(path)?;
        file.seek(SeekFrom::Start(found.offset))
            .map_err(|error| Error::io("cannot read", error))?;
        Ok(RecordStream {
            reader: NativeReader::new(Vec::new(), file),
            waiting: Some(found.header.clone()),
            own: !found.has_new_header,
            begun: false,
            ended: false,
            failed: None,
        })
    }

    fn step(&mut self) -> Result<Option<Vec<u8>>> {
        let mut report = Report::default();
        while let Some(record) = self.reader.next(&mut report)? {
            report.findings.clear();
            if matches!(record.kind, Line::Blank) {
                continue;
            }
            let header = record.event().is_some_and(|event| event.is_header());
            if !self.begun {
                self.begun = true;
                if header != self.own || (header && self.waiting.as_deref() != Some(record.body)) {
                    return Err(changed());
                }
            } else if header {
                return Ok(None);
            }
            let line = stored(&record).to_vec();
            if header {
                self.waiting = None;
            } else if let Some(before) = self.waiting.take() {
                self.waiting = Some(line);
                return Ok(Some(before));
            }
            return Ok(Some(line));
        }
        if self.begun { Ok(None) } else { Err(changed()) }
    }
}

impl Iterator for RecordStream {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        if self.ended {
            return None;
        }
        match self.step() {
            Ok(Some(line)) => Some(line),
            Ok(None) => {
                self.ended = true;
                self.waiting.take()
            }
            Err(error) => {
                self.ended = true;
                self.failed = Some(error);
                None
            }
        }
    }
}
