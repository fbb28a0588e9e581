//! Accesses files below a directory by untrusted paths: follows no link and never leaves the directory.

use crate::error::{Error, ErrorKind, Result};
use crate::store::directory::{Directory, FileStat};
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
    let (dirs, last) = steps(path)?;
    let mut at = root.duplicate()?;
    for dir in dirs {
        match at.inner(dir)? {
            Some(inner) => at = inner,
            None => return Ok(None),
        }
    }
    Ok(Some((at, last)))
}

/// The metadata of a file; none if it is missing.
pub fn facts(root: &Directory, path: &Path) -> Result<Option<FileStat>> {
    steps(path)?;
    // An archive has tens of thousands of files: opening the directories of each takes most of a run without changes.
    if let Some(facts) = root.facts_below(path) {
        return Ok(Some(facts));
    }
    match find(root, path)? {
        Some((directory, name)) => directory.facts(name),
        None => Ok(None),
    }
}

/// As [`find`], creating missing directories. The caller syncs.
pub fn make<'p>(root: &Directory, path: &'p Path) -> Result<(Directory, &'p OsStr)> {
    let (dirs, last) = steps(path)?;
    let mut at = root.duplicate()?;
    for dir in dirs {
        at = inner(&at, dir)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_of_a_file_is_found_without_following_links() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(path("tree/a/b")).unwrap();
        std::fs::write(path("tree/a/b/file"), "four").unwrap();
        std::os::unix::fs::symlink("a", path("tree/link")).unwrap();
        std::os::unix::fs::symlink("b/file", path("tree/a/name")).unwrap();
        let root = Directory::open(&path("tree")).unwrap();
        let facts = |path: &str| facts(&root, Path::new(path));
        assert_eq!(facts("a/b/file").unwrap().unwrap().size, 4);
        assert!(facts("a/b").unwrap().is_some_and(|facts| !facts.regular));
        assert!(facts("a/name").unwrap().is_some_and(|facts| !facts.regular));
        assert_eq!(facts("a/c/file").unwrap(), None);
        assert_eq!(root.facts_below(Path::new("link/b/file")), None);
        assert!(facts("link/b/file").is_err() && facts("../tree/a/b/file").is_err());
    }
}
