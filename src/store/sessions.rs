//! The interface of places that store sessions, on disk or in memory.

use super::Store;
use super::alias::{self, AliasClaim};
use super::link::{Continued, Successor, continues};
use super::names::{self, SessionEntry};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::report::Report;
use crate::model::chain;
use crate::model::event::Event;
use crate::model::json;
use crate::model::key;
use crate::model::lineage::Lineage;
use crate::model::record::Record;
use crate::model::session::Session;
use std::collections::HashSet;

/// The prefix of an id that must be taken literally, even if something else has that name.
pub const EXACTLY: &str = "@id:";

/// Whether a session continues another one under this key.
pub(super) fn continues_under_key(header: &[u8], key: &str) -> bool {
    let header = super::log::strip(header);
    let text = |name| json::member_text(&header, name);
    text("continued_from").is_some() && text("key").is_some_and(|own| own == key)
}

/// A place that stores sessions. [`Store`] keeps them durably, [`Memory`](super::MemoryStore) until drop; otherwise both
/// behave alike, including errors.
pub trait Sessions {
    /// Whether there is a session of exactly this id.
    fn has(&self, id: &str) -> Result<bool>;

    /// The length of a session, used by [`append_to`](Sessions::append_to) to detect changes.
    fn size(&self, id: &str) -> Result<u64>;

    /// All sessions, unsorted.
    fn ids(&self) -> Result<Vec<SessionEntry>>;

    /// The ids of all sessions, unsorted.
    fn session_ids(&self) -> Result<Vec<String>>;

    /// Creates a session with these lines, the header first. An id used by a session or alias is [`ErrorKind::Exists`].
    fn create_session(&self, id: &str, lines: &[Vec<u8>]) -> Result<()>;

    /// Appends lines to a session, all of them or none.
    fn append(&self, id: &str, lines: &[&[u8]]) -> Result<()>;

    /// Appends lines to a session if it still has the length that was read; returns whether it had.
    fn append_to(&self, id: &str, lines: &[&[u8]], length: u64) -> Result<bool>;

    /// The first line of a session.
    fn first_line(&self, id: &str) -> Result<Vec<u8>>;

    /// The last line of a session without newline; empty if it is long.
    fn last_line(&self, id: &str) -> Result<Vec<u8>>;

    /// Reads a session and returns its length.
    fn load_with_length(&self, id: &str, report: &mut Report) -> Result<(Session, u64)>;

    /// Reads a session.
    fn load(&self, id: &str, report: &mut Report) -> Result<Session> {
        self.load_with_length(id, report).map(|(session, _)| session)
    }

    /// Continues a session in the one that `plan` returns, and moves its aliases.
    fn continue_session(
        &self,
        parent: &str,
        report: &mut Report,
        plan: &mut dyn FnMut(&Session) -> Result<Option<Successor>>,
    ) -> Result<Continued>;

    /// Assigns an alias to a session. Repeating the same assignment succeeds; a name in use is [`ErrorKind::Exists`].
    fn alias_add(&self, name: &str, id: &str) -> Result<()>;

    /// Moves a name from other sessions to this one.
    fn alias_move(&self, name: &str, id: &str) -> Result<()>;

    /// Assigns a name that several sessions may share; with a second session it resolves to none.
    fn alias_share(&self, name: &str, id: &str) -> Result<AliasClaim>;

    /// Removes an alias.
    fn alias_remove(&self, name: &str) -> Result<()>;

    /// The ids that an alias names; none when there is no such alias.
    fn alias_ids(&self, name: &str) -> Result<Option<Vec<String>>>;

    /// All aliases with the ids that they name, sorted by name.
    fn aliases(&self) -> Result<Vec<(String, Vec<String>)>>;

    /// Moves a session to the trash; `now` is RFC 3339 in UTC to the second. Aliases still name it.
    fn remove(&self, id: &str, now: &str) -> Result<()>;

    /// Restores the session removed last under this id.
    fn restore_removed(&self, id: &str) -> Result<()>;

    /// The ids and times of removed sessions, oldest first.
    fn trash(&self) -> Result<Vec<(String, String)>>;

    /// The session with this id or key, regardless of aliases.
    fn session_by_id_or_key(&self, name: &str) -> Result<Option<String>> {
        alias::session_by_id_or_key(name, |id| self.has(id))
    }

    /// Resolves a complete name: an id, an alias or a key, but not a prefix. For operations that cannot be undone,
    /// and where other things with exactly this name take precedence over a session with this prefix. A key moves to
    /// the continuation of its session, even if it is the id of the first; [`EXACTLY`] and an id always select that
    /// session.
    fn exactly(&self, name: &str) -> Result<Option<String>> {
        if let Some(id) = name.strip_prefix(EXACTLY) {
            let is_there = key::is_id(id) && self.has(id)?;
            return Ok(is_there.then(|| id.to_string()));
        }
        let ids = self.alias_ids(name)?;
        if key::is_id(name) && self.has(name)? {
            return Ok(Some(match ids.as_deref() {
                Some([moved]) if self.has(moved)? && continues_under_key(&self.first_line(moved)?, name) => {
                    moved.clone()
                }
                _ => name.to_string(),
            }));
        }
        if let Some(ids) = ids {
            let id = names::only(name, &ids)?;
            return match self.has(id)? {
                true => Ok(Some(id.to_string())),
                false => Err(names::missing_session(name, id)),
            };
        }
        let encoded = key::id_for_key(name);
        let is_key = encoded != name && !name.is_empty() && self.has(&encoded)?;
        Ok(is_key.then_some(encoded))
    }

