//! The bytes of a file with changes that are not written yet, read as a stream.

use super::atomic::{self, BLOCK};
use crate::error::{Error, Position, Result};
use crate::format::lines::ByteLines;
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes of a file, with changes.
#[derive(Clone, Debug)]
pub(super) struct Patched<'f> {
    file: Option<&'f File>,
    parts: Vec<PatchedPart>,
}

/// Some of the bytes; they begin where the previous part ends.
#[derive(Clone, Debug)]
struct PatchedPart {
    end: u64,
    source: PatchSource,
}

#[derive(Clone, Debug)]
enum PatchSource {
    /// Bytes of the file from this offset on.
    File(u64),
    /// Some of these bytes, from this offset on.
    New(Arc<[u8]>, usize),
}

/// New bytes in place of a range, which may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub at: Range<u64>,
    pub bytes: Vec<u8>,
}

impl Edit {
    pub fn removal(at: Range<u64>) -> Edit {
        Edit {
            at,
            bytes: Vec::new(),
        }
    }

    pub fn insertion(at: u64, bytes: Vec<u8>) -> Edit {
        Edit { at: at..at, bytes }
    }
}

impl<'f> Patched<'f> {
    /// The first bytes of a file, unchanged; a missing file is empty.
    pub fn new(file: Option<&'f File>, length: u64) -> Patched<'f> {
        let mut patched = Patched {
            file,
            parts: Vec::new(),
        };
        patched.push(length, PatchSource::File(0));
        patched
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.end)
    }

    fn push(&mut self, length: u64, source: PatchSource) {
        if length > 0 {
            let end = self.len() + length;
            self.parts.push(PatchedPart { end, source });
        }
    }

    /// The part that contains this offset, and its first offset.
    fn part(&self, at: u64) -> Option<(usize, u64)> {
        let index = self.parts.partition_point(|part| part.end <= at);
        let start = index.checked_sub(1).map_or(0, |before| self.parts[before].end);
        (index < self.parts.len()).then_some((index, start))
    }

    fn push_slice(&mut self, other: &Patched<'f>, range: Range<u64>) {
        let mut at = range.start;
        while at < range.end
            && let Some((index, start)) = other.part(at)
        {
            let part = &other.parts[index];
            let (skipped, end) = (at - start, part.end.min(range.end));
            let source = match &part.source {
                PatchSource::File(from) => PatchSource::File(from + skipped),
                // An offset in memory.
                PatchSource::New(bytes, from) => PatchSource::New(bytes.clone(), from + skipped as usize),
            };
            self.push(end - at, source);
            at = end;
        }
    }

    /// Some of the bytes.
    pub fn slice(&self, range: Range<u64>) -> Patched<'f> {
        let mut slice = Patched::new(self.file, 0);
        slice.push_slice(self, range);
        slice
    }

    /// The bytes after further changes, which are in order and do not overlap.
    pub fn edited(&self, edits: &[Edit]) -> Patched<'f> {
        let (mut edited, mut from) = (Patched::new(self.file, 0), 0);
        for Edit { at, bytes } in edits {
            edited.push_slice(self, from..at.start);
            edited.push(bytes.len() as u64, PatchSource::New(bytes.as_slice().into(), 0));
            from = at.end;
        }
        edited.push_slice(self, from..self.len());
        edited
    }

    /// A reader from an offset on.
    pub fn reader(&self, at: u64) -> PatchedReader<'_> {
        PatchedReader { of: self, at }
    }

    /// A reader of lines from the end of a line on, whose number and end offset are `place`.
    pub fn lines(&self, place: Position) -> ByteLines<PatchedReader<'_>> {
        ByteLines::after(place, self.reader(place.offset))
    }

    /// Bytes of a range in memory.
    pub fn bytes(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let length = range.end.saturating_sub(range.start);
        self.reader(range.start).take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Visits all bytes in order, in blocks.
    pub fn each_block(&self, mut each: impl FnMut(&[u8]) -> Result<()>, shown: &str) -> Result<()> {
        let (mut reader, mut block) = (self.reader(0), vec![0; BLOCK]);
        loop {
            match reader.read(&mut block) {
                Ok(0) => return Ok(()),
                Ok(read) => each(&block[..read])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(shown, error)),
            }
        }
    }

    /// Writes all bytes; returns their checksum.
    pub fn write(&self, out: &mut dyn Write, shown: &str) -> Result<u32> {
        let mut sum = 0;
        let each = |bytes: &[u8]| {
            sum = crc32c::crc32c_append(sum, bytes);
            atomic::put_bytes(out, shown, bytes)
        };
        self.each_block(each, shown)?;
        Ok(sum)
    }
}

/// Reads changed bytes.
pub(super) struct PatchedReader<'p> {
    of: &'p Patched<'p>,
    at: u64,
}

impl Read for PatchedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some((index, start)) = self.of.part(self.at) else {
            return Ok(0);
        };
        let part = &self.of.parts[index];
        let left = usize::try_from(part.end - self.at).unwrap_or(usize::MAX);
        let (skipped, length) = (self.at - start, buffer.len().min(left));
        let buffer = &mut buffer[..length];
        let read = match (&part.source, self.of.file) {
            (PatchSource::File(from), Some(file)) => file.read_at(buffer, from + skipped)?,
            (PatchSource::File(_), None) => 0,
            (PatchSource::New(bytes, from), _) => {
                let from = from + skipped as usize;
                buffer.copy_from_slice(&bytes[from..from + length]);
                length
            }
        };
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_changes_read_as_if_they_were_written() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\ntwo\nthree\n").unwrap();
        let text = Patched::new(Some(&file), 14);
        let first = text.edited(&[
            Edit::insertion(0, b"zero\n".to_vec()),
            Edit {
                at: 4..7,
                bytes: b"2".to_vec(),
            },
            Edit::insertion(14, b"four\n".to_vec()),
        ]);
        assert_eq!(
            first.bytes(0..first.len()).unwrap(),
            b"zero\none\n2\nthree\nfour\n"
        );
        let second = first.edited(&[Edit::removal(2..7), Edit::removal(16..18)]);
        assert_eq!(second.bytes(0..100).unwrap(), b"zee\n2\nthreeour\n");
        let slice = second.slice(1..13);
        assert_eq!(slice.bytes(0..slice.len()).unwrap(), b"ee\n2\nthreeou");
        let (mut lines, mut all) = (second.lines(Position { line: 1, offset: 4 }), Vec::new());
        while let Some((line, place)) = lines.next_line().unwrap() {
            all.push((place.line, place.offset, line.to_vec()));
        }
        let line = |number, offset, text: &[u8]| (number, offset, text.to_vec());
        assert_eq!(all, [line(2, 4, b"2\n"), line(3, 6, b"threeour\n")]);
        let mut out = Vec::new();
        let sum = second.write(&mut out, "").unwrap();
        assert_eq!(
            (out.as_slice(), sum),
            (&b"zee\n2\nthreeour\n"[..], crc32c::crc32c(&out))
        );
    }
}
