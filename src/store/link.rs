//! Continues a session in another one: creates the complete new session with a link back, then appends the link to
//! the old one. That line is the commit; after a crash in between, the continuation can be completed.

use super::append::LockedEnd;
use super::pending::{MarkerKind, Planned};
use super::{Appender, LogReader, Store, atomic, log_name, no_session};
use crate::error::{Error, ErrorKind, Result};
use crate::format::report::Report;
use crate::model::chain::{self, ChainLinks};
use crate::model::event::Stamp;
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use crate::model::session::Session;
use rustix::fs::OFlags;
use std::collections::HashSet;

/// The link event that names a continuation; `aliases` are names of the old session that move to the new one.
pub fn link(stamp: &Stamp, child: &str, aliases: &[String]) -> Vec<u8> {
    let mut event = stamp.event("link");
    event.text("continued_to", child);
    if !aliases.is_empty() {
        event.raw("aliases", json::texts(aliases));
    }
    event.finish()
}

/// A planned continuation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Successor {
    /// Its id.
    pub id: String,
    /// Its lines, the header first.
    pub lines: Vec<Vec<u8>>,
    /// Id and time of the link event in the old session.
    pub stamp: Stamp,
}

/// The result of continuing a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Continued {
    /// Continued in this session now; these aliases were moved.
    Now(String, Vec<String>),
    /// It already had this continuation.
    Before(String),
    /// Unchanged, because there was no plan.
    Not,
}

impl Store {
    /// Continues a session in the one that `plan` returns, under a lock. Completes the work of a process that died,
    /// so the plan for a session must always be the same. Aliases of the old session are moved to the new one.
    pub fn continue_session(
        &self,
        parent: &str,
        report: &mut Report,
        plan: &mut dyn FnMut(&Session) -> Result<Option<Successor>>,
    ) -> Result<Continued> {
        let mut appender = self.appender(parent)?;
        let locked = appender.lock_log()?;
        let session = self.session_of_locked_log(parent, &locked, report)?;
        if let Some(child) = self.child_of(parent, &session)? {
            self.unmark(MarkerKind::Continue, parent);
            self.update_linked_names_of(parent, &session)?;
            return Ok(Continued::Before(child));
        }
        let Some(successor) = plan(&session)? else {
            return Ok(Continued::Not);
        };
        let aliases = self.names_of(parent, &session)?;
        // Whatever a session with this id claims, it counts as the continuation only if the store confirms that.
        let own = self.has(&successor.id)? && self.is_own(parent, &session, &successor.id)?;
        let _mark = match own {
            true => None,
            false => {
                let planned = Planned::of(&successor.id, &successor.lines);
                Some(self.mark(MarkerKind::Continue, parent, &[planned])?)
            }
        };
        let built = match own {
            true => self.complete_successor(&successor).map(|()| false),
            false => self
                .create_session(&successor.id, &successor.lines)
                .map(|()| true),
        };
        let built = built.inspect_err(|error| {
            if !own && error.kind != ErrorKind::Unsure {
                self.unmark(MarkerKind::Continue, parent);
            }
        })?;
        let linked = self.write_link(&mut appender, locked, &successor, &aliases);
        if let (Err(error), true) = (&linked, built) {
            // No other process knows it yet.
            if error.kind != ErrorKind::Unsure {
                if self.take_back(&successor.id).is_err() {
                    return linked
                        .map_err(|error| {
                            error
                                .kind(ErrorKind::Unsure)
                                .hint("run the command again to complete it")
                        })
                        .map(|()| Continued::Not);
                }
                self.unmark(MarkerKind::Continue, parent);
            }
        }
        linked?;
        self.unmark(MarkerKind::Continue, parent);
        self.move_aliases(&aliases, parent, &successor.id)?;
        Ok(Continued::Now(successor.id, aliases))
    }

    /// The id of the continuation: the first of these ids that no other session has. Stable while the lock of the old
    /// session is held. An id left by a process that died is reused.
    pub fn successor_id(
        &self,
        parent: &str,
        session: &Session,
        ids: impl IntoIterator<Item = String>,
    ) -> Result<String> {
        for id in ids {
            let taken = match self.has(&id)? {
                true => !self.is_own(parent, session, &id)?,
                false => self.alias_ids(&id)?.is_some(),
            };
            if !taken {
                return Ok(id);
            }
        }
        Err(Error::new(
            ErrorKind::Exists,
            "all ids for the new session are in use",
        ))
    }

