//! The trash: removed sessions, and their restoration.

use super::directory::Directory;
use super::resolve::continues_under_key;
use super::{Store, alias, atomic, log_name, no_session};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use rustix::fs::OFlags;

pub(super) const TRASH: &str = "trash";

/// The suffix of a copy in the quarantine.
const COPY: &str = ".copy";

/// Directories with data of a session besides its log, named like the log.
const PIECES: [&str; 2] = ["archive", "quarantine"];

/// All places besides the log that contain data of a session.
pub(super) const DATA_DIRECTORIES: [&str; 3] = [PIECES[0], PIECES[1], TRASH];

/// A removed session: its id, the time, and a number among removals within that second.
type TrashEntry = (String, String, u64);

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

/// Converts an RFC 3339 time in UTC to the form used in file names, with seconds.
pub(super) fn checked_time(now: &str) -> Result<String> {
    let time: String = now.chars().filter(|digit| !matches!(digit, '-' | ':')).collect();
    match is_time(&time) {
        true => Ok(time),
        false => Err(Error::usage(format!(
            "expected a time in UTC to the second, got '{now}'"
        ))),
    }
}

/// Parses `<id>.<time>.jsonl` or `<id>.<time>.<n>.jsonl`; an id may contain dots.
pub(super) fn entry(name: &str) -> Option<TrashEntry> {
    let (before, last) = name.strip_suffix(".jsonl")?.rsplit_once('.')?;
    let (id, time, nth) = if is_time(last) {
        (before, last, 1)
    } else {
        let (id, time) = before.rsplit_once('.')?;
        (id, time, last.parse().ok()?)
    };
    (key::is_id(id) && is_time(time)).then(|| (id.to_string(), time.to_string(), nth))
}

pub(super) fn entry_name(id: &str, time: &str, nth: u64) -> String {
    if nth < 2 {
        format!("{id}.{time}.jsonl")
    } else {
        format!("{id}.{time}.{nth}.jsonl")
    }
}

/// Whether a file of the archive or the quarantine belongs to this session.
fn is_piece(file: &str, id: &str) -> bool {
    let log = log_name(id);
    file == log || file == atomic::temporary_name(&log) || is_copy(file).is_some_and(|other| other == id)
}

/// The session of which a file in the quarantine is a copy. The suffix differs from that of a log, because the name
/// of a log may look like an id with a time.
pub(super) fn is_copy(file: &str) -> Option<String> {
    let stem = file.strip_suffix(COPY)?;
    entry(&format!("{stem}.jsonl")).map(|(id, ..)| id)
}

/// The name of a copy of a log.
pub(super) fn copy_name(id: &str, time: &str, nth: u64) -> String {
    let name = entry_name(id, time, nth);
    format!("{}{COPY}", name.strip_suffix(".jsonl").unwrap_or(&name))
}

/// Converts `20261120T180203Z` to RFC 3339.
pub(super) fn rfc3339(time: &str) -> String {
    let (day, clock) = time.split_at(8);
    let part = |text: &str, at: usize| text.get(at..at + 2).unwrap_or_default().to_string();
    format!(
        "{}-{}-{}T{}:{}:{}Z",
        &day[..4],
        part(day, 4),
        part(day, 6),
        part(clock, 1),
        part(clock, 3),
        part(clock, 5)
    )
}

fn seconds(time: &str) -> Option<i64> {
    crate::model::time::seconds(&rfc3339(time))
}

