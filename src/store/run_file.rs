//! Files of runs, which store bytes removed from a log: each run is a JSON line with their description and origin,
//! followed by the original bytes.

use super::append_stream;
use super::atomic::{self, WriteContent};
use super::directory::Directory;
use super::patched::{Edit, Patched};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::lines::ByteLines;
use crate::model::json::{self, ObjectBuilder};
use crate::model::key::{self, HashWriter};
use rustix::fs::OFlags;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileRun {
    /// Where it begins.
    pub start: u64,
    /// Its JSON line, without newline.
    pub line: Vec<u8>,
    pub bytes: Range<u64>,
    pub end: u64,
    /// Whether the checksum matches.
    pub sound: bool,
}

impl FileRun {
    /// A text member of its line.
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        json::member_text(&self.line, name)
    }
}

/// Encodes a run. `members` begins with type, id and time.
pub(super) fn run(mut members: ObjectBuilder, bytes: &[u8]) -> Vec<u8> {
    members.raw("bytes", bytes.len().to_string());
    sealed(members.finish(), bytes)
}

fn sealed(mut run: Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    let sum = format!(",\"sha256\":\"{}\"}}\n", run_checksum(&run, bytes));
    run.pop();
    run.extend_from_slice(sum.as_bytes());
    run_with_bytes(run, bytes)
}

/// The line of a run followed by its bytes.
fn run_with_bytes(mut line: Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    line.extend_from_slice(bytes);
    if !line.ends_with(b"\n") {
        line.push(b'\n');
    }
    line
}

/// A run with its bytes replaced by as many lines; the first mark, if present, is replaced with the second. A run
/// with a wrong checksum keeps it, and one that cannot be changed is none.
pub(super) fn rewritten_run(run: &FileRun, (old, new): (&str, &str), bytes: &[u8]) -> Option<Vec<u8>> {
    let length = bytes.len().to_string();
    let mark = (run.text("log").as_deref() == Some(old)).then(|| format!("\"{new}\""));
    let mut changes = vec![("bytes", Some(length.as_bytes()))];
    changes.extend(mark.as_ref().map(|mark| ("log", Some(mark.as_bytes()))));
    if run.sound {
        changes.push(("sha256", None));
    }
    let line = json::with_members(&run.line, &changes).ok()?;
    Some(match run.sound {
        true => sealed(line, bytes),
        false => run_with_bytes([&line[..], b"\n"].concat(), bytes),
    })
}

/// Length of `,"sha256":"…"}`.
const SUM: usize = 77;

/// The beginning of the line of a run.
const BEGIN: &[u8] = b"{\"type\":\"";

/// The checksum of a run: of its line without the checksum, and of the bytes after it.
fn run_checksum(line: &[u8], bytes: &[u8]) -> String {
    key::sha256(&[line, b"\n", bytes].concat())
}

/// The runs of a file. Bytes outside any run, such as a partial write, are skipped.
pub(super) fn runs(input: &mut (impl Read + Seek)) -> io::Result<Vec<FileRun>> {
    let (mut runs, mut from) = (Vec::new(), Some(0));
    while let Some(start) = from {
        from = runs_from(input, start, &mut runs)?;
    }
    Ok(runs)
}