    /// Whether the store confirms that a session continues this one: it says so, and its predecessor named it before,
    /// or a marker exists. Its own claim alone proves nothing.
    fn is_own(&self, parent: &str, session: &Session, id: &str) -> Result<bool> {
        Ok(self.continues(id, parent)?
            && (chain::has_named(session, id) || self.is_marked(MarkerKind::Continue, parent, id)?))
    }

    /// The continuation of this session: the first that both sides confirm.
    fn child_of(&self, parent: &str, session: &Session) -> Result<Option<String>> {
        for child in ChainLinks::of(session).continued_to {
            if self.agrees(&child, parent)? {
                return Ok(Some(child));
            }
        }
        Ok(None)
    }

    /// Whether a session named as a continuation confirms that; a missing one cannot deny it.
    pub(super) fn agrees(&self, child: &str, parent: &str) -> Result<bool> {
        let is_there = key::is_id(child) && self.has(child)?;
        Ok(!is_there || self.continues(child, parent)?)
    }

    /// Whether a session says that it continues another.
    fn continues(&self, id: &str, parent: &str) -> Result<bool> {
        Ok(continues(&self.first_line(id)?, parent))
    }

    /// Reads the session of a locked log.
    fn session_of_locked_log(&self, id: &str, locked: &LockedEnd, report: &mut Report) -> Result<Session> {
        let sessions = self.sessions()?.ok_or_else(|| no_session(id))?;
        let file = sessions
            .file(log_name(id), OFlags::RDONLY)?
            .ok_or_else(|| no_session(id))?;
        Ok(LogReader::new(file, locked.facts.size).whole(report)?.0)
    }

    /// Appends missing lines to a session that a dead process left: the open exchange may have received messages
    /// meanwhile.
    fn complete_successor(&self, successor: &Successor) -> Result<()> {
        let id = &successor.id;
        let there = self.load(id, &mut Report::default())?;
        let ids: HashSet<String> = (0..there.len())
            .filter_map(|index| record_id(there.record(index).body))
            .collect();
        let missing: Vec<&[u8]> = successor.lines[1..]
            .iter()
            .map(Vec::as_slice)
            .filter(|line| record_id(line).is_none_or(|id| !ids.contains(&id)))
            .collect();
        self.append(id, &missing)?;
        self.sync_names()
    }

    fn write_link(
        &self,
        appender: &mut Appender<'_>,
        locked: LockedEnd,
        successor: &Successor,
        aliases: &[String],
    ) -> Result<()> {
        appender.push(&link(&successor.stamp, &successor.id, aliases))?;
        appender.write(locked).map(drop)
    }

    /// Removes a session that was just created and is not known to others.
    fn take_back(&self, id: &str) -> Result<()> {
        let sessions = self.sessions()?.ok_or_else(|| no_session(id))?;
        atomic::unlink(sessions, log_name(id))?;
        atomic::sync_directory(sessions)
    }

    /// The names to move: aliases of this session only, and the key from which its id is derived.
    fn names_of(&self, id: &str, session: &Session) -> Result<Vec<String>> {
        let aliases = self.aliases()?;
        let key = key_of_session(id, |name| session.header_text(name));
        let key = key.filter(|key| aliases.iter().all(|(name, _)| name != key));
        let own = aliases
            .into_iter()
            .filter(|(_, ids)| matches!(&ids[..], [only] if only == id));
        Ok(own.map(|(name, _)| name).chain(key).collect())
    }

    /// Updates names that moved with a link: they refer to the continuation or, if the link was undone, to this
    /// session again. Completes the work of a process that died after writing the event.
    pub fn update_linked_names(&self, id: &str) -> Result<()> {
        self.update_linked_names_of(id, &self.load_events(id, &mut Report::default())?)
    }

