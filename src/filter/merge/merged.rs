//! How to merge, and the result.

use super::record::Prefer;
use crate::format::Keyed;
use std::borrow::Cow;
use std::io::{self, Write};

/// How to merge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'o> {
    /// How lines are known; none for records of this program.
    pub keyed: Option<Keyed>,
    /// Who decides where both sides changed a record.
    pub prefer: Prefer,
    /// Whether a record that one side deleted is omitted.
    pub deletions: bool,
    /// Whether whole exchanges are ordered by time where both sides continue.
    pub interleave: bool,
    /// Whether the lines of the first side cannot change and new ones can only follow them.
    pub appends: bool,
    /// The time of events that are made; none for the newest time of both sides.
    pub now: Option<&'o str>,
}

/// Where a line of the result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSource {
    /// The first side.
    A,
    /// The second side.
    B,
    /// It was made here.
    Made,
}

/// A line of the result.
#[derive(Clone, Debug)]
pub struct MergedLine<'s> {
    /// Its bytes; a made one has no ending.
    pub bytes: Cow<'s, [u8]>,
    /// Where it comes from.
    pub from: LineSource,
}

/// A record that both sides changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The session.
    pub session: Option<String>,
    /// Id of the event that holds the second version; none in a format without events.
    pub id: Option<String>,
    /// Id of the record.
    pub of: String,
}

/// Numbers of records and of decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Only the first side has it.
    pub from_a: u64,
    /// Only the second side has it.
    pub from_b: u64,
    /// Both have it.
    pub both: u64,
    /// Courses that became branches.
    pub branches: u64,
    /// One side deleted it, and it was kept.
    pub kept: u64,
    /// One side deleted it, and it was left out.
    pub deleted: u64,
    /// Compactions that are kept and not in force.
    pub suspended: u64,
    /// Changes of records other than messages that a log of appended lines cannot take.
    pub refused: u64,
}

/// The result.
#[derive(Debug, Default)]
pub struct Merged<'s> {
    /// The lines of each session.
    pub sessions: Vec<Vec<MergedLine<'s>>>,
    /// What both sides changed.
    pub conflicts: Vec<Conflict>,
    /// How much of what.
    pub totals: Totals,
}

impl Merged<'_> {
    /// Whether the result is the first side.
    pub fn is_unchanged(&self) -> bool {
        let mut lines = self.sessions.iter().flatten();
        self.totals.deleted == 0 && lines.all(|line| line.from == LineSource::A)
    }

    /// Writes the lines; each but the last is ended.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut is_open = false;
        for line in self.sessions.iter().flatten() {
            if is_open {
                out.write_all(b"\n")?;
            }
            out.write_all(&line.bytes)?;
            if line.from == LineSource::Made {
                out.write_all(b"\n")?;
            }
            is_open = line.from != LineSource::Made && !line.bytes.ends_with(b"\n");
        }
        Ok(())
    }
}
