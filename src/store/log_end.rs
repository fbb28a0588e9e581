//! Reads the end of a log, where the next append continues.

use super::log::{LogChain, REPAIR_LENGTH, SEAL, digits_of};
use crate::error::Position;
use crate::model::json::{self, Dialect};
use crate::model::record::{Record, RecordKind as Line};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How many bytes at the end are read to continue the checksum chain: one block of common file systems.
const TAIL: u64 = 4096;

/// Read size in bytes further back.
const BLOCK: u64 = 256 * 1024;

/// The end of a log: the state of its checksum chain, and whether the last line lacks a newline.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    /// The state after the last byte, including the newline that a partial line still gets.
    pub chain: LogChain,
    /// Whether the newline is missing.
    pub truncated: bool,
}

impl Tail {
    pub fn read(file: &File, length: u64) -> io::Result<Tail> {
        if length == 0 {
            return Ok(Tail {
                chain: LogChain::default(),
                truncated: false,
            });
        }
        let mut start = length.saturating_sub(TAIL);
        let mut last = read(file, start, length)?;
        let truncated = last.last() != Some(&b'\n');
        if truncated {
            last.push(b'\n');
        }
        let mut found = last_checked(&last, start);
        let whole = start;
        while found.is_none() && start > 0 {
            // A checksum, and the bytes needed before it, may cross the boundary.
            let end = (start + (SEAL + REPAIR_LENGTH) as u64).min(length);
            start = start.saturating_sub(BLOCK);
            found = last_checked(&read(file, start, end)?, start);
        }
        let (mut chain, mut from) = found.unwrap_or_default();
        while from < whole {
            let end = whole.min(from + BLOCK);
            chain.pass(&read(file, from, end)?);
            from = end;
        }
        chain.pass(&last[usize::try_from(from - whole).map_err(io::Error::other)?..]);
        Ok(Tail { chain, truncated })
    }
}

/// The last line of a log of this length, without newline; empty if it is longer than any event that convo writes.
pub fn last_line(file: &File, length: u64) -> io::Result<Vec<u8>> {
    let start = length.saturating_sub(BLOCK);
    let mut block = read(file, start, length)?;
    if block.last() == Some(&b'\n') {
        block.pop();
    }
    match memchr::memrchr(b'\n', &block) {
        Some(newline) => Ok(block.split_off(newline + 1)),
        None if start == 0 => Ok(block),
        None => Ok(Vec::new()),
    }
}

/// The length of a log without an incomplete last line: one without newline that is not yet a record.
pub fn complete_length(file: &File, length: u64) -> io::Result<u64> {
    let (start, last) = unfinished(file, length)?;
    let record = Record::parse(&last, Position { line: 0, offset: 1 });
    match record.kind {
        Line::Unreadable(_) => Ok(start),
        _ => Ok(length),
    }
}

/// The start of the last line of another program's log if it has no newline and is not yet a value: the program may be
/// writing it. None if it is complete.
pub fn truncated_line(file: &File) -> io::Result<Option<u64>> {
    let length = file.metadata()?.len();
    let (start, last) = unfinished(file, length)?;
    let line = last.trim_ascii();
    let is_truncated = !line.is_empty() && json::value_end(line, 0, Dialect::Python).is_err();
    Ok(is_truncated.then_some(start))
}

/// The start and the bytes of the last line if it has no newline; otherwise the length, and no bytes.
fn unfinished(file: &File, length: u64) -> io::Result<(u64, Vec<u8>)> {
    let mut start = length;
    let mut last = Vec::new();
    loop {
        let block = read(file, start.saturating_sub(BLOCK), start)?;
        start = start.saturating_sub(BLOCK);
        match memchr::memrchr(b'\n', &block) {
            Some(newline) => {
                start += newline as u64 + 1;
                last.splice(..0, block[newline + 1..].iter().copied());
                break;
            }
            None => last.splice(..0, block).for_each(drop),
        }
        if start == 0 {
            break;
        }
    }
    Ok((start, last))
}

fn read(file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut block = vec![0; usize::try_from(end - start).map_err(io::Error::other)?];
    file.read_exact_at(&mut block, start)?;
    Ok(block)
}

/// The checksum state after the last checked line that ends in this block, and the offset of the next line.
fn last_checked(block: &[u8], start: u64) -> Option<(LogChain, u64)> {
    memchr::memrchr_iter(b'\n', block).find_map(|newline| {
        let line = &block[..newline];
        let digits = digits_of(line)?;
        let covered = &line[..line.len() - SEAL];
        let begin = memchr::memrchr(b'\n', covered).map(|before| before + 1);
        // A short line is recognized as a repair by its beginning, which may be further back.
        if begin.is_none() && start > 0 && covered.len() <= REPAIR_LENGTH {
            return None;
        }
        let covered = &covered[begin.unwrap_or(0)..];
        Some((LogChain::behind(covered, digits), start + newline as u64 + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::log::tests::{stored, verdicts};
    use crate::store::log::{Pending, Verdict};
    use std::io::Write;

    #[test]
    fn the_tail_continues_the_checksum_chain_from_any_line() {
        let seals = stored(&["{\"role\":\"user\"}", "{\"type\":\"note\"}"]);
        let borders = [
            0, 1, 30, 4060, 4070, 4075, 4076, 4077, 4078, 4090, 4095, 4096, 4097, 9000, 600_000,
        ];
        for unchecked in borders {
            for end in ["", "\n"] {
                for before in [&b""[..], &seals] {
                    let mut log = before.to_vec();
                    log.extend(std::iter::repeat_n(b'x', unchecked));
                    log.extend_from_slice(end.as_bytes());
                    let mut file = tempfile::tempfile().unwrap();
                    file.write_all(&log).unwrap();
                    let mut tail = Tail::read(&file, log.len() as u64).unwrap();
                    assert_eq!(tail.truncated, log.last().is_some_and(|last| *last != b'\n'));
                    if tail.truncated {
                        log.push(b'\n');
                    }
                    let mut chain = LogChain::default();
                    log.split_inclusive(|byte| *byte == b'\n')
                        .for_each(|line| assert_ne!(chain.verify(line), Verdict::Broken));
                    assert_eq!(tail.chain.close(b""), chain.close(b""), "{unchecked} {end:?}");
                }
            }
        }
    }

    #[test]
    fn a_damaged_line_is_one_failure_and_not_the_next_append() {
        let lines = ["{\"role\":\"user\"}", "{\"type\":\"a\"}", "{\"type\":\"b\"}"];
        let log = stored(&lines);
        for bit in 0..log.len() * 8 {
            let mut damaged = log.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let broken = |log: &[u8]| {
                verdicts(log)
                    .iter()
                    .filter(|verdict| **verdict == Verdict::Broken)
                    .count()
            };
            let before = broken(&damaged);
            assert!(before <= 1, "bit {bit}");
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&damaged).unwrap();
            let tail = Tail::read(&file, damaged.len() as u64).unwrap();
            let mut pending = Pending::default();
            pending.push(b"{\"role\":\"tool\"}").unwrap();
            pending.close(&mut tail.chain.clone());
            damaged.extend_from_slice(pending.bytes(tail.truncated));
            assert_eq!(broken(&damaged), before, "bit {bit}");
        }
    }
}
