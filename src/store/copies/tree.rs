//! Accesses files below a directory by untrusted paths: follows no link and never leaves the directory.

use crate::error::{Error, ErrorKind, Result};
use crate::store::directory::Directory;
use std::ffi::OsStr;
use std::path::{Component, Path};

/// The directories of a path, and its last component.
fn steps(path: &Path) -> Result<(Vec<&OsStr>, &OsStr)> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name),
            _ => {
                return Err(Error::new(
                    ErrorKind::Unsafe,
                    format!("{}: unsafe path", path.display()),
                ));
            }
        }
    }
    let last = names.pop();
    let last = last.ok_or_else(|| Error::new(ErrorKind::Unsafe, "empty path"))?;
    Ok((names, last))
}

/// Opens the directory of a path; returns it with the last component. None if a directory is missing.
pub fn find<'p>(root: &Directory, path: &'p Path) -> Result<Option<(Directory, &'p OsStr)>> {
    let (folders, last) = steps(path)?;
    let mut at = root.again()?;
    for folder in folders {
        match at.inner(folder)? {
            Some(inner) => at = inner,
            None => return Ok(None),
        }
    }
    Ok(Some((at, last)))
}

/// The same, creating missing directories. The caller syncs.
pub fn make<'p>(root: &Directory, path: &'p Path) -> Result<(Directory, &'p OsStr)> {
    let (folders, last) = steps(path)?;
    let mut at = root.again()?;
    for folder in folders {
        at = inner(&at, folder)?;
    }
    Ok((at, last))
}

/// Opens a subdirectory, creating it if missing.
pub fn inner(directory: &Directory, name: impl AsRef<OsStr>) -> Result<Directory> {
    let name = name.as_ref();
    loop {
        if let Some(inner) = directory.inner(name)? {
            return Ok(inner);
        }
        directory.make(name)?;
    }
}
