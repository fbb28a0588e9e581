//! An archive of copies, and the manifests of its sessions.

use super::line::{self, ManifestLine};
use crate::error::{Error, Result};
use crate::model::key;
use crate::store::directory::{DIR_MODE, Directory};
use crate::store::lock::{Lock, lock};
use crate::store::{atomic, make_dirs};
use rustix::fs::OFlags;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) const MANIFEST: &str = "manifest.jsonl";

/// A marker file that exists while lines are committed; if a run was killed, its lines may not be durable.
pub(super) const UNFINISHED: &str = ".unfinished";

/// The directory of files shared by sessions.
pub const SHARED: &str = "shared";

/// An archive of copies, locked while open.
#[derive(Debug)]
pub struct Copies {
    pub(super) directory: Directory,
    _lock: File,
    pub(super) timeout: Duration,
    pub(super) reads_copies: bool,
}

/// A session of the archive.
#[derive(Debug, Default)]
pub struct ArchivedSession {
    /// Its directory: program and session.
    pub(super) place: PathBuf,
    /// The session; none for files shared by sessions.
    pub session: Option<String>,
    /// Its manifest.
    pub lines: Vec<ManifestLine>,
    pub(super) length: u64,
}

/// A file of another program.
#[derive(Clone, Copy, Debug)]
pub struct WantedFile<'w> {
    /// The directory that the path is relative to.
    pub base: &'w Path,
    /// The name of that directory in manifests.
    pub home: &'w Path,
    /// The path below it.
    pub path: &'w Path,
    /// `transcript`, `sidecar` or `shared`.
    pub kind: &'w str,
    /// Time and size of the session in a database, if the file is a stream of its records.
    pub row: Option<&'w str>,
}

impl Copies {
    /// Opens an archive, creating it if missing; for writing, with an exclusive lock.
    pub fn open(path: &Path, writes: bool, timeout: Duration) -> Result<Copies> {
        if writes {
            make_dirs(path, DIR_MODE)?;
        }
        let directory = Directory::open(path)?;
        let shown = path.display().to_string();
        let file = directory.as_file().map_err(|error| Error::io(&shown, error))?;
        let how = if writes { Lock::Alone } else { Lock::Shared };
        lock(&file, shown, how, timeout)?;
        if writes && directory.facts(UNFINISHED)?.is_some() {
            atomic::sync_below(&directory)?;
            atomic::unlink(&directory, UNFINISHED)?;
        }
        Ok(Copies {
            directory,
            _lock: file,
            timeout,
            reads_copies: false,
        })
    }

    /// The same archive, in which a copy is intact only if it matches its checksum. By default, its length decides.
    pub fn with_checksums(self) -> Copies {
        Copies {
            reads_copies: true,
            ..self
        }
    }

    /// The directories of the sessions of a program.
    pub fn names(&self, program: &str) -> Result<Vec<String>> {
        let mut names = match self.directory.inner(program)? {
            Some(dir) => dir.names()?,
            None => Vec::new(),
        };
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        Ok(names)
    }

    /// The copies of a session, by directory name.
    pub fn archived_session(&self, program: &str, name: &str) -> Result<ArchivedSession> {
        let place = Path::new(program).join(name);
        let path = place.join(MANIFEST);
        let mut bytes = Vec::new();
        if let Some(mut file) = self.directory.file(&path, OFlags::RDONLY)? {
            file.read_to_end(&mut bytes)
                .map_err(|error| Error::io(self.directory.shown(&path), error))?;
        }
        let (lines, length) = line::lines(&bytes, &self.directory.shown(&path))?;
        let session = match lines.last() {
            Some(line) => line.session.clone(),
            None => (name != SHARED).then(|| key::key_for_id(name).unwrap_or_else(|| name.to_string())),
        };
        Ok(ArchivedSession {
            place,
            session,
            lines,
            length,
        })
    }
}

impl ArchivedSession {
    /// The last line of each file, in order of the first ones.
    pub fn latest(&self) -> Vec<&ManifestLine> {
        let mut latest: Vec<&ManifestLine> = Vec::new();
        let mut places: HashMap<(&Path, &Path), usize> = HashMap::new();
        for line in &self.lines {
            match places.entry((&line.home, &line.path)) {
                Entry::Occupied(place) => latest[*place.get()] = line,
                Entry::Vacant(place) => {
                    place.insert(latest.len());
                    latest.push(line);
                }
            }
        }
        latest
    }

    /// The lines of the copies: of each version the last line, unless another version replaced it.
    pub fn versions(&self) -> Vec<&ManifestLine> {
        let mut known = HashSet::new();
        let mut lines = Vec::new();
        for line in self.lines.iter().rev() {
            let path = line.path.as_path();
            if known.insert((path, line.version)) {
                lines.push(line);
            }
            known.extend(line.replaces.map(|version| (path, version)));
        }
        lines.reverse();
        lines
    }

    /// The last line of a file.
    pub fn of(&self, home: &Path, path: &Path) -> Option<&ManifestLine> {
        self.lines.iter().rev().find(|line| line.is_of(home, path))
    }

    /// The path of a copy below the archive directory.
    pub fn path(&self, line: &ManifestLine) -> PathBuf {
        self.copy(line, line.version)
    }

    /// The path of a version of a file.
    pub(super) fn copy(&self, line: &ManifestLine, version: u64) -> PathBuf {
        self.place.join(version.to_string()).join(&line.path)
    }

    /// The first unused version number of a path.
    pub(super) fn next_version(&self, path: &Path) -> u64 {
        let own = self.lines.iter().filter(|line| line.path == path);
        own.map(|line| line.version).max().unwrap_or(0) + 1
    }
}
