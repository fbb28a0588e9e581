//! Writes the index of a directory: an entry per session file.

use crate::error::{Error, Result};
use crate::format::penguin::{INDEX, PenguinIndexRow, index};
use crate::store::directory::Directory;
use crate::store::foreign::files::bytes_of;
use crate::store::{Rewrite, write_atomically};
use std::path::Path;
use std::time::Duration;

/// Replaces the index unless it is up to date.
pub fn write(path: &Path, lock_timeout: Duration) -> Result<()> {
    let directory = Directory::open(path)?;
    let mut rows = Vec::new();
    for name in directory.names()? {
        let stem = name.strip_suffix(".json").filter(|_| name != INDEX);
        if let Some(stem) = stem.filter(|_| !name.starts_with('.'))
            && let Some(bytes) = bytes_of(&directory, &name)?
        {
            rows.extend(PenguinIndexRow::of(stem, &bytes));
        }
    }
    let new = index(rows);
    if bytes_of(&directory, INDEX)?.is_some_and(|old| old == new) {
        return Ok(());
    }
    let options = Rewrite {
        lock_timeout,
        ..Rewrite::default()
    };
    let write = |out: &mut dyn std::io::Write| {
        out.write_all(&new)
            .map_err(|error| Error::io("cannot write", error))
    };
    write_atomically(&path.join(INDEX), write, &options)
}