impl Store {
    /// Moves a session to the trash; `now` is RFC 3339 in UTC to the second. Aliases still name it and work again
    /// after it is restored.
    pub fn remove(&self, id: &str, now: &str) -> Result<()> {
        let id = key::checked_id(id)?;
        let time = checked_time(now)?;
        let sessions = self.sessions()?.ok_or_else(|| no_session(id))?;
        let name = log_name(id);
        let locked = atomic::open_locked(sessions, &name, None, OFlags::RDWR, self.lock_timeout)?;
        let _lock = locked.ok_or_else(|| no_session(id))?;
        atomic::remove_dead_file(sessions, &atomic::temporary_name(&name));
        let trash = atomic::dir(self.directory(), TRASH)?;
        for nth in 1.. {
            if atomic::move_new(sessions, &name, &trash, &entry_name(id, &time, nth))? {
                break;
            }
        }
        Ok(())
    }

    /// Restores the session removed last under this id.
    pub fn restore_removed(&self, id: &str) -> Result<()> {
        let id = key::checked_id(id)?;
        let none = || Error::new(ErrorKind::NotFound, format!("{id}: no such session in the trash"));
        let trash = self.directory().inner(TRASH)?.ok_or_else(none)?;
        let newest = self
            .entries()?
            .into_iter()
            .filter(|(other, ..)| other == id)
            .max();
        let (_, time, nth) = newest.ok_or_else(none)?;
        let sessions = self.make_sessions()?;
        if !self.is_moved_key(id)? {
            self.refuse_taken(id)?;
        }
        let name = entry_name(id, &time, nth);
        if let Some(file) = trash.file(&name, OFlags::RDWR)? {
            atomic::mark_unnamed(&file).map_err(|error| Error::io(trash.shown(&name), error))?;
        }
        if atomic::move_new(&trash, &name, sessions, &log_name(id))? {
            Ok(())
        } else {
            Err(Error::new(
                ErrorKind::Exists,
                format!("{id}: session already exists"),
            ))
        }
    }

    /// Whether this is a key that moved to another session, so that the first session may be restored.
    fn is_moved_key(&self, id: &str) -> Result<bool> {
        match self.alias_ids(id)?.as_deref() {
            Some([moved]) if !self.has(id)? && self.has(moved)? => {
                Ok(continues_under_key(&self.first_line(moved)?, id))
            }
            _ => Ok(false),
        }
    }

    /// Purges a session: its aliases, its data in the trash, the archive and the quarantine, and its log.
    pub fn purge(&self, id: &str) -> Result<()> {
        let id = key::checked_id(id)?;
        // Find everything before deleting anything.
        let name = log_name(id);
        let sessions = self.sessions()?;
        let locked = match sessions {
            Some(sessions) => atomic::open_locked(sessions, &name, None, OFlags::RDWR, self.lock_timeout)?,
            None => None,
        };
        // Delete the log last: while it exists, an interrupted purge can be repeated by name.
        let mut places = self.files_besides_log(id, &DATA_DIRECTORIES)?;
        if let Some(sessions) = sessions {
            let log = locked.iter().map(|_| name.clone());
            let left = std::iter::once(atomic::temporary_name(&name));
            places.push((sessions.duplicate()?, left.chain(log).collect()));
        }
        self.forget_view(id);
        self.forget_overviews();
        let mut found = false;
        let mut destroy = || {
            self.drop_aliases(id, &mut found)?;
            for (dir, names) in &places {
                for name in names {
                    found |= atomic::unlink(dir, name)?;
                }
            }
            // Sync all directories: a killed process may have deleted files without syncing.
            places.iter().try_for_each(|(dir, _)| atomic::sync_directory(dir))
        };
        let done = destroy();
        done.map_err(|error| {
            if found {
                error.kind(ErrorKind::Unsure)
            } else {
                error
            }
        })?;
        if found { Ok(()) } else { Err(no_session(id)) }
    }

    /// The files of a session in these directories, besides its log.
    pub(super) fn files_besides_log(
        &self,
        id: &str,
        places: &[&str],
    ) -> Result<Vec<(Directory, Vec<String>)>> {
        let mut found = Vec::new();
        for place in places {
            let Some(dir) = self.directory().inner(place)? else {
                continue;
            };
            let mut names = dir.names()?;
            names.retain(|file| match *place {
                TRASH => entry(file).is_some_and(|(other, ..)| other == id),
                _ => is_piece(file, id),
            });
            found.push((dir, names));
        }
        Ok(found)
    }

