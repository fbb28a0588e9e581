//! Appends lines to a log: under a lock, in one write, durable before any line is acknowledged.

use super::directory::{Directory, FileStat};
use super::log::{LogChain, Pending};
use super::log_end::Tail;
use super::mark::RangeMark;
use super::{Store, atomic, log_name, no_session};
use crate::error::{Error, ErrorKind, Result};
use rustix::fs::OFlags;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Appends to one session. Holds the lock only during a flush, so that other writers can append in between.
#[derive(Debug)]
pub struct Appender<'s> {
    store: &'s Store,
    id: String,
    pending: Pending,
    acknowledged: u64,
    known: Option<FlushedLog>,
    /// Required length of the log.
    expected: Option<u64>,
}

/// The log after the last flush.
#[derive(Debug)]
struct FlushedLog {
    file: File,
    facts: FileStat,
    length: u64,
    chain: LogChain,
}

#[derive(Debug)]
pub(super) struct LockedEnd {
    pub file: File,
    pub facts: FileStat,
    pub tail: Tail,
    shown: String,
}

impl<'s> Appender<'s> {
    pub(super) fn new(store: &'s Store, id: &str) -> Appender<'s> {
        Appender {
            store,
            id: id.to_string(),
            pending: Pending::default(),
            acknowledged: 0,
            known: None,
            expected: None,
        }
    }

    /// Appends only if the log has this length, so that it has not changed since it was read.
    pub(super) fn expecting(mut self, length: u64) -> Self {
        self.expected = Some(length);
        self
    }

    /// Adds a line for the next flush, with or without a newline at its end.
    pub fn push(&mut self, line: &[u8]) -> Result<()> {
        self.pending.push(line)
    }

    /// Makes these lines durable, after those that wait, as [`Appender::flush`] does. After an error they wait.
    pub fn flush_lines(&mut self, lines: Pending) -> Result<u64> {
        self.pending.extend(lines);
        self.flush()
    }

    /// Returns an empty buffer for [`Appender::flush_lines`]: that of the lines that were written last, unless lines are
    /// pending. Filling memory that is in use already is faster.
    pub fn empty_buffer(&mut self) -> Pending {
        match self.pending.is_empty() {
            true => std::mem::take(&mut self.pending),
            false => Pending::default(),
        }
    }

    /// Returns the number of bytes that the next flush writes.
    pub fn waiting(&self) -> usize {
        self.pending.size()
    }

    /// Returns the number of durable lines.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Makes all pushed lines durable and returns the total number of durable lines. After an error the lines are still
    /// pending and none is in the log, unless the error is [`ErrorKind::Unsure`].
    pub fn flush(&mut self) -> Result<u64> {
        if self.pending.is_empty() {
            return Ok(self.acknowledged);
        }
        let locked = self.lock_log()?;
        self.write(locked)
    }

    /// Locks the log and reads its end.
    pub(super) fn lock_log(&mut self) -> Result<LockedEnd> {
        let name = log_name(&self.id);
        let sessions = self.store.sessions()?.ok_or_else(|| no_session(&self.id))?;
        let (file, before) = match self.known.take() {
            Some(known) => (Some(known.file), Some((known.facts, known.length, known.chain))),
            None => (None, None),
        };
        let access = OFlags::RDWR | OFlags::APPEND;
        let (file, facts) = atomic::open_locked(sessions, &name, file, access, self.store.lock_timeout)?
            .ok_or_else(|| no_session(&self.id))?;
        sessions.refuse_linked(&name, &facts)?;
        let shown = sessions.shown(&name);
        if self.expected.is_some_and(|expected| expected != facts.size) {
            return Err(Error::new(
                ErrorKind::Locked,
                format!("{shown}: modified by another program; nothing was changed"),
            ));
        }
        if before.is_none() {
            atomic::remove_dead_file(sessions, &atomic::temporary_name(&name));
            // Concurrent readers read the log up to here, without a last line that a writer may have just begun.
            let mark = RangeMark::set(&file, facts.size);
            self.store.sync_name(sessions, &facts)?;
            drop(mark);
        }
        let tail = match before {
            Some((same, length, chain)) if same.is_same_file(&facts) && length == facts.size => Tail {
                chain,
                truncated: false,
            },
            _ => Tail::read(&file, facts.size)
                .map_err(|error| Error::io(&shown, error).kind(ErrorKind::InputOutput))?,
        };
        Ok(LockedEnd {
            file,
            facts,
            tail,
            shown,
        })
    }

    /// Writes the pending lines to a locked log, makes them durable, and releases the lock.
    pub(super) fn write(&mut self, locked: LockedEnd) -> Result<u64> {
        let LockedEnd {
            file,
            facts,
            tail,
            shown,
        } = locked;
        let sessions = self.store.sessions()?.ok_or_else(|| no_session(&self.id))?;
        let mut chain = tail.chain;
        self.pending.close(&mut chain);
        let mark = RangeMark::set(&file, facts.size);
        let bytes = self.pending.bytes(tail.truncated);
        let at = atomic::write_end(&file, &shown, facts.size, bytes)?;
        if at != facts.size {
            chain = self.reseal(sessions, &file, at, tail.truncated)?;
        }
        let bytes = self.pending.bytes(tail.truncated).len();
        atomic::sync_end(&file, &shown, facts.size, bytes)?;
        drop(mark);
        self.acknowledged += self.pending.len() as u64;
        self.pending.clear();
        // A failed unlock is harmless: the next flush opens the file again.
        if file.unlock().is_ok() {
            self.known = Some(FlushedLog {
                file,
                facts,
                length: at + bytes as u64,
                chain,
            });
        }
        Ok(self.acknowledged)
    }

    /// Releases a locked log without writing.
    pub(super) fn release(&mut self, locked: LockedEnd) {
        if !locked.tail.truncated && locked.file.unlock().is_ok() {
            self.known = Some(FlushedLog {
                file: locked.file,
                facts: locked.facts,
                length: locked.facts.size,
                chain: locked.tail.chain,
            });
        }
    }

    /// Recomputes the checksums if a program that takes no lock appended lines before ours. Only digits change, and
    /// none of these lines is acknowledged yet.
    fn reseal(
        &mut self,
        sessions: &Directory,
        file: &File,
        at: u64,
        behind_newline: bool,
    ) -> Result<LogChain> {
        let name = log_name(&self.id);
        let shown = sessions.shown(&name);
        let failed = |error| {
            Error::io(
                format!("{shown}: modified by another program during the write"),
                error,
            )
            .kind(ErrorKind::Unsure)
            .hint("check the last lines before you retry")
        };
        let tail = Tail::read(file, at).map_err(failed)?;
        let mut chain = tail.chain;
        match (tail.truncated, behind_newline) {
            (true, false) => {
                return Err(failed(std::io::Error::other(
                    "the last line is truncated; the new line follows on a line of its own",
                )));
            }
            (false, true) => chain.pass(b"\n"), // the newline for a truncated line is now a blank line
            _ => {}
        }
        self.pending.close(&mut chain);
        // A descriptor in append mode ignores the offset and writes at the end.
        let place = sessions
            .file(&name, OFlags::RDWR)?
            .ok_or_else(|| no_session(&self.id))?;
        place
            .write_all_at(self.pending.bytes(behind_newline), at)
            .map_err(failed)?;
        Ok(chain)
    }
}
