//! Environment variables, and the directories that they name.

use std::path::{Path, PathBuf};

/// Returns an environment variable if it is set and not empty.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns a user directory: the one a variable names, or a path below HOME; none if neither is set.
pub fn home(name: &str, below: &str) -> Option<PathBuf> {
    let named = variable(name).filter(|path| path.starts_with('/'));
    let default = || variable("HOME").map(|home| Path::new(&home).join(below));
    named.map(PathBuf::from).or_else(default)
}
