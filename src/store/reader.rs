//! Reads a log: verifies and removes checksums, reports damage.

use super::log::{self, LogChain, Verdict};
use crate::error::{Error, Position, Result};
use crate::format::lines::ByteLines;
use crate::format::report::Report;
use crate::format::{Reader, native};
use crate::model::record::{Record, RecordKind as Line};
use crate::model::session::Session;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Take};

/// Records of a stored session, with positions in the log.
pub struct LogReader {
    lines: ByteLines<Take<File>>,
    chain: LogChain,
    bare: Vec<u8>,
    length: u64,
}

impl LogReader {
    /// Number of bytes of the log to read.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The remaining lines as one session, and the length of the log.
    pub(super) fn whole(self, report: &mut Report) -> Result<(Session, u64)> {
        self.into(Session::default(), report)
    }

    /// The same into an empty session.
    pub(super) fn into(mut self, mut session: Session, report: &mut Report) -> Result<(Session, u64)> {
        while let Some(record) = self.next(report)? {
            session.push_read(&record);
        }
        Ok((session, self.length))
    }

    /// Reads a log up to this length.
    pub(super) fn new(file: File, length: u64) -> LogReader {
        LogReader {
            lines: ByteLines::new(Vec::new(), file.take(length)),
            chain: LogChain::default(),
            bare: Vec::new(),
            length,
        }
    }
}

impl LogReader {
    /// Reads a log from a position up to this length; `chain` is the checksum state at the position.
    pub(super) fn behind(
        mut file: File,
        place: Position,
        chain: LogChain,
        length: u64,
    ) -> std::io::Result<LogReader> {
        file.seek(SeekFrom::Start(place.offset))?;
        Ok(LogReader {
            lines: ByteLines::after(place, file.take(length - place.offset)),
            chain,
            bare: Vec::new(),
            length,
        })
    }
}

impl Reader for LogReader {
    fn next(&mut self, report: &mut Report) -> Result<Option<Record<'_>>> {
        let line = self
            .lines
            .next_line()
            .map_err(|error| Error::io("cannot read", error))?;
        let Some((stored, place)) = line else {
            return Ok(None);
        };
        let verdict = self.chain.verify(stored);
        let full = if log::strip_into(stored, &mut self.bare) {
            &self.bare
        } else {
            stored
        };
        let record = Record::parse(full, place);
        match (verdict, &record.kind) {
            (Verdict::Broken, Line::Unreadable(fault)) => {
                let place = Position {
                    offset: place.offset + fault.offset as u64,
                    ..place
                };
                report.damage(place, format!("{}; the checksum does not match", fault.what));
            }
            (Verdict::Broken, _) => {
                report.damage(
                    place,
                    "the checksum does not match: this line or the one before was modified",
                );
                // Other members, such as a later version, may be the damage.
            }
            _ => native::check(&record, report)?,
        }
        Ok(Some(record))
    }
}
