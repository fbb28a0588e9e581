//! Carries found sessions to where they are kept, in groups: a group is written, made durable, and only then
//! told.

use super::examine::{self, Examined, Found, stored, stored_lines};
use super::foreign::Foreign;
use super::stored as of_store;
use super::update::{self, Update};
use crate::args::InputArgs;
use crate::context::{Context, named};
use crate::input::regular;
use convo::error::{Error, Kind, Result};
use convo::format::native::NativeReader;
use convo::format::report::Report;
use convo::format::{Format, Reader};
use convo::model::json;
use convo::model::record::Kind as Line;
use convo::model::session::Session;
use convo::store::{self, Batch, Staged, Store, log};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Where sessions go.
pub enum Target<'c> {
    /// The store.
    Store(&'c Store),
    /// A folder of files `<id>.jsonl`.
    Folder(PathBuf),
    /// A folder of another system.
    Foreign(Foreign),
}

impl Target<'_> {
    /// A group of new files there.
    pub fn batch(&self) -> Result<Batch> {
        match self {
            Target::Store(store) => store.batch(),
            Target::Folder(folder) => Batch::in_folder(folder),
            Target::Foreign(foreign) => Batch::in_foreign_folder(&foreign.folder),
        }
    }

    /// Makes what is there already durable.
    pub fn settle(&self) -> Result<()> {
        match self {
            Target::Store(store) => store.settle_names(),
            Target::Folder(folder) => store::settle(folder),
            Target::Foreign(foreign) => store::settle(&foreign.folder),
        }
    }

    /// The records of a session that is there; none when there is none.
    pub fn existing(&self, id: &str) -> Result<Option<Box<dyn Reader>>> {
        match self {
            Target::Store(store) => {
                if store.has(id)? {
                    Ok(Some(Box::new(store.reader(id)?)))
                } else {
                    Ok(None)
                }
            }
            Target::Folder(folder) => {
                let file = regular::open_target(&folder.join(format!("{id}.jsonl")));
                let file = file.map_err(|error| named(error, &format!("{id}.jsonl")))?;
                Ok(file.map(|file| -> Box<dyn Reader> { Box::new(NativeReader::new(Vec::new(), file)) }))
            }
            Target::Foreign(_) => Ok(None), // not looked for by its id
        }
    }

    /// How a session stands to what is there: new, there already, or another of the same name.
    pub fn standing(
        &self,
        (file, nth): (usize, usize),
        examined: &Examined,
        recent: &Recent<'_>,
        context: &Context,
    ) -> Result<Standing> {
        if let Target::Foreign(foreign) = self {
            return foreign.standing((file, nth), examined, recent);
        }
        let Ok(found) = &examined.found else {
            return Ok(Standing::New);
        };
        let found = &found[nth];
        let Some(mut existing) = self.existing(&found.id)? else {
            return Ok(Standing::New);
        };
        let mut report = Report::default();
        // The same source was migrated before, whatever was appended since. A header that came in the file says
        // where its session once came from, and nothing of the lines below it.
        if found.made {
            let first = existing
                .next(&mut report)?
                .map(|record| record.body.to_vec())
                .unwrap_or_default();
            let hash = |header: &[u8]| {
                let source = json::member(header, "source")?;
                json::text(json::member(source, "sha256")?).map(|text| text.into_owned())
            };
            let known = hash(&first);
            if known.is_some() && known == hash(&found.header) {
                return Ok(Standing::There);
            }
            match self.existing(&found.id)? {
                Some(again) => existing = again,
                None => return Ok(Standing::New),
            }
        }
        // Otherwise it is there when its lines are the first ones of what is there.
        let mut same = true;
        each_line(examined, nth, recent, |line| {
            let mut next = || loop {
                match existing.next(&mut report) {
                    Ok(Some(record)) if matches!(record.kind, Line::Blank) => {}
                    Ok(Some(record)) => return Some(stored(&record) == log::bare(line).as_ref()),
                    _ => return None,
                }
            };
            same &= next() == Some(true);
            same
        })?;
        match same {
            true => Ok(Standing::There),
            false => update::compare(self, examined, nth, recent, context),
        }
    }
}

/// See [`Target::standing`].
#[derive(Debug)]
pub enum Standing {
    New,
    There,
    /// The beginning of what was found.
    Grown(Update),
    Other,
}

/// A session that was found, its header ahead.
pub fn session(examined: &Examined, nth: usize, recent: &Recent<'_>) -> Result<Session> {
    let found = of(examined, nth)?;
    let mut session = Session::default();
    let mut push = |line: &[u8]| session.push_new(line);
    if found.session.is_some() {
        stored_lines(found).for_each(&mut push);
    } else {
        let all = recent.again(examined)?;
        stored_lines(unchanged(&all, nth, found)?).for_each(&mut push);
    }
    Ok(session)
}

