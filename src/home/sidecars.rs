//! Files that belong to a session but are not its transcript.

use super::files::{Transcript, fits};
use super::places::Home;
use super::table::{Beside, Kind};
use std::path::{Path, PathBuf};

/// The sidecars of one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sidecars {
    /// How many files there are.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// Directories deeper than this are not looked into: links may lead in circles.
const DEEPEST: usize = 16;

impl Sidecars {
    /// Of a session with this id.
    pub fn of(home: &Home, transcript: &Transcript, id: &str) -> Sidecars {
        let mut found = Sidecars::default();
        if id.is_empty() || id.contains(['/', '\0']) || matches!(id, "." | "..") {
            return found;
        }
        for beside in home.program.sidecars {
            let (base, below) = match beside {
                Beside::Session(below) => (transcript.path.parent(), below),
                Beside::Parent(below) => (home.root.parent(), below),
            };
            let Some(base) = base else { continue };
            let below = below.replace("{id}", id);
            match below.rsplit_once('/') {
                Some((folder, pattern)) if pattern.contains('*') => {
                    for name in names(&base.join(folder)) {
                        if fits(&name, pattern) {
                            found.add(&base.join(folder).join(name), &transcript.path, DEEPEST);
                        }
                    }
                }
                _ if below.is_empty() => found.add(base, &transcript.path, DEEPEST),
                _ => found.add(&base.join(below), &transcript.path, DEEPEST),
            }
        }
        found
    }

    /// Adds a file, or the files in a directory, except the transcript.
    fn add(&mut self, path: &Path, transcript: &Path, depth: usize) {
        let Ok(about) = std::fs::symlink_metadata(path) else {
            return;
        };
        if about.is_dir() && depth > 0 {
            for name in names(path) {
                self.add(&path.join(name), transcript, depth - 1);
            }
        } else if about.is_file() && path != transcript {
            self.files += 1;
            self.bytes += about.len();
        }
    }
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

/// Directories of sidecars whose transcript is gone, of programs that name them by the id of the session.
pub fn orphans(home: &Home, transcripts: &[Transcript]) -> Vec<PathBuf> {
    let is_named = home
        .program
        .sidecars
        .iter()
        .any(|beside| matches!(beside, Beside::Session("{id}")));
    if !is_named {
        return Vec::new();
    }
    let known = |path: &PathBuf| {
        let own = |transcript: &Transcript| {
            let folder = transcript.path.parent().zip(transcript.id.as_deref());
            folder.is_some_and(|(folder, id)| folder.join(id) == *path)
        };
        transcripts
            .iter()
            .filter(|transcript| transcript.kind != Kind::Subagent)
            .any(own)
    };
    let folders: std::collections::BTreeSet<&Path> = transcripts
        .iter()
        .filter(|transcript| transcript.kind == Kind::Session)
        .filter_map(|transcript| transcript.path.parent())
        .collect();
    let inner = folders
        .into_iter()
        .flat_map(|folder| names(folder).into_iter().map(|name| folder.join(name)));
    inner
        .filter(|path| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            is_uuid(&name) && path.is_dir() && !known(path)
        })
        .collect()
}

/// Whether a name has the form of a random id.
fn is_uuid(name: &str) -> bool {
    let is_place = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    name.len() == 36 && name.bytes().enumerate().all(is_place)
}
