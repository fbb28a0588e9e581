//! Selects the lines that gc removes, and merges them back with the remaining ones.

use crate::error::{Error, Position, Result};
use crate::format::lines::ByteLines;
use crate::model::record::Record;
use crate::model::session::{Class, DerivedLine, Session};
use crate::model::time::seconds;
use crate::model::{event, json, key, reduced};
use crate::store::locked_log::{LineDigest, LockedLog};
use crate::store::log::{self, LogChain, Pending};
use crate::store::patched::{Patched, PatchedReader};
use crate::store::run_file::{FileRun, RunPieces};
use crate::store::{atomic, run_file};
use std::collections::HashSet;
use std::io::Write;
use std::slice::Iter;

/// Options of a gc.
#[derive(Clone, Copy, Debug)]
pub struct GcOptions<'a> {
    /// The id of the `gc` event.
    pub event: &'a str,
    /// RFC 3339.
    pub at: &'a str,
    /// Delete the removed lines, and the content of the archive.
    pub discard: bool,
    /// Delete only archived lines removed up to this time, in seconds since 1970.
    pub until: Option<i64>,
    /// Proceed even if another program has the log open.
    pub force: bool,
    /// Change nothing and report the planned change.
    pub dry_run: bool,
}

/// Identifies the runs of a log among those of another session that had the same id before: a prefix of the SHA-256
/// of its first line.
pub(in crate::store) fn known_by(session: &Session) -> String {
    let first = if session.is_empty() {
        &[][..]
    } else {
        session.record(0).body
    };
    key::sha256(first)[..16].to_string()
}

/// The beginning of the line of a run in the archive.
pub(super) const BEGIN: &[u8] = b"{\"type\":\"archive\",";

/// Write size in bytes.
const BLOCK: usize = 256 * 1024;

/// A log from which lines are removed.
#[derive(Clone, Copy)]
pub(super) struct SourceLog<'h> {
    pub locked: &'h LockedLog<'h>,
    pub lines: &'h LineDigest,
}

impl<'h> SourceLog<'h> {
    pub fn session(&self) -> &'h Session {
        &self.lines.session
    }
}

/// Encodes line numbers, counted from 1, as JSON ranges of first and last.
fn spans(lines: impl Iterator<Item = usize>) -> String {
    let mut spans: Vec<[usize; 2]> = Vec::new();
    for line in lines.map(|index| index + 1) {
        match spans.last_mut() {
            Some([_, last]) if *last + 1 == line => *last = line,
            _ => spans.push([line, line]),
        }
    }
    let spans: Vec<String> = spans
        .iter()
        .map(|[first, last]| format!("[{first},{last}]"))
        .collect();
    format!("[{}]", spans.join(","))
}

fn read_ranges(raw: Option<&[u8]>) -> Option<Vec<usize>> {
    let spans: Vec<[usize; 2]> = serde_json::from_slice(raw?).ok()?;
    Some(
        spans
            .into_iter()
            .flat_map(|[first, last]| first - 1..last)
            .collect(),
    )
}

/// A log being reduced: the removed lines, and the new ones.
pub(super) struct ReducedLog {
    pieces: Vec<DerivedLine>,
    /// Whether each line of the old log is kept; a byte per line, because a log may have millions.
    is_kept: Vec<bool>,
    /// Number of removed lines.
    pub taken: usize,
    /// Indexes of the new lines in the new log.
    new_lines: Vec<usize>,
}

impl ReducedLog {
    /// A kept line that moves before an earlier one counts as new, so that the remaining lines keep their order and
    /// removed ones can be merged back.
    pub fn new(session: &Session, planned: Vec<DerivedLine>) -> ReducedLog {
        let (mut next, mut is_kept) = (0, vec![false; session.len()]);
        let (mut pieces, mut new_lines) = (Vec::new(), Vec::new());
        for piece in planned {
            pieces.push(match piece {
                DerivedLine::Line(index) if index >= next => {
                    next = index + 1;
                    is_kept[index] = true;
                    DerivedLine::Line(index)
                }
                DerivedLine::Line(index) => DerivedLine::Edited(index, session.record(index).body.to_vec()),
                edited => edited,
            });
            if !matches!(pieces.last(), Some(DerivedLine::Line(_))) {
                new_lines.push(pieces.len() - 1);
            }
        }
        let taken = is_kept.iter().filter(|is_kept| !**is_kept).count();
        ReducedLog {
            pieces,
            is_kept,
            taken,
            new_lines,
        }
    }

