//! Checks the checksums of a log, and plans how a repair handles lines with wrong ones.

use super::bit_repair::correct_range;
use super::problem::{FoundProblem, Problem};
use crate::error::{Error, Position, Result};
use crate::format::lines::ByteLines;
use crate::model::record::{Record, RecordKind as Line};
use crate::store::log::{LogChain, Verdict};
use crate::store::patched::{Edit, Patched, PatchedReader};
use std::collections::BTreeMap;
use std::ops::Range;

/// How a repair handles a line.
#[derive(Debug)]
pub(super) enum LineRepair {
    /// Kept despite a wrong checksum.
    Accepted,
    /// Moved to the quarantine.
    Quarantined(&'static str),
    /// Moved after the next line.
    Moved,
}

/// A correction of some lines.
#[derive(Debug)]
pub(super) struct Corrected {
    pub edit: Edit,
    pub at: u64,
    /// The number of newlines that it adds.
    pub newlines: i64,
    pub place: Position,
    pub lines: Range<u64>,
    pub why: String,
}

/// A log that is being checked.
#[derive(Clone, Copy)]
pub(super) struct Log<'a, 'f> {
    pub bytes: &'a Patched<'f>,
    pub id: &'a str,
    pub shown: &'a str,
}

/// Lines with wrong checksums.
#[derive(Debug, Default)]
pub(super) struct Damage {
    pub found: Vec<FoundProblem>,
    pub corrections: Vec<Corrected>,
    /// By the offsets of the lines.
    pub repairs: BTreeMap<u64, LineRepair>,
    /// Number of lines at the end that no checksum covers.
    pub unchecked: u64,
    /// Number of lines.
    pub lines: usize,
    /// A checksum of all bytes.
    pub sum: u32,
}

pub(super) const FIRST: Position = Position { line: 1, offset: 0 };

/// The position after a line.
fn behind(place: Position, line: &[u8]) -> Position {
    Position {
        line: place.line + 1,
        offset: place.offset + line.len() as u64,
    }
}

/// A line with a wrong checksum.
struct Broken<'l> {
    line: &'l [u8],
    place: Position,
    /// The position after it.
    next: Position,
    /// The line before it.
    previous: Range<u64>,
    /// The first line after the last valid one, and the chain state there.
    from: Position,
    base: LogChain,
    /// The chain state before the line.
    before: LogChain,
}

/// The lines from the beginning of one on.
pub(super) fn lines_from<'p>(log: &'p Patched<'_>, place: Position) -> ByteLines<PatchedReader<'p>> {
    log.lines(Position {
        line: place.line - 1,
        ..place
    })
}

impl Log<'_, '_> {
    pub fn failed(&self, error: std::io::Error) -> Error {
        Error::io(self.shown, error)
    }

    pub fn found(
        &self,
        place: Position,
        problem: Problem,
        what: impl Into<String>,
        remedy: Option<&str>,
    ) -> FoundProblem {
        FoundProblem {
            session: Some(self.id.to_string()),
            file: self.shown.to_string(),
            place,
            problem,
            what: what.into(),
            remedy: remedy.map(str::to_string),
        }
    }

    /// The bytes of a range.
    fn range(&self, range: Range<u64>) -> Result<Vec<u8>> {
        self.bytes.bytes(range).map_err(|error| self.failed(error))
    }
}

impl Damage {
    /// Checks the checksums of the lines.
    pub fn of(log: &Log<'_, '_>) -> Result<Damage> {
        let mut damage = Damage::default();
        let (mut chain, mut base) = (LogChain::default(), LogChain::default());
        // The first line after the last valid one, where the chain state is `base`.
        let mut from = FIRST;
        let (mut last, mut is_ended) = (0..0, true);
        let (mut lines, mut last_place) = (lines_from(log.bytes, FIRST), FIRST);
        while let Some((line, place)) = lines.next_line().map_err(|error| log.failed(error))? {
            damage.sum = crc32c::crc32c_append(damage.sum, line);
            let next = behind(place, line);
            damage.lines += 1;
            is_ended = line.ends_with(b"\n");
            // The second of two swapped lines is checked with the first.
            if place.offset >= from.offset {
                let before = chain;
                match chain.verify(line) {
                    Verdict::Sealed => (base, from) = (chain, next),
                    Verdict::Unchecked => damage.unchecked += u64::from(!line.trim_ascii().is_empty()),
                    Verdict::Broken => {
                        let broken = Broken {
                            line,
                            place,
                            next,
                            previous: last.clone(),
                            from,
                            base,
                            before,
                        };
                        let after = damage.broken(log, &broken)?;
                        (from, chain) = after.unwrap_or((next, chain));
                        base = chain;
                    }
                }
                if from.offset >= next.offset {
                    damage.unchecked = 0;
                }
            }
            (last, last_place) = (place.offset..next.offset, place);
        }
        if !is_ended {
            damage.tail(log, last_place, last, from, base)?;
        }
        Ok(damage)
    }