/// Adds the runs from an offset on; returns an offset from which to read again.
fn runs_from(input: &mut (impl Read + Seek), from: u64, runs: &mut Vec<FileRun>) -> io::Result<Option<u64>> {
    input.seek(SeekFrom::Start(from))?;
    let mut lines = ByteLines::after(
        Position {
            line: 0,
            offset: from,
        },
        input,
    );
    while let Some((line, place)) = lines.next_line()? {
        let Some(line) = line.strip_suffix(b"\n") else {
            break;
        };
        let Some(length) = length_of(line) else { continue };
        let (line, begin) = (line.to_vec(), place.offset + line.len() as u64 + 1);
        let Some((run, at)) = read_run(&mut lines, place.offset, line, length)? else {
            return Ok(Some(begin));
        };
        let end = run.end;
        runs.push(run);
        if at != end {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

/// Reads the bytes of a run; also returns the end of the last line read. If the bytes do not match and another run
/// begins among them, they belong to a truncated run and the next one.
fn read_run(
    lines: &mut ByteLines<impl Read>,
    start: u64,
    line: Vec<u8>,
    length: u64,
) -> io::Result<Option<(FileRun, u64)>> {
    let begin = start + line.len() as u64 + 1;
    let Some(end) = begin.checked_add(length) else {
        return Ok(None);
    };
    let mut sum = HashWriter::default();
    sum.write_all(&line[..line.len() - SUM])?;
    sum.write_all(b"}\n")?;
    let (mut at, mut last, mut begins) = (begin, b'\n', false);
    while at < end {
        let Some((content, _)) = lines.next_line()? else {
            return Ok(None);
        };
        begins |= length_of(content.strip_suffix(b"\n").unwrap_or(content)).is_some();
        let rest = usize::try_from(end - at).unwrap_or(usize::MAX);
        let own = &content[..content.len().min(rest)];
        sum.write_all(own)?;
        last = own[own.len() - 1];
        at += content.len() as u64;
    }
    if at < end {
        return Ok(None);
    }
    let sound = json::member_text(&line, "sha256").is_some_and(|stored| stored == sum.hex());
    if !sound && begins {
        return Ok(None);
    }
    let run = FileRun {
        start,
        bytes: begin..end,
        end: (end + u64::from(last != b'\n')).min(at),
        line,
        sound,
    };
    Ok(Some((run, at)))
}

/// The number of bytes after a line, if it is the line of a run.
fn length_of(line: &[u8]) -> Option<u64> {
    let sum = line.get(line.len().checked_sub(SUM)?..)?;
    let is_run = line.starts_with(BEGIN) && sum.starts_with(b",\"sha256\":\"") && sum.ends_with(b"\"}");
    let bytes = is_run.then(|| json::member(line, "bytes")).flatten()?;
    json::number(bytes)
}

/// Reads a file of runs into memory; empty if it is missing.
pub(super) fn read(dir: &Directory, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut file) = dir.file(name, OFlags::RDONLY)? {
        file.read_to_end(&mut bytes)
            .map_err(|error| Error::io(dir.shown(name), error))?;
    }
    Ok(bytes)
}

#[derive(Debug)]
pub(super) struct RunPieces<'d> {
    dir: &'d Directory,
    name: &'d str,
    file: Option<File>,
    pub length: u64,
    pub runs: Vec<FileRun>,
}

impl<'d> RunPieces<'d> {
    /// Reads the runs of a file; none if it is missing.
    pub fn open(dir: &'d Directory, name: &'d str) -> Result<RunPieces<'d>> {
        let failed = |error| Error::io(dir.shown(name), error);
        let file = dir.file(name, OFlags::RDONLY)?;
        let (length, runs) = match &file {
            Some(file) => (
                file.metadata().map_err(failed)?.len(),
                runs(&mut &*file).map_err(failed)?,
            ),
            None => (0, Vec::new()),
        };
        Ok(RunPieces {
            dir,
            name,
            file,
            length,
            runs,
        })
    }

    /// Its path.
    pub fn shown(&self) -> String {
        self.dir.shown(self.name)
    }

    pub fn bytes(&self) -> Patched<'_> {
        Patched::new(self.file.as_ref(), self.length)
    }

    /// Visits the lines of a run, with their newlines.
    pub fn each_line(&self, run: &FileRun, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let bytes = self.bytes().slice(run.bytes.clone());
        let mut lines = bytes.lines(Position::default());
        while let Some((line, _)) = lines
            .next_line()
            .map_err(|error| Error::io(self.shown(), error))?
        {
            each(line)?;
        }
        Ok(())
    }

    /// The number of the line that begins at an offset.
    pub fn line_of(&self, offset: u64) -> Result<u64> {
        let mut line = 1;
        let count = |bytes: &[u8]| {
            line += memchr::memchr_iter(b'\n', bytes).count() as u64;
            Ok(())
        };
        self.bytes().slice(0..offset).each_block(count, &self.shown())?;
        Ok(line)
    }

    /// The parts outside any run.
    pub fn rest(&self) -> Vec<Range<u64>> {
        let (mut rest, mut from) = (Vec::new(), 0);
        for run in &self.runs {
            rest.push(from..run.start);
            from = run.end;
        }
        rest.push(from..self.length);
        rest.retain(|range| !range.is_empty());
        rest
    }

    /// A truncated run in a range outside any complete run. `begin` is the beginning of a run's line, of which any
    /// prefix counts.
    pub fn unfinished(&self, rest: Range<u64>, begin: &[u8]) -> Result<Option<FileRun>> {
        let bytes = self.bytes().slice(0..rest.end);
        let mut lines = bytes.lines(Position {
            line: 0,
            offset: rest.start,
        });
        let mut last = None;
        while let Some((line, place)) = lines
            .next_line()
            .map_err(|error| Error::io(self.shown(), error))?
        {
            let end = place.offset + line.len() as u64;
            let ended = line.strip_suffix(b"\n").unwrap_or(line);
            let is_cut = ended.len() == line.len() && ended.starts_with(begin);
            let is_all = ended.len() == line.len() && place.offset == rest.start;
            if is_cut || length_of(ended).is_some() || is_all && begin.starts_with(ended) {
                last = Some(FileRun {
                    start: place.offset,
                    line: ended.to_vec(),
                    bytes: end..rest.end,
                    end: rest.end,
                    sound: false,
                });
            }
        }
        Ok(last)
    }

    /// Removes ranges, durably.
    pub fn take(&self, out: &[Range<u64>], timeout: Duration) -> Result<()> {
        let edits: Vec<Edit> = out.iter().cloned().map(Edit::removal).collect();
        let left = self.bytes().edited(&edits);
        let shown = self.shown();
        match left.len() {
            0 => cut(self.dir, self.name, 0),
            _ => atomic::replace_by(
                self.dir,
                self.name,
                atomic::temporary_name(self.name),
                &mut |out| left.write(out, &shown).map(drop),
                |_| Ok(()),
                timeout,
            )
            .map(drop),
        }
    }
}