    /// Updates names to their targets after the undo of this event, before the undo is written.
    pub fn update_names_without_event(&self, id: &str, event: &str) -> Result<()> {
        let mut session = self.load_events(id, &mut Report::default())?;
        let mut line = ObjectBuilder::default();
        line.text("type", "restore").text("of", event);
        session.push_new(&line.finish());
        self.update_linked_names_of(id, &session)
    }

    fn update_linked_names_of(&self, id: &str, session: &Session) -> Result<()> {
        let live = session.live_events();
        let known: HashSet<String> = ChainLinks::of(session).continued_to.into_iter().collect();
        for index in 0..session.len() {
            let record = session.record(index);
            let Some(child) = record.event().and_then(chain::child) else {
                continue;
            };
            if !self.agrees(&child, id)? {
                continue;
            }
            let (from, to) = match live.binary_search(&index) {
                Ok(_) => (id, child.as_str()),
                // Another active link may name the same session.
                Err(_) if known.contains(&child) => continue,
                Err(_) => (child.as_str(), id),
            };
            self.move_aliases(&names_in(record.body), from, to)?;
        }
        Ok(())
    }

    /// Moves these names to another session if they still refer to the old one.
    fn move_aliases(&self, aliases: &[String], from: &str, to: &str) -> Result<()> {
        let moved = aliases
            .iter()
            .try_for_each(|name| self.alias_follow(name, from, to));
        moved.map_err(|error| {
            error.kind(ErrorKind::Unsure).hint(format!(
                "{from} is already continued by {to}; move the remaining aliases with: convo continue {from}"
            ))
        })
    }

    /// Lets the key of an imported session name the last session of its chain. Returns the session outside the chain that
    /// has this name already.
    pub fn key_claim(&self, key: &str, id: &str) -> Result<Option<String>> {
        let end = self.end_of_chain(id)?;
        match self.exactly(key)? {
            None => self.alias_claim(key, &[end]).map(|()| None),
            Some(own) if own == end => self.sync_aliases().map(|()| None),
            Some(own) if self.end_of_chain(&own)? == end => self.alias_follow(key, &own, &end).map(|()| None),
            Some(other) => Ok(Some(other)),
        }
    }

    /// Moves a name that a continued session still has, because a process died before moving it.
    pub fn move_alias(&self, name: &str, from: &str) -> Result<()> {
        let kept = match self.alias_ids(name)? {
            Some(ids) => ids == [from],
            None => {
                let first = self.first_line(from)?;
                let header = super::log::strip(&first);
                let text = |name: &str| json::member_string(&header, name);
                key_of_session(from, text).as_deref() == Some(name)
            }
        };
        if kept {
            self.update_linked_names(from)
        } else {
            Ok(())
        }
    }

    /// Appends a link to a continuation unless there is one; returns whether the session is linked to it now.
    pub(super) fn add_link(&self, parent: &str, child: &str, stamp: &Stamp) -> Result<bool> {
        key::checked_id(parent)?;
        loop {
            let mut report = Report::default();
            let (session, length) = self.load_with_length(parent, &mut report)?;
            let known = self.child_of(parent, &session)?;
            if known.is_some() || self.append_to(parent, &[&link(stamp, child, &[])], length)? {
                self.unmark(MarkerKind::Continue, parent);
                return Ok(known.is_none_or(|known| known == child));
            }
        }
    }
}

/// Whether a header says that its session continues another.
pub(super) fn continues(header: &[u8], parent: &str) -> bool {
    let header = super::log::strip(header);
    let from = json::member_text(&header, "continued_from");
    from.is_some_and(|from| from == parent)
}

/// The key from which a session's id is derived: from its header, or decoded from the id. The id of a continuation is
/// derived from that of the first session.
pub(super) fn key_of_session(id: &str, header: impl Fn(&str) -> Option<String>) -> Option<String> {
    let encoded =
        || key::key_for_id(id).filter(|encoded| encoded != id && header("continued_from").is_none());
    header("key")
        .or_else(encoded)
        .filter(|key| key::id_for_key(key) == id)
}

/// The names that a link event moved.
fn names_in(line: &[u8]) -> Vec<String> {
    let names = json::list(line, "aliases").into_iter().filter_map(json::text);
    names.map(|name| name.into_owned()).collect()
}

fn record_id(line: &[u8]) -> Option<String> {
    json::member_string(line, "id")
}
