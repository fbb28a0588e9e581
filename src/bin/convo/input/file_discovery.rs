//! Which files of a folder may be sessions.

use crate::context::{SPARES, named};
use crate::output::path_name;
use convo::error::{Error, Kind, Result};
use convo::store::foreign::is_index;
use std::collections::{BTreeSet, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What a file is called, behind its name, once its session was migrated.
pub const MARK: &str = ".migrated";

/// Endings of files that are looked at in a directory; capital letters are others.
const ENDINGS: [&str; 4] = [".json", ".jsonl", ".ndjson", ".json.gz"];

/// What Codex compresses ends with.
const PACKED: &str = ".jsonl.zst";

/// What is found for an operand.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scan<P> {
    /// Files that may be sessions, in the order of their names. A session that is left in spare files only is
    /// listed under the name it had.
    pub sessions: Vec<P>,
    /// Files whose session was migrated and renamed, and that a killed run did not come to rename too.
    pub left: Vec<P>,
    /// What is not read, and why: links, pipes and devices in directories.
    pub skipped: Vec<(P, &'static str)>,
    /// Files that were migrated before and renamed.
    pub marked: usize,
}

/// Which symbolic links below an operand are followed; the operand itself may always be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    None,
    Files,
    All,
}

/// The files of an operand: the file itself, or what a directory holds.
pub fn files(operand: &Path, recursive: bool, follow: Follow) -> Result<Scan<PathBuf>> {
    let there = |name: &str| operand.with_file_name(name).is_file();
    let is_left = |path: &Path| file_name(path).is_some_and(|name| is_left(name, &there));
    let one = || vec![operand.to_path_buf()];
    let about = match std::fs::metadata(operand) {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let beside = beside(operand);
            let left: Vec<_> = beside.into_iter().filter(|file| file.is_file()).collect();
            let (left, other): (Vec<_>, Vec<_>) = left.into_iter().partition(|file| is_left(file));
            let sessions = if other.iter().any(|file| spare_of(file).is_some()) {
                one()
            } else {
                Vec::new()
            };
            if sessions.is_empty() && left.is_empty() {
                return Err(Error::io("cannot open", error));
            }
            return Ok(Scan {
                sessions,
                left,
                ..Scan::default()
            });
        }
        Err(error) => return Err(Error::io("cannot open", error)),
    };
    if about.is_file() {
        // A spare that is named is wanted; a sidecar says nothing without its log.
        let left = log_of(operand).is_some() && is_left(operand);
        let (sessions, left) = if left {
            (Vec::new(), one())
        } else {
            (one(), Vec::new())
        };
        return Ok(Scan {
            sessions,
            left,
            ..Scan::default()
        });
    }
    if !about.is_dir() {
        return Err(Error::new(Kind::Unsafe, "neither a file nor a directory"));
    }
    let mut found = Scan::default();
    let mut folders = vec![operand.to_path_buf()];
    // Links may lead in circles.
    let mut seen = HashSet::from([(about.dev(), about.ino())]);
    while let Some(folder) = folders.pop() {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut inner = Vec::new();
        let entries = std::fs::read_dir(&folder)
            .map_err(|error| Error::io(format!("cannot read {}", folder.display()), error))?;
        for entry in entries {
            let entry =
                entry.map_err(|error| Error::io(format!("cannot read {}", folder.display()), error))?;
            let Ok(kind) = entry.file_type() else { continue };
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
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
                names.insert(name);
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
        found
            .sessions
            .extend(here.sessions.iter().map(|name| folder.join(name)));
        found.left.extend(here.left.iter().map(|name| folder.join(name)));
        if recursive {
            // The last pushed is the first looked at.
            inner.sort();
            folders.extend(inner.into_iter().rev());
        }
    }
    Ok(found)
}

/// The names that may be sessions among the names of a folder.
fn sessions(names: &BTreeSet<String>) -> Scan<String> {
    let mut found = BTreeSet::new();
    let mut left = Vec::new();
    for name in names {
        if is_left(name, &|name| names.contains(name)) {
            left.push(name.clone());
        } else if let Some(primary) = without_spare(name) {
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
    Scan {
        sessions: found.into_iter().collect(),
        left,
        ..Scan::default()
    }
}

fn has_session_ending(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending)) || name.ends_with(PACKED)
}

/// What was looked for in a directory without sessions.
pub fn nothing_found(path: &Path, recursive: bool) -> Error {
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
        Error::new(Kind::NotFound, "no session files found").hint(hint),
        &path_name(path),
    )
}

/// Whether a file is a spare or a sidecar whose session was migrated and renamed without it: the name that it
/// belongs to is gone, and lies there marked. A session of spares alone has its spares marked instead.
pub fn is_left(name: &str, there: &dyn Fn(&str) -> bool) -> bool {
    let marked = |name: &str| there(&format!("{name}{}", MARK));
    let spare = without_spare(name);
    let Some(primary) = spare.map(str::to_string).or_else(|| log_name(name)) else {
        return false;
    };
    if there(&primary) {
        return spare.is_some() && is_left(&primary, there);
    }
    let spares = || SPARES.iter().any(|ending| marked(&format!("{primary}{ending}")));
    marked(&primary) || (spare.is_some() && spares())
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

/// The name that a spare copy is one of.
fn without_spare(name: &str) -> Option<&str> {
    SPARES.iter().find_map(|ending| name.strip_suffix(ending))
}

fn spare_of(path: &Path) -> Option<&str> {
    file_name(path).and_then(without_spare)
}

/// The name of the log that a sidecar is beside.
fn log_name(name: &str) -> Option<String> {
    Some(format!("{}.jsonl", name.strip_suffix(".meta.json")?))
}

/// The log that a file is the sidecar of, there or not.
pub fn log_of(path: &Path) -> Option<PathBuf> {
    Some(path.with_file_name(log_name(file_name(path)?)?))
}

/// What may lie beside a session and belong to it: where a save that was cut off leaves its copies, and the
/// sidecar of a log.
pub fn beside(path: &Path) -> Vec<PathBuf> {
    let Some(name) = file_name(path) else {
        return Vec::new();
    };
    let spares = SPARES.iter().map(|ending| format!("{name}{ending}"));
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
    fn tells_sessions_from_what_lies_beside_them() {
        let names = [
            "a.json",
            "a.json.bak",
            "b.json.bak",
            "c.jsonl",
            "c.meta.json",
            "d.meta.json",
            "UPPER.JSON",
            "old.json.migrated",
            "session_index.json",
            "session_index.json.temp",
            "notes.txt",
            "e.json.temp",
        ];
        let names = names.iter().map(ToString::to_string).collect();
        let expected = ["a.json", "b.json", "c.jsonl", "d.meta.json", "e.json"];
        assert_eq!(sessions(&names).sessions, expected);
    }

    #[test]
    fn tells_what_a_killed_run_left() {
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
            // A new session of the name.
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
