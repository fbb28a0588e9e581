//! Creates, renames and removes names of files durably.

use super::directory::{self, Directory};
use crate::error::{Error, ErrorKind, Result};
use rustix::fs::{self, AtFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;

/// The error of a failed change; a missing file is unexpected here and does not mean "no such session".
pub(super) fn failed(what: impl Display, errno: Errno) -> Error {
    let error = directory::failed(what, errno);
    if error.kind == ErrorKind::NotFound {
        error.kind(ErrorKind::InputOutput)
    } else {
        error
    }
}

/// Syncs the names in a directory.
pub fn sync_directory(directory: &Directory) -> Result<()> {
    fs::fsync(directory).map_err(|errno| failed(directory.path().display(), errno))
}

/// Opens a subdirectory, creating it if missing. Its name is durable even if a killed process created it.
pub fn dir(directory: &Directory, name: &str) -> Result<Directory> {
    loop {
        if let Some(inner) = directory.inner(name)? {
            sync_directory(directory)?;
            return Ok(inner);
        }
        directory.make(name)?;
    }
}

/// Syncs everything below a directory; on Linux, its whole file system.
pub fn sync_below(directory: &Directory) -> Result<()> {
    #[cfg(target_os = "linux")]
    return fs::syncfs(directory).map_err(|errno| failed(directory.path().display(), errno));
    #[cfg(not(target_os = "linux"))]
    {
        for name in directory.all_names()? {
            match directory.facts(&name)?.is_some_and(|facts| facts.regular) {
                true => {
                    let file = directory.file(&name, fs::OFlags::RDONLY)?;
                    let synced = file.map_or(Ok(()), |file| file.sync_all());
                    synced.map_err(|error| Error::io(directory.shown(&name), error))?;
                }
                false => directory
                    .inner(&name)?
                    .map_or(Ok(()), |inner| sync_below(&inner))?,
            }
        }
        sync_directory(directory)
    }
}

/// Renames a file, possibly to another directory, unless the name exists; returns whether it was renamed.
pub fn rename_new(
    from: &Directory,
    old: impl AsRef<OsStr>,
    to: &Directory,
    new: impl AsRef<OsStr>,
) -> Result<bool> {
    let (old, new) = (old.as_ref(), new.as_ref());
    let refuse = |errno| Err(failed(to.shown(new), errno));
    match fs::renameat_with(from, old.as_bytes(), to, new.as_bytes(), RenameFlags::NOREPLACE) {
        Ok(()) => return Ok(true),
        Err(Errno::EXIST) if !is_linked(from, old, to, new) => return Ok(false),
        // Not supported by the file system: use two names for a moment. A process that died then has left both.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::EXIST) => {}
        Err(errno) => return refuse(errno),
    }
    match fs::linkat(from, old.as_bytes(), to, new.as_bytes(), AtFlags::empty()) {
        Ok(()) => fs::unlinkat(from, old.as_bytes(), AtFlags::empty())
            .map(|()| true)
            .or_else(refuse),
        Err(Errno::EXIST) if is_linked(from, old, to, new) => unlink(from, old),
        Err(Errno::EXIST) => Ok(false),
        Err(errno) => refuse(errno),
    }
}

/// Renames a file or directory unless the name exists; returns whether it was renamed. If the file system cannot
/// check that atomically, it is checked before.
pub fn rename_free(from: &Directory, old: &OsStr, to: &Directory, new: &OsStr) -> Result<bool> {
    let renamed = match fs::renameat_with(from, old.as_bytes(), to, new.as_bytes(), RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match to.facts(new)? {
            Some(_) => Err(Errno::EXIST),
            None => fs::renameat(from, old.as_bytes(), to, new.as_bytes()),
        },
        renamed => renamed,
    };
    match renamed {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(errno) => Err(failed(to.shown(new), errno)),
    }
}

/// Renames a file within its directory, replacing an existing one.
pub fn put(directory: &Directory, old: &str, new: &OsStr) -> Result<()> {
    fs::renameat(directory, old, directory, new.as_bytes())
        .map_err(|errno| failed(directory.shown(new), errno))
}

/// Whether two names refer to the same file.
fn is_linked(from: &Directory, old: &OsStr, to: &Directory, new: &OsStr) -> bool {
    let (one, other) = (from.facts(old).ok().flatten(), to.facts(new).ok().flatten());
    one.zip(other)
        .is_some_and(|(one, other)| one.is_same_file(&other))
}

/// Adds a second name to a file unless the name exists, durably; returns whether it was added.
pub fn link_new(from: &Directory, old: &str, to: &Directory, new: &str) -> Result<bool> {
    match fs::linkat(from, old, to, new, AtFlags::empty()) {
        Ok(()) => sync_directory(to).map(|()| true).inspect_err(|_| {
            let _ = unlink(to, new); // only a second name
        }),
        Err(Errno::EXIST) => Ok(false),
        Err(errno) => Err(failed(to.shown(new), errno)),
    }
}

/// Moves a file unless the name exists, durably; returns whether it was moved. A move that cannot be synced is
/// undone.
pub fn move_new(from: &Directory, old: &str, to: &Directory, new: &str) -> Result<bool> {
    if !rename_new(from, old, to, new)? {
        return Ok(false);
    }
    // Sync the new name first: a crash in between leaves two names, never none.
    if let Err(error) = sync_directory(to).and_then(|()| sync_directory(from)) {
        let undone = rename_new(to, new, from, old).and_then(|back| {
            sync_directory(from)?;
            sync_directory(to)?;
            Ok(back)
        });
        let kind = if undone.is_ok_and(|back| back) {
            ErrorKind::InputOutput
        } else {
            ErrorKind::Unsure
        };
        return Err(error.kind(kind));
    }
    Ok(true)
}

/// Removes a name; returns whether it existed. The caller syncs.
pub fn unlink(directory: &Directory, name: impl AsRef<OsStr>) -> Result<bool> {
    let name = name.as_ref();
    match fs::unlinkat(directory, name.as_bytes(), AtFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(failed(directory.shown(name), errno)),
    }
}

/// Removes an empty directory; one that is missing or not empty is ignored. The caller syncs.
pub fn remove_empty(directory: &Directory, name: &OsStr) -> Result<()> {
    match fs::unlinkat(directory, name.as_bytes(), AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
        Err(errno) => Err(failed(directory.shown(name), errno)),
    }
}
