//! Carries found sessions to where they are kept, in groups: a group is written, made durable, and only then
//! told.

use super::examine::{self, Examined, Found, stored, stored_lines};
use convo::error::{Error, Kind, Result};
use convo::format::native::NativeReader;
use convo::format::report::Report;
use convo::format::{Format, Reader};
use convo::model::json;
use convo::model::record::Kind as Line;
use convo::store::{Batch, Staged, Store, log};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Where sessions go.
pub enum Target<'c> {
    /// The store.
    Store(&'c Store),
    /// A folder of files `<id>.jsonl`.
    Folder(PathBuf),
}

impl Target<'_> {
    /// A group of new files there.
    pub fn batch(&self) -> Result<Batch> {
        match self {
            Target::Store(store) => store.batch(),
            Target::Folder(folder) => Batch::in_folder(folder),
        }
    }

    /// The records of a session that is there; none when there is none.
    fn existing(&self, id: &str) -> Result<Option<Box<dyn Reader>>> {
        match self {
            Target::Store(store) => {
                if store.has(id)? {
                    Ok(Some(Box::new(store.reader(id)?)))
                } else {
                    Ok(None)
                }
            }
            Target::Folder(folder) => match File::open(folder.join(format!("{id}.jsonl"))) {
                Ok(file) => Ok(Some(Box::new(NativeReader::new(Vec::new(), file)))),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(Error::io(format!("cannot read {id}.jsonl"), error)),
            },
        }
    }

    /// How a session stands to what is there: new, there already, or another of the same name.
    pub fn standing(&self, examined: &Examined, nth: usize) -> Result<Standing> {
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
        each_line(examined, nth, |line| {
            let mut next = || loop {
                match existing.next(&mut report) {
                    Ok(Some(record)) if matches!(record.kind, Line::Blank) => {}
                    Ok(Some(record)) => return Some(stored(&record) == log::strip(line).as_ref()),
                    _ => return None,
                }
            };
            same &= next() == Some(true);
            same
        })?;
        Ok(if same { Standing::There } else { Standing::Other })
    }
}

/// See [`Target::standing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    New,
    There,
    Other,
}

/// Writes one session under a temporary name.
pub fn stage<'b>(batch: &'b Batch, examined: &Examined, nth: usize) -> Result<Staged<'b>> {
    let found = of(examined, nth)?;
    if found.session.is_some() {
        return batch.stage(&found.id, stored_lines(found));
    }
    match examined.format {
        Some(format) if format.is_lines() => {
            let mut stream = Stream::open(&examined.path, found, nth)?;
            let staged = batch.stage(&found.id, &mut stream)?;
            match stream.failed {
                Some(error) => Err(error),
                None => Ok(staged),
            }
        }
        format => {
            let again = again(&examined.path, format, nth, found)?;
            batch.stage(&again.id, stored_lines(&again))
        }
    }
}

/// Hands out the lines of a session until the callback has seen enough.
fn each_line(examined: &Examined, nth: usize, mut each: impl FnMut(&[u8]) -> bool) -> Result<()> {
    let found = of(examined, nth)?;
    if found.session.is_some() {
        let _ = stored_lines(found).all(&mut each);
        return Ok(());
    }
    match examined.format {
        Some(format) if format.is_lines() => {
            let mut stream = Stream::open(&examined.path, found, nth)?;
            let _ = stream.by_ref().all(|line| each(&line));
            stream.failed.map_or(Ok(()), Err)
        }
        format => {
            let again = again(&examined.path, format, nth, found)?;
            let _ = stored_lines(&again).all(&mut each);
            Ok(())
        }
    }
}

fn of(examined: &Examined, nth: usize) -> Result<&Found> {
    match &examined.found {
        Ok(found) if nth < found.len() => Ok(&found[nth]),
        _ => Err(Error::new(Kind::Locked, "the file was changed meanwhile")),
    }
}

/// A document that was too large to be kept, read once more.
fn again(path: &Path, format: Option<Format>, nth: usize, before: &Found) -> Result<Found> {
    let mut found = examine::again(path, format.unwrap_or(Format::Native))?;
    let same = found
        .get(nth)
        .is_some_and(|now| now.fingerprint == before.fingerprint);
    if !same {
        return Err(Error::new(Kind::Locked, "the file was changed meanwhile"));
    }
    Ok(found.swap_remove(nth))
}

/// The lines of one session of a file of lines, read in constant memory.
struct Stream {
    reader: NativeReader<File>,
    /// The line that comes next: first the header that was made for lines without one, from then on the line
    /// before the one that was read.
    waiting: Option<Vec<u8>>,
    /// Sessions that are still to be passed over, the wanted one included.
    ahead: usize,
    begun: bool,
    ended: bool,
    failed: Option<Error>,
}

impl Stream {
    fn open(path: &Path, found: &Found, nth: usize) -> Result<Stream> {
        let file = File::open(path).map_err(|error| Error::io("cannot open", error))?;
        Ok(Stream {
            reader: NativeReader::new(Vec::new(), file),
            waiting: Some(found.header.clone()),
            ahead: nth + 1,
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
            if header || !self.begun {
                self.begun = true;
                if self.ahead == 0 {
                    return Ok(None);
                }
                self.ahead -= 1;
            }
            if self.ahead > 0 {
                continue;
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
        Ok(None)
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
                self.waiting.take().filter(|_| self.begun)
            }
            Err(error) => {
                self.ended = true;
                self.failed = Some(error);
                None
            }
        }
    }
}
