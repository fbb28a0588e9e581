//! Markers of changes that create sessions first and link them last. A session's own lines can claim anything, but
//! only the store writes markers, so only sessions that they name are linked automatically.

use super::directory::Directory;
use super::{Store, atomic, log, rename_sync};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

/// The kinds of changes, by the prefix of their markers' names. No session id begins with a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkerKind {
    Continue,
    Split,
}

impl MarkerKind {
    const fn prefix(self) -> &'static str {
        match self {
            MarkerKind::Continue => ".continue-",
            MarkerKind::Split => ".split-",
        }
    }

    fn name(self, parent: &str) -> String {
        format!("{}{parent}", self.prefix())
    }
}

/// Maximum size of a marker in bytes, enough for a split into many thousands of parts.
const LONGEST: u64 = 16 << 20;

/// A session about to be created: its id, and a digest of its first lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub id: String,
    lines: usize,
    sha256: String,
}

impl Planned {
    /// Describes a session by its lines in stored form, without newlines and checksums.
    pub fn of<L: AsRef<[u8]>>(id: &str, lines: impl IntoIterator<Item = L>) -> Planned {
        let (mut hash, mut count) = (Sha256::new(), 0);
        for line in lines {
            let line = line.as_ref();
            hash.update(log::bare(line.strip_suffix(b"\n").unwrap_or(line)));
            hash.update(b"\n");
            count += 1;
        }
        Planned {
            id: id.to_string(),
            lines: count,
            sha256: key::hex(&hash.finalize()),
        }
    }

    fn read(line: &str) -> Option<Planned> {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, lines, sha256] = cells[..] else {
            return None;
        };
        Some(Planned {
            id: Some(id).filter(|id| key::is_id(id))?.to_string(),
            lines: lines.parse().ok()?,
            sha256: sha256.to_string(),
        })
    }
}

/// An existing marker.
#[derive(Debug)]
pub(super) struct PendingMark {
    /// Its file name.
    pub name: String,
    /// The session that will name the others.
    pub parent: String,
    /// The sessions to be created.
    pub planned: Vec<Planned>,
}

/// Whether this is the name of a marker.
pub(super) fn is_mark(name: &str) -> bool {
    parent_of(name).is_some()
}

fn parent_of(name: &str) -> Option<&str> {
    let kinds = [MarkerKind::Continue, MarkerKind::Split];
    kinds
        .into_iter()
        .find_map(|kind| name.strip_prefix(kind.prefix()))
}

fn read(sessions: &Directory, name: &str) -> Result<Option<PendingMark>> {
    let Some(parent) = parent_of(name).filter(|parent| key::is_id(parent)) else {
        return Ok(None);
    };
    let Some(file) = sessions.file(name, OFlags::RDONLY)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(LONGEST)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io(sessions.shown(name), error))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(PendingMark {
        name: name.to_string(),
        parent: parent.to_string(),
        planned: text.lines().filter_map(Planned::read).collect(),
    }))
}

impl Store {
    /// Records durably that these sessions are about to be created and named in another one. The marker is in use
    /// while the file is open.
    pub(super) fn mark(&self, change: MarkerKind, parent: &str, planned: &[Planned]) -> Result<File> {
        let sessions = self.make_sessions()?;
        let name = change.name(parent);
        let lines = planned
            .iter()
            .map(|planned| format!("{}\t{}\t{}\n", planned.id, planned.lines, planned.sha256));
        let bytes = lines.collect::<String>().into_bytes();
        // Not the name with a suffix, which could be the marker of another session.
        let hidden = format!(".convo-{}", name.trim_start_matches('.'));
        let marked = atomic::replace_through(sessions, &name, hidden, &bytes, |_| Ok(()), self.lock_timeout);
        // No session has changed yet, whether or not the marker was written.
        marked.map_err(|error| match error.kind {
            ErrorKind::Unsure => error.kind(ErrorKind::InputOutput),
            _ => error,
        })
    }

    /// Removes a completed marker durably. Errors are ignored.
    pub(super) fn unmark(&self, change: MarkerKind, parent: &str) {
        let name = change.name(parent);
        if let Ok(Some(sessions)) = self.sessions()
            && let Ok(Some(_)) = sessions.facts(&name)
            && atomic::unlink(sessions, &name).is_ok()
        {
            let _ = rename_sync::sync_directory(sessions);
        }
    }

    /// Whether a marker confirms that this session was about to be created for the parent and is the planned one.
    pub(super) fn is_marked(&self, change: MarkerKind, parent: &str, id: &str) -> Result<bool> {
        let Some(sessions) = self.sessions()? else {
            return Ok(false);
        };
        let Some(mark) = read(sessions, &change.name(parent))? else {
            return Ok(false);
        };
        match mark.planned.iter().find(|planned| planned.id == id) {
            Some(planned) => self.begins_as(planned),
            None => Ok(false),
        }
    }

    /// Whether a session begins with the planned lines.
    pub(super) fn begins_as(&self, planned: &Planned) -> Result<bool> {
        let name = super::log_name(&planned.id);
        let Some(sessions) = self.sessions()? else {
            return Ok(false);
        };
        let Some(file) = sessions.file(&name, OFlags::RDONLY)? else {
            return Ok(false);
        };
        let mut lines = BufReader::new(file).split(b'\n').take(planned.lines);
        let lines: std::io::Result<Vec<Vec<u8>>> = lines.by_ref().collect();
        let lines = lines.map_err(|error| Error::io(sessions.shown(&name), error))?;
        Ok(Planned::of(&planned.id, lines) == *planned)
    }

    /// The markers that are not in use.
    pub(super) fn marks(&self) -> Result<Vec<PendingMark>> {
        let Some(sessions) = self.sessions()? else {
            return Ok(Vec::new());
        };
        let mut marks = Vec::new();
        for name in sessions.names()?.into_iter().filter(|name| is_mark(name)) {
            if !sessions.facts(&name)?.is_some_and(|facts| facts.regular) {
                continue; // reported with the directories
            }
            match atomic::open_locked(sessions, &name, None, OFlags::RDONLY, Duration::ZERO) {
                Err(error) if error.kind == ErrorKind::Locked => {}
                Err(error) => return Err(error),
                Ok(None) => {}
                Ok(Some(_lock)) => marks.extend(read(sessions, &name)?),
            }
        }
        Ok(marks)
    }
}
