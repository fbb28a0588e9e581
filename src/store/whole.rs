//! Lines that belong together: a log has all of them or none, whatever happens on the way. An append alone leaves some
//! of them when the power fails in it, which is fine for messages, and not for a history that is taken over.

use super::held::Held;
use super::lease::{self, Writers};
use super::log::Pending;
use super::tail::Tail;
use super::{Store, atomic, rewrite};
use crate::error::{Error, Kind, Result};
use crate::model::key;
use std::io::{self, Write};

impl Store {
    /// Adds lines to a session as a whole if its log still has the length that was read; tells whether it had. The log
    /// is written anew, so that this is for sessions with little in them.
    pub fn append_whole(&self, id: &str, lines: &[Vec<u8>], length: u64) -> Result<bool> {
        let Some(held) = self.hold_at(id, length)? else {
            return Ok(false);
        };
        rewrite::refuse_writers(&held.file, &held.sessions.shown(&held.name))
            .map_err(|error| error.hint("nothing was changed; close it first"))?;
        held.replace(self, &mut with(&held, lines)?)?;
        Ok(true)
    }

    /// The same for what is new in a session, such as a question and its answer. While a program that takes no lock has
    /// the log open for writing it cannot be written anew: then the lines are appended, in one write.
    pub fn append_together(&self, id: &str, lines: &[Vec<u8>], length: u64) -> Result<bool> {
        let borrowed: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        if lines.len() < 2 {
            return self.append_to(id, &borrowed, length);
        }
        let Some(held) = self.hold_at(id, length)? else {
            return Ok(false);
        };
        if lease::writers(&held.file) != Writers::None {
            drop(held);
            return self.append_to(id, &borrowed, length);
        }
        held.replace_by_newer(self, &mut with(&held, lines)?)?;
        Ok(true)
    }

    /// Locks a log; none when it has another length.
    fn hold_at(&self, id: &str, length: u64) -> Result<Option<Held<'_>>> {
        let held = Held::open(self, key::checked_id(id)?)?;
        Ok((held.facts.size == length).then_some(held))
    }
}

/// The content of a log with lines at its end.
fn with(held: &Held<'_>, lines: &[Vec<u8>]) -> Result<impl FnMut(&mut dyn Write) -> Result<()>> {
    let mut pending = Pending::default();
    for line in lines {
        pending.push(line)?;
    }
    let shown = held.sessions.shown(&held.name);
    let tail = Tail::read(&held.file, held.facts.size).map_err(|error| Error::io(&shown, error))?;
    let mut chain = tail.chain;
    pending.close(&mut chain);
    Ok(move |out: &mut dyn Write| {
        let mut reader = held.reader().map_err(|error| Error::io(&shown, error))?;
        io::copy(&mut reader, out).map_err(|error| Error::io(&shown, error).kind(Kind::InputOutput))?;
        atomic::put_bytes(out, &shown, pending.bytes(tail.torn))
    })
}
