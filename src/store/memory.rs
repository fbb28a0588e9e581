//! An in-memory store with the same interface and results, which touches no files. For programs that need sessions
//! only while they run, and for tests.

use super::alias::{self, AliasClaim};
use super::link::{Continued, Successor, key_of_session, link};
use super::names::SessionEntry;
use super::sessions::{Sessions, continues_under_key};
use super::{log, no_session, trash};
use crate::error::{Error, ErrorKind, Result};
use crate::format::native;
use crate::format::report::Report;
use crate::model::chain::{self, ChainLinks};
use crate::model::json;
use crate::model::key;
use crate::model::session::Session;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Sessions that exist until drop. Threads may share it; each change is atomic.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<StoreState>,
}

#[derive(Debug, Default)]
struct StoreState {
    sessions: BTreeMap<String, MemoryEntry>,
    aliases: BTreeMap<String, Vec<String>>,
    /// Removed sessions with their times, oldest first.
    trash: Vec<(String, String, MemoryEntry)>,
    /// Number of changes so far.
    changes: u64,
}

#[derive(Clone, Debug, Default)]
struct MemoryEntry {
    session: Session,
    bytes: u64,
    /// The number of its last change.
    changed: u64,
}

impl MemoryEntry {
    fn push(&mut self, lines: &[impl AsRef<[u8]>], change: u64) {
        for line in lines {
            let line = line.as_ref();
            let bare = log::bare(line.strip_suffix(b"\n").unwrap_or(line));
            self.session.push_new(&bare);
            self.bytes += bare.len() as u64 + 1;
        }
        self.changed = change;
    }
}

/// Rejects lines that a log cannot store.
fn check(lines: &[impl AsRef<[u8]>]) -> Result<()> {
    for line in lines {
        let line = line.as_ref();
        if memchr::memchr(b'\n', line.strip_suffix(b"\n").unwrap_or(line)).is_some() {
            return Err(Error::new(
                ErrorKind::Data,
                "cannot store a line that contains a newline",
            ));
        }
    }
    Ok(())
}

impl StoreState {
    fn change(&mut self) -> u64 {
        self.changes += 1;
        self.changes
    }

    fn entry(&self, id: &str) -> Result<&MemoryEntry> {
        self.sessions
            .get(key::checked_id(id)?)
            .ok_or_else(|| no_session(id))
    }

    fn refuse_taken(&self, id: &str) -> Result<()> {
        let what = match self.sessions.contains_key(id) {
            true => format!("{id}: session already exists"),
            false if self.aliases.contains_key(id) => format!("{id}: name already used by an alias"),
            false => return Ok(()),
        };
        Err(Error::new(ErrorKind::Exists, what))
    }

    /// Whether this is a key that moved to another session.
    fn is_moved_key(&self, id: &str) -> bool {
        let moved = self.aliases.get(id).map(Vec::as_slice);
        let first = |id: &String| {
            self.sessions
                .get(id)
                .map(|kept| kept.session.record(0).body.to_vec())
        };
        !self.sessions.contains_key(id)
            && matches!(moved, Some([moved]) if first(moved).is_some_and(|line| continues_under_key(&line, id)))
    }

    fn create(&mut self, id: &str, lines: &[Vec<u8>]) -> Result<()> {
        check(lines)?;
        self.refuse_taken(key::checked_id(id)?)?;
        let mut kept = MemoryEntry::default();
        kept.push(lines, self.change());
        self.sessions.insert(id.to_string(), kept);
        Ok(())
    }

    fn append(&mut self, id: &str, lines: &[&[u8]]) -> Result<()> {
        check(lines)?;
        self.entry(id)?;
        let change = self.change();
        if let Some(kept) = self.sessions.get_mut(id) {
            kept.push(lines, change);
        }
        Ok(())
    }

    fn session_by_id_or_key(&self, name: &str) -> Result<Option<String>> {
        alias::session_by_id_or_key(name, |id| Ok(self.sessions.contains_key(id)))
    }