/// A run to be written.
pub(super) struct NewRun<'f> {
    line: Vec<u8>,
    bytes: Patched<'f>,
    is_ended: bool,
}

impl<'f> NewRun<'f> {
    /// A run of these bytes; `members` begins with type, id and time.
    pub fn new(members: ObjectBuilder, bytes: Patched<'f>, shown: &str) -> Result<NewRun<'f>> {
        let line = line_of(members, bytes.len(), &mut |out| bytes.write(out, shown).map(drop))?;
        let last = bytes.bytes(bytes.len().saturating_sub(1)..bytes.len());
        let last = last.map_err(|error| Error::io(shown, error))?;
        Ok(NewRun {
            line,
            is_ended: last.is_empty() || last == b"\n",
            bytes,
        })
    }

    fn write(&self, out: &mut dyn Write, shown: &str) -> Result<()> {
        atomic::put_bytes(out, shown, &self.line)?;
        self.bytes.write(out, shown)?;
        atomic::put_bytes(out, shown, if self.is_ended { b"" } else { b"\n" })
    }
}

/// Appends runs to a file like [`append_of`].
pub(super) fn append_runs(dir: &Directory, name: &str, runs: &[NewRun<'_>]) -> Result<()> {
    let shown = dir.shown(name);
    let put = |out: &mut dyn Write| runs.iter().try_for_each(|run| run.write(out, &shown));
    append_of(dir, name, &mut { put }).map(drop)
}

pub(super) fn line_of(mut members: ObjectBuilder, length: u64, content: WriteContent<'_>) -> Result<Vec<u8>> {
    members.raw("bytes", length.to_string());
    let mut line = members.finish();
    let mut sum = HashWriter::default();
    atomic::put_bytes(&mut sum, "checksum", &[&line[..], b"\n"].concat())?;
    content(&mut sum)?;
    line.pop();
    line.extend_from_slice(format!(",\"sha256\":\"{}\"}}\n", sum.hex()).as_bytes());
    Ok(line)
}

/// Appends runs to a file, durably, creating it if missing; returns its old length. The caller holds the lock of the
/// log.
pub(super) fn append_of(dir: &Directory, name: &str, content: WriteContent<'_>) -> Result<u64> {
    atomic::remove_dead_file(dir, &atomic::temporary_name(name));
    let Some(file) = dir.file(name, OFlags::RDWR | OFlags::APPEND)? else {
        return match atomic::create_of(dir, name, content)? {
            true => Ok(0),
            false => Err(Error::new(
                ErrorKind::Locked,
                format!("{}: created by another program", dir.shown(name)),
            )),
        };
    };
    let shown = dir.shown(name);
    let failed = |error| Error::io(&shown, error).kind(ErrorKind::InputOutput);
    let length = file.metadata().map_err(failed)?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1).map_err(failed)?;
    }
    append_stream::append(&file, &shown, length, &mut |out| {
        if last != *b"\n" {
            atomic::put_bytes(out, &shown, b"\n")?; // keeps a truncated run separate
        }
        content(out)
    })?;
    Ok(length)
}

/// Truncates a file of runs, durably; a length of 0 removes it.
pub(super) fn cut(dir: &Directory, name: &str, length: u64) -> Result<()> {
    if length == 0 {
        atomic::unlink(dir, name)?;
        return atomic::sync_directory(dir);
    }
    match dir.file(name, OFlags::RDWR)? {
        Some(file) => atomic::cut(&file, &dir.shown(name), length),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
