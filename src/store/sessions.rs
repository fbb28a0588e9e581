//! What can be asked of a place that keeps sessions, wherever they are: on disk, or in memory alone.

use super::Store;
use super::alias::{self, Claim};
use super::link::{Continued, Successor, continues};
use super::names::{self, Entry};
use crate::error::{Error, Kind, Place, Result};
use crate::format::report::Report;
use crate::model::chain;
use crate::model::event::Event;
use crate::model::json;
use crate::model::key;
use crate::model::lineage::Lineage;
use crate::model::record::Record;
use crate::model::session::Session;
use std::collections::HashSet;

/// What stands before an id that is meant whatever else has that name.
pub const EXACTLY: &str = "@id:";

/// Whether a session says that it goes on, under this key, with what another one began.
pub(super) fn goes_on(header: &[u8], key: &str) -> bool {
    let header = super::log::strip(header);
    let text = |name| json::member(&header, name).and_then(json::text);
    text("continued_from").is_some() && text("key").is_some_and(|own| own == key)
}

/// A place that keeps sessions. [`Store`] keeps them durably, [`Memory`](super::Memory) as long as it lives; everything
/// else is the same, and so are the errors.
pub trait Sessions {
    /// Whether there is a session of exactly this id.
    fn has(&self, id: &str) -> Result<bool>;

    /// The length of a session, by which [`append_to`](Sessions::append_to) knows it again.
    fn size(&self, id: &str) -> Result<u64>;

    /// All sessions, in no order.
    fn ids(&self) -> Result<Vec<Entry>>;

    /// The ids of all sessions, in no order.
    fn session_ids(&self) -> Result<Vec<String>>;

    /// Makes a new session of these lines, the session line first. An id that a session or an alias has is
    /// [`Kind::Exists`].
    fn create_session(&self, id: &str, lines: &[Vec<u8>]) -> Result<()>;

    /// Adds lines to a session, all of them or none.
    fn append(&self, id: &str, lines: &[&[u8]]) -> Result<()>;

    /// Adds lines to a session if it still has the length that was read; tells whether it had.
    fn append_to(&self, id: &str, lines: &[&[u8]], length: u64) -> Result<bool>;

    /// The first line of a session.
    fn first_line(&self, id: &str) -> Result<Vec<u8>>;

    /// The last line of a session, without its newline; an empty one in place of a long one.
    fn last_line(&self, id: &str) -> Result<Vec<u8>>;

    /// Reads a session, and tells its length.
    fn load_with_length(&self, id: &str, report: &mut Report) -> Result<(Session, u64)>;

    /// Reads a session.
    fn load(&self, id: &str, report: &mut Report) -> Result<Session> {
        self.load_with_length(id, report).map(|(session, _)| session)
    }

    /// Continues a session in the one that `plan` makes of it; aliases go along.
    fn continue_session(
        &self,
        parent: &str,
        report: &mut Report,
        plan: &mut dyn FnMut(&Session) -> Result<Option<Successor>>,
    ) -> Result<Continued>;

    /// Gives a session another name. The same again is fine; a name that is taken is [`Kind::Exists`].
    fn alias_add(&self, name: &str, id: &str) -> Result<()>;

    /// Gives a session a name that others had until now.
    fn alias_move(&self, name: &str, id: &str) -> Result<()>;

    /// Gives a session a name that others may have too: with the second one it means none of them.
    fn alias_share(&self, name: &str, id: &str) -> Result<Claim>;

    /// Takes an alias away.
    fn alias_remove(&self, name: &str) -> Result<()>;

    /// The ids that an alias names; none when there is no such alias.
    fn alias_ids(&self, name: &str) -> Result<Option<Vec<String>>>;

    /// All aliases with the ids that they name, sorted by name.
    fn aliases(&self) -> Result<Vec<(String, Vec<String>)>>;

    /// Puts a session into the trash; `now` is RFC 3339 in UTC to the second. Aliases keep naming it.
    fn remove(&self, id: &str, now: &str) -> Result<()>;

    /// Brings the session back that was removed last under this id.
    fn restore_removed(&self, id: &str) -> Result<()>;

    /// What is in the trash: ids and times, oldest first.
    fn trash(&self) -> Result<Vec<(String, String)>>;

    /// The session whose own name this is, by id or by key, whatever aliases say.
    fn own_session(&self, name: &str) -> Result<Option<String>> {
        alias::own_session(name, |id| self.has(id))
    }

    /// The id that a name means in full: an id, an alias or a key. For what cannot be undone, and where something else
    /// of exactly this name goes before a session that only begins so. A key goes on with its session, also one that is
    /// the id of the first: [`EXACTLY`] and an id always mean that one.
    fn exactly(&self, name: &str) -> Result<Option<String>> {
        if let Some(id) = name.strip_prefix(EXACTLY) {
            let is_there = key::is_id(id) && self.has(id)?;
            return Ok(is_there.then(|| id.to_string()));
        }
        let ids = self.alias_ids(name)?;
        if key::is_id(name) && self.has(name)? {
            return Ok(Some(match ids.as_deref() {
                Some([moved]) if self.has(moved)? && goes_on(&self.first_line(moved)?, name) => moved.clone(),
                _ => name.to_string(),
            }));
        }
        if let Some(ids) = ids {
            let id = names::only(name, &ids)?;
            return match self.has(id)? {
                true => Ok(Some(id.to_string())),
                false => Err(names::gone(name, id)),
            };
        }
        let spelled = key::id_for_key(name);
        let is_key = spelled != name && !name.is_empty() && self.has(&spelled)?;
        Ok(is_key.then_some(spelled))
    }

    /// The session that was changed last. A change that tells where it is continued is one of the session there.
    fn newest(&self) -> Result<String> {
        let mut newest = names::newest(self.ids()?)?;
        let mut seen = HashSet::new();
        while seen.insert(newest.clone()) {
            let line = self.last_line(&newest)?;
            let record = Record::parse(&line, Place { line: 0, offset: 1 });
            match record.event().and_then(chain::child) {
                Some(child)
                    if !record.event().is_some_and(Event::is_header)
                        && self.is_there(&child)?
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
    fn is_there(&self, id: &str) -> Result<bool> {
        Ok(key::is_id(id) && self.has(id)?)
    }

    /// The session of which this one is a branch, a subagent or a part; none of a session of its own.
    fn parent(&self, id: &str) -> Option<String> {
        let lineage = Lineage::of_header(&super::log::strip(&self.first_line(id).ok()?))?;
        lineage.parent.filter(|_| lineage.kind != "fork")
    }

    /// The id that a name means: `@last`, an id, an alias, a key, or the beginning of one id.
    fn resolve(&self, name: &str) -> Result<String> {
        match name {
            "@last" => return self.newest(),
            "@all" => {
                let error = Error::new(Kind::Usage, "@all: expected one session");
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
    /// The id that a name means: `@last`, an id, an alias, a key, or the beginning of one id.
    pub fn resolve(&self, name: &str) -> Result<String> {
        Sessions::resolve(self, name)
    }

    /// The same for what is about one log: an id is that of its session, also where it is the key of a chain.
    pub fn resolve_id(&self, name: &str) -> Result<String> {
        match Sessions::is_there(self, name)? {
            true => Ok(name.to_string()),
            false => self.resolve(name),
        }
    }

    /// The id that a name means in full: see [`Sessions::exactly`].
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

    fn ids(&self) -> Result<Vec<Entry>> {
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

    fn alias_share(&self, name: &str, id: &str) -> Result<Claim> {
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