    /// Whether a session named as a continuation confirms that; a missing one cannot deny it.
    fn agrees(&self, child: &str, parent: &str) -> bool {
        !self.sessions.contains_key(child) || self.continues(child, parent)
    }

    fn continues(&self, id: &str, parent: &str) -> bool {
        let header = self.sessions.get(id).map(|kept| kept.session.record(0).body);
        let from = header.and_then(|header| json::member(header, "continued_from"));
        from.and_then(json::text).is_some_and(|from| from == parent)
    }
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    fn state(&self) -> MutexGuard<'_, StoreState> {
        // A panic can only occur between changes, each of which is complete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions for MemoryStore {
    fn has(&self, id: &str) -> Result<bool> {
        Ok(self.state().sessions.contains_key(key::checked_id(id)?))
    }

    fn size(&self, id: &str) -> Result<u64> {
        Ok(self.state().entry(id)?.bytes)
    }

    /// Times of change only represent an order here.
    fn ids(&self) -> Result<Vec<SessionEntry>> {
        let entry = |(id, kept): (&String, &MemoryEntry)| SessionEntry {
            id: id.clone(),
            modified: SystemTime::UNIX_EPOCH + Duration::from_nanos(kept.changed),
            bytes: kept.bytes,
        };
        Ok(self.state().sessions.iter().map(entry).collect())
    }

    fn session_ids(&self) -> Result<Vec<String>> {
        Ok(self.state().sessions.keys().cloned().collect())
    }

    fn create_session(&self, id: &str, lines: &[Vec<u8>]) -> Result<()> {
        self.state().create(id, lines)
    }

    fn append(&self, id: &str, lines: &[&[u8]]) -> Result<()> {
        self.state().append(id, lines)
    }

    fn append_to(&self, id: &str, lines: &[&[u8]], length: u64) -> Result<bool> {
        let mut state = self.state();
        if state.entry(id)?.bytes != length {
            return Ok(false);
        }
        state.append(id, lines).map(|()| true)
    }

    fn first_line(&self, id: &str) -> Result<Vec<u8>> {
        let state = self.state();
        Ok(state.entry(id)?.session.record(0).body.to_vec())
    }

    fn last_line(&self, id: &str) -> Result<Vec<u8>> {
        let state = self.state();
        let session = &state.entry(id)?.session;
        let last = session.len().checked_sub(1);
        Ok(last.map_or(Vec::new(), |last| session.record(last).body.to_vec()))
    }

    fn load_with_length(&self, id: &str, report: &mut Report) -> Result<(Session, u64)> {
        let MemoryEntry { session, bytes, .. } = self.state().entry(id)?.clone();
        for index in 0..session.len() {
            native::check(&session.record(index), report)?;
        }
        Ok((session, bytes))
    }

    fn continue_session(
        &self,
        parent: &str,
        report: &mut Report,
        plan: &mut dyn FnMut(&Session) -> Result<Option<Successor>>,
    ) -> Result<Continued> {
        loop {
            let mut found = Report::default();
            let (session, length) = self.load_with_length(parent, &mut found)?;
            let children = ChainLinks::of(&session).continued_to;
            if let Some(child) = children
                .into_iter()
                .find(|child| self.state().agrees(child, parent))
            {
                return Ok(Continued::Before(child));
            }
            // The plan may use this store, so no lock is held.
            let Some(successor) = plan(&session)? else {
                return Ok(Continued::Not);
            };
            let mut state = self.state();
            if state.entry(parent)?.bytes != length {
                continue;
            }
            report.findings.append(&mut found.findings);
            match state.create(&successor.id, &successor.lines) {
                Err(error)
                    if error.kind == ErrorKind::Exists
                        && chain::has_named(&session, &successor.id)
                        && state.continues(&successor.id, parent) => {}
                built => built?,
            }
            let key = key_of_session(parent, |name| session.header_text(name));
            if let Some(key) = key.filter(|key| !state.aliases.contains_key(key)) {
                state.aliases.insert(key, vec![parent.to_string()]);
            }
            let only = |(_, ids): &(&String, &mut Vec<String>)| matches!(&ids[..], [id] if id == parent);
            let mut aliases = Vec::new();
            for (name, ids) in state.aliases.iter_mut().filter(only) {
                *ids = vec![successor.id.clone()];
                aliases.push(name.clone());
            }
            let (event, at) = &successor.stamp;
            state.append(parent, &[&link(event, at, &successor.id, &aliases)])?;
            return Ok(Continued::Now(successor.id, aliases));
        }
    }

