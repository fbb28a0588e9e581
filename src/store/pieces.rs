//! Files of runs, which store bytes removed from a log: each run is a JSON line with their description and origin,
//! followed by the original bytes.

use super::atomic::{self, Content};
use super::directory::Directory;
use super::ending;
use crate::error::{Error, Kind, Result};
use crate::model::json::{self, ObjectBuilder};
use crate::model::key::{self, Sum};
use rustix::fs::OFlags;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// A run in a file of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Range of the JSON line, without newline.
    pub line: Range<usize>,
    /// Range of the bytes.
    pub bytes: Range<usize>,
    /// End of the run.
    pub end: usize,
    /// Whether the checksum matches.
    pub sound: bool,
}

/// Encodes a run. `members` begins with type, id and time.
pub(super) fn run(mut members: ObjectBuilder, bytes: &[u8]) -> Vec<u8> {
    members.raw("bytes", bytes.len().to_string());
    sealed(members.finish(), bytes)
}

fn sealed(mut run: Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    let sum = format!(",\"sha256\":\"{}\"}}\n", summed(&run, bytes));
    run.pop();
    run.extend_from_slice(sum.as_bytes());
    ended(run, bytes)
}

/// The line of a run followed by its bytes.
fn ended(mut line: Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    line.extend_from_slice(bytes);
    if !line.ends_with(b"\n") {
        line.push(b'\n');
    }
    line
}

/// A run with its bytes replaced by as many lines; the first mark, if present, is replaced with the second. A run
/// with a wrong checksum keeps it.
pub(super) fn again(file: &[u8], run: &Run, (old, new): (&str, &str), bytes: &[u8]) -> Vec<u8> {
    let line = &file[run.line.clone()];
    let length = bytes.len().to_string();
    let log = json::member(line, "log").and_then(json::text);
    let mark = (log.as_deref() == Some(old)).then(|| format!("\"{new}\""));
    let mut changes = vec![("bytes", Some(length.as_bytes()))];
    changes.extend(mark.as_ref().map(|mark| ("log", Some(mark.as_bytes()))));
    if run.sound {
        changes.push(("sha256", None));
    }
    match json::with_members(line, &changes) {
        Ok(line) if run.sound => sealed(line, bytes),
        Ok(line) => ended([&line[..], b"\n"].concat(), bytes),
        Err(_) => file[run.line.start..run.end].to_vec(),
    }
}

/// Length of `,"sha256":"…"}`.
const SUM: usize = 77;

/// The beginning of the line of a run.
const BEGIN: &[u8] = b"{\"type\":\"";

/// The checksum of a run: of its line without the checksum, and of the bytes after it.
fn summed(line: &[u8], bytes: &[u8]) -> String {
    key::sha256(&[line, b"\n", bytes].concat())
}

/// The runs of a file. Bytes outside any run, such as a partial write, are skipped.
pub(super) fn runs(file: &[u8]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut start = 0;
    while start < file.len() {
        let end = memchr::memchr(b'\n', &file[start..]).map_or(file.len(), |at| start + at);
        let next = read_run(file, start..end);
        start = next.as_ref().map_or(end + 1, |run| run.end);
        runs.extend(next);
    }
    runs
}

/// Parses a run with all of its bytes. If the bytes do not match and another run begins among them, they belong to a
/// truncated run and the next one.
fn read_run(file: &[u8], line: Range<usize>) -> Option<Run> {
    let object = &file[line.clone()];
    let begin = line.end + 1;
    let length = length_of(object)?;
    let sum = json::member(object, "sha256").and_then(json::text)?;
    let bare = &object[..object.len().checked_sub(SUM)?];
    let bytes = begin..begin.checked_add(length)?;
    let content = file.get(bytes.clone())?;
    let ending = usize::from(!content.is_empty() && !content.ends_with(b"\n"));
    let sound = summed(&[bare, b"}"].concat(), content) == sum;
    if !sound && lines(file, bytes.clone()).any(|line| length_of(&file[line]).is_some()) {
        return None;
    }
    Some(Run {
        sound,
        end: (bytes.end + ending).min(file.len()),
        line,
        bytes,
    })
}