/// Writes one session under a temporary name.
pub fn stage<'b>(
    batch: &'b Batch,
    examined: &Examined,
    nth: usize,
    recent: &Recent<'_>,
) -> Result<Staged<'b>> {
    let found = of(examined, nth)?;
    if found.session.is_some() {
        return batch.stage(&found.id, headed(found, stored_lines(found)));
    }
    match examined.format {
        Some(format) if format.is_lines() && !examined.stored => {
            let mut stream = Stream::open(&examined.path, found)?;
            let staged = batch.stage(&found.id, headed(found, &mut stream))?;
            match stream.failed {
                Some(error) => Err(error),
                None => Ok(staged),
            }
        }
        _ => {
            let all = recent.again(examined)?;
            let again = unchanged(&all, nth, found)?;
            batch.stage(&again.id, headed(found, stored_lines(again)))
        }
    }
}

/// A line of a session, or the header that takes the place of its own.
enum Row<'f, L> {
    Header(&'f [u8]),
    Line(L),
}

impl<L: AsRef<[u8]>> AsRef<[u8]> for Row<'_, L> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Row::Header(header) => header,
            Row::Line(line) => line.as_ref(),
        }
    }
}

/// The lines of a session, of which the first is its header, with the one that is stored.
fn headed<'f, L>(found: &'f Found, lines: impl Iterator<Item = L>) -> impl Iterator<Item = Row<'f, L>> {
    let instead = found.instead.as_deref();
    lines.enumerate().map(move |(nth, line)| match instead {
        Some(header) if nth == 0 => Row::Header(header),
        _ => Row::Line(line),
    })
}

/// Hands out the lines of a session until the callback has seen enough.
fn each_line(
    examined: &Examined,
    nth: usize,
    recent: &Recent<'_>,
    mut each: impl FnMut(&[u8]) -> bool,
) -> Result<()> {
    let found = of(examined, nth)?;
    if found.session.is_some() {
        let _ = headed(found, stored_lines(found)).all(|line| each(line.as_ref()));
        return Ok(());
    }
    match examined.format {
        Some(format) if format.is_lines() && !examined.stored => {
            let mut stream = Stream::open(&examined.path, found)?;
            let _ = headed(found, stream.by_ref()).all(|line| each(line.as_ref()));
            stream.failed.map_or(Ok(()), Err)
        }
        _ => {
            let all = recent.again(examined)?;
            let lines = stored_lines(unchanged(&all, nth, found)?);
            let _ = headed(found, lines).all(|line| each(line.as_ref()));
            Ok(())
        }
    }
}

pub fn of(examined: &Examined, nth: usize) -> Result<&Found> {
    match &examined.found {
        Ok(found) if nth < found.len() => Ok(&found[nth]),
        _ => Err(changed()),
    }
}

/// The document that was read once more last, for the next of its sessions: one too large to be kept may hold
/// thousands. Threads may share it; those that want the same document wait for one of them to read it.
pub struct Recent<'c> {
    last: RwLock<Option<Last>>,
    /// Where sessions of the store are read again.
    store: Option<&'c Store>,
    /// What was asked for when it was read first.
    reading: &'c InputArgs,
}

type Last = (PathBuf, Arc<Again>);
type Again = OnceLock<Result<Arc<Vec<Found>>>>;

impl<'c> Recent<'c> {
    /// None yet.
    pub fn new(store: Option<&'c Store>, reading: &'c InputArgs) -> Self {
        Recent {
            last: RwLock::default(),
            store,
            reading,
        }
    }

    fn read(&self, examined: &Examined) -> Result<Vec<Found>> {
        if let Some(store) = self.store.filter(|_| examined.stored) {
            return of_store::again(store, &examined.path.to_string_lossy());
        }
        let format = examined.format.unwrap_or(Format::Native);
        examine::again(&examined.path, format, self.reading)
    }

    /// The sessions of a document that was too large to be kept.
    fn again(&self, examined: &Examined) -> Result<Arc<Vec<Found>>> {
        let known = |last: &Option<Last>| {
            let (_, read) = last.as_ref().filter(|(path, _)| *path == examined.path)?;
            Some(read.clone())
        };
        let read = known(&self.last.read().unwrap_or_else(PoisonError::into_inner));
        let read = read.unwrap_or_else(|| {
            let mut last = self.last.write().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have been faster.
            known(&last).unwrap_or_else(|| {
                let read = Arc::new(Again::new());
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

/// A session among those that were read once more, unless it is another one by now.
fn unchanged<'a>(all: &'a [Found], nth: usize, before: &Found) -> Result<&'a Found> {
    all.get(nth)
        .filter(|now| now.fingerprint == before.fingerprint)
        .ok_or_else(changed)
}

fn changed() -> Error {
    Error::new(Kind::Locked, "modified by another program")
}

/// The lines of one session of a file of lines, read in constant memory.
struct Stream {
    reader: NativeReader<File>,
    /// The line that comes next: first the header that was made for lines without one, from then on the line
    /// before the one that was read.
    waiting: Option<Vec<u8>>,
    /// Whether the first line has to be the header.
    own: bool,
    begun: bool,
    ended: bool,
    failed: Option<Error>,
}

impl Stream {
    fn open(path: &Path, found: &Found) -> Result<Stream> {
        let mut file = regular::open(path)?;
        file.seek(SeekFrom::Start(found.offset))
            .map_err(|error| Error::io("cannot read", error))?;
        Ok(Stream {
            reader: NativeReader::new(Vec::new(), file),
            waiting: Some(found.header.clone()),
            own: !found.made,
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

impl Iterator for Stream {
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