    /// The session changed last. A change that only links to a continuation counts as a change of the continuation.
    fn newest(&self) -> Result<String> {
        let mut newest = names::newest(self.ids()?)?;
        let mut seen = HashSet::new();
        while seen.insert(newest.clone()) {
            let line = self.last_line(&newest)?;
            let record = Record::parse(&line, Position { line: 0, offset: 1 });
            match record.event().and_then(chain::child) {
                Some(child)
                    if !record.event().is_some_and(Event::is_header)
                        && self.is_session(&child)?
                        && continues(&self.first_line(&child)?, &newest) =>
                {
                    newest = child
                }
                _ => break,
            }
        }
        Ok(newest)
    }

    /// Whether this is the id of a session.
    fn is_session(&self, id: &str) -> Result<bool> {
        Ok(key::is_id(id) && self.has(id)?)
    }

    /// The session of which this one is a branch, a subagent or a part; none if it is independent.
    fn parent(&self, id: &str) -> Option<String> {
        let lineage = Lineage::of_header(&super::log::strip(&self.first_line(id).ok()?))?;
        lineage.parent.filter(|_| lineage.kind != "fork")
    }

    /// Resolves a name: `@last`, an id, an alias, a key, or a unique prefix of an id.
    fn resolve(&self, name: &str) -> Result<String> {
        match name {
            "@last" => return self.newest(),
            "@all" => {
                let error = Error::new(ErrorKind::Usage, "@all: expected one session");
                return Err(error.hint("give a session, or list all with: convo list"));
            }
            _ => {}
        }
        match self.exactly(name)? {
            Some(id) => Ok(id),
            None => {
                let aliases = || self.aliases().unwrap_or_default();
                names::beginning(name, &self.session_ids()?, aliases, |id| self.parent(id))
            }
        }
    }
}

impl Store {
    /// Resolves a name: `@last`, an id, an alias, a key, or a unique prefix of an id.
    pub fn resolve(&self, name: &str) -> Result<String> {
        Sessions::resolve(self, name)
    }

    /// The same for operations on a single log: an id selects its session even if it is also the key of a chain.
    pub fn resolve_id(&self, name: &str) -> Result<String> {
        match Sessions::is_session(self, name)? {
            true => Ok(name.to_string()),
            false => self.resolve(name),
        }
    }

    /// Resolves a complete name: see [`Sessions::exactly`].
    pub fn exactly(&self, name: &str) -> Result<Option<String>> {
        Sessions::exactly(self, name)
    }
}

impl Sessions for Store {
    fn has(&self, id: &str) -> Result<bool> {
        Store::has(self, id)
    }

    fn size(&self, id: &str) -> Result<u64> {
        Store::size(self, id)
    }

    fn ids(&self) -> Result<Vec<SessionEntry>> {
        Store::ids(self)
    }

    fn session_ids(&self) -> Result<Vec<String>> {
        self.session_names()
    }

    fn create_session(&self, id: &str, lines: &[Vec<u8>]) -> Result<()> {
        Store::create_session(self, id, lines)
    }

    fn append(&self, id: &str, lines: &[&[u8]]) -> Result<()> {
        Store::append(self, id, lines)
    }

    fn append_to(&self, id: &str, lines: &[&[u8]], length: u64) -> Result<bool> {
        Store::append_to(self, id, lines, length)
    }

    fn first_line(&self, id: &str) -> Result<Vec<u8>> {
        Store::first_line(self, id)
    }

    fn last_line(&self, id: &str) -> Result<Vec<u8>> {
        Store::last_line(self, id)
    }

    fn load_with_length(&self, id: &str, report: &mut Report) -> Result<(Session, u64)> {
        Store::load_with_length(self, id, report)
    }

    fn continue_session(
        &self,
        parent: &str,
        report: &mut Report,
        plan: &mut dyn FnMut(&Session) -> Result<Option<Successor>>,
    ) -> Result<Continued> {
        Store::continue_session(self, parent, report, plan)
    }

    fn alias_add(&self, name: &str, id: &str) -> Result<()> {
        Store::alias_add(self, name, id)
    }

    fn alias_move(&self, name: &str, id: &str) -> Result<()> {
        Store::alias_move(self, name, id)
    }

    fn alias_share(&self, name: &str, id: &str) -> Result<AliasClaim> {
        Store::alias_share(self, name, id)
    }

    fn alias_remove(&self, name: &str) -> Result<()> {
        Store::alias_remove(self, name)
    }

    fn alias_ids(&self, name: &str) -> Result<Option<Vec<String>>> {
        Store::alias_ids(self, name)
    }

    fn aliases(&self) -> Result<Vec<(String, Vec<String>)>> {
        Store::aliases(self)
    }

    fn remove(&self, id: &str, now: &str) -> Result<()> {
        Store::remove(self, id, now)
    }

    fn restore_removed(&self, id: &str) -> Result<()> {
        Store::restore_removed(self, id)
    }

    fn trash(&self) -> Result<Vec<(String, String)>> {
        Store::trash(self)
    }
}
