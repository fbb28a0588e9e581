//! Renames sources whose sessions are durable, so that the next run passes over them.

use crate::input::file_discovery::{self, MARK};
use convo::error::Error;
use convo::store::rename_new;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Renames a source and what belongs to it. The source itself goes first: what a killed run leaves is then known
/// by its name ([`file_discovery::is_left`]), and never taken for a session of its own.
pub fn source(path: &Path, listed: impl Fn(&Path) -> bool) -> convo::Result<()> {
    let mut all = Vec::new();
    if let Some(log) = file_discovery::log_of(path).filter(|log| log.exists()) {
        if listed(&log) {
            return Ok(()); // the log has its own turn, and takes its sidecar along
        }
        all.push(log.clone());
        all.extend(file_discovery::beside(&log));
    }
    all.push(path.to_path_buf());
    all.extend(file_discovery::beside(path));
    all.iter().try_for_each(|file| one(file))
}

/// Renames one file, if it is there still.
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