    /// Handles a line with a wrong checksum. Returns where and with which state the chain continues, unless it
    /// continues after this line with its stored checksum.
    fn broken(&mut self, log: &Log<'_, '_>, broken: &Broken<'_>) -> Result<Option<(Position, LogChain)>> {
        let (line, place, next) = (broken.line, broken.place, broken.next);
        let (from, base) = (broken.from, broken.base);
        let mut report = |place, what: String, remedy| {
            let found = log.found(place, Problem::Checksum, what, Some(remedy));
            self.found.push(found);
        };
        if from == place {
            if place.offset > 0 && log.range(broken.previous.clone())? == line {
                report(place, "duplicate line".to_string(), "second copy quarantined");
                self.repairs
                    .insert(place.offset, LineRepair::Quarantined("a duplicate line"));
                return Ok(Some((next, base)));
            }
            let mut lines = lines_from(log.bytes, next);
            if let Some((other, other_place)) = lines.next_line().map_err(|error| log.failed(error))? {
                let mut turned = broken.before;
                if turned.verify(other) == Verdict::Sealed && turned.verify(line) == Verdict::Sealed {
                    let what = format!("misplaced: belongs after line {}", other_place.line);
                    report(place, what, "lines swapped");
                    self.repairs.insert(place.offset, LineRepair::Moved);
                    return Ok(Some((behind(other_place, other), turned)));
                }
            }
        }
        if let Some(corrected) = correct(log, from, next.offset, base)? {
            let place = Position {
                offset: corrected.at,
                ..corrected.place
            };
            report(place, corrected.why.clone(), "corrected");
            let chain = corrected.chain(log, from, next.offset, base)?;
            self.corrections.push(corrected);
            return Ok(Some((next, chain)));
        }
        let what = "the checksum does not match: this line or the one before was modified";
        report(place, what.to_string(), "kept; covered by a repair event");
        self.repairs.insert(place.offset, LineRepair::Accepted);
        Ok(None)
    }

    /// Handles a last line without newline.
    fn tail(
        &mut self,
        log: &Log<'_, '_>,
        place: Position,
        last: Range<u64>,
        from: Position,
        base: LogChain,
    ) -> Result<()> {
        let corrected = self.corrections.last();
        let is_corrected = corrected.is_some_and(|corrected| corrected.lines.end > last.start);
        if self.repairs.contains_key(&last.start) || is_corrected {
            return Ok(());
        }
        let corrected = match from.offset <= last.start {
            true => correct(log, from, last.end, base)?,
            false => None,
        };
        let what = "truncated last line";
        let (place, problem, what, remedy) = if let Some(corrected) = corrected {
            let offset = corrected.at.max(last.start);
            let why = "the newline was modified".to_string();
            self.corrections.push(Corrected {
                why: why.clone(),
                ..corrected
            });
            (
                Position { offset, ..place },
                Problem::Checksum,
                why,
                "newline added",
            )
        } else if let Line::Unreadable(_) = Record::parse(&log.range(last.clone())?, place).kind {
            self.repairs
                .insert(last.start, LineRepair::Quarantined("a fragment at the end"));
            let what = format!("{what}; not a record");
            (place, Problem::TruncatedTail, what, "quarantined")
        } else {
            (place, Problem::TruncatedTail, what.to_string(), "newline added")
        };
        self.found.push(log.found(place, problem, what, Some(remedy)));
        Ok(())
    }
}

/// Corrects lines from `from` to `end`, if possible.
fn correct(log: &Log<'_, '_>, from: Position, end: u64, base: LogChain) -> Result<Option<Corrected>> {
    let Some((edit, at)) = correct_range(base, log.bytes, from.offset..end, log.shown)? else {
        return Ok(None);
    };
    let (was, is) = (log.range(at..at + 1)? == b"\n", edit.bytes == b"\n");
    let mut corrected = Corrected {
        edit,
        at,
        newlines: i64::from(is) - i64::from(was),
        place: from,
        lines: from.offset..end,
        why: format!("byte {at} was modified"),
    };
    let mut lines = lines_from(log.bytes, from);
    let mut next_line = |place: &mut Position, end: &mut u64| -> Result<bool> {
        let next = lines.next_line().map_err(|error| log.failed(error))?;
        Ok(next.is_some_and(|(line, own)| {
            (*place, *end) = (own, behind(own, line).offset);
            true
        }))
    };
    while next_line(&mut corrected.place, &mut corrected.lines.end)? {
        if at < corrected.lines.end {
            corrected.lines.start = corrected.place.offset;
            if was {
                next_line(&mut Position::default(), &mut corrected.lines.end)?; // the line that it joins
            }
            break;
        }
    }
    Ok(Some(corrected))
}

impl Corrected {
    /// The chain state after the corrected lines from `from` to `end`.
    fn chain(&self, log: &Log<'_, '_>, from: Position, end: u64, base: LogChain) -> Result<LogChain> {
        let edit = Edit {
            at: self.edit.at.start - from.offset..self.edit.at.end - from.offset,
            bytes: self.edit.bytes.clone(),
        };
        let corrected = log.bytes.slice(from.offset..end).edited(&[edit]);
        let (mut chain, mut lines) = (base, lines_from(&corrected, FIRST));
        while let Some((line, _)) = lines.next_line().map_err(|error| log.failed(error))? {
            chain.verify(line);
        }
        Ok(chain)
    }
}
