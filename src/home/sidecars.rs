//! Files that belong to a session but are not its transcript.

use super::files::{IRREGULAR, Transcript};
use super::home_program::{CompanionFiles, FileKind};
use super::listing::{Directories, is_absent, matching, names};
use super::places::Home;
use crate::error::reason;
use crate::model::key;
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// The sidecars of one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sidecars {
    /// Number of files.
    pub files: u64,
    /// Total size in bytes.
    pub bytes: u64,
}

/// Maximum depth of directories to search.
const DEEPEST: usize = 16;

impl Sidecars {
    /// Counts the sidecars of a session with this id.
    pub fn of(home: &Home, transcript: &Transcript, id: &str, directories: &mut Directories) -> Sidecars {
        let found = FoundFiles::of(home, transcript, id, directories);
        Sidecars {
            files: found.files.len() as u64,
            bytes: found.files.iter().map(|(_, about)| about.len()).sum(),
        }
    }
}

/// Files, and paths that cannot be read.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    pub files: Vec<(PathBuf, Metadata)>,
    /// Paths that cannot be read, and the reasons.
    pub problems: Vec<(PathBuf, String)>,
}

impl FoundFiles {
    /// Finds the sidecars of a session with this id.
    pub fn of(home: &Home, transcript: &Transcript, id: &str, directories: &mut Directories) -> FoundFiles {
        let mut found = FoundFiles::default();
        if id.is_empty() || id.contains(['/', '\0']) || matches!(id, "." | "..") {
            return found;
        }
        for extra in home.program.sidecars {
            let (base, below) = match extra {
                CompanionFiles::Session(below) => (transcript.path.parent(), below),
                CompanionFiles::AboveSession(below) => {
                    (transcript.path.parent().and_then(Path::parent), below)
                }
                CompanionFiles::Home(below) => (Some(&*home.root), below),
                CompanionFiles::Parent(below) => (home.root.parent(), below),
            };
            let Some(base) = base else { continue };
            let below = below.replace("{id}", id);
            let (dir, pattern) = match below.rsplit_once('/') {
                Some((dir, pattern)) => (base.join(dir), pattern),
                None => (base.to_path_buf(), below.as_str()),
            };
            match pattern {
                "" => found.add(base, DEEPEST),
                pattern => {
                    for name in directories.matching(&dir, pattern, &mut found.problems) {
                        found.add(&dir.join(name), DEEPEST);
                    }
                }
            }
        }
        found.files.retain(|(path, _)| *path != transcript.path);
        found
    }

    /// Adds a file, or the files in a directory.
    pub fn add(&mut self, path: &Path, depth: usize) {
        let mut refuse = |why: &str| self.problems.push((path.to_path_buf(), why.to_string()));
        match std::fs::symlink_metadata(path) {
            Err(error) if is_absent(&error) => {}
            Err(error) => refuse(&reason(&error)),
            Ok(about) if about.is_file() => self.files.push((path.to_path_buf(), about)),
            Ok(about) if about.is_dir() && depth == 0 => refuse("too many nested directories"),
            Ok(about) if about.is_dir() => {
                for name in names(path, &mut self.problems) {
                    self.add(&path.join(name), depth - 1);
                }
            }
            Ok(about) if about.is_symlink() => refuse("symbolic link"),
            Ok(_) => refuse(IRREGULAR),
        }
    }
}

/// Returns the sidecars in directories of the home itself with the ids of their sessions, which may be in a database.
pub fn named_sidecars(home: &Home, problems: &mut Vec<(PathBuf, String)>) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for extra in home.program.sidecars {
        let CompanionFiles::Home(below) = extra else {
            continue;
        };
        let (_, suffix) = below.split_once("{id}").unwrap_or((below, ""));
        for path in matching(&home.root, &below.replace("{id}", "*"), problems) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if let Some(id) = name.strip_suffix(suffix) {
                found.push((id.to_string(), path.clone()));
            }
        }
    }
    found
}

/// Returns the directories of sidecars without a transcript, for programs that name them by the session id.
pub fn orphans(home: &Home, transcripts: &[Transcript]) -> Vec<PathBuf> {
    let is_named = home
        .program
        .sidecars
        .iter()
        .any(|extra| matches!(extra, CompanionFiles::Session("{id}")));
    if !is_named {
        return Vec::new();
    }
    let sessions = || {
        transcripts
            .iter()
            .filter(|transcript| transcript.kind != FileKind::Subagent)
    };
    let known: BTreeSet<PathBuf> = sessions()
        .filter_map(|session| Some(session.path.parent()?.join(session.id.as_deref()?)))
        .collect();
    let dirs: BTreeSet<&Path> = sessions().filter_map(|session| session.path.parent()).collect();
    let inner = dirs.into_iter().flat_map(|dir| {
        names(dir, &mut Vec::new())
            .into_iter()
            .filter(|name| key::is_uuid(&name.to_string_lossy()))
            .map(|name| dir.join(name))
    });
    inner
        .filter(|path| path.is_dir() && !known.contains(path))
        .collect()
}
