//! Renames sources whose sessions are durable, so that the next run skips them.

use crate::input::file_discovery::{self, MARK};
use convo::error::Error;
use convo::store::rename_new;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Renames a source and its companion files. The source is renamed first: if the run is killed,
/// [`file_discovery::is_left`] recognizes the remaining files and never treats them as sessions.
pub fn source(path: &Path, listed: impl Fn(&Path) -> bool) -> convo::Result<()> {
    let mut all = Vec::new();
    if let Some(log) = file_discovery::log_of(path).filter(|log| log.exists()) {
        if listed(&log) {
            return Ok(()); // the log is a source itself and renames its sidecar
        }
        all.push(log.clone());
        all.extend(file_discovery::companion_files(&log));
    }
    all.push(path.to_path_buf());
    all.extend(file_discovery::companion_files(path));
    all.iter().try_for_each(|file| one(file))
}

/// Renames one file if it exists.
pub fn one(file: &Path) -> convo::Result<()> {
    match file.metadata() {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("cannot rename", error)),
    }
    let mut marked = file.as_os_str().to_owned();
    marked.push(MARK);
    rename_new(file, &PathBuf::from(marked))
}