/// The number of bytes after a line, if it is the line of a run.
fn length_of(line: &[u8]) -> Option<usize> {
    let sum = line.get(line.len().checked_sub(SUM)?..)?;
    let is_run = line.starts_with(BEGIN) && sum.starts_with(b",\"sha256\":\"") && sum.ends_with(b"\"}");
    let bytes = is_run.then(|| json::member(line, "bytes")).flatten()?;
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// The lines that begin in this range, without newlines.
fn lines(file: &[u8], range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        let line = start..memchr::memchr(b'\n', &file[start..]).map_or(file.len(), |at| start + at);
        (line.start < range.end).then(|| {
            start = (line.end + 1).min(file.len());
            line
        })
    })
}

/// A truncated run at the end of the file, outside any complete run. `begin` is the beginning of a run's line, of
/// which any prefix counts.
pub(super) fn unfinished(file: &[u8], rest: Range<usize>, begin: &[u8]) -> Option<Run> {
    let file = &file[..rest.end];
    let is_run = |line: &Range<usize>| {
        let bytes = &file[line.clone()];
        let is_cut = line.end == file.len() && bytes.starts_with(begin);
        is_cut || length_of(bytes).is_some() || *line == rest && begin.starts_with(bytes)
    };
    let line = lines(file, rest.clone()).filter(is_run).last()?;
    Some(Run {
        bytes: (line.end + 1).min(rest.end)..rest.end,
        end: rest.end,
        line,
        sound: false,
    })
}

/// Removes bytes from a file of runs, durably.
pub(super) fn take(
    folder: &Directory,
    name: &str,
    file: &[u8],
    out: &[Range<usize>],
    timeout: Duration,
) -> Result<()> {
    let mut left = Vec::with_capacity(file.len());
    let mut from = 0;
    for range in out {
        left.extend_from_slice(&file[from..range.start]);
        from = range.end;
    }
    left.extend_from_slice(&file[from..]);
    match left.is_empty() {
        true => cut(folder, name, 0),
        false => atomic::replace(folder, name, &left, timeout),
    }
}

/// The parts of a file outside any run.
pub(super) fn rest(file: &[u8]) -> Vec<Range<usize>> {
    let mut rest = Vec::new();
    let mut from = 0;
    for run in runs(file) {
        rest.push(from..run.line.start);
        from = run.end;
    }
    rest.push(from..file.len());
    rest.retain(|range| !range.is_empty());
    rest
}

/// Reads a file of runs; empty if it is missing.
pub(super) fn read(folder: &Directory, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut file) = folder.file(name, OFlags::RDONLY)? {
        file.read_to_end(&mut bytes)
            .map_err(|error| Error::io(folder.shown(name), error))?;
    }
    Ok(bytes)
}

/// Appends runs to a file, durably, creating it if missing; returns its old length. The caller holds the lock of the
/// log.
pub(super) fn append(folder: &Directory, name: &str, runs: &[u8]) -> Result<u64> {
    let shown = folder.shown(name);
    append_of(folder, name, &mut |out| atomic::put_bytes(out, &shown, runs))
}

/// The line of a run with this content.
pub(super) fn line_of(mut members: ObjectBuilder, length: u64, content: Content<'_>) -> Result<Vec<u8>> {
    members.raw("bytes", length.to_string());
    let mut line = members.finish();
    let mut sum = Sum::default();
    atomic::put_bytes(&mut sum, "checksum", &[&line[..], b"\n"].concat())?;
    content(&mut sum)?;
    line.pop();
    line.extend_from_slice(format!(",\"sha256\":\"{}\"}}\n", sum.hex()).as_bytes());
    Ok(line)
}

