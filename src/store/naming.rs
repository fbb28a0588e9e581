//! Names of files: given, changed and taken away, and made durable.

use super::directory::{self, Directory};
use crate::error::{Error, Kind, Result};
use rustix::fs::{self, AtFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;

/// A failed change: what is not there was meant to be, so that nothing here means "no such session".
pub(super) fn failed(what: impl Display, errno: Errno) -> Error {
    let error = directory::failed(what, errno);
    if error.kind == Kind::NotFound {
        error.kind(Kind::InputOutput)
    } else {
        error
    }
}

/// Syncs the names in a folder.
pub fn sync_directory(directory: &Directory) -> Result<()> {
    fs::fsync(directory).map_err(|errno| failed(directory.path().display(), errno))
}

/// Opens a folder in another and makes it first where it is missing. Its name is durable, also when it was made
/// by a run that was killed before its sync.
pub fn folder(directory: &Directory, name: &str) -> Result<Directory> {
    loop {
        if let Some(inner) = directory.inner(name)? {
            sync_directory(directory)?;
            return Ok(inner);
        }
        directory.make(name)?;
    }
}

/// Makes everything durable that was written below a folder.
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

/// Gives a file another name, in the same or another folder, only if nobody has it; whether it did.
pub fn rename_new(from: &Directory, old: &str, to: &Directory, new: impl AsRef<OsStr>) -> Result<bool> {
    let new = new.as_ref();
    let refuse = |errno| Err(failed(to.shown(new), errno));
    match fs::renameat_with(from, old, to, new.as_bytes(), RenameFlags::NOREPLACE) {
        Ok(()) => return Ok(true),
        Err(Errno::EXIST) if !is_linked(from, old, to, new) => return Ok(false),
        // A file system that cannot: two names for a moment instead. One that died in it has left both.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::EXIST) => {}
        Err(errno) => return refuse(errno),
    }
    match fs::linkat(from, old, to, new.as_bytes(), AtFlags::empty()) {
        Ok(()) => fs::unlinkat(from, old, AtFlags::empty())
            .map(|()| true)
            .or_else(refuse),
        Err(Errno::EXIST) if is_linked(from, old, to, new) => unlink(from, old),
        Err(Errno::EXIST) => Ok(false),
        Err(errno) => refuse(errno),
    }
}

/// Gives a file or directory another name that nobody has; whether it did. Where a file system cannot refuse a name that
/// is taken, it is looked at before.
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

/// Gives a file another name in its folder, in place of the file that had it.
pub fn put(directory: &Directory, old: &str, new: &OsStr) -> Result<()> {
    fs::renameat(directory, old, directory, new.as_bytes())
        .map_err(|errno| failed(directory.shown(new), errno))
}

/// Whether two names are those of one file.
fn is_linked(from: &Directory, old: &str, to: &Directory, new: &OsStr) -> bool {
    let (one, other) = (from.facts(old).ok().flatten(), to.facts(new).ok().flatten());
    one.zip(other)
        .is_some_and(|(one, other)| one.is_same_file(&other))
}

/// Gives a file a second name that nobody has, durably; whether it did.
pub fn link_new(from: &Directory, old: &str, to: &Directory, new: &str) -> Result<bool> {
    match fs::linkat(from, old, to, new, AtFlags::empty()) {
        Ok(()) => sync_directory(to).map(|()| true).inspect_err(|_| {
            let _ = unlink(to, new); // a second name of what is there
        }),
        Err(Errno::EXIST) => Ok(false),
        Err(errno) => Err(failed(to.shown(new), errno)),
    }
}

/// Moves a file to a name that nobody has, durably; whether it did. A move that cannot be synced is taken back.
pub fn move_new(from: &Directory, old: &str, to: &Directory, new: &str) -> Result<bool> {
    if !rename_new(from, old, to, new)? {
        return Ok(false);
    }
    // The new name first: a crash between leaves two names, and never none.
    if let Err(error) = sync_directory(to).and_then(|()| sync_directory(from)) {
        let undone = rename_new(to, new, from, old).and_then(|back| {
            sync_directory(from)?;
            sync_directory(to)?;
            Ok(back)
        });
        let kind = if undone.is_ok_and(|back| back) {
            Kind::InputOutput
        } else {
            Kind::Unsure
        };
        return Err(error.kind(kind));
    }
    Ok(true)
}

/// Takes a name away; whether it was there. The caller syncs.
pub fn unlink(directory: &Directory, name: impl AsRef<OsStr>) -> Result<bool> {
    let name = name.as_ref();
    match fs::unlinkat(directory, name.as_bytes(), AtFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(failed(directory.shown(name), errno)),
    }
}

/// Removes a directory that is empty; one that is not, or is missing, is left as it is. The caller syncs.
pub fn remove_empty(directory: &Directory, name: &OsStr) -> Result<()> {
    match fs::unlinkat(directory, name.as_bytes(), AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
        Err(errno) => Err(failed(directory.shown(name), errno)),
    }
}