    /// Indexes of the removed lines in the old log.
    fn removed(&self) -> impl Iterator<Item = usize> {
        let lines = self.is_kept.iter().enumerate();
        lines.filter(|(_, is_kept)| !**is_kept).map(|(index, _)| index)
    }

    /// Number of lines of the new log.
    pub fn lines(&self) -> u64 {
        self.pieces.len() as u64 + 1
    }

    /// Writes the removed lines in their stored form.
    pub fn write_taken(&self, old: &SourceLog<'_>, out: &mut dyn Write) -> Result<()> {
        let mut old_lines = old.locked.line_reader();
        for index in self.removed() {
            let line = old_lines.line(old.lines, index)?;
            atomic::put_bytes(out, "archive", line)?;
        }
        Ok(())
    }

    /// Size of the removed lines in bytes.
    pub fn bytes(&self, old: &SourceLog<'_>) -> u64 {
        let ranges = self.removed().map(|index| old.lines.range(index));
        ranges.map(|range| range.end - range.start).sum()
    }

    /// Writes the new log, ending with the event that reports the change; returns its size in bytes.
    pub fn write_log(&self, old: &SourceLog<'_>, event: &[u8], out: &mut dyn Write) -> Result<u64> {
        let mut old_lines = old.locked.line_reader();
        let mut new = NewLog::new(old.locked, out);
        for piece in &self.pieces {
            match piece {
                DerivedLine::Line(index) => new.push(&log::strip(old_lines.line(old.lines, *index)?))?,
                DerivedLine::Edited(index, body) => {
                    let line = log::strip(old_lines.line(old.lines, *index)?);
                    let line = Record::parse(&line, old.session().place(*index)).body;
                    new.push(&reduced::expand(body, line))?;
                }
                DerivedLine::Generated(body) => new.push(body)?,
            }
        }
        new.push(event)?;
        new.finish()
    }

    /// The event that reports the change.
    pub fn event(&self, options: &GcOptions<'_>, bytes: u64, destroyed: &[String]) -> Vec<u8> {
        let mut event = event::begin("gc", options.event);
        event
            .text("at", options.at)
            .raw("lines", self.taken.to_string())
            .raw("bytes", bytes.to_string())
            .raw("discarded", options.discard.to_string());
        if !destroyed.is_empty() {
            event.raw("destroyed", serde_json::json!(destroyed).to_string());
        }
        event.finish()
    }

    /// The line of the run for the archive.
    pub fn run(&self, old: &SourceLog<'_>, options: &GcOptions<'_>) -> Result<Vec<u8>> {
        let session = old.session();
        // The time at which the last of them was hidden.
        let at = |index: usize| json::member_text(session.record(index).body, "at");
        let events = self
            .removed()
            .filter(|index| session.class(*index) == Class::Event);
        let left = events.filter_map(at).max_by_key(|at| seconds(at));
        let mut members = event::begin("archive", options.event);
        members
            .text("at", options.at)
            .text("log", &known_by(session))
            .text("left", left.as_deref().unwrap_or(options.at))
            .raw("of", session.len().to_string())
            .raw("taken", spans(self.removed()))
            .raw("made", spans(self.new_lines.iter().copied()));
        run_file::line_of(members, self.bytes(old), &mut |out| self.write_taken(old, out))
    }
}

/// A log that is being written, in large blocks.
pub(super) struct NewLog<'o> {
    out: &'o mut dyn Write,
    shown: String,
    pending: Pending,
    chain: LogChain,
    written: u64,
}

impl<'o> NewLog<'o> {
    pub fn new(locked: &LockedLog<'_>, out: &'o mut dyn Write) -> NewLog<'o> {
        NewLog {
            out,
            shown: locked.shown(),
            pending: Pending::default(),
            chain: LogChain::default(),
            written: 0,
        }
    }

    /// Adds a line without checksum.
    pub fn push(&mut self, line: &[u8]) -> Result<()> {
        self.pending.push(line)?;
        match self.pending.size() >= BLOCK {
            true => self.put(),
            false => Ok(()),
        }
    }

    fn put(&mut self) -> Result<()> {
        self.pending.close(&mut self.chain);
        self.written += self.pending.size() as u64;
        atomic::put_bytes(self.out, &self.shown, self.pending.bytes(false))?;
        self.pending.clear();
        Ok(())
    }

    /// Writes the rest; returns the size of the log in bytes.
    pub fn finish(mut self) -> Result<u64> {
        self.put()?;
        Ok(self.written)
    }
}

