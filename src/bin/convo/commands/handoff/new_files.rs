//! Writes files of other programs: new ones, and indexes that nobody else has changed meanwhile.

use crate::context::Context;
use crate::errors::named;
use crate::output::path_name;
use convo::error::{Error, ErrorKind, Result};
use convo::home::IndexChange;
use convo::store::{FileStat, Rewrite, make_dirs, remove_file};
use std::path::{Path, PathBuf};

/// Mode of created directories.
pub const DIR_MODE: u32 = 0o700;

/// Writes a new file; an existing one is an error.
pub fn write_new(context: &Context, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let options = Rewrite {
        is_new: true,
        lock_timeout: context.lock_timeout(),
        ..Rewrite::default()
    };
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        make_dirs(dir, DIR_MODE)?;
    }
    write(path, bytes, &options)
}

pub fn write(path: &Path, bytes: &[u8], options: &Rewrite) -> anyhow::Result<()> {
    crate::writing::rewrite(path, options, &path_name(path), |out| {
        let written = out.write_all(bytes);
        Ok(written.map_err(|error| Error::io("cannot write", error))?)
    })
}

/// Removes an index that had these bytes, unless another program has changed it in the meantime.
pub fn remove_index(path: &Path, now: &[u8], lock: Option<&Path>) -> anyhow::Result<()> {
    let _lock = lock.map(DirectoryLock::new).transpose()?;
    if std::fs::read(path).ok().as_deref() != Some(now) {
        return Err(modified(path).into());
    }
    Ok(remove_file(path)?)
}

fn modified(path: &Path) -> Error {
    let error = Error::new(ErrorKind::Locked, "modified by another program");
    named(
        error.hint("the session can be resumed by its id"),
        &path_name(path),
    )
}

/// Replaces an index, unless another program has changed it in the meantime.
pub fn write_index(context: &Context, index: &IndexChange) -> anyhow::Result<()> {
    let _lock = index.lock.as_deref().map(DirectoryLock::new).transpose()?;
    let read = match std::fs::File::open(&index.path) {
        Ok(file) => Some(FileStat::of(&file).map_err(|error| Error::io(path_name(&index.path), error))?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io(path_name(&index.path), error).into()),
    };
    if std::fs::read(&index.path).ok() != index.old {
        return Err(modified(&index.path).into());
    }
    let options = Rewrite {
        is_new: read.is_none(),
        read,
        lock_timeout: context.lock_timeout(),
        ..Rewrite::default()
    };
    write(&index.path, &index.new, &options)
}

/// A lock of another program, which is a directory.
struct DirectoryLock(PathBuf);

impl DirectoryLock {
    fn new(path: &Path) -> Result<DirectoryLock> {
        match std::fs::create_dir(path) {
            Ok(()) => Ok(DirectoryLock(path.to_path_buf())),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let error = Error::new(
                    ErrorKind::Locked,
                    format!("{}: locked by its program", path_name(path)),
                );
                Err(error.hint("the session can be resumed by its id"))
            }
            Err(error) => Err(Error::io(path_name(path), error).kind(ErrorKind::InputOutput)),
        }
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0); // on failure, the program considers the lock stale after ten seconds
    }
}
