//! Lines that belong together: a log has all of them or none, whatever happens on the way. An append alone leaves some
//! of them when the power fails in it, which is fine for messages, and not for a history that is taken over.

use super::held::Held;
use super::log::Pending;
use super::tail::Tail;
use super::{Store, rewrite};
use crate::error::{Error, Result};
use crate::model::key;

impl Store {
    /// Adds lines to a session as a whole if its log still has the length that was read; tells whether it had. The log
    /// is written anew, so that this is for sessions with little in them.
    pub fn append_whole(&self, id: &str, lines: &[Vec<u8>], length: u64) -> Result<bool> {
        let mut pending = Pending::default();
        for line in lines {
            pending.push(line)?;
        }
        let held = Held::open(self, key::checked_id(id)?)?;
        if held.facts.size != length || held.bytes.len() as u64 != length {
            return Ok(false);
        }
        let shown = held.sessions.shown(&held.name);
        let tail = Tail::read(&held.file, length).map_err(|error| Error::io(&shown, error))?;
        let mut chain = tail.chain;
        pending.close(&mut chain);
        rewrite::refuse_writers(&held.file, &shown).map_err(|error| {
            error.hint("nothing was changed: what it writes later would be lost; end it first")
        })?;
        held.replace(self, &[&held.bytes[..], pending.bytes(tail.torn)].concat())?;
        Ok(true)
    }
}
