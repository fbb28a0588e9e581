//! Files in a directory of another system, and the quarantine next to them.

use crate::error::{Error, ErrorKind, Result};
use crate::store::atomic;
use crate::store::directory::{Directory, FileStat};
use rustix::fs::OFlags;
use std::collections::BTreeSet;
use std::io::Read;

/// The quarantine directory below the sessions, which no system reads.
pub const DIRS: [&str; 2] = [".convo", "quarantine"];

fn quarantine(directory: &Directory) -> Result<Directory> {
    let dir = atomic::dir(directory, DIRS[0])?;
    atomic::dir(&dir, DIRS[1])
}

fn free_name(dir: &Directory, name: &str) -> Result<String> {
    let mut nth = 0u32;
    loop {
        let candidate = numbered(name, nth);
        if dir.facts(&candidate)?.is_none() {
            return Ok(candidate);
        }
        nth += 1;
    }
}

fn numbered(name: &str, nth: u32) -> String {
    match nth {
        0 => name.to_string(),
        nth => format!("{name}.{nth}"),
    }
}

/// Moves a file to the quarantine, durably.
pub fn move_to_quarantine(directory: &Directory, name: &str) -> Result<()> {
    let dir = quarantine(directory)?;
    let free = free_name(&dir, name)?;
    if !atomic::rename_new(directory, name, &dir, &free)? {
        return Err(Error::new(
            ErrorKind::Locked,
            format!("{}: created by another program", dir.shown(&free)),
        ));
    }
    atomic::sync_directory(&dir)?;
    atomic::sync_directory(directory)
}

/// Copies bytes to the quarantine, durably. A copy by a run that died before the repair is reused.
pub fn copy_to_quarantine(directory: &Directory, name: &str, bytes: &[u8]) -> Result<()> {
    let dir = quarantine(directory)?;
    let free = free_name(&dir, name)?;
    for nth in 0u32.. {
        let taken = numbered(name, nth);
        if taken == free {
            break;
        }
        if bytes_of(&dir, &taken)?.is_some_and(|kept| kept == bytes) {
            return atomic::sync_directory(&dir);
        }
    }
    if atomic::create(&dir, &free, bytes)? {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Locked,
        format!("{}: created by another program", dir.shown(&free)),
    ))
}

/// Reads a regular file; none if it is missing.
pub fn bytes_of(directory: &Directory, name: &str) -> Result<Option<Vec<u8>>> {
    let Some(mut file) = directory.file(name, OFlags::RDONLY)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| Error::io(directory.shown(name), error).kind(ErrorKind::InputOutput))?;
    Ok(Some(bytes))
}

/// The sorted names of regular files, without hidden ones except files of dead writers.
pub fn files(directory: &Directory) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for name in directory.names()? {
        let regular = |facts: &FileStat| facts.regular;
        if directory.facts(&name)?.as_ref().is_some_and(regular) {
            names.insert(name);
        }
    }
    Ok(names)
}

/// The sorted subdirectories, without hidden ones.
pub fn dirs(directory: &Directory) -> Result<Vec<String>> {
    let mut names: Vec<String> = directory.names()?;
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    let mut found = Vec::new();
    for name in names {
        match directory.inner(&name) {
            Ok(Some(_)) => found.push(name),
            Ok(None) => {}
            Err(error) if error.kind == ErrorKind::Unsafe => {} // a file, or a link
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}
