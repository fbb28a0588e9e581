//! Which files there are to migrate.

use convo::error::{Error, Kind, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Endings of files that are looked at in a directory; capital letters are others.
const ENDINGS: [&str; 3] = [".json", ".jsonl", ".ndjson"];

/// Files that systems keep beside their sessions.
const INDEXES: [&str; 2] = ["session_index.json", "checkpoint_index.json"];

/// The files of an operand in the order of their names: the file itself, or what a directory holds. A session
/// that is left in spare files only is listed under the name it had.
pub fn files(operand: &Path, recursive: bool) -> Result<Vec<PathBuf>> {
    let about = match std::fs::metadata(operand) {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && has_spare(operand) => {
            return Ok(vec![operand.to_path_buf()]);
        }
        Err(error) => return Err(Error::io("cannot open", error)),
    };
    if about.is_file() {
        return Ok(vec![operand.to_path_buf()]);
    }
    if !about.is_dir() {
        return Err(Error::new(Kind::Unsafe, "neither a file nor a directory"));
    }
    let mut found = Vec::new();
    let mut folders = vec![operand.to_path_buf()];
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
            // A link to a file is read as the file; links to directories may lead in circles.
            let linked =
                kind.is_symlink() && std::fs::metadata(entry.path()).is_ok_and(|about| about.is_file());
            if kind.is_dir() {
                inner.push(entry.path());
            } else if kind.is_file() || linked {
                names.insert(name);
            }
        }
        found.extend(sessions(&names).into_iter().map(|name| folder.join(name)));
        if recursive {
            // The last pushed is the first looked at.
            inner.sort();
            folders.extend(inner.into_iter().rev());
        }
    }
    Ok(found)
}

/// The names that may be sessions among the names of a folder.
fn sessions(names: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for name in names {
        if let Some(primary) = name.strip_suffix(".bak").or(name.strip_suffix(".temp")) {
            if primary.ends_with(".json") && !INDEXES.contains(&primary) {
                found.insert(primary.to_string());
            }
            continue;
        }
        let is_sidecar = name
            .strip_suffix(".meta.json")
            .is_some_and(|stem| names.contains(&format!("{stem}.jsonl")));
        if ENDINGS.iter().any(|ending| name.ends_with(ending))
            && !is_sidecar
            && !INDEXES.contains(&name.as_str())
        {
            found.insert(name.clone());
        }
    }
    found
}

fn has_spare(path: &Path) -> bool {
    spares(path).iter().any(|spare| spare.is_file())
}

/// Where a save that was cut off leaves its copies.
pub fn spares(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    [".bak", ".temp"]
        .iter()
        .map(|ending| path.with_file_name(format!("{name}{ending}")))
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
        assert_eq!(sessions(&names).into_iter().collect::<Vec<_>>(), expected);
    }
}
