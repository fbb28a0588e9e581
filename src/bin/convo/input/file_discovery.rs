//! Finds the files of a directory that may be sessions.

use crate::errors::named;
use crate::input::input_source::BACKUP_SUFFIXES;
use crate::output::path_name;
use convo::error::{Error, ErrorKind, Result};
use convo::store::foreign::is_index;
use std::collections::{BTreeSet, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The suffix of a file whose session was migrated.
pub const MARK: &str = ".migrated";

/// File name endings to read in a directory; case-sensitive.
const ENDINGS: [&str; 4] = [".json", ".jsonl", ".ndjson", ".json.gz"];

/// The ending of files compressed by Codex.
const PACKED: &str = ".jsonl.zst";

/// The files found for an operand.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DirectoryListing<P> {
    /// Files that may be sessions, sorted by name. A session of which only backup files remain is listed under its
    /// original name.
    pub sessions: Vec<P>,
    /// Files that belong to a migrated and renamed session, but were not renamed because the run was killed.
    pub left: Vec<P>,
    /// Skipped files with the reason: links, pipes and devices in directories.
    pub skipped: Vec<(P, &'static str)>,
    /// Number of files renamed by an earlier migration.
    pub marked: usize,
}

/// Which symbolic links below an operand to follow; the operand itself may always be a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    None,
    Files,
    All,
}

/// The files of an operand: the file itself, or those of a directory.
pub fn files(operand: &Path, recursive: bool, follow: Follow) -> Result<DirectoryListing<PathBuf>> {
    let there = |name: &str| operand.with_file_name(name).is_file();
    let is_left = |path: &Path| file_name(path).is_some_and(|name| is_left(name, &there));
    let one = || vec![operand.to_path_buf()];
    let about = match std::fs::metadata(operand) {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let extra = companion_files(operand);
            let left: Vec<_> = extra.into_iter().filter(|file| file.is_file()).collect();
            let (left, other): (Vec<_>, Vec<_>) = left.into_iter().partition(|file| is_left(file));
            let sessions = if other.iter().any(|file| main_name(file).is_some()) {
                one()
            } else {
                Vec::new()
            };
            if sessions.is_empty() && left.is_empty() {
                return Err(Error::open(error));
            }
            return Ok(DirectoryListing {
                sessions,
                left,
                ..DirectoryListing::default()
            });
        }
        Err(error) => return Err(Error::open(error)),
    };
    if about.is_file() {
        // A backup file given as operand is read; a sidecar without its log is useless.
        let left = log_of(operand).is_some() && is_left(operand);
        let (sessions, left) = if left {
            (Vec::new(), one())
        } else {
            (one(), Vec::new())
        };
        return Ok(DirectoryListing {
            sessions,
            left,
            ..DirectoryListing::default()
        });
    }
    if !about.is_dir() {
        return Err(Error::new(ErrorKind::Unsafe, "neither a file nor a directory"));
    }
    let mut found = DirectoryListing::default();
    let mut dirs = vec![operand.to_path_buf()];
    // Links may form cycles.
    let mut seen = HashSet::from([(about.dev(), about.ino())]);
    while let Some(dir) = dirs.pop() {
        let mut names: BTreeSet<String> = BTreeSet::new();
        // Files whose names are not UTF-8.
        let mut unnamed: Vec<PathBuf> = Vec::new();
        let mut inner = Vec::new();
        let entries = std::fs::read_dir(&dir)
            .map_err(|error| Error::io(format!("cannot read {}", dir.display()), error))?;
        for entry in entries {
            let entry = entry.map_err(|error| Error::io(format!("cannot read {}", dir.display()), error))?;
            let Ok(kind) = entry.file_type() else { continue };
            let file_name = entry.file_name();
            let name = file_name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            let target = match kind.is_symlink() {
                true => std::fs::metadata(entry.path()).ok(),
                false => None,
            };
            let linked = |of: fn(&Metadata) -> bool| target.as_ref().is_some_and(of);
            if kind.is_file() || (follow != Follow::None && linked(Metadata::is_file)) {
                found.marked += usize::from(name.ends_with(MARK));
                match file_name.to_str() {
                    Some(name) => drop(names.insert(name.to_string())),
                    // No program writes sidecars or backups for such a name.
                    None if has_session_ending(&name) => unnamed.push(entry.path()),
                    None => {}
                }
            } else if kind.is_dir() || (follow == Follow::All && linked(Metadata::is_dir)) {
                let about = target.or_else(|| entry.metadata().ok().filter(|_| follow == Follow::All));
                if about.is_none_or(|about| seen.insert((about.dev(), about.ino()))) {
                    inner.push(entry.path());
                }
            } else if target.as_ref().is_some_and(Metadata::is_dir) {
                if recursive && follow == Follow::None {
                    found
                        .skipped
                        .push((entry.path(), "symbolic link to a directory, not followed"));
                }
            } else if has_session_ending(&name) {
                let why = match kind.is_symlink() {
                    true => "symbolic link, not followed",
                    false => "not a regular file",
                };
                found.skipped.push((entry.path(), why));
            }
        }
        let here = sessions(&names);
        let known = found.sessions.len();
        found
            .sessions
            .extend(here.sessions.iter().map(|name| dir.join(name)).chain(unnamed));
        found.sessions[known..].sort();
        found.left.extend(here.left.iter().map(|name| dir.join(name)));
        if recursive {
            // A stack: the last entry is visited first.
            inner.sort();
            dirs.extend(inner.into_iter().rev());
        }
    }
    Ok(found)
}

