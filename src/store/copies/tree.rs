//! Files below a directory by paths that other programs or a manifest name: no link is followed, and no path leads out.

use crate::error::{Error, Kind, Result};
use crate::store::directory::Directory;
use std::ffi::OsStr;
use std::path::{Component, Path};

/// The directories of a path and its last name.
fn steps(path: &Path) -> Result<(Vec<&OsStr>, &OsStr)> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name),
            _ => {
                return Err(Error::new(
                    Kind::Unsafe,
                    format!("{}: unsafe path", path.display()),
                ));
            }
        }
    }
    let last = names.pop();
    let last = last.ok_or_else(|| Error::new(Kind::Unsafe, "empty path"))?;
    Ok((names, last))
}

/// The directory of a path and its last name; none if a directory on the way is missing.
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

/// The same; missing directories are made. The caller syncs.
pub fn make<'p>(root: &Directory, path: &'p Path) -> Result<(Directory, &'p OsStr)> {
    let (folders, last) = steps(path)?;
    let mut at = root.again()?;
    for folder in folders {
        at = inner(&at, folder)?;
    }
    Ok((at, last))
}

/// A directory in another one, which is made if it is missing.
pub fn inner(directory: &Directory, name: impl AsRef<OsStr>) -> Result<Directory> {
    let name = name.as_ref();
    loop {
        if let Some(inner) = directory.inner(name)? {
            return Ok(inner);
        }
        directory.make(name)?;
    }
}
