//! Lines at the end of a log, in one write and durable, and the sidecar's books after them.

use super::{Pair, read_all};
use crate::error::{Error, Kind, Result};
use crate::store::atomic;
use crate::store::directory::Facts;
use crate::store::mark::Mark;
use rustix::fs::OFlags;

/// What an append did.
#[derive(Debug)]
pub struct Appended {
    /// Why the sidecar could not be brought up to date, which changes nothing about the lines: PicoClaw goes by
    /// the log.
    pub books: Option<Error>,
}

impl Pair {
    /// Adds lines (without newlines): all of them and durable, or none. A skip that goes beyond the end is brought
    /// back to it first, since it would hide what is added.
    pub fn append(&mut self, lines: &[Vec<u8>], now: &str) -> Result<Appended> {
        if lines.is_empty() {
            return Ok(Appended { books: None });
        }
        let name = self.log_name();
        let shown = self.directory.shown(&name);
        let failed = |error| Error::io(&shown, error).kind(Kind::InputOutput);
        // The lock belongs to the file that was opened to read; this is the same one, opened to append.
        let file = self.directory.file(&name, OFlags::RDWR | OFlags::APPEND)?;
        let file =
            file.ok_or_else(|| Error::new(Kind::Locked, format!("{shown}: removed by another program")))?;
        let facts = Facts::of(&file).map_err(failed)?;
        if !facts.is_same_file(&self.facts) {
            return Err(
                Error::new(Kind::Locked, format!("{shown}: replaced by another program"))
                    .hint("nothing was changed; run the command again"),
            );
        }
        if facts.size != self.bytes.len() as u64 {
            self.bytes = read_all(&file, &shown)?; // a program that takes no lock was here
        }
        let length = self.bytes.len() as u64;
        let mut bytes = Vec::new();
        if self.is_torn() {
            bytes.push(b'\n'); // what is there becomes a line of its own, and was counted as one already
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
        let mark = Mark::set(&file, length);
        atomic::write_end(&file, &shown, length, &bytes)?;
        atomic::sync_end(&file, &shown, length, bytes.len())?;
        drop(mark);
        self.bytes.extend_from_slice(&bytes);
        Ok(Appended {
            books: self.book(before + lines.len() as u64, now).err(),
        })
    }

    /// Writes the number of lines into the sidecar, as it is by now.
    fn book(&mut self, count: u64, now: &str) -> Result<()> {
        if self.check_sidecar().is_err() {
            self.read_sidecar()?;
        }
        self.sidecar.set_count(count);
        self.write_sidecar(now)
    }
}