/// Selects the names in a directory that may be sessions.
fn sessions(names: &BTreeSet<String>) -> DirectoryListing<String> {
    let mut found = BTreeSet::new();
    let mut left = Vec::new();
    for name in names {
        if is_left(name, &|name| names.contains(name)) {
            left.push(name.clone());
        } else if let Some(primary) = without_backup_suffix(name) {
            if primary.ends_with(".json") && !is_index(primary) {
                found.insert(primary.to_string());
            }
        } else {
            let is_sidecar = log_name(name).is_some_and(|log| names.contains(&log));
            if has_session_ending(name) && !is_sidecar && !is_index(name) {
                found.insert(name.clone());
            }
        }
    }
    DirectoryListing {
        sessions: found.into_iter().collect(),
        left,
        ..DirectoryListing::default()
    }
}

fn has_session_ending(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending)) || name.ends_with(PACKED)
}

/// The error for a directory without sessions.
pub fn empty_directory(path: &Path, recursive: bool) -> Error {
    let hint = format!(
        "files named *{} are read{}; name other files themselves",
        ENDINGS.join(", *"),
        if recursive {
            ""
        } else {
            ", and subdirectories without --no-recursive"
        }
    );
    named(
        Error::new(ErrorKind::NotFound, "no session files found").hint(hint),
        &path_name(path),
    )
}

/// Whether a file is a backup or sidecar that remained when its session was migrated and renamed: its main file is
/// gone, and a renamed one exists. A session of which only backups remain has its backups renamed instead.
pub fn is_left(name: &str, there: &dyn Fn(&str) -> bool) -> bool {
    let marked = |name: &str| there(&format!("{name}{}", MARK));
    let backup = without_backup_suffix(name);
    let Some(primary) = backup.map(str::to_string).or_else(|| log_name(name)) else {
        return false;
    };
    if there(&primary) {
        return backup.is_some() && is_left(&primary, there);
    }
    let spares = || {
        BACKUP_SUFFIXES
            .iter()
            .any(|ending| marked(&format!("{primary}{ending}")))
    };
    marked(&primary) || (backup.is_some() && spares())
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

/// The main name of a backup file.
fn without_backup_suffix(name: &str) -> Option<&str> {
    BACKUP_SUFFIXES
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
}

fn main_name(path: &Path) -> Option<&str> {
    file_name(path).and_then(without_backup_suffix)
}

/// The log's name for a sidecar's name.
fn log_name(name: &str) -> Option<String> {
    Some(format!("{}.jsonl", name.strip_suffix(".meta.json")?))
}

/// The log of a sidecar, whether or not it exists.
pub fn log_of(path: &Path) -> Option<PathBuf> {
    Some(path.with_file_name(log_name(file_name(path)?)?))
}

/// Files next to a session that may belong to it: backups of interrupted writes, and the sidecar of a log.
pub fn companion_files(path: &Path) -> Vec<PathBuf> {
    let Some(name) = file_name(path) else {
        return Vec::new();
    };
    let spares = BACKUP_SUFFIXES.iter().map(|ending| format!("{name}{ending}"));
    let sidecar = name
        .strip_suffix(".jsonl")
        .map(|stem| format!("{stem}.meta.json"));
    spares
        .chain(sidecar)
        .map(|name| path.with_file_name(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_distinguished_from_other_files() {
        let names = [
            "a.json", "a.json.bak", "b.json.bak", "c.jsonl", "c.meta.json", "d.meta.json", "UPPER.JSON",
            "old.json.migrated", "session_index.json", "session_index.json.temp", "notes.txt", "e.json.temp",
        ];
        let names = names.iter().map(ToString::to_string).collect();
        let expected = ["a.json", "b.json", "c.jsonl", "d.meta.json", "e.json"];
        assert_eq!(sessions(&names).sessions, expected);
    }

    #[test]
    fn leftovers_of_a_killed_run_are_recognized() {
        let cases: [(&[&str], &[&str], &[&str]); 8] = [
            (&["a.json.migrated", "a.json.bak"], &[], &["a.json.bak"]),
            (
                &["a.json.migrated", "a.json.bak.migrated", "a.json.temp"],
                &[],
                &["a.json.temp"],
            ),
            (&["a.json.bak.migrated", "a.json.temp"], &[], &["a.json.temp"]),
            (&["x.jsonl.migrated", "x.meta.json"], &[], &["x.meta.json"]),
            (
                &["x.jsonl.migrated", "x.meta.json", "x.meta.json.bak"],
                &[],
                &["x.meta.json", "x.meta.json.bak"],
            ),
            // A new session with the same name.
            (&["a.json", "a.json.bak", "a.json.migrated"], &["a.json"], &[]),
            (&["x.jsonl", "x.jsonl.migrated", "x.meta.json"], &["x.jsonl"], &[]),
            (&["a.json.bak", "b.json.migrated"], &["a.json"], &[]),
        ];
        for (names, found, left) in cases {
            let scan = sessions(&names.iter().map(ToString::to_string).collect());
            assert_eq!(
                (scan.sessions, scan.left),
                (owned(found), owned(left)),
                "{names:?}"
            );
        }
    }

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }
}
