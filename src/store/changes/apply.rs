//! Applies committed changes, idempotently, and computes their undo.

use super::journal::{Journal, JournalEntry, names};
use super::plan::{PlannedChanges, WriteNewContent};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key::HashWriter;
use crate::store::atomic;
use crate::store::directory::Directory;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of a new file next to the old one, unique to these changes.
pub fn temporary(name: &OsStr, id: &str) -> Result<String> {
    match name.to_str() {
        Some(name) => Ok(format!(".{name}.{id}")),
        None => Err(Error::new(
            ErrorKind::Unsafe,
            format!("{}: not a name in UTF-8", name.display()),
        )),
    }
}

/// The directory and name of a path whose directory may have been moved by these changes.
fn existing_path(path: &Path) -> Result<Option<(Directory, &OsStr)>> {
    match split_path(path) {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        parts => parts.map(Some),
    }
}

/// Applies the remaining changes; each kind is durable before the next one begins.
pub fn apply(journal: &Journal) -> Result<()> {
    let mut touched = Vec::new();
    for entry in &journal.entries {
        if let JournalEntry::Write { path, .. } = entry
            && let Some((directory, name)) = existing_path(path)?
        {
            let new = temporary(name, &journal.id)?;
            if directory.has(&new)? {
                atomic::put(&directory, &new, name)?;
            }
            touched.push(directory);
        }
    }
    sync(std::mem::take(&mut touched).iter())?;
    for entry in &journal.entries {
        if let JournalEntry::Make(path) = entry
            && let Some((directory, name)) = existing_path(path)?
        {
            directory.make(name)?;
            touched.push(directory);
        }
    }
    sync(std::mem::take(&mut touched).iter())?;
    for entry in &journal.entries {
        if let JournalEntry::Move(from, to, _) = entry
            && let Some((old, name)) = existing_path(from)?
            && old.facts(name)?.is_some()
        {
            let (new, own) = split_path(to)?;
            if !atomic::rename_free(&old, name, &new, own)? {
                let error = format!("{}: already exists", to.display());
                return Err(Error::new(ErrorKind::Exists, error));
            }
            touched.extend([old, new]);
        }
    }
    // A killed process may have moved them without syncing.
    for entry in &journal.entries {
        if let JournalEntry::Move(_, to, _) = entry
            && let Some((directory, _)) = existing_path(to)?
        {
            touched.push(directory);
        }
    }
    sync(std::mem::take(&mut touched).iter())?;
    for entry in &journal.entries {
        if let JournalEntry::Remove(path) = entry
            && let Some((directory, name)) = existing_path(path)?
        {
            atomic::remove_empty(&directory, name)?;
            touched.push(directory);
        }
    }
    sync(touched.iter())
}

pub fn exists(path: &Path) -> Result<bool> {
    match existing_path(path)? {
        Some((directory, name)) => Ok(directory.facts(name)?.is_some()),
        None => Ok(false),
    }
}

/// Syncs the file systems of these directories.
pub fn sync<'d>(directories: impl Iterator<Item = &'d Directory>) -> Result<()> {
    let mut devices = Vec::new();
    for directory in directories {
        let device = std::fs::metadata(directory.path()).map(|about| about.dev()).ok();
        if device.is_none() || !devices.contains(&device) {
            devices.push(device);
            atomic::sync_below(directory)?;
        }
    }
    Ok(())
}

/// Removes the new files of uncommitted changes.
pub fn remove_uncommitted(journal: &Journal) -> Result<()> {
    for entry in &journal.entries {
        if let JournalEntry::Write { path, .. } = entry
            && let Some((directory, name)) = existing_path(path)?
        {
            atomic::unlink(&directory, temporary(name, &journal.id)?)?;
        }
    }
    Ok(())
}

pub fn undoing<'c>(directory: &'c Directory, journal: &'c Journal) -> Result<PlannedChanges<'c>> {
    let mut changes = PlannedChanges::default();
    let changed = |path: &Path| {
        let error = Error::new(ErrorKind::Locked, format!("{}: changed since", path.display()));
        error.hint("nothing was undone; move new files away first")
    };
    let mut moves: Vec<(&PathBuf, &PathBuf)> = Vec::new();
    for entry in &journal.entries {
        match entry {
            JournalEntry::Move(from, to, before) => {
                if !exists(to)? || exists(from)? || names(to)? != *before {
                    return Err(changed(to));
                }
                moves.push((from, to));
            }
            JournalEntry::Make(path) => changes.removes.push(path.clone()),
            JournalEntry::Remove(path) if !exists(path)? => changes.makes.push(path.clone()),
            _ => {}
        }
    }
    for entry in &journal.entries {
        let JournalEntry::Write { path, sha256, old } = entry else {
            continue;
        };
        let moved = moves.iter().find_map(|(from, to)| {
            let below = path.strip_prefix(from).ok()?;
            Some(match below.as_os_str().is_empty() {
                true => to.to_path_buf(),
                false => to.join(below),
            })
        });
        let path = moved.unwrap_or_else(|| path.clone());
        let mut sum = HashWriter::default();
        let read = File::open(&path).and_then(|mut file| std::io::copy(&mut file, &mut sum));
        match read {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(path.display(), error).kind(ErrorKind::InputOutput));
            }
            _ => {}
        }
        if sum.hex() != *sha256 {
            return Err(changed(&path));
        }
        let (start, length) = *old;
        let content: WriteNewContent<'c> = Box::new(move |out: &mut dyn Write| {
            let failed = |error| Error::io(directory.path().display(), error).kind(ErrorKind::InputOutput);
            super::journal::copy(&journal.file, (start, length), out)
                .map(drop)
                .map_err(failed)
        });
        changes.writes.push((path, content));
    }
    let back = moves.into_iter().rev();
    changes.moves = back.map(|(from, to)| (to.clone(), from.clone())).collect();
    changes.removes.reverse();
    Ok(changes)
}

/// Splits a path into directory and name.
pub fn split_path(path: &Path) -> Result<(Directory, &OsStr)> {
    let unsafe_path = || Error::new(ErrorKind::Unsafe, format!("{}: not a file name", path.display()));
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(unsafe_path());
    };
    Ok((Directory::open(parent)?, name))
}