/// A log merged with the lines that a gc removed.
pub(super) struct Rejoined<'p> {
    archived: Patched<'p>,
    shown: String,
    /// The numbers of the log's lines, from 1; 0 means the next archived line.
    order: Vec<u32>,
}

impl<'p> Rejoined<'p> {
    /// None if the log is not the result of that gc plus later lines.
    pub fn new(session: &Session, file: &'p RunPieces<'p>, run: &FileRun) -> Option<Rejoined<'p>> {
        Some(Rejoined {
            archived: file.bytes().slice(run.bytes.clone()),
            shown: file.shown(),
            order: order(session, run)?,
        })
    }

    /// Number of lines, without the event that reports the change.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The lines in order.
    pub fn lines(&self) -> LineMerge<'_> {
        LineMerge {
            archived: self.archived.lines(Position::default()),
            of: self,
            order: self.order.iter(),
            bare: Vec::new(),
        }
    }

    /// Visits the lines of a locked log, and then the event that reports the change.
    pub fn each_line(
        &self,
        old: &SourceLog<'_>,
        event: &[u8],
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (mut old_lines, mut lines) = (old.locked.line_reader(), self.lines());
        while let Some(line) = lines.next()? {
            match line {
                MergedLines::Log(index) => each(&log::strip(old_lines.line(old.lines, index)?))?,
                MergedLines::Archived(line) => each(line)?,
            }
        }
        each(event)
    }
}

/// A line of a merged log, without checksum.
pub(super) enum MergedLines<'l> {
    /// The index of a line of the log.
    Log(usize),
    Archived(&'l [u8]),
}

/// Reads the lines of a merged log.
pub(super) struct LineMerge<'r> {
    of: &'r Rejoined<'r>,
    archived: ByteLines<PatchedReader<'r>>,
    order: Iter<'r, u32>,
    bare: Vec<u8>,
}

impl LineMerge<'_> {
    pub fn next(&mut self) -> Result<Option<MergedLines<'_>>> {
        let shown = &self.of.shown;
        Ok(match self.order.next() {
            None => None,
            Some(number @ 1..) => Some(MergedLines::Log(*number as usize - 1)),
            Some(0) => {
                let line = self
                    .archived
                    .next_line()
                    .map_err(|error| Error::io(shown, error))?;
                let missing = || Error::data(format!("{shown}: archived lines are missing"));
                let (line, _) = line.ok_or_else(missing)?;
                Some(MergedLines::Archived(
                    match log::strip_into(line, &mut self.bare) {
                        true => &self.bare,
                        false => line,
                    },
                ))
            }
        })
    }
}

/// The order of a log's lines among those that a gc removed. Repair events were inserted later.
fn order(session: &Session, run: &FileRun) -> Option<Vec<u32>> {
    let of: usize = std::str::from_utf8(json::member(&run.line, "of")?)
        .ok()?
        .parse()
        .ok()?;
    let taken = read_ranges(json::member(&run.line, "taken"))?;
    let built: HashSet<usize> = read_ranges(json::member(&run.line, "made"))?
        .into_iter()
        .collect();
    let is_repair = |index: &usize| {
        let record = session.record(*index);
        record.event().is_some_and(|event| event.name() == "repair")
    };
    let own: Vec<usize> = (0..session.len()).filter(|index| !is_repair(index)).collect();
    let left = (of + built.len()).checked_sub(taken.len())?;
    let record = session.record(*own.get(left)?);
    if record.event()?.id()? != run.text("id")? {
        return None;
    }
    let mut is_kept = (0..left).filter(|at| !built.contains(at)).map(|at| own[at]);
    let mut removed = taken.into_iter().peekable();
    let mut order = Vec::with_capacity(of + session.len() - left);
    for index in 0..of {
        order.push(match removed.next_if_eq(&index) {
            Some(_) => 0,
            None => u32::try_from(is_kept.next()? + 1).ok()?,
        });
    }
    let last = u32::try_from(session.len()).ok()?;
    order.extend(u32::try_from(own[left] + 1).ok()?..=last);
    Some(order)
}
