//! Appends lines atomically: a log gets all of them or none. A plain append may keep some of them after a power
//! failure, which is acceptable for messages but not for a promoted history.

use super::locked_log::LockedLog;
use super::log::Pending;
use super::log_end::Tail;
use super::open_writers::{self, Writers};
use super::{Store, atomic, replace_file};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use std::io::{self, Write};

impl Store {
    /// Appends lines atomically if the log still has the length that was read; returns whether it had. Rewrites the
    /// log, so it is meant for short sessions.
    pub fn append_whole(&self, id: &str, lines: &[Vec<u8>], length: u64) -> Result<bool> {
        let Some(locked) = self.lock_at(id, length)? else {
            return Ok(false);
        };
        replace_file::refuse_writers(&locked.file, &locked.sessions.shown(&locked.name))
            .map_err(|error| error.hint("nothing was changed; close it first"))?;
        locked.replace(self, &mut with(&locked, lines)?)?;
        Ok(true)
    }

    /// The same for new lines of a session, such as a question and its answer. If a program without locks has the log
    /// open for writing, the log cannot be rewritten, so the lines are appended in one write.
    pub fn append_together(&self, id: &str, lines: &[Vec<u8>], length: u64) -> Result<bool> {
        let borrowed: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        if lines.len() < 2 {
            return self.append_to(id, &borrowed, length);
        }
        let Some(locked) = self.lock_at(id, length)? else {
            return Ok(false);
        };
        if open_writers::writers(&locked.file) != Writers::None {
            drop(locked);
            return self.append_to(id, &borrowed, length);
        }
        locked.replace_by_newer(self, &mut with(&locked, lines)?)?;
        Ok(true)
    }

    /// Locks a log; none if it has another length.
    fn lock_at(&self, id: &str, length: u64) -> Result<Option<LockedLog<'_>>> {
        let locked = LockedLog::open(self, key::checked_id(id)?)?;
        Ok((locked.facts.size == length).then_some(locked))
    }
}

/// The content of a log followed by new lines.
fn with(locked: &LockedLog<'_>, lines: &[Vec<u8>]) -> Result<impl FnMut(&mut dyn Write) -> Result<()>> {
    let mut pending = Pending::default();
    for line in lines {
        pending.push(line)?;
    }
    let shown = locked.sessions.shown(&locked.name);
    let tail = Tail::read(&locked.file, locked.facts.size).map_err(|error| Error::io(&shown, error))?;
    let mut chain = tail.chain;
    pending.close(&mut chain);
    Ok(move |out: &mut dyn Write| {
        let mut reader = locked.reader().map_err(|error| Error::io(&shown, error))?;
        io::copy(&mut reader, out).map_err(|error| Error::io(&shown, error).kind(ErrorKind::InputOutput))?;
        atomic::put_bytes(out, &shown, pending.bytes(tail.truncated))
    })
}