/// Appends runs to a file like [`append`].
pub(super) fn append_of(folder: &Directory, name: &str, content: Content<'_>) -> Result<u64> {
    atomic::sweep(folder, &atomic::temporary_name(name));
    let Some(file) = folder.file(name, OFlags::RDWR | OFlags::APPEND)? else {
        return match atomic::create_of(folder, name, content)? {
            true => Ok(0),
            false => Err(Error::new(
                Kind::Locked,
                format!("{}: created by another program", folder.shown(name)),
            )),
        };
    };
    let shown = folder.shown(name);
    let failed = |error| Error::io(&shown, error).kind(Kind::InputOutput);
    let length = file.metadata().map_err(failed)?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1).map_err(failed)?;
    }
    ending::append(&file, &shown, length, &mut |out| {
        if last != *b"\n" {
            atomic::put_bytes(out, &shown, b"\n")?; // keeps a truncated run separate
        }
        content(out)
    })?;
    Ok(length)
}

/// Truncates a file of runs, durably; a length of 0 removes it.
pub(super) fn cut(folder: &Directory, name: &str, length: u64) -> Result<()> {
    if length == 0 {
        atomic::unlink(folder, name)?;
        return atomic::sync_directory(folder);
    }
    match folder.file(name, OFlags::RDWR)? {
        Some(file) => atomic::cut(&file, &folder.shown(name), length),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, bytes: &[u8]) -> Vec<u8> {
        let mut members = ObjectBuilder::default();
        members.text("type", name);
        run(members, bytes)
    }

    #[test]
    fn runs_come_back_whatever_stands_between_them() {
        let torn = of("torn", b"never finished\n");
        let pieces = [&b""[..], b"x\n", b"no newline", b"\xff\0\n\n", b"{\"bytes\":5}\n"];
        let mut file = Vec::new();
        for piece in pieces {
            file.extend(of("archive", piece));
            file.extend_from_slice(&torn[..torn.len() / 3]);
            file.push(b'\n');
        }
        let found = runs(&file);
        let back: Vec<&[u8]> = found.iter().map(|run| &file[run.bytes.clone()]).collect();
        assert_eq!(back, pieces);
        assert!(found.iter().all(|run| run.sound));
    }

    #[test]
    fn a_run_that_was_cut_off_anywhere_hides_none_of_those_after_it() {
        let content = b"{\"role\":\"user\"}\n{\"role\":\"assistant\"}\n";
        let (first, cut) = (of("archive", content), of("archive", &content.repeat(3)));
        let next = of("archive", b"next\n");
        for length in 0..cut.len() {
            for more in [&b""[..], &cut[..cut.len() / 2]] {
                let mut file = [&first[..], &cut[..length]].concat();
                for bytes in [more, &next, &next] {
                    if !file.ends_with(b"\n") {
                        file.push(b'\n');
                    }
                    file.extend_from_slice(bytes);
                }
                let runs = runs(&file);
                // Only the newline is missing, and the next run adds it.
                let whole = length == cut.len() - 1;
                assert_eq!(runs.len(), 3 + usize::from(whole), "{length}");
                assert!(runs.iter().all(|run| run.sound), "{length}");
                assert_eq!(&file[runs[0].line.start..runs[0].end], &first, "{length}");
                assert_eq!(runs.last().map(|run| run.end), Some(file.len()), "{length}");
            }
            let file = [&first[..], &cut[..length]].concat();
            let found = unfinished(&file, first.len()..file.len(), b"{\"type\":\"archive\"");
            let head = memchr::memchr(b'\n', &cut).unwrap() + 1;
            let expected = (length > 0).then(|| (first.len(), &cut[head.min(length)..length]));
            let found = found.map(|run| (run.line.start, &file[run.bytes]));
            assert_eq!(found, expected, "{length}");
        }
    }

    #[test]
    fn a_flipped_bit_is_no_sound_run() {
        let mut file = of("archive", b"one\ntwo\n");
        let at = file.len() - 3;
        file[at] ^= 1;
        assert!(!runs(&file)[0].sound);
    }
}
