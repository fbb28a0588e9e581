//! Appends lines to a log in one durable write, then updates the counts in the sidecar.

use super::{Pair, read_all};
use crate::error::{Error, ErrorKind, Result};
use crate::store::atomic;
use crate::store::directory::FileStat;
use crate::store::mark::RangeMark;
use rustix::fs::OFlags;

/// The result of an append.
#[derive(Debug)]
pub struct AppendResult {
    /// The error of updating the sidecar, if any. It does not affect the appended lines, because PicoClaw trusts the
    /// log.
    pub bookkeeping: Option<Error>,
}

impl Pair {
    /// Appends lines (without newlines): all of them durably, or none. A skip beyond the end is first reduced to the
    /// end, because it would hide the new lines.
    pub fn append(&mut self, lines: &[Vec<u8>], now: &str) -> Result<AppendResult> {
        if lines.is_empty() {
            return Ok(AppendResult { bookkeeping: None });
        }
        let name = self.log_name();
        let shown = self.directory.shown(&name);
        let failed = |error| Error::io(&shown, error).kind(ErrorKind::InputOutput);
        // The lock belongs to the file opened for reading; open the same file for appending.
        let file = self.directory.file(&name, OFlags::RDWR | OFlags::APPEND)?;
        let file = file
            .ok_or_else(|| Error::new(ErrorKind::Locked, format!("{shown}: removed by another program")))?;
        let facts = FileStat::of(&file).map_err(failed)?;
        if !facts.is_same_file(&self.facts) {
            return Err(
                Error::new(ErrorKind::Locked, format!("{shown}: replaced by another program"))
                    .hint("nothing was changed; run the command again"),
            );
        }
        if facts.size != self.bytes.len() as u64 {
            self.bytes = read_all(&file, &shown)?; // a program without locks wrote meanwhile
        }
        let length = self.bytes.len() as u64;
        let mut bytes = Vec::new();
        if self.is_truncated() {
            bytes.push(b'\n'); // completes the partial line, which was already counted
        }
        for line in lines {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        let before = self.raw_lines();
        if self.sidecar.skip() > before {
            self.sidecar.set_skip(before);
            self.sidecar.set_count(before);
            self.write_sidecar(now)?;
        }
        let mark = RangeMark::set(&file, length);
        atomic::write_end(&file, &shown, length, &bytes)?;
        atomic::sync_end(&file, &shown, length, bytes.len())?;
        drop(mark);
        self.bytes.extend_from_slice(&bytes);
        Ok(AppendResult {
            bookkeeping: self.update_count(before + lines.len() as u64, now).err(),
        })
    }

    /// Updates the number of lines in the current sidecar.
    fn update_count(&mut self, count: u64, now: &str) -> Result<()> {
        if self.check_sidecar().is_err() {
            self.read_sidecar()?;
        }
        self.sidecar.set_count(count);
        self.write_sidecar(now)
    }
}
