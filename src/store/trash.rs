//! Sessions that were removed, and the way back.

use super::directory::Directory;
use super::{Store, atomic, log_name, no_session};
use crate::error::{Error, Kind, Result};
use crate::model::key;
use rustix::fs::OFlags;

const TRASH: &str = "trash";

/// Folders of a store that hold pieces of a session under the name of its log.
const PIECES: [&str; 2] = ["archive", "quarantine"];

/// A removed session: its id, when, and which of several removals in that second.
type Entry = (String, String, u64);

/// Length of `20261120T180203Z`.
const TIME: usize = 16;

fn is_time(text: &str) -> bool {
    text.len() == TIME
        && text
            .bytes()
            .zip(*b"00000000T000000Z")
            .all(|(byte, pattern)| match pattern {
                b'0' => byte.is_ascii_digit(),
                _ => byte == pattern,
            })
}

/// Reads `<id>.<time>.jsonl` or `<id>.<time>.<n>.jsonl`; an id may have dots.
fn entry(name: &str) -> Option<Entry> {
    let (before, last) = name.strip_suffix(".jsonl")?.rsplit_once('.')?;
    let (id, time, nth) = if is_time(last) {
        (before, last, 1)
    } else {
        let (id, time) = before.rsplit_once('.')?;
        (id, time, last.parse().ok()?)
    };
    (key::is_id(id) && is_time(time)).then(|| (id.to_string(), time.to_string(), nth))
}

fn entry_name(id: &str, time: &str, nth: u64) -> String {
    if nth < 2 {
        format!("{id}.{time}.jsonl")
    } else {
        format!("{id}.{time}.{nth}.jsonl")
    }
}

impl Store {
    /// Moves a session to the trash; `now` is RFC 3339 in UTC to the second. Aliases keep naming it, and work
    /// again when it is restored.
    pub fn remove(&self, id: &str, now: &str) -> Result<()> {
        let id = key::checked_id(id)?;
        let time: String = now.chars().filter(|digit| !matches!(digit, '-' | ':')).collect();
        if !is_time(&time) {
            return Err(Error::new(
                Kind::Usage,
                format!("{now:?} is no time in UTC to the second"),
            ));
        }
        let sessions = self.sessions()?.ok_or_else(|| no_session(id))?;
        let name = log_name(id);
        let locked = atomic::open_locked(sessions, &name, None, OFlags::RDWR, self.lock_timeout)?;
        let _lock = locked.ok_or_else(|| no_session(id))?;
        let trash = atomic::folder(self.directory(), TRASH)?;
        for nth in 1.. {
            if atomic::move_new(sessions, &name, &trash, &entry_name(id, &time, nth))? {
                break;
            }
        }
        Ok(())
    }

    /// Brings the session back that was removed last under this id.
    pub fn restore_removed(&self, id: &str) -> Result<()> {
        let id = key::checked_id(id)?;
        let none = || Error::new(Kind::NotFound, format!("no session {id} in the trash"));
        let trash = self.directory().inner(TRASH)?.ok_or_else(none)?;
        let newest = self
            .entries()?
            .into_iter()
            .filter(|(other, ..)| other == id)
            .max();
        let (_, time, nth) = newest.ok_or_else(none)?;
        let sessions = self.make_sessions()?;
        self.refuse_taken(id)?;
        let name = entry_name(id, &time, nth);
        trash.has(&name)?;
        if atomic::move_new(&trash, &name, sessions, &log_name(id))? {
            Ok(())
        } else {
            Err(Error::new(Kind::Exists, format!("there is a session {id} again")))
        }
    }

    /// Destroys a session: its log, what of it is in the trash, and the pieces that were archived or quarantined.
    pub fn purge(&self, id: &str) -> Result<()> {
        let id = key::checked_id(id)?;
        // Everything is found before anything is destroyed.
        let name = log_name(id);
        let sessions = self.sessions()?;
        let locked = match sessions {
            Some(sessions) => atomic::open_locked(sessions, &name, None, OFlags::RDWR, self.lock_timeout)?,
            None => None,
        };
        let removed = self.entries()?.into_iter().filter(|(other, ..)| other == id);
        let removed: Vec<_> = removed
            .map(|(id, time, nth)| entry_name(&id, &time, nth))
            .collect();
        let mut places: Vec<(Directory, Vec<String>)> = Vec::new();
        if let Some(sessions) = sessions {
            places.push((sessions.again()?, locked.iter().map(|_| name.clone()).collect()));
        }
        for (place, names) in PIECES
            .map(|place| (place, vec![name.clone()]))
            .into_iter()
            .chain([(TRASH, removed)])
        {
            places.extend(self.directory().inner(place)?.map(|folder| (folder, names)));
        }
        let mut found = false;
        let mut destroy = || {
            for (folder, names) in &places {
                for name in names {
                    found |= atomic::unlink(folder, name)?;
                }
            }
            // All of them: a run that was killed may have destroyed something and not come to the sync.
            places
                .iter()
                .try_for_each(|(folder, _)| atomic::sync_directory(folder))
        };
        let done = destroy();
        done.map_err(|error| if found { error.kind(Kind::Unsure) } else { error })?;
        if found { Ok(()) } else { Err(no_session(id)) }
    }

    /// What is in the trash: ids and times as `20261120T180203Z`, oldest first.
    pub fn trash(&self) -> Result<Vec<(String, String)>> {
        let mut entries = self.entries()?;
        entries.sort_by(|one, other| (&one.1, one.2, &one.0).cmp(&(&other.1, other.2, &other.0)));
        Ok(entries.into_iter().map(|(id, time, _)| (id, time)).collect())
    }

    fn entries(&self) -> Result<Vec<Entry>> {
        let Some(trash) = self.directory().inner(TRASH)? else {
            return Ok(Vec::new());
        };
        Ok(trash.names()?.iter().filter_map(|name| entry(name)).collect())
    }
}
