//! Selects the lines that gc removes, and merges them back with the remaining ones.

use super::{Thin, known_by};
use crate::error::Result;
use crate::model::json::{self, ObjectBuilder};
use crate::model::record::Record;
use crate::model::reduced;
use crate::model::session::{Class, Piece, Session};
use crate::model::time::seconds;
use crate::store::held::{Held, Stored};
use crate::store::log::{self, Chain, Pending};
use crate::store::{atomic, pieces};
use std::io::Write;

/// The beginning of the line of a run in the archive.
pub(super) const BEGIN: &[u8] = b"{\"type\":\"archive\",";

/// Write size in bytes.
const BLOCK: usize = 256 * 1024;

/// A log from which lines are removed.
#[derive(Clone, Copy)]
pub(super) struct Old<'h> {
    pub held: &'h Held<'h>,
    pub session: &'h Session,
    pub lines: &'h [Stored],
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

fn read_spans(raw: Option<&[u8]>) -> Option<Vec<usize>> {
    let spans: Vec<[usize; 2]> = serde_json::from_slice(raw?).ok()?;
    Some(
        spans
            .into_iter()
            .flat_map(|[first, last]| first - 1..last)
            .collect(),
    )
}

/// A log being reduced: the removed lines, and the new ones.
pub(super) struct Thinned {
    pieces: Vec<Piece>,
    /// Indexes of the removed lines in the old log.
    pub taken: Vec<usize>,
    /// Indexes of the new lines in the new log.
    made: Vec<usize>,
}

impl Thinned {
    /// A kept line that moves before an earlier one counts as new, so that the remaining lines keep their order and
    /// removed ones can be merged back.
    pub fn new(session: &Session, planned: Vec<Piece>) -> Thinned {
        let (mut next, mut stays) = (0, vec![false; session.len()]);
        let (mut pieces, mut made) = (Vec::new(), Vec::new());
        for piece in planned {
            pieces.push(match piece {
                Piece::Line(index) if index >= next => {
                    next = index + 1;
                    stays[index] = true;
                    Piece::Line(index)
                }
                Piece::Line(index) => Piece::Edited(index, session.record(index).body.to_vec()),
                made => made,
            });
            if !matches!(pieces.last(), Some(Piece::Line(_))) {
                made.push(pieces.len() - 1);
            }
        }
        let taken = (0..session.len()).filter(|index| !stays[*index]).collect();
        Thinned { pieces, taken, made }
    }

    /// Number of lines of the new log.
    pub fn lines(&self) -> u64 {
        self.pieces.len() as u64 + 1
    }

    /// Writes the removed lines in their stored form.
    pub fn write_taken(&self, old: &Old<'_>, out: &mut dyn Write) -> Result<()> {
        let mut again = old.held.again();
        for index in &self.taken {
            let line = again.line(&old.lines[*index])?;
            atomic::put_bytes(out, "archive", line)?;
        }
        Ok(())
    }

    /// Size of the removed lines in bytes.
    pub fn bytes(&self, old: &Old<'_>) -> u64 {
        let lines = self.taken.iter().map(|index| old.lines[*index].length as u64);
        lines.sum()
    }

    /// Writes the new log, ending with the event that reports the change; returns its size in bytes.
    pub fn write_log(&self, old: &Old<'_>, event: &[u8], out: &mut dyn Write) -> Result<u64> {
        let shown = old.held.shown();
        let mut again = old.held.again();
        let (mut pending, mut chain, mut written) = (Pending::default(), Chain::default(), 0);
        let mut put = |pending: &mut Pending| {
            pending.close(&mut chain);
            written += pending.size() as u64;
            let done = atomic::put_bytes(out, &shown, pending.bytes(false));
            pending.clear();
            done
        };
        for piece in &self.pieces {
            match piece {
                Piece::Line(index) => pending.push(&log::strip(again.line(&old.lines[*index])?))?,
                Piece::Edited(index, body) => {
                    let line = log::strip(again.line(&old.lines[*index])?);
                    let line = Record::parse(&line, old.session.place(*index)).body;
                    pending.push(&reduced::expand(body, line))?;
                }
                Piece::Made(body) => pending.push(body)?,
            }
            if pending.size() >= BLOCK {
                put(&mut pending)?;
            }
        }
        pending.push(event)?;
        put(&mut pending)?;
        Ok(written)
    }

    /// The event that reports the change.
    pub fn event(&self, options: &Thin<'_>, bytes: u64, destroyed: &[String]) -> Vec<u8> {
        let mut event = ObjectBuilder::default();
        event
            .text("type", "gc")
            .text("id", options.event)
            .text("at", options.at)
            .raw("lines", self.taken.len().to_string())
            .raw("bytes", bytes.to_string())
            .raw("discarded", options.discard.to_string());
        if !destroyed.is_empty() {
            event.raw("destroyed", serde_json::json!(destroyed).to_string());
        }
        event.finish()
    }

    /// The line of the run for the archive.
    pub fn run(&self, old: &Old<'_>, options: &Thin<'_>) -> Result<Vec<u8>> {
        let session = old.session;
        // The time at which the last of them was hidden.
        let at = |index: &usize| json::member(session.record(*index).body, "at").and_then(json::text);
        let events = self
            .taken
            .iter()
            .filter(|index| session.class(**index) == Class::Event);
        let left = events.filter_map(at).max_by_key(|at| seconds(at));
        let mut members = ObjectBuilder::default();
        members
            .text("type", "archive")
            .text("id", options.event)
            .text("at", options.at)
            .text("log", &known_by(session))
            .text("left", left.as_deref().unwrap_or(options.at))
            .raw("of", session.len().to_string())
            .raw("taken", spans(self.taken.iter().copied()))
            .raw("made", spans(self.made.iter().copied()));
        pieces::line_of(members, self.bytes(old), &mut |out| self.write_taken(old, out))
    }
}

/// Merges a log with the lines that a gc removed; the result has no checksums. None if the log is not the result of
/// that gc plus later lines.
pub(super) fn rejoined(session: &Session, run: &[u8], bytes: &[u8], event: &str) -> Option<Vec<Vec<u8>>> {
    let of: usize = std::str::from_utf8(json::member(run, "of")?).ok()?.parse().ok()?;
    let taken = read_spans(json::member(run, "taken"))?;
    let made = read_spans(json::member(run, "made"))?;
    // Repair events were inserted later.
    let own: Vec<usize> = (0..session.len())
        .filter(|index| {
            session
                .record(*index)
                .event()
                .is_none_or(|event| event.name() != "repair")
        })
        .collect();
    let left = (of + made.len()).checked_sub(taken.len())?;
    let record = session.record(*own.get(left)?);
    if record.event()?.id()? != event {
        return None;
    }
    let mut stays = own[..left]
        .iter()
        .enumerate()
        .filter(|(at, _)| !made.contains(at));
    let mut back = bytes.split_inclusive(|byte| *byte == b'\n');
    let mut out = Vec::with_capacity(of + session.len() - left);
    let mut gone = taken.into_iter().peekable();
    for index in 0..of {
        out.push(if gone.next_if_eq(&index).is_some() {
            log::strip(back.next()?).into_owned()
        } else {
            session.full(*stays.next()?.1).to_vec()
        });
    }
    let last = own[left];
    out.extend((last..session.len()).map(|index| session.full(index).to_vec()));
    Some(out)
}