    /// Whether there is any data of a session besides its log.
    pub fn has_files_besides_log(&self, id: &str) -> Result<bool> {
        Ok(key::is_id(id)
            && self
                .files_besides_log(id, &DATA_DIRECTORIES)?
                .iter()
                .any(|(_, names)| !names.is_empty()))
    }

    /// Removes the aliases that name only this session.
    fn drop_aliases(&self, id: &str, any: &mut bool) -> Result<()> {
        // Invalid alias files are reported by fsck and ignored here.
        let all = match self.alias_files(&mut Vec::new()) {
            Err(error) if matches!(error.kind, ErrorKind::Data | ErrorKind::Unsafe) => return Ok(()),
            all => all?,
        };
        for (file, ids) in all {
            if ids.iter().all(|other| other == id) {
                self.alias_file_remove(&file, || alias::no_alias(&file))?;
                *any = true;
            }
        }
        // Sync also those that a killed process removed.
        self.aliases_dir()?.map_or(Ok(()), atomic::sync_directory)
    }

    /// Purges sessions removed up to a time (seconds since 1970; none: all), and leftover data of sessions that no
    /// longer exist; returns the number of sessions and of bytes.
    pub fn empty_trash(&self, until: Option<i64>, dry_run: bool) -> Result<(u64, u64)> {
        let Some(trash) = self.directory().inner(TRASH)? else {
            return Ok((0, 0));
        };
        let is_old = |time: &str| until.is_none_or(|until| seconds(time).is_some_and(|time| time <= until));
        let (mut count, mut bytes) = (0, 0);
        let (old, young): (Vec<TrashEntry>, Vec<TrashEntry>) =
            self.entries()?.into_iter().partition(|(_, time, _)| is_old(time));
        for (id, time, nth) in &old {
            bytes += trash
                .facts(entry_name(id, time, *nth))?
                .map_or(0, |facts| facts.size);
            count += 1;
        }
        if dry_run || count == 0 {
            return Ok((count, bytes));
        }
        self.forget_overviews();
        let destroy = || -> Result<()> {
            for (nth, (id, ..)) in old.iter().enumerate() {
                let last = !old[nth + 1..].iter().any(|(other, ..)| other == id);
                if last && !self.has(id)? && !young.iter().any(|(other, ..)| other == id) {
                    self.drop_aliases(id, &mut false)?;
                    for (dir, names) in self.files_besides_log(id, &PIECES)? {
                        for name in &names {
                            atomic::unlink(&dir, name)?;
                        }
                        atomic::sync_directory(&dir)?;
                    }
                }
                // Delete the log last, as in a purge.
                let (id, time, nth) = &old[nth];
                atomic::unlink(&trash, entry_name(id, time, *nth))?;
            }
            atomic::sync_directory(&trash)
        };
        destroy().map_err(|error| {
            error
                .kind(ErrorKind::Unsure)
                .hint("some copies may be deleted already; run the command again")
        })?;
        Ok((count, bytes))
    }

    /// The removed sessions: ids and times in RFC 3339, oldest first.
    pub fn trash(&self) -> Result<Vec<(String, String)>> {
        let mut entries = self.entries()?;
        entries.sort_by(|one, other| (&one.1, one.2, &one.0).cmp(&(&other.1, other.2, &other.0)));
        Ok(entries
            .into_iter()
            .map(|(id, time, _)| (id, rfc3339(&time)))
            .collect())
    }

    fn entries(&self) -> Result<Vec<TrashEntry>> {
        let Some(trash) = self.directory().inner(TRASH)? else {
            return Ok(Vec::new());
        };
        Ok(trash.names()?.iter().filter_map(|name| entry(name)).collect())
    }
}
