//! Bytes that were taken out of a log, kept beside it in a file of runs: a line of JSON that tells what and from
//! where, and behind it the bytes as they were.

use super::atomic;
use super::directory::Directory;
use crate::error::{Error, Kind, Result};
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use rustix::fs::OFlags;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// A run in a file of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Where its line of JSON stands, newline excluded.
    pub line: Range<usize>,
    /// Where its bytes stand.
    pub bytes: Range<usize>,
    /// Where it ends.
    pub end: usize,
    /// Whether the bytes are those that were put there.
    pub sound: bool,
}

/// A run as it is written. `members` begins with the type, an id and a time.
pub(super) fn run(mut members: ObjectBuilder, bytes: &[u8]) -> Vec<u8> {
    members.raw("bytes", bytes.len().to_string());
    let mut run = members.finish();
    let sum = format!(",\"sha256\":\"{}\"}}\n", summed(&run, bytes));
    run.pop();
    run.extend_from_slice(sum.as_bytes());
    run.extend_from_slice(bytes);
    if !run.ends_with(b"\n") {
        run.push(b'\n');
    }
    run
}

/// Length of `,"sha256":"…"}`.
const SUM: usize = 77;

/// The checksum of a run: of its line without the checksum, and of what stands behind it.
fn summed(line: &[u8], bytes: &[u8]) -> String {
    key::sha256(&[line, b"\n", bytes].concat())
}

/// The runs of a file. What belongs to none, as after a write that was cut off, is passed over.
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

fn read_run(file: &[u8], line: Range<usize>) -> Option<Run> {
    let object = &file[line.clone()];
    let begin = line.end + 1;
    let length: usize = std::str::from_utf8(json::member(object, "bytes")?)
        .ok()?
        .parse()
        .ok()?;
    let sum = json::member(object, "sha256").and_then(json::text)?;
    let bare = &object[..object.len().checked_sub(SUM)?];
    let bytes = begin..begin.checked_add(length)?;
    let content = file.get(bytes.clone())?;
    let ending = usize::from(!content.is_empty() && !content.ends_with(b"\n"));
    Some(Run {
        sound: summed(&[bare, b"}"].concat(), content) == sum,
        end: (bytes.end + ending).min(file.len()),
        line,
        bytes,
    })
}

/// Takes bytes out of a file of runs, durably.
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

/// What of a file belongs to no run.
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

/// The whole of a file of runs; nothing when there is none.
pub(super) fn read(folder: &Directory, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut file) = folder.file(name, OFlags::RDONLY)? {
        file.read_to_end(&mut bytes)
            .map_err(|error| Error::io(folder.shown(name), error))?;
    }
    Ok(bytes)
}

/// Adds runs to a file, durably, and makes it when there is none; the length that it had. Whoever calls holds the
/// lock of the log that the file belongs to.
pub(super) fn append(folder: &Directory, name: &str, runs: &[u8]) -> Result<u64> {
    let Some(file) = folder.file(name, OFlags::RDWR | OFlags::APPEND)? else {
        atomic::sweep(folder, &format!(".{name}.new"));
        return match atomic::create(folder, name, runs)? {
            true => Ok(0),
            false => Err(Error::new(
                Kind::Locked,
                format!("{} was made meanwhile", folder.shown(name)),
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
    let mut bytes = Vec::with_capacity(runs.len() + 1);
    if last != *b"\n" {
        bytes.push(b'\n'); // a run that was cut off stays what it is
    }
    bytes.extend_from_slice(runs);
    let at = atomic::write_end(&file, &shown, length, &bytes)?;
    atomic::sync_end(&file, &shown, at, bytes.len())?;
    Ok(length)
}

/// Cuts a file of runs back to a length, durably; at nothing it goes.
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
    fn a_flipped_bit_is_no_sound_run() {
        let mut file = of("archive", b"one\ntwo\n");
        let at = file.len() - 3;
        file[at] ^= 1;
        assert!(!runs(&file)[0].sound);
    }
}