    fn alias_add(&self, name: &str, id: &str) -> Result<()> {
        alias::encoded(name)?;
        let mut state = self.state();
        state.entry(id)?;
        alias::refuse_own(name, id, state.session_by_id_or_key(name)?)?;
        match state.aliases.get(name) {
            Some(known) if *known == [id] => return Ok(()),
            Some(known) => return Err(alias::name_taken(name, known)),
            None => {}
        }
        state.aliases.insert(name.to_string(), vec![id.to_string()]);
        Ok(())
    }

    fn alias_move(&self, name: &str, id: &str) -> Result<()> {
        alias::encoded(name)?;
        let mut state = self.state();
        state.entry(id)?;
        alias::refuse_own(name, id, state.session_by_id_or_key(name)?)?;
        state.aliases.insert(name.to_string(), vec![id.to_string()]);
        Ok(())
    }

    fn alias_share(&self, name: &str, id: &str) -> Result<AliasClaim> {
        alias::encoded(name)?;
        key::checked_id(id)?;
        let mut state = self.state();
        if let Some(other) = state.session_by_id_or_key(name)?
            && other != id
        {
            return Ok(AliasClaim::Own(other));
        }
        let known = state.aliases.get(name).map(Vec::as_slice);
        match alias::shared(known, id) {
            Some(ids) => {
                state.aliases.insert(name.to_string(), ids.clone());
                Ok(AliasClaim::Made(ids))
            }
            None => Ok(AliasClaim::There),
        }
    }

    fn alias_remove(&self, name: &str) -> Result<()> {
        alias::encoded(name)?;
        match self.state().aliases.remove(name) {
            Some(_) => Ok(()),
            None => Err(alias::no_alias(name)),
        }
    }

    fn alias_ids(&self, name: &str) -> Result<Option<Vec<String>>> {
        Ok(self.state().aliases.get(name).cloned())
    }

    fn aliases(&self) -> Result<Vec<(String, Vec<String>)>> {
        let state = self.state();
        let own = state.aliases.iter();
        Ok(own.map(|(name, ids)| (name.clone(), ids.clone())).collect())
    }

    fn remove(&self, id: &str, now: &str) -> Result<()> {
        key::checked_id(id)?;
        trash::checked_time(now)?;
        let mut state = self.state();
        let kept = state.sessions.remove(id).ok_or_else(|| no_session(id))?;
        state.trash.push((id.to_string(), now.to_string(), kept));
        state.trash.sort_by(|one, other| one.1.cmp(&other.1));
        Ok(())
    }

    fn restore_removed(&self, id: &str) -> Result<()> {
        key::checked_id(id)?;
        let mut state = self.state();
        let newest = state.trash.iter().rposition(|(other, ..)| other == id);
        let none = || Error::new(ErrorKind::NotFound, format!("{id}: no such session in the trash"));
        let newest = newest.ok_or_else(none)?;
        if !state.is_moved_key(id) {
            state.refuse_taken(id)?;
        }
        let (id, _, kept) = state.trash.remove(newest);
        state.sessions.insert(id, kept);
        Ok(())
    }

    fn trash(&self) -> Result<Vec<(String, String)>> {
        let state = self.state();
        let entries = state.trash.iter();
        Ok(entries.map(|(id, time, _)| (id.clone(), time.clone())).collect())
    }
}
