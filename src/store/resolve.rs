//! Names of stored sessions: from an id, alias, key or prefix to the session.

use super::link::continues;
use super::{Store, names};
use crate::error::{Error, Position, Result};
use crate::model::event::Event;
use crate::model::lineage::Lineage;
use crate::model::record::Record;
use crate::model::{chain, json, key};
use std::collections::HashSet;

/// The prefix of an id that must be taken literally, even if something else has that name.
pub const EXACTLY: &str = "@id:";

/// Whether a session continues another one under this key.
pub(super) fn continues_under_key(header: &[u8], key: &str) -> bool {
    let header = super::log::strip(header);
    let text = |name| json::member_text(&header, name);
    text("continued_from").is_some() && text("key").is_some_and(|own| own == key)
}

impl Store {
    /// Resolves a complete name: an id, an alias or a key, but not a prefix. For operations that cannot be undone,
    /// and where other things with exactly this name take precedence over a session with this prefix. A key moves to
    /// the continuation of its session, even if it is the id of the first; [`EXACTLY`] and an id always select that
    /// session.
    pub fn exactly(&self, name: &str) -> Result<Option<String>> {
        if let Some(id) = name.strip_prefix(EXACTLY) {
            return Ok(self.is_session(id)?.then(|| id.to_string()));
        }
        let ids = self.alias_ids(name)?;
        if self.is_session(name)? {
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

    pub(super) fn is_session(&self, id: &str) -> Result<bool> {
        Ok(key::is_id(id) && self.has(id)?)
    }

    /// The session of which this one is a branch, a subagent or a part; none if it is independent.
    fn parent(&self, id: &str) -> Option<String> {
        let lineage = Lineage::of_header(&super::log::strip(&self.first_line(id).ok()?))?;
        lineage.parent.filter(|_| lineage.kind != "fork")
    }

    /// Resolves a name: `@last`, an id, an alias, a key, or a unique prefix of an id.
    pub fn resolve(&self, name: &str) -> Result<String> {
        match name {
            "@last" => return self.newest(),
            "@all" => {
                let error = Error::usage("@all: expected one session");
                return Err(error.hint("give a session, or list all with: convo list"));
            }
            _ => {}
        }
        match self.exactly(name)? {
            Some(id) => Ok(id),
            None => {
                let aliases = || self.aliases().unwrap_or_default();
                names::beginning(name, &self.session_names()?, aliases, |id| self.parent(id))
            }
        }
    }

    /// Like [`Store::resolve`] for operations on a single log: an id selects its session even if it is also the key of
    /// a chain.
    pub fn resolve_id(&self, name: &str) -> Result<String> {
        match self.is_session(name)? {
            true => Ok(name.to_string()),
            false => self.resolve(name),
        }
    }
}
